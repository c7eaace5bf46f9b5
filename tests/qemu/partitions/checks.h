/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a test partition: each failure is a line on the console, the end is a line with the counts. */
#ifndef CHECKS_H
#define CHECKS_H

#include "apex.h"

static unsigned checks, failures;

static inline void put_number(char *at, unsigned value)
{
    for (int digit = 3; digit >= 0; digit--, value /= 10u) {
        at[digit] = (char)('0' + value % 10u);
    }
}

static inline void check_line(int good, const char *what, unsigned line)
{
    char text[] = "FAILED at line 0000:";

    checks++;
    if (!good) {
        failures++;
        put_number(text + 15, line);
        console_write(text);
        console_write(what);
    }
}
#define CHECK(condition) check_line((condition) != 0, #condition, __LINE__)

static inline void checks_end(void)
{
    char text[] = "checks 0000 failures 0000";

    put_number(text + 7, checks);
    put_number(text + 21, failures);
    console_write(text);
}

/* A kernel call as the processor does it, with any number and any words. */
static inline uint32_t raw_call(uint32_t number, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e)
{
    register uint32_t r0 __asm__("r0") = number;
    register uint32_t r3 __asm__("r3") = a;
    register uint32_t r4 __asm__("r4") = b;
    register uint32_t r5 __asm__("r5") = c;
    register uint32_t r6 __asm__("r6") = d;
    register uint32_t r7 __asm__("r7") = e;

    __asm__ volatile("sc"
                     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7)
                     :
                     : "r8", "r9", "r10", "r11", "r12", "ctr", "xer", "cr0", "cr1", "cr5", "cr6", "cr7", "memory");
    return r3;
}

#endif
