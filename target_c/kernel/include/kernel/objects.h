/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes wait on and what carries messages. Objects belong to a partition, which makes them before it
 * enters NORMAL mode; ports come from the module's configuration. Kernel context, interrupts masked.
 */
#ifndef KERNEL_OBJECTS_H
#define KERNEL_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/abi.h"
#include "kernel/config.h"

struct partition;
struct process;

/* By the numbers of the monitor's event table. */
enum object_type {
    OBJECT_MESSAGE_QUEUE,
    OBJECT_BLACKBOARD,
    OBJECT_BUFFER,
    OBJECT_SAMPLING_PORT,
    OBJECT_QUEUING_PORT,
    OBJECT_SEMAPHORE,
    OBJECT_EVENT,
    OBJECT_IO,
};

/* What became of a call for a message, by the numbers of the event table. */
enum message_result {
    MESSAGE_OK = 0,
    MESSAGE_INVALID_PARAM = 3,
    MESSAGE_INVALID_MODE = 5,
    MESSAGE_TIMED_OUT = 6,
    MESSAGE_FULL = 7,
    MESSAGE_EMPTY = 8,
    MESSAGE_STALE = 9,
    MESSAGE_RESULTS
};

struct object {
    bool exists;
    uint8_t type;    /* enum object_type */
    uint16_t number; /* the monitor's index */
    struct partition *partition;
    const struct port_config *port; /* NULL: no port */
    uint32_t value;                 /* semaphore: its value; event: 1 is up; else messages in it */
    uint32_t maximum;
    uint32_t message_bytes;
    uint32_t first;  /* where the oldest message is */
    uint8_t *memory; /* in the kernel's heap */
    uint32_t pool_bytes;
    uint32_t sent; /* the number of the last message */
    char name[NAME_BYTES + 1];
    /* books: calls by what became of them; received are messages that a process got */
    uint32_t sends[MESSAGE_RESULTS];
    uint32_t receives[MESSAGE_RESULTS];
};

/* A message in an object's memory. */
struct message {
    uint64_t time;   /* ticks, when it was sent */
    uint32_t number; /* the object's, or of a channel its source's */
    uint32_t length;
    uint8_t content[];
};

static inline uint32_t message_room(uint32_t message_bytes)
{
    return (uint32_t)sizeof(struct message) + ((message_bytes + 7u) & ~7u);
}

static inline struct message *message_at(const struct object *object, uint32_t index)
{
    return (struct message *)(void *)(object->memory + index % object->maximum * message_room(object->message_bytes));
}

/*
 * Makes an object with the name that argument 0 of the call points to, and stores its id for the caller where
 * `id_argument` points to. Returns enum return_code.
 */
uint32_t object_create(struct process *process, const struct object *wanted, uint32_t pool_bytes, unsigned id_argument);
/* The object whose id is argument 0, if it is of that type; or NULL. */
struct object *object_of(struct process *process, enum object_type type);
/* The process that waits on an object, highest priority first, then first come. NULL: none. */
struct process *object_waiter(const struct object *object);
/* Waits for an object with a time-out in two arguments; returns what the call returns if it does not wait. */
uint32_t object_wait(struct process *process, struct object *object, unsigned timeout_argument);
/* The wait of a process for an object ended by time. */
void object_timed_out(struct process *process);
/* Deletes the objects of a partition; its ports stay, with what is in them. */
void objects_release(struct partition *partition);

/* Ports of the module's configuration: their memory, once. */
void ports_init(void);
extern struct object port_object[MAX_PORTS];

/* Puts one line about each object of a partition into the books. */
void objects_print(const struct partition *partition);

#endif
