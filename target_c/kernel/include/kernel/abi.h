/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel and the partitions share: the numbers of the kernel calls, the structures they
 * pass and the read-only page that every partition sees. No code.
 *
 * A kernel call is `sc` with the call's number in r0 and up to six words in r3-r8; the return code
 * comes back in r3. It clobbers what a function call clobbers. A 64-bit time is two words, the
 * high one first, in nanoseconds.
 */
#ifndef KERNEL_ABI_H
#define KERNEL_ABI_H

/*
 * The recording call: event id, number, and by event two words, or address and length of a text; of a
 * TASK_SWITCH the id of the process that runs, and reason << 16 | id of the one that ran.
 */
#define CALL_RECORD 1

/* Virtual addresses of a partition; the same in all of them. */
#define PARTITION_TEXT 0x10000000
#define PARTITION_DATA 0x10040000
/* The last part of the data is the partition's heap. */
#define PARTITION_HEAP 0x10060000
#define PARTITION_STACKS 0x10080000
#define PARTITION_SHARED_PAGE 0x10100000
/* Text and data have one memory entry each of this size. */
#define PARTITION_SEGMENT_BYTES 0x40000
/* Process p's stack ends at PARTITION_STACKS + (p + 1) * STACK_SPACING; below it nothing is mapped. */
#define STACK_SPACING 0x8000
#define STACK_MAX_BYTES 0x4000
#define MAX_PROCESSES 16
#define PARTITION_LAYOUT_BYTES (PARTITION_STACKS - PARTITION_TEXT + MAX_PROCESSES * STACK_SPACING)

#ifndef __ASSEMBLER__

#include <stdint.h>

enum kernel_call {
    CALL_GET_TIME = 2,         /* address of a 64-bit time */
    CALL_CREATE_PROCESS,       /* address of struct process_attributes, address of the id */
    CALL_START,                /* id */
    CALL_STOP,                 /* id */
    CALL_STOP_SELF,            /* */
    CALL_SET_PRIORITY,         /* id, priority */
    CALL_PERIODIC_WAIT,        /* */
    CALL_TIMED_WAIT,           /* time */
    CALL_REPLENISH,            /* time */
    CALL_SET_PARTITION_MODE,   /* mode */
    CALL_GET_PARTITION_MODE,   /* address of a word */
    CALL_CREATE_SEMAPHORE,     /* name, initial value, maximum, address of the id */
    CALL_WAIT_SEMAPHORE,       /* id, time-out */
    CALL_SIGNAL_SEMAPHORE,     /* id */
    CALL_CREATE_EVENT,         /* name, address of the id */
    CALL_SET_EVENT,            /* id */
    CALL_RESET_EVENT,          /* id */
    CALL_WAIT_EVENT,           /* id, time-out */
    CALL_CREATE_BUFFER,        /* name, message size, messages, address of the id */
    CALL_SEND_BUFFER,          /* id, address, length, time-out */
    CALL_RECEIVE_BUFFER,       /* id, address, address of the length, time-out */
    CALL_CREATE_BLACKBOARD,    /* name, message size, address of the id */
    CALL_DISPLAY_BLACKBOARD,   /* id, address, length */
    CALL_READ_BLACKBOARD,      /* id, address, address of the length, time-out */
    CALL_CLEAR_BLACKBOARD,     /* id */
    CALL_CONSOLE_WRITE,        /* address, length */
    CALL_ALLOCATE,             /* bytes, address of the address */
    CALL_FREE,                 /* address */
    CALL_OPEN,                 /* name, address of the id */
    CALL_CLOSE,                /* id */
    CALL_CREATE_QUEUE,         /* name, message size, messages, address of the id */
    CALL_SEND_QUEUE,           /* id, address, length, time-out */
    CALL_RECEIVE_QUEUE,        /* id, address, address of the length, time-out */
    CALL_CREATE_SAMPLING,      /* name, message size, enum port_direction, address of the id */
    CALL_WRITE_SAMPLING,       /* id, address, length */
    CALL_READ_SAMPLING,        /* id, address, address of the length, address of the validity */
    CALL_CREATE_QUEUING,       /* name, message size, enum port_direction, address of the id */
    CALL_SEND_QUEUING,         /* id, address, length, time-out */
    CALL_RECEIVE_QUEUING,      /* id, address, address of the length, time-out */
    CALL_CREATE_ERROR_HANDLER, /* entry, stack size */
    CALL_GET_ERROR_STATUS,     /* address of struct error_status */
    CALL_RAISE_ERROR,          /* enum error_code, address of the message, its length */
    CALL_GET_START_CONDITION,  /* address of a word */
    CALL_COUNT,
    CALL_MONITOR_WAIT = 62, /* module OS only: the monitoring task waits for its next turn */
    CALL_MONITOR_WAKE = 63, /* module OS only: there is something for it to do */
};

/* ARINC 653 RETURN_CODE_TYPE. */
enum return_code {
    NO_ERROR = 0,
    NO_ACTION = 1,
    NOT_AVAILABLE = 2,
    INVALID_PARAM = 3,
    INVALID_CONFIG = 4,
    INVALID_MODE = 5,
    TIMED_OUT = 6,
};

/* ARINC 653 OPERATING_MODE_TYPE. */
enum partition_mode { MODE_IDLE = 0, MODE_COLD_START = 1, MODE_WARM_START = 2, MODE_NORMAL = 3 };

/* ARINC 653 PORT_DIRECTION_TYPE. */
enum port_direction { PORT_SOURCE = 0, PORT_DESTINATION = 1 };

#define INFINITE_TIME ((int64_t)-1)
/* A name is read as NAME_BYTES + 1 bytes; it ends at the first NUL. */
#define NAME_BYTES 31
/* Priorities: 1 (lowest) to 239. 0 makes the partition's idle process; each partition has one. */
#define IDLE_PRIORITY 0
/* The error handler comes before all others and never waits. */
#define HANDLER_PRIORITY 240
#define MAX_PRIORITY 239
#define MAX_MESSAGE_BYTES 256
#define MAX_CONSOLE_BYTES 128
#define MAX_TEXT_BYTES 64
#define MAX_ERROR_MESSAGE 64

/* ARINC 653 ERROR_CODE_TYPE. */
enum error_code {
    ERROR_DEADLINE_MISSED,
    ERROR_APPLICATION,
    ERROR_NUMERIC,
    ERROR_ILLEGAL_REQUEST,
    ERROR_STACK_OVERFLOW,
    ERROR_MEMORY_VIOLATION,
    ERROR_HARDWARE_FAULT,
    ERROR_POWER_FAIL,
    ERROR_CODES
};

/* ARINC 653 START_CONDITION_TYPE: why a partition begins. */
enum start_condition { NORMAL_START = 0, PARTITION_RESTART = 1, HM_MODULE_RESTART = 2, HM_PARTITION_RESTART = 3 };

struct error_status {
    uint32_t code;    /* enum error_code */
    uint32_t process; /* id of the process it came from */
    uint32_t address; /* where it was, or what it wanted */
    uint32_t subcode;
    char message[MAX_ERROR_MESSAGE]; /* what RAISE_APPLICATION_ERROR was given, ended by NUL if shorter */
};

struct process_attributes {
    int64_t period;        /* ns; INFINITE_TIME: aperiodic */
    int64_t time_capacity; /* ns from the release; INFINITE_TIME: no deadline */
    uint32_t entry;
    uint32_t stack_size; /* bytes, at most STACK_MAX_BYTES */
    uint32_t priority;
    char name[NAME_BYTES + 1];
};

enum scenario {
    SCENARIO_NOMINAL,
    SCENARIO_OVERLOAD,
    SCENARIO_CHATTER,
    SCENARIO_BURSTY,
    SCENARIO_FAULTS,
    SCENARIO_LEAK,
    SCENARIO_COUNT
};

/* The page at PARTITION_SHARED_PAGE. */
struct shared_page {
    uint32_t enable[32];   /* events a partition may record and that are on: bit e % 32 of word e / 32 */
    uint32_t idle_waits;   /* the idle processes use the wait instruction */
    uint32_t scenario;     /* enum scenario */
    uint32_t chatter_rate; /* user events a second that the module shall make */
};

#endif
#endif
