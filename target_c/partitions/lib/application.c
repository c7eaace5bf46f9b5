/* SPDX-License-Identifier: Apache-2.0 */
#include "apex.h"

#define IDLE_STACK 1024u
#define CHATTERERS 3u
#define CHATTER_NUMBER 900u

static uint32_t random_state = 0x2545F491u;
static volatile uint32_t result;

size_t text_length(const char *text)
{
    size_t length = 0;

    while (text[length] != '\0') {
        length++;
    }
    return length;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;

    while (bytes-- != 0u) {
        *out++ = *in++;
    }
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *out = to;

    while (bytes-- != 0u) {
        *out++ = (uint8_t)value;
    }
    return to;
}

/* Marsaglia's xorshift. */
static uint32_t next_random(uint32_t state)
{
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ state << 5;
}

void work(unsigned units)
{
    /* One step of the loop is 7 instructions. */
    uint32_t steps = units * 143u;
    uint32_t state = random_state = next_random(random_state);

    steps = steps - steps / 16u + (state >> 8) % (steps / 8u + 1u);
    for (; steps != 0u; steps--) {
        state = next_random(state);
    }
    result = state;
}

void fill_message(void *message, uint32_t length, uint32_t number)
{
    uint8_t *bytes = message;

    for (uint32_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t)(i < 4u ? number >> (24u - 8u * i) : number + i);
    }
}

uint32_t fault_turn(uint32_t *turn)
{
    static uint32_t condition = UINT32_MAX;
    RETURN_CODE_TYPE code;

    if (shared()->scenario != SCENARIO_FAULTS) {
        return 0;
    }
    if (condition == UINT32_MAX) {
        GET_START_CONDITION(&condition, &code);
    }
    return condition == NORMAL_START ? ++*turn : 0u;
}

uint32_t checked_divide(uint32_t dividend, uint32_t divisor)
{
    __asm__ volatile("tweqi %0, 0" ::"r"(divisor));
    return dividend / divisor;
}

void chatter(unsigned period_ms)
{
    if (shared()->scenario == SCENARIO_CHATTER) {
        uint32_t events = shared()->chatter_rate / 1000u * period_ms / CHATTERERS;
        for (uint32_t i = 0; i < events; i++) {
            record(CHATTER_NUMBER, i, events);
        }
    }
}

/* The time that nobody else wants. User mode, no kernel calls. */
static void idle(void)
{
    for (;;) {
        if (shared()->idle_waits != 0u) {
            __asm__ volatile(".long 0x7c00007c" ::: "memory"); /* wait */
        }
    }
}

static void create(const struct application_process *process)
{
    PROCESS_ATTRIBUTE_TYPE attributes = {
        .period = process->period,
        .time_capacity = process->capacity,
        .entry = (uint32_t)(uintptr_t)process->body,
        .stack_size = process->stack,
        .priority = process->priority,
    };
    PROCESS_ID_TYPE id = 0;
    RETURN_CODE_TYPE code;

    memcpy(attributes.name, process->name, text_length(process->name));
    CREATE_PROCESS(&attributes, &id, &code);
    if (code == NO_ERROR) {
        START(id, &code);
    }
    if (code != NO_ERROR) {
        console_write("cannot create or start a process:");
        console_write(process->name);
        SET_PARTITION_MODE(MODE_IDLE, &code);
    }
}

void application_start(const struct application_process *processes, unsigned count, const char *idle_name)
{
    const struct application_process idle_process = {
        .name = idle_name,
        .body = idle,
        .period = INFINITE_TIME,
        .capacity = INFINITE_TIME,
        .priority = IDLE_PRIORITY,
        .stack = IDLE_STACK,
    };
    RETURN_CODE_TYPE code;

    for (unsigned i = 0; i < count; i++) {
        create(&processes[i]);
    }
    create(&idle_process);
    SET_PARTITION_MODE(MODE_NORMAL, &code);
    console_write("cannot enter NORMAL mode");
    SET_PARTITION_MODE(MODE_IDLE, &code);
}
