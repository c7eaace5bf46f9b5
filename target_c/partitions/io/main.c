/* SPDX-License-Identifier: Apache-2.0 */
/* Input and output: the bus is polled each 10 ms; what came in is taken apart by a process that waits for it. */
#include "apex.h"

#define BURST_EVERY 25u /* polls between two bursts in scenario bursty */
#define BURST_FRAMES 30u
#define MOST_FRAMES 64u
/* Rounds of 100 ms in scenario faults. */
#define RAISE_EVERY 10u
#define RAISE_ROUND 5u
#define ILLEGAL_CALL_ROUND 22u
#define PRIVILEGE_ROUND 26u
#define NO_SUCH_CALL 250u

enum { USER_BUS_FRAME = 400, POINT_STATUS = 401, USER_STATUS = 402, USER_ERROR = 403 };

static OBJECT_ID_TYPE received, surfaces, reports;

static uint32_t frames_of(uint32_t poll)
{
    if (shared()->scenario == SCENARIO_BURSTY && poll % BURST_EVERY == 0u) {
        return BURST_FRAMES;
    }
    return poll % 3u;
}

/* What flight control wants of the surfaces comes each second poll; each poll is reported. */
static void exchange(uint32_t poll)
{
    struct surfaces from;
    struct report to;
    uint32_t length;
    RETURN_CODE_TYPE code;

    RECEIVE_QUEUING_MESSAGE(surfaces, 0, &from, &length, &code);
    fill_message(&to, sizeof to, poll);
    SEND_QUEUING_MESSAGE(reports, &to, sizeof to, 0, &code);
}

static void io_poll(void)
{
    RETURN_CODE_TYPE code;

    for (uint32_t poll = 1;; poll++) {
        work(15);
        exchange(poll);
        for (uint32_t frame = frames_of(poll); frame != 0u; frame--) {
            SIGNAL_SEMAPHORE(received, &code);
        }
        PERIODIC_WAIT(&code);
    }
}

static void io_receive(void)
{
    RETURN_CODE_TYPE code;

    for (uint32_t frame = 0;; frame++) {
        WAIT_SEMAPHORE(received, INFINITE_TIME, &code);
        work(7);
        record(USER_BUS_FRAME, frame, frame & 0x1Fu);
    }
}

/* An error of the application's own, a kernel call that does not exist, an instruction that is the kernel's alone. */
static void break_rules(void)
{
    static uint32_t turn;
    const uint32_t round = fault_turn(&turn);
    RETURN_CODE_TYPE code;

    if (round % RAISE_EVERY == RAISE_ROUND) {
        RAISE_APPLICATION_ERROR(ERROR_APPLICATION, "bus parity", 10, &code);
    } else if (round == ILLEGAL_CALL_ROUND) {
        illegal_call(NO_SUCH_CALL);
    } else if (round == PRIVILEGE_ROUND) {
        __asm__ volatile("mtmsr %0" ::"r"(0));
    }
}

/* Restarts who asked for what there is not, or for what it may not have. */
static void io_errors(void)
{
    ERROR_STATUS_TYPE status;
    RETURN_CODE_TYPE code;

    for (;;) {
        GET_ERROR_STATUS(&status, &code);
        if (code != NO_ERROR) {
            STOP_SELF();
        }
        record(USER_ERROR, status.code, status.process);
        if (status.code == ERROR_ILLEGAL_REQUEST) {
            STOP(status.process, &code);
            START(status.process, &code);
        }
    }
}

/* A file for each status; those of two rounds are closed together. */
static void write_file(uint32_t round)
{
    static OBJECT_ID_TYPE file[2];
    RETURN_CODE_TYPE code;

    OPEN("flight_recorder", &file[round % 2u], &code);
    if (round % 2u != 0u) {
        CLOSE(file[0], &code);
        CLOSE(file[1], &code);
    }
}

static void io_status(void)
{
    SYSTEM_TIME_TYPE now = 0;
    RETURN_CODE_TYPE code;

    for (uint32_t round = 0;; round++) {
        record_point(POINT_STATUS);
        GET_TIME(&now, &code);
        write_file(round);
        record(USER_STATUS, round, (uint32_t)(now / MS));
        break_rules();
        work(12);
        PERIODIC_WAIT(&code);
    }
}

int main(void)
{
    static const struct application_process PROCESSES[] = {
        {"io_poll", io_poll, 10 * MS, 10 * MS, 50, 4096},
        {"io_receive", io_receive, INFINITE_TIME, 30 * MS, 30, 4096},
        {"io_status", io_status, 100 * MS, 100 * MS, 20, 4096},
    };
    RETURN_CODE_TYPE code;

    CREATE_ERROR_HANDLER(io_errors, 4096, &code);
    CREATE_SEMAPHORE("io_frames", 0, MOST_FRAMES, &received, &code);
    CREATE_QUEUING_PORT("io_surfaces", SURFACES_BYTES, PORT_DESTINATION, &surfaces, &code);
    CREATE_QUEUING_PORT("io_reports", REPORT_BYTES, PORT_SOURCE, &reports, &code);
    console_write("input and output ready");
    application_start(PROCESSES, sizeof PROCESSES / sizeof PROCESSES[0], "io_idle");
    return 0;
}
