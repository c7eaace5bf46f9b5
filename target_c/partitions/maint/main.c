/* SPDX-License-Identifier: Apache-2.0 */
/* Maintenance: statistics each 100 ms, a self test in the background, orders on a blackboard. */
#include "apex.h"

#define ORDER_EVERY 3u
#define TEST_PROCESS 2u /* processes are numbered in the order of their creation, from 1 */
#define LOW_PRIORITY 10u
#define HIGH_PRIORITY 15u

enum { USER_ORDER = 500, TEXT_TEST = 501 };

static OBJECT_ID_TYPE orders;

static void maint_statistics(void)
{
    RETURN_CODE_TYPE code;

    for (uint32_t round = 1;; round++) {
        work(35);
        SET_PRIORITY(TEST_PROCESS, round % 2u == 0u ? LOW_PRIORITY : HIGH_PRIORITY, &code);
        if (round % ORDER_EVERY == 0u) {
            DISPLAY_BLACKBOARD(orders, &round, sizeof round, &code);
        }
        PERIODIC_WAIT(&code);
    }
}

/* In scenario faults: a store to memory of the kernel. */
static void break_memory(void)
{
    if (shared()->scenario == SCENARIO_FAULTS) {
        *(volatile uint32_t *)(uintptr_t)0x00200000u = 0;
    }
}

/* Longer than a window: it is cut by the ends of several. */
static void maint_test(void)
{
    RETURN_CODE_TYPE code;

    for (;;) {
        work(250);
        record_text(TEXT_TEST, "self test passed");
        break_memory();
        PERIODIC_WAIT(&code);
    }
}

static void maint_orders(void)
{
    uint32_t order, length;
    RETURN_CODE_TYPE code;

    for (;;) {
        READ_BLACKBOARD(orders, INFINITE_TIME, &order, &length, &code);
        CLEAR_BLACKBOARD(orders, &code);
        REPLENISH(40 * MS, &code);
        record(USER_ORDER, order, length);
        work(20);
    }
}

int main(void)
{
    static const struct application_process PROCESSES[] = {
        {"maint_statistics", maint_statistics, 100 * MS, 100 * MS, 20, 4096},
        {"maint_test", maint_test, 200 * MS, INFINITE_TIME, LOW_PRIORITY, 4096},
        {"maint_orders", maint_orders, INFINITE_TIME, 60 * MS, 30, 4096},
    };
    RETURN_CODE_TYPE code;

    CREATE_BLACKBOARD(sizeof(uint32_t), &orders, &code);
    console_write("maintenance ready");
    application_start(PROCESSES, sizeof PROCESSES / sizeof PROCESSES[0], "maint_idle");
    return 0;
}
