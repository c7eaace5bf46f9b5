/* SPDX-License-Identifier: Apache-2.0 */
#include "apex.h"

#define ADDRESS(pointer) ((uint32_t)(uintptr_t)(pointer))
#define HIGH(time) ((uint32_t)((uint64_t)(time) >> 32))
#define LOW(time) ((uint32_t)(time))

struct words {
    uint32_t word[5];
};

static uint32_t kernel_call(uint32_t number, struct words words)
{
    register uint32_t r0 __asm__("r0") = number;
    register uint32_t r3 __asm__("r3") = words.word[0];
    register uint32_t r4 __asm__("r4") = words.word[1];
    register uint32_t r5 __asm__("r5") = words.word[2];
    register uint32_t r6 __asm__("r6") = words.word[3];
    register uint32_t r7 __asm__("r7") = words.word[4];

    __asm__ volatile("sc"
                     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7)
                     :
                     : "r8", "r9", "r10", "r11", "r12", "ctr", "xer", "cr0", "cr1", "cr5", "cr6", "cr7", "memory");
    return r3;
}

#define CALL(code, number, ...) (*(code) = (RETURN_CODE_TYPE)kernel_call(number, (struct words){{__VA_ARGS__}}))

void CREATE_PROCESS(const PROCESS_ATTRIBUTE_TYPE *attributes, PROCESS_ID_TYPE *id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CREATE_PROCESS, ADDRESS(attributes), ADDRESS(id));
}

void START(PROCESS_ID_TYPE id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_START, id);
}

void STOP(PROCESS_ID_TYPE id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_STOP, id);
}

void STOP_SELF(void)
{
    (void)kernel_call(CALL_STOP_SELF, (struct words){{0}});
}

void SET_PRIORITY(PROCESS_ID_TYPE id, uint32_t priority, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_SET_PRIORITY, id, priority);
}

void PERIODIC_WAIT(RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_PERIODIC_WAIT, 0);
}

void TIMED_WAIT(SYSTEM_TIME_TYPE delay, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_TIMED_WAIT, HIGH(delay), LOW(delay));
}

void REPLENISH(SYSTEM_TIME_TYPE budget, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_REPLENISH, HIGH(budget), LOW(budget));
}

void GET_TIME(SYSTEM_TIME_TYPE *time, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_GET_TIME, ADDRESS(time));
}

void SET_PARTITION_MODE(OPERATING_MODE_TYPE mode, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_SET_PARTITION_MODE, mode);
}

void CREATE_SEMAPHORE(const char *name, uint32_t value, uint32_t maximum, OBJECT_ID_TYPE *id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CREATE_SEMAPHORE, ADDRESS(name), value, maximum, ADDRESS(id));
}

void WAIT_SEMAPHORE(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_WAIT_SEMAPHORE, id, HIGH(timeout), LOW(timeout));
}

void SIGNAL_SEMAPHORE(OBJECT_ID_TYPE id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_SIGNAL_SEMAPHORE, id);
}

void CREATE_EVENT(const char *name, OBJECT_ID_TYPE *id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CREATE_EVENT, ADDRESS(name), ADDRESS(id));
}

void SET_EVENT(OBJECT_ID_TYPE id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_SET_EVENT, id);
}

void RESET_EVENT(OBJECT_ID_TYPE id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_RESET_EVENT, id);
}

void WAIT_EVENT(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_WAIT_EVENT, id, HIGH(timeout), LOW(timeout));
}

void CREATE_BUFFER(const char *name, uint32_t message_size, uint32_t messages, OBJECT_ID_TYPE *id,
                   RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CREATE_BUFFER, ADDRESS(name), message_size, messages, ADDRESS(id));
}

void SEND_BUFFER(OBJECT_ID_TYPE id, const void *message, uint32_t length, SYSTEM_TIME_TYPE timeout,
                 RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_SEND_BUFFER, id, ADDRESS(message), length, HIGH(timeout), LOW(timeout));
}

void RECEIVE_BUFFER(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, void *message, uint32_t *length,
                    RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_RECEIVE_BUFFER, id, ADDRESS(message), ADDRESS(length), HIGH(timeout), LOW(timeout));
}

void CREATE_BLACKBOARD(const char *name, uint32_t message_size, OBJECT_ID_TYPE *id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CREATE_BLACKBOARD, ADDRESS(name), message_size, ADDRESS(id));
}

void DISPLAY_BLACKBOARD(OBJECT_ID_TYPE id, const void *message, uint32_t length, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_DISPLAY_BLACKBOARD, id, ADDRESS(message), length);
}

void READ_BLACKBOARD(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, void *message, uint32_t *length,
                     RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_READ_BLACKBOARD, id, ADDRESS(message), ADDRESS(length), HIGH(timeout), LOW(timeout));
}

void CLEAR_BLACKBOARD(OBJECT_ID_TYPE id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CLEAR_BLACKBOARD, id);
}

void CREATE_QUEUE(const char *name, uint32_t message_size, uint32_t messages, OBJECT_ID_TYPE *id,
                  RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CREATE_QUEUE, ADDRESS(name), message_size, messages, ADDRESS(id));
}

void SEND_QUEUE(OBJECT_ID_TYPE id, const void *message, uint32_t length, SYSTEM_TIME_TYPE timeout,
                RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_SEND_QUEUE, id, ADDRESS(message), length, HIGH(timeout), LOW(timeout));
}

void RECEIVE_QUEUE(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, void *message, uint32_t *length, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_RECEIVE_QUEUE, id, ADDRESS(message), ADDRESS(length), HIGH(timeout), LOW(timeout));
}

void CREATE_SAMPLING_PORT(const char *name, uint32_t message_size, PORT_DIRECTION_TYPE direction, OBJECT_ID_TYPE *id,
                          RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CREATE_SAMPLING, ADDRESS(name), message_size, direction, ADDRESS(id));
}

void WRITE_SAMPLING_MESSAGE(OBJECT_ID_TYPE id, const void *message, uint32_t length, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_WRITE_SAMPLING, id, ADDRESS(message), length);
}

void READ_SAMPLING_MESSAGE(OBJECT_ID_TYPE id, void *message, uint32_t *length, uint32_t *valid, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_READ_SAMPLING, id, ADDRESS(message), ADDRESS(length), ADDRESS(valid));
}

void CREATE_QUEUING_PORT(const char *name, uint32_t message_size, PORT_DIRECTION_TYPE direction, OBJECT_ID_TYPE *id,
                         RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CREATE_QUEUING, ADDRESS(name), message_size, direction, ADDRESS(id));
}

void SEND_QUEUING_MESSAGE(OBJECT_ID_TYPE id, const void *message, uint32_t length, SYSTEM_TIME_TYPE timeout,
                          RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_SEND_QUEUING, id, ADDRESS(message), length, HIGH(timeout), LOW(timeout));
}

void RECEIVE_QUEUING_MESSAGE(OBJECT_ID_TYPE id, SYSTEM_TIME_TYPE timeout, void *message, uint32_t *length,
                             RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_RECEIVE_QUEUING, id, ADDRESS(message), ADDRESS(length), HIGH(timeout), LOW(timeout));
}

void illegal_call(uint32_t number)
{
    (void)kernel_call(number, (struct words){{0}});
}

void CREATE_ERROR_HANDLER(void (*entry)(void), uint32_t stack_size, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CREATE_ERROR_HANDLER, ADDRESS(entry), stack_size);
}

void GET_ERROR_STATUS(ERROR_STATUS_TYPE *status, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_GET_ERROR_STATUS, ADDRESS(status));
}

void RAISE_APPLICATION_ERROR(ERROR_CODE_TYPE error, const void *message, uint32_t length, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_RAISE_ERROR, error, ADDRESS(message), length);
}

void GET_START_CONDITION(uint32_t *condition, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_GET_START_CONDITION, ADDRESS(condition));
}

void ALLOCATE(uint32_t bytes, void **block, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_ALLOCATE, bytes, ADDRESS(block));
}

void FREE(void *block, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_FREE, ADDRESS(block));
}

void OPEN(const char *name, OBJECT_ID_TYPE *id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_OPEN, ADDRESS(name), ADDRESS(id));
}

void CLOSE(OBJECT_ID_TYPE id, RETURN_CODE_TYPE *code)
{
    CALL(code, CALL_CLOSE, id);
}

void console_write(const char *text)
{
    (void)kernel_call(CALL_CONSOLE_WRITE, (struct words){{ADDRESS(text), (uint32_t)text_length(text)}});
}
