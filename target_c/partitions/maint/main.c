/* SPDX-License-Identifier: Apache-2.0 */
/* Maintenance: statistics each 100 ms, a self test in the background, orders on a blackboard. */
#include "apex.h"

#define ORDER_EVERY 3u
#define MEMORY_ROUND 15u /* of the test, 200 ms */
#define ORDER_PATIENCE (250 * MS)
#define TEST_PROCESS 2u /* processes are numbered in the order of their creation, from 1 */
#define LOW_PRIORITY 10u
#define HIGH_PRIORITY 15u

enum { USER_ORDER = 500, TEXT_TEST = 501 };

static OBJECT_ID_TYPE orders, reports, health;

/* All that has come since the last time, which is less than was sent: the queue is short. Then how we are. */
static void read_reports(uint32_t round)
{
    struct report report;
    struct health message;
    uint32_t length;
    RETURN_CODE_TYPE code;

    do {
        RECEIVE_QUEUING_MESSAGE(reports, 0, &report, &length, &code);
    } while (code == NO_ERROR);
    fill_message(&message, sizeof message, round);
    WRITE_SAMPLING_MESSAGE(health, &message, sizeof message, &code);
}

static void maint_statistics(void)
{
    RETURN_CODE_TYPE code;

    for (uint32_t round = 1;; round++) {
        work(35);
        read_reports(round);
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
    static uint32_t turn;

    if (fault_turn(&turn) == MEMORY_ROUND) {
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
        READ_BLACKBOARD(orders, ORDER_PATIENCE, &order, &length, &code);
        if (code != NO_ERROR) {
            continue; /* timed out */
        }
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

    CREATE_BLACKBOARD("maint_orders", sizeof(uint32_t), &orders, &code);
    CREATE_QUEUING_PORT("mnt_reports", REPORT_BYTES, PORT_DESTINATION, &reports, &code);
    CREATE_SAMPLING_PORT("mnt_health", HEALTH_BYTES, PORT_SOURCE, &health, &code);
    console_write("maintenance ready");
    application_start(PROCESSES, sizeof PROCESSES / sizeof PROCESSES[0], "maint_idle");
    return 0;
}
