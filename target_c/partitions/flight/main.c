/* SPDX-License-Identifier: Apache-2.0 */
/* Flight control: the control law each 10 ms, guidance each 20 ms, and a monitor that checks each command. */
#include "apex.h"

enum { USER_COMMAND = 200, POINT_GUIDANCE = 201 };

struct command {
    uint32_t number;
    int32_t elevator, aileron, rudder;
};

static OBJECT_ID_TYPE commands, position, surfaces;

static void flight_control(void)
{
    struct command command = {0};
    RETURN_CODE_TYPE code;

    for (;;) {
        work(62);
        command.number++;
        command.elevator = (int32_t)(command.number * 37u % 2001u) - 1000;
        command.aileron = -command.elevator / 2;
        SEND_BUFFER(commands, &command, sizeof command, 0, &code);
        PERIODIC_WAIT(&code);
    }
}

static void flight_guidance(void)
{
    struct position from;
    struct surfaces to;
    uint32_t length, valid;
    RETURN_CODE_TYPE code;

    for (uint32_t step = 1;; step++) {
        record_point(POINT_GUIDANCE);
        READ_SAMPLING_MESSAGE(position, &from, &length, &valid, &code);
        work(85);
        fill_message(&to, sizeof to, step);
        SEND_QUEUING_MESSAGE(surfaces, &to, sizeof to, 0, &code);
        chatter(20);
        PERIODIC_WAIT(&code);
    }
}

static void flight_monitor(void)
{
    struct command command;
    uint32_t length;
    RETURN_CODE_TYPE code;

    for (;;) {
        RECEIVE_BUFFER(commands, INFINITE_TIME, &command, &length, &code);
        work(10);
        record(USER_COMMAND, command.number, (uint32_t)command.elevator);
    }
}

int main(void)
{
    static const struct application_process PROCESSES[] = {
        {"flight_control", flight_control, 10 * MS, 5 * MS, 50, 8192},
        {"flight_guidance", flight_guidance, 20 * MS, 20 * MS, 30, 8192},
        {"flight_monitor", flight_monitor, INFINITE_TIME, 20 * MS, 40, 4096},
    };
    RETURN_CODE_TYPE code;

    CREATE_BUFFER("flight_commands", sizeof(struct command), 4, &commands, &code);
    CREATE_SAMPLING_PORT("flt_position", POSITION_BYTES, PORT_DESTINATION, &position, &code);
    CREATE_QUEUING_PORT("flt_surfaces", SURFACES_BYTES, PORT_SOURCE, &surfaces, &code);
    console_write("flight control ready");
    application_start(PROCESSES, sizeof PROCESSES / sizeof PROCESSES[0], "flight_idle");
    return 0;
}
