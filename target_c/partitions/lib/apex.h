/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an application of the demo module may call: services in the style of ARINC 653 Part 1 (APEX),
 * recording, and a measured amount of work. Names and types are those of the standard's C binding;
 * where the kernel knows less than the standard, the comment says so.
 */
#ifndef PARTITION_APEX_H
#define PARTITION_APEX_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/abi.h"

typedef enum return_code RETURN_CODE_TYPE;
typedef enum partition_mode OPERATING_MODE_TYPE;
typedef int64_t SYSTEM_TIME_TYPE; /* ns; negative: infinite */
typedef uint32_t PROCESS_ID_TYPE;
typedef uint32_t OBJECT_ID_TYPE;
typedef struct process_attributes PROCESS_ATTRIBUTE_TYPE;

/* Waiting is by priority. */
void CREATE_PROCESS(const PROCESS_ATTRIBUTE_TYPE *attributes, PROCESS_ID_TYPE *id, RETURN_CODE_TYPE *code);
void START(PROCESS_ID_TYPE id, RETURN_CODE_TYPE *code);
void STOP(PROCESS_ID_TYPE id, RETURN_CODE_TYPE *code);
void STOP_SELF(void);
void SET_PRIORITY(PROCESS_ID_TYPE id, uint32_t priority, RETURN_CODE_TYPE *code);
void PERIODIC_WAIT(RETURN_CODE_TYPE *code);
void TIMED_WAIT(SYSTEM_TIME_TYPE delay, RETURN_CODE_TYPE *code);
void REPLENISH(SYSTEM_TIME_TYPE budget, RETURN_CODE_TYPE *code);
void GET_TIME(SYSTEM_TIME_TYPE *time, RETURN_CODE_TYPE *code);
void SET_PARTITION_MODE(OPERATING_MODE_TYPE mode, RETURN_CODE_TYPE *code);

/* Names have at most 31 characters; one that is used already gives NO_ACTION. */
void CREATE_SEMAPHORE(const char *name, uint32_t value, uint32_t maximum, OBJECT_ID_TYPE *id, RETURN_CODE_TYPE *code);
void WAIT_SEMAPHORE(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, RETURN_CODE_TYPE *code);
void SIGNAL_SEMAPHORE(OBJECT_ID_TYPE id, RETURN_CODE_TYPE *code);
void CREATE_EVENT(const char *name, OBJECT_ID_TYPE *id, RETURN_CODE_TYPE *code);
void SET_EVENT(OBJECT_ID_TYPE id, RETURN_CODE_TYPE *code);
void RESET_EVENT(OBJECT_ID_TYPE id, RETURN_CODE_TYPE *code);
void WAIT_EVENT(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, RETURN_CODE_TYPE *code);
void CREATE_BUFFER(const char *name, uint32_t message_size, uint32_t messages, OBJECT_ID_TYPE *id,
                   RETURN_CODE_TYPE *code);
void SEND_BUFFER(OBJECT_ID_TYPE id, const void *message, uint32_t length, SYSTEM_TIME_TYPE timeout,
                 RETURN_CODE_TYPE *code);
void RECEIVE_BUFFER(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, void *message, uint32_t *length,
                    RETURN_CODE_TYPE *code);
void CREATE_BLACKBOARD(const char *name, uint32_t message_size, OBJECT_ID_TYPE *id, RETURN_CODE_TYPE *code);
void DISPLAY_BLACKBOARD(OBJECT_ID_TYPE id, const void *message, uint32_t length, RETURN_CODE_TYPE *code);
void READ_BLACKBOARD(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, void *message, uint32_t *length,
                     RETURN_CODE_TYPE *code);
void CLEAR_BLACKBOARD(OBJECT_ID_TYPE id, RETURN_CODE_TYPE *code);
/* Message queues are not ARINC 653's; they behave as buffers do. */
void CREATE_QUEUE(const char *name, uint32_t message_size, uint32_t messages, OBJECT_ID_TYPE *id,
                  RETURN_CODE_TYPE *code);
void SEND_QUEUE(OBJECT_ID_TYPE id, const void *message, uint32_t length, SYSTEM_TIME_TYPE timeout,
                RETURN_CODE_TYPE *code);
void RECEIVE_QUEUE(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, void *message, uint32_t *length,
                   RETURN_CODE_TYPE *code);
/* Ports are those of the module's configuration, which also has queue lengths and refresh periods. */
typedef enum port_direction PORT_DIRECTION_TYPE;
void CREATE_SAMPLING_PORT(const char *name, uint32_t message_size, PORT_DIRECTION_TYPE direction, OBJECT_ID_TYPE *id,
                          RETURN_CODE_TYPE *code);
void WRITE_SAMPLING_MESSAGE(OBJECT_ID_TYPE id, const void *message, uint32_t length, RETURN_CODE_TYPE *code);
void READ_SAMPLING_MESSAGE(OBJECT_ID_TYPE id, void *message, uint32_t *length, uint32_t *valid, RETURN_CODE_TYPE *code);
void CREATE_QUEUING_PORT(const char *name, uint32_t message_size, PORT_DIRECTION_TYPE direction, OBJECT_ID_TYPE *id,
                         RETURN_CODE_TYPE *code);
void SEND_QUEUING_MESSAGE(OBJECT_ID_TYPE id, const void *message, uint32_t length, SYSTEM_TIME_TYPE timeout,
                          RETURN_CODE_TYPE *code);
void RECEIVE_QUEUING_MESSAGE(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, void *message, uint32_t *length,
                             RETURN_CODE_TYPE *code);

/* The partition's heap: whole blocks of 32 bytes. NOT_AVAILABLE: no room. */
void ALLOCATE(uint32_t bytes, void **block, RETURN_CODE_TYPE *code);
void FREE(void *block, RETURN_CODE_TYPE *code);
/* A file on a device of that name; each open file costs the kernel a buffer. */
void OPEN(const char *name, OBJECT_ID_TYPE *id, RETURN_CODE_TYPE *code);
void CLOSE(OBJECT_ID_TYPE id, RETURN_CODE_TYPE *code);

/* Errors. The handler runs before all others when an error of process level came, and ends with STOP_SELF. */
typedef enum error_code ERROR_CODE_TYPE;
typedef struct error_status ERROR_STATUS_TYPE;
typedef enum start_condition START_CONDITION_TYPE;
void CREATE_ERROR_HANDLER(void (*entry)(void), uint32_t stack_size, RETURN_CODE_TYPE *code);
void GET_ERROR_STATUS(ERROR_STATUS_TYPE *status, RETURN_CODE_TYPE *code);
void RAISE_APPLICATION_ERROR(ERROR_CODE_TYPE error, const void *message, uint32_t length, RETURN_CODE_TYPE *code);
/* Why the partition began: part of ARINC 653's GET_PARTITION_STATUS. */
void GET_START_CONDITION(uint32_t *condition, RETURN_CODE_TYPE *code);

/* One line on the module's console, at most MAX_CONSOLE_BYTES; control characters become dots. */
void console_write(const char *text);

/* User events. Switched off they cost no kernel call: the page of enable bits is read first. */
void record_point(uint16_t number);
void record(uint16_t number, uint32_t d0, uint32_t d1);
void record_text(uint16_t number, const char *text);

/* --- how the demo applications are made --- */

#define MS ((SYSTEM_TIME_TYPE)1000000)

struct application_process {
    const char *name;
    void (*body)(void);
    SYSTEM_TIME_TYPE period; /* INFINITE_TIME: aperiodic */
    SYSTEM_TIME_TYPE capacity;
    uint32_t priority;
    uint32_t stack;
};

/* Creates and starts the processes and the idle process of the given name, then enters NORMAL mode. */
void application_start(const struct application_process *processes, unsigned count, const char *idle_name);

/* The page the kernel shows: scenario and rates. */
static inline const volatile struct shared_page *shared(void)
{
    return (const volatile struct shared_page *)PARTITION_SHARED_PAGE;
}

/* A message of `length` bytes whose content anyone can check: the number, big-endian, then byte i is number + i. */
void fill_message(void *message, uint32_t length, uint32_t number);
/* Sizes of the messages between the demo's partitions; module.xml has them too. */
#define POSITION_BYTES 32u
#define SURFACES_BYTES 24u
#define REPORT_BYTES 16u
#define HEALTH_BYTES 8u
/* What is in them: what fill_message() writes. */
struct position {
    uint32_t counter;
    uint8_t pattern[POSITION_BYTES - 4u];
};
struct surfaces {
    uint32_t counter;
    uint8_t pattern[SURFACES_BYTES - 4u];
};
struct report {
    uint32_t counter;
    uint8_t pattern[REPORT_BYTES - 4u];
};
struct health {
    uint32_t counter;
    uint8_t pattern[HEALTH_BYTES - 4u];
};
/*
 * In scenario faults, how often it was called with this counter; else 0. Also 0 after the health monitor restarted
 * the partition or the module: what was wrong was wrong once.
 */
uint32_t fault_turn(uint32_t *turn);
/* A kernel call with a number that no call has. */
void illegal_call(uint32_t number);
/* A division as a compiler with checks makes it: a trap instruction stops a division by zero. */
uint32_t checked_divide(uint32_t dividend, uint32_t divisor);
/* Computes for about `units` times 1000 instructions, give or take 1/16 by a fixed pseudo-random sequence. */
void work(unsigned units);
/* In scenario chatter: this caller's third of the user events of `period_ms`. */
void chatter(unsigned period_ms);
size_t text_length(const char *text);
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

#endif
