/* SPDX-License-Identifier: Apache-2.0 */
/* Displays: the picture each 20 ms over two adjacent windows, symbols each 40 ms, keys when somebody presses them. */
#include "apex.h"

#define KEY_EVERY 5u /* symbol updates between two key presses */

enum { POINT_PICTURE = 300, USER_KEY = 301 };

static OBJECT_ID_TYPE key;

static void display_render(void)
{
    RETURN_CODE_TYPE code;

    for (;;) {
        work(275);
        record_point(POINT_PICTURE);
        chatter(20);
        PERIODIC_WAIT(&code);
    }
}

static void display_symbols(void)
{
    RETURN_CODE_TYPE code;

    for (uint32_t update = 1;; update++) {
        work(50);
        TIMED_WAIT(MS / 5, &code); /* the symbol generator takes 200 us */
        work(50);
        if (update % KEY_EVERY == 0u) {
            SET_EVENT(key, &code);
        }
        PERIODIC_WAIT(&code);
    }
}

/* In scenario faults: deeper than the stack is long. */
static uint32_t too_deep(uint32_t depth)
{
    volatile uint32_t frame[64];

    frame[depth % 64u] = depth;
    return depth == 0u ? 0u : too_deep(depth - 1u) + frame[depth % 64u];
}

static void display_keys(void)
{
    RETURN_CODE_TYPE code;

    for (uint32_t presses = 0;; presses++) {
        WAIT_EVENT(key, INFINITE_TIME, &code);
        RESET_EVENT(key, &code);
        record(USER_KEY, presses, presses % 12u);
        if (shared()->scenario == SCENARIO_FAULTS) {
            record(USER_KEY, too_deep(1000), 0);
        }
        work(25);
    }
}

int main(void)
{
    static const struct application_process PROCESSES[] = {
        {"display_render", display_render, 20 * MS, 20 * MS, 20, 16384},
        {"display_symbols", display_symbols, 40 * MS, 40 * MS, 10, 8192},
        {"display_keys", display_keys, INFINITE_TIME, 100 * MS, 30, 4096},
    };
    RETURN_CODE_TYPE code;

    CREATE_EVENT(&key, &code);
    console_write("displays ready");
    application_start(PROCESSES, sizeof PROCESSES / sizeof PROCESSES[0], "display_idle");
    return 0;
}
