/* SPDX-License-Identifier: Apache-2.0 */
/* Displays: the picture each 20 ms over two adjacent windows, symbols each 40 ms, keys when somebody presses them. */
#include "apex.h"

/* In scenario faults: the symbol update of 40 ms and the key press of 200 ms that go wrong. */
#define DIVIDE_UPDATE 60u
#define STACK_PRESS 14u
#define LINE_BYTES 40u
#define LINES 3u     /* each symbol update */
#define KEY_EVERY 5u /* symbol updates between two key presses */

enum { POINT_PICTURE = 300, USER_KEY = 301 };

struct line {
    uint32_t counter;
    uint8_t pattern[LINE_BYTES - 4u];
};

static OBJECT_ID_TYPE key, lines, position, health;

/* The lines that symbols sent, and where we are. */
static void collect(void)
{
    struct line line;
    struct position from;
    uint32_t length, valid;
    RETURN_CODE_TYPE code;

    do {
        RECEIVE_QUEUE(lines, 0, &line, &length, &code);
    } while (code == NO_ERROR);
    READ_SAMPLING_MESSAGE(position, &from, &length, &valid, &code);
}

static void display_render(void)
{
    RETURN_CODE_TYPE code;

    for (;;) {
        collect();
        work(275);
        record_point(POINT_PICTURE);
        chatter(20);
        PERIODIC_WAIT(&code);
    }
}

static void send_lines(uint32_t update)
{
    struct line line;
    struct health message;
    uint32_t length, valid;
    RETURN_CODE_TYPE code;

    for (uint32_t i = 0; i < LINES; i++) {
        fill_message(&line, sizeof line, update * LINES + i);
        SEND_QUEUE(lines, &line, sizeof line, 0, &code);
    }
    READ_SAMPLING_MESSAGE(health, &message, &length, &valid, &code);
}

/* In scenario faults the scale is once 0. */
static unsigned symbol_work(void)
{
    static uint32_t turn;

    return checked_divide(500u, fault_turn(&turn) == DIVIDE_UPDATE ? 0u : 10u);
}

static void display_symbols(void)
{
    RETURN_CODE_TYPE code;

    for (uint32_t update = 1;; update++) {
        work(50);
        TIMED_WAIT(MS / 5, &code); /* the symbol generator takes 200 us */
        work(symbol_work());
        send_lines(update);
        if (update % KEY_EVERY == 0u) {
            SET_EVENT(key, &code);
        }
        PERIODIC_WAIT(&code);
    }
}

/* Deeper than the stack is long. */
static uint32_t too_deep(uint32_t depth)
{
    volatile uint32_t frame[64];

    frame[depth % 64u] = depth;
    return depth == 0u ? 0u : too_deep(depth - 1u) + frame[depth % 64u];
}

static void display_keys(void)
{
    static uint32_t turn;
    RETURN_CODE_TYPE code;

    for (uint32_t presses = 0;; presses++) {
        WAIT_EVENT(key, INFINITE_TIME, &code);
        RESET_EVENT(key, &code);
        record(USER_KEY, presses, presses % 12u);
        if (fault_turn(&turn) == STACK_PRESS) {
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

    CREATE_EVENT("display_key", &key, &code);
    CREATE_QUEUE("display_lines", LINE_BYTES, 8, &lines, &code);
    CREATE_SAMPLING_PORT("dsp_position", POSITION_BYTES, PORT_DESTINATION, &position, &code);
    CREATE_SAMPLING_PORT("dsp_health", HEALTH_BYTES, PORT_DESTINATION, &health, &code);
    console_write("displays ready");
    application_start(PROCESSES, sizeof PROCESSES / sizeof PROCESSES[0], "display_idle");
    return 0;
}
