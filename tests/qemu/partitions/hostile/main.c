/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the kernel with numbers and addresses that are wrong, then jumps into it. Nobody but itself may suffer. */
#include "checks.h"

#define CALLS 20000u
#define CANARY 0xC0FFEE00u

/* Addresses and sizes at the edges of what is ours, and far outside. */
static const uint32_t WORDS[] = {
    0,
    1,
    3,
    4,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0xFFFFFFFC,
    0x00100000,
    0x00200000,
    0x01000000,
    0xE0004500,
    PARTITION_TEXT,
    PARTITION_TEXT - 1,
    PARTITION_DATA - 4,
    PARTITION_DATA + PARTITION_SEGMENT_BYTES - 1,
    PARTITION_DATA + PARTITION_SEGMENT_BYTES,
    PARTITION_STACKS,
    PARTITION_STACKS + STACK_SPACING,
    PARTITION_SHARED_PAGE,
    PARTITION_SHARED_PAGE + 4092,
    0xD0000000,
    64,
    256,
    128,
};
#define WORD_COUNT (sizeof WORDS / sizeof WORDS[0])

static uint32_t canary[2] = {CANARY, CANARY};

static uint32_t dice(void)
{
    static uint32_t state = 88172645u;

    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static uint32_t word(void)
{
    return WORDS[dice() % WORD_COUNT];
}

/* Calls that end this test when they succeed are left out. */
static int is_final(uint32_t number)
{
    return number == CALL_STOP_SELF || number == CALL_SET_PARTITION_MODE || number == CALL_CONSOLE_WRITE;
}

int main(void)
{
    for (unsigned i = 0; i < CALLS; i++) {
        const uint32_t number = dice() % 8u == 0u ? word() : dice() % 70u;
        if (!is_final(number)) {
            (void)raw_call(number, word(), word(), word(), word(), word());
        }
    }
    CHECK(canary[0] == CANARY && canary[1] == CANARY);
    CHECK(raw_call(CALL_CONSOLE_WRITE, 0x00100000, 16, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_CONSOLE_WRITE, PARTITION_TEXT, 129, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_CONSOLE_WRITE, (uint32_t)(uintptr_t) "two\nlines", 9, 0, 0, 0) == NO_ERROR);
    checks_end();
    ((void (*)(void))0x00100400u)();
    return 0;
}
