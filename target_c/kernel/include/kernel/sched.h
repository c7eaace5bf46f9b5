/* SPDX-License-Identifier: Apache-2.0 */
/* The module level: frames, windows, who has the processor. Kernel context, interrupts masked. */
#ifndef KERNEL_SCHED_H
#define KERNEL_SCHED_H

#include "kernel/process.h"

/* Why the process that ran left the processor. */
enum leave_reason { LEFT_BLOCKED = 0, LEFT_PREEMPTED = 1, LEFT_ENDED = 2, LEFT_WINDOW_END = 3 };

struct window_books {
    uint32_t count;
    uint32_t latest; /* ticks from the nominal start to the window's hook */
};

struct module {
    uint32_t partition_count; /* with the module OS */
    struct partition partition[MAX_PARTITIONS + 1];
    const struct schedule_config *schedule;
    const struct schedule_config *next_schedule; /* from the next major frame on */
    uint32_t window;
    uint32_t frame;
    uint64_t frame_start;
    uint64_t frame_ticks;
    uint64_t window_start;
    uint64_t window_end;
    struct partition *current;
    struct process *running;
    struct process *nobody; /* runs where a partition has nobody to run */
    bool window_ended;      /* since the last dispatch another partition got the processor */
    uint64_t timer;         /* when the timer interrupt is due */
    uint32_t order;
    /* books */
    uint64_t task_since;
    uint64_t partition_since;
    uint64_t began;
    uint32_t task_switches;
    uint32_t partition_switches;
    uint32_t windows;
    uint32_t interrupts;
    uint32_t device_interrupts; /* of them, those that the timer did not make */
    uint32_t latest_dispatch;   /* ticks from a window's nominal start to its first process */
    struct window_books window_books[MAX_WINDOWS];
};

extern struct module module;
/* Objects, messages and files take their memory from it. */
#define kernel_heap (&module.partition[0].heap)

/* Makes partitions and schedules known and the first frame begin soon. Returns the first process. */
struct arch_context *sched_begin(void);
/* Gives the processor to the process that shall have it now, and returns its registers. */
struct arch_context *sched_dispatch(void);
/* The timer interrupt: windows and processes whose time has come. */
void sched_timer(void);
/* Something of the current partition will be due at `time`. */
void sched_due(uint64_t time);
/* Another schedule from the next major frame on. False: there is no such schedule. */
bool sched_set_schedule(uint32_t id);
/* Brings the books up to now, and prints them. */
void sched_close_books(void);
void sched_print_books(void);

/* The module OS's own tasks: the monitoring task, which begins its work with each SPARE window, and the idle task. */
void module_os_init(struct partition *partition);
void module_os_window(uint64_t now);
/* A kernel call of one of them. */
void module_os_call(uint32_t call);

/* Entries from the architecture. Each ends with sched_dispatch. */
struct arch_context *trap_call(struct arch_context *context);
struct arch_context *trap_timer(uint32_t ip);
struct arch_context *trap_device(uint32_t ip);

enum fault_kind { FAULT_MEMORY, FAULT_INSTRUCTION, FAULT_NUMERIC };

struct fault {
    uint32_t vector;
    uint32_t code;    /* exception syndrome */
    uint32_t address; /* of the data, or of the instruction */
    uint32_t ip;
    const char *name;
    enum fault_kind kind;
};
struct arch_context *trap_fault(const struct fault *fault);
/* The recording call: short, and not seen by kernel-call events. Returns enum return_code. */
uint32_t trap_record(uint32_t event, uint32_t number, uint32_t a, uint32_t b);

/* Semaphores, events, buffers, blackboards. */
uint32_t sync_call(struct process *process, uint32_t call);

/* Scenarios. */
extern struct shared_page *const shared_page;
void scenario_init(void);
bool scenario_set(const char *name);
/* Called as a major frame begins: faults of the hardware come at certain frames of scenario faults. */
void scenario_frame(void);

/* The kernel's C entry. */
_Noreturn void kernel_main(const void *device_tree);

#endif
