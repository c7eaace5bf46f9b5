/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and partitions. Times are ticks. Kernel context, interrupts masked. */
#ifndef KERNEL_PROCESS_H
#define KERNEL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/abi.h"
#include "kernel/arch.h"
#include "kernel/config.h"
#include "kernel/heap.h"
#include "kernel/hm.h"
#include "kernel/objects.h"
#include "kernel/operations.h"

#define NEVER UINT64_MAX
#define MAX_OBJECTS 16
/* Of the kernel's memory, what one partition may use for messages. */
#define MESSAGE_BYTES 8192u
#define MAX_DEVICES 4
#define MAX_FILES 8

/* ARINC 653 PROCESS_STATE_TYPE. */
enum process_state { STATE_DORMANT = 0, STATE_READY = 1, STATE_RUNNING = 2, STATE_WAITING = 3 };

/* What a waiting process waits for. */
enum wait_kind {
    WAIT_NONE,
    WAIT_RELEASE_POINT, /* started; its first release is the next release point */
    WAIT_NORMAL_MODE,   /* started before the partition is in NORMAL mode */
    WAIT_PERIOD,
    WAIT_DELAY,
    WAIT_OBJECT,
};

struct partition;

struct process {
    struct arch_context context;
    struct partition *partition;
    uint16_t task;   /* the monitor's index */
    uint16_t number; /* in the partition */
    uint8_t priority;
    uint8_t state; /* enum process_state, never STATE_RUNNING */
    uint8_t wait;  /* enum wait_kind */
    bool periodic;
    bool active; /* released and not complete */
    bool stuck;  /* an error keeps it from going on */
    bool deleted;
    bool missed;    /* the deadline of this activation is counted as missed */
    uint8_t call;   /* the kernel call it is in, 0: none */
    uint32_t order; /* first come, first served among equal priorities */
    uint32_t activation;
    uint64_t period;
    uint64_t capacity; /* 0: no deadline */
    uint64_t release;  /* nominal */
    uint64_t deadline; /* 0: none */
    uint64_t wake;     /* when its wait ends by time */
    struct object *object;
    uint32_t entry;
    uint32_t stack_top;
    uint32_t stack_size;
    char name[NAME_BYTES + 1];
    /* books */
    uint64_t ticks;
    uint32_t switches;
    uint32_t releases;
    uint32_t completions;
    uint32_t misses;
};

/* What files are opened on, and an open file. */
struct device {
    char name[NAME_BYTES + 1];
    uint16_t object; /* the monitor's index */
};

struct file {
    struct device *device;
    uint32_t buffer; /* address in the kernel's heap; 0: not open */
};

struct partition {
    const struct partition_config *config; /* NULL: the module OS */
    const char *name;
    uint16_t index; /* the monitor's, and the address space; 0: the module OS */
    uint8_t mode;   /* enum partition_mode */
    bool stale;     /* `chosen` must be found again */
    uint16_t process_count;
    struct process *chosen; /* NULL: nobody can run */
    struct process process[MAX_PROCESSES];
    struct object object[MAX_OBJECTS];
    uint32_t message_bytes; /* taken from the kernel's heap for objects */
    struct device device[MAX_DEVICES];
    struct file file[MAX_FILES];
    uint8_t start_condition; /* enum start_condition */
    bool load;               /* its program waits to be loaded anew */
    bool mapped;
    struct process *handler; /* its error handler, or NULL */
    uint32_t error_first;    /* errors that the handler has not seen yet */
    uint32_t error_count;
    struct error_status error[MAX_ERRORS];
    uint32_t physical; /* where its memory begins */
    struct heap heap;  /* in its memory; the module OS's: the kernel's own */
    struct operations operations;
    /* books */
    uint64_t ticks;
    uint32_t switches;
    uint32_t calls;
    uint32_t faults;
    uint32_t restarts;
    uint32_t user_events; /* recording calls */
    uint32_t refused;     /* of them, events a partition may not record */
};

/* Adds a process, dormant. NULL: the partition has as many as it can have. */
struct process *process_create(struct partition *partition, const struct process_attributes *attributes);
/* It does not exist any more; its number is free when all the partition's are deleted. */
void process_delete(struct process *process);
/* Makes it as new, at its entry with an empty stack. */
void process_reset(struct process *process);
/* enum return_code */
int process_start(struct process *process, uint64_t now);
void process_stop(struct process *process);
void process_set_priority(struct process *process, uint8_t priority);
void process_set_deadline(struct process *process, uint64_t deadline);
/* Begins an activation whose nominal instant is `nominal`. */
void process_release(struct process *process, uint64_t nominal);
/* Ends the activation. */
void process_complete(struct process *process);
/* Waits until `wake` or until another process makes it ready. */
void process_wait(struct process *process, enum wait_kind kind, uint64_t wake);
/* Ends a wait; `result` is what its kernel call returns. */
void process_wake(struct process *process, uint32_t result, uint64_t now);

/* May it be made to wait? Not before NORMAL mode, and not the idle process. */
bool process_may_wait(const struct process *process);

/* The process that shall run, or NULL. */
struct process *partition_choose(struct partition *partition);
/* Does what is due at `now`, and says when something will be due next. */
uint64_t partition_tick(struct partition *partition, uint64_t now);
/* A window with a release point of this partition began at its nominal instant. */
void partition_release_point(struct partition *partition, uint64_t nominal);
void partition_set_mode(struct partition *partition, enum partition_mode mode, uint64_t now);

/* True when [address, address + bytes) is memory of the partition that it may read or write. */
bool partition_owns(const struct partition *partition, uint32_t address, uint32_t bytes, bool write);
/* Maps a stack of whole pages for process `number`. False: the processor has no memory entry left. */
bool partition_map_stack(const struct partition *partition, uint32_t number, uint32_t bytes);
/* Maps and loads the partition's ELF file; panics when it is not one that fits. Returns its entry. */
uint32_t partition_load(struct partition *partition);
/* Loads it again; after a cold start the heap's memory is cleared too. */
uint32_t partition_reload(struct partition *partition);
/* Creates and starts the first process. */
void partition_begin(struct partition *partition, uint32_t entry);

/* Where the kernel sees memory of any partition; `address` is one that the partition owns. */
static inline void *partition_memory(const struct partition *partition, uint32_t address)
{
    return (void *)(uintptr_t)(partition->physical + (address - PARTITION_TEXT));
}
/* Closes its files and empties its heap. */
void memory_release(struct partition *partition);
/* The process of that number of the monitor's, or NULL. A look at all of them. */
struct process *process_of_task(uint16_t task);
/* Bytes of its stack that were ever used, by the fill pattern. For a task of the module OS, interrupts on. */
uint32_t process_stack_high_water(const struct process *process);

#endif
