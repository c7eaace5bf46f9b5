/* SPDX-License-Identifier: Apache-2.0 */
/* The recording call. Ids are those of proto/events.toml; this side needs no more of the monitor. */
#include "apex.h"

enum { EVENT_USER_POINT = 256, EVENT_USER = 257, EVENT_USER_TEXT = 258 };

static inline int enabled(uint32_t event)
{
    return shared()->enable[event / 32u] >> (event % 32u) & 1u;
}

/* `sc` here keeps r13-r31 and the link register only, as a function call would. */
static inline void record_call(uint32_t event, uint32_t number, uint32_t a, uint32_t b)
{
    register uint32_t r0 __asm__("r0") = CALL_RECORD;
    register uint32_t r3 __asm__("r3") = event;
    register uint32_t r4 __asm__("r4") = number;
    register uint32_t r5 __asm__("r5") = a;
    register uint32_t r6 __asm__("r6") = b;

    __asm__ volatile("sc"
                     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6)
                     :
                     : "r7", "r8", "r9", "r10", "r11", "r12", "ctr", "xer", "cr0", "cr1", "cr5", "cr6", "cr7",
                       "memory");
}

void record_point(uint16_t number)
{
    if (enabled(EVENT_USER_POINT)) {
        record_call(EVENT_USER_POINT, number, 0, 0);
    }
}

void record(uint16_t number, uint32_t d0, uint32_t d1)
{
    if (enabled(EVENT_USER)) {
        record_call(EVENT_USER, number, d0, d1);
    }
}

void record_text(uint16_t number, const char *text)
{
    if (enabled(EVENT_USER_TEXT)) {
        record_call(EVENT_USER_TEXT, number, (uint32_t)(uintptr_t)text, (uint32_t)text_length(text));
    }
}
