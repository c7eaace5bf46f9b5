/* SPDX-License-Identifier: Apache-2.0 */
/* Navigation: an inertial sensor each 10 ms, a filter over two of its samples, a receiver that comes when it likes. */
#include "apex.h"

#define FIX_EVERY 13u /* inertial samples between two position fixes */

#define LEAK_BYTES 64u
#define LATE_EVERY 50u
#define LATE_TURN 25u

enum { POINT_SAMPLE = 100, USER_RESIDUAL = 101, TEXT_FIX = 102, USER_ERROR = 103 };

static OBJECT_ID_TYPE fix, position;

static void nav_imu(void)
{
    RETURN_CODE_TYPE code;

    for (uint32_t sample = 1;; sample++) {
        record_point(POINT_SAMPLE);
        work(38);
        if (sample % FIX_EVERY == 0u) {
            SIGNAL_SEMAPHORE(fix, &code);
        }
        PERIODIC_WAIT(&code);
    }
}

/* Each step needs a matrix for a while. In scenario leak it is forgotten: LEAK_BYTES each 20 ms. */
static void use_memory(void)
{
    void *matrix = NULL;
    RETURN_CODE_TYPE code;

    ALLOCATE(LEAK_BYTES, &matrix, &code);
    if (code == NO_ERROR) {
        memset(matrix, 0, LEAK_BYTES);
        if (shared()->scenario != SCENARIO_LEAK) {
            FREE(matrix, &code);
        }
    }
}

static void send_position(uint32_t step)
{
    struct position message;
    RETURN_CODE_TYPE code;

    fill_message(&message, sizeof message, step);
    WRITE_SAMPLING_MESSAGE(position, &message, sizeof message, &code);
}

/* In scenario faults one step each second is longer than the deadline allows. */
static unsigned work_of_step(void)
{
    static uint32_t turn;

    if (fault_turn(&turn) % LATE_EVERY == LATE_TURN) {
        return 1000;
    }
    return shared()->scenario == SCENARIO_OVERLOAD ? 580 : 150;
}

/* Notes what the health monitor tells; who was late goes on. */
static void nav_errors(void)
{
    ERROR_STATUS_TYPE status;
    RETURN_CODE_TYPE code;

    for (;;) {
        GET_ERROR_STATUS(&status, &code);
        if (code != NO_ERROR) {
            STOP_SELF();
        }
        record(USER_ERROR, status.code, status.process);
    }
}

/* In scenario overload this process wants all of NAV's time and more. */
static void nav_filter(void)
{
    RETURN_CODE_TYPE code;

    for (uint32_t step = 1;; step++) {
        work(work_of_step());
        use_memory();
        send_position(step);
        record(USER_RESIDUAL, step, step * 2654435761u);
        chatter(20);
        PERIODIC_WAIT(&code);
    }
}

static void nav_gps(void)
{
    RETURN_CODE_TYPE code;

    for (;;) {
        WAIT_SEMAPHORE(fix, INFINITE_TIME, &code);
        work(20);
        record_text(TEXT_FIX, "position fix taken");
    }
}

int main(void)
{
    static const struct application_process PROCESSES[] = {
        {"nav_imu", nav_imu, 10 * MS, 10 * MS, 40, 8192},
        {"nav_filter", nav_filter, 20 * MS, 20 * MS, 20, 8192},
        {"nav_gps", nav_gps, INFINITE_TIME, 60 * MS, 30, 4096},
    };
    RETURN_CODE_TYPE code;

    CREATE_ERROR_HANDLER(nav_errors, 4096, &code);
    CREATE_SEMAPHORE("nav_fix", 0, 8, &fix, &code);
    CREATE_SAMPLING_PORT("nav_position", POSITION_BYTES, PORT_SOURCE, &position, &code);
    console_write("navigation ready");
    application_start(PROCESSES, sizeof PROCESSES / sizeof PROCESSES[0], "nav_idle");
    return 0;
}
