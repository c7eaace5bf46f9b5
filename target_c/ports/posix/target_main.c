/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vxm-posix-target: the agent and a simulated module on Linux, reachable on 127.0.0.1. A quick target
 * for captures without QEMU. `--help` names the options.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "activity.h"
#include "generated/event_table.h"
#include "module.h"
#include "port.h"
#include "socket.h"
#include "vxm/agent.h"
#include "vxm/hooks.h"

#define DRAIN_SECONDS 5u
#define BURST 1024u
#define USAGE_STATUS 2
#define MAX_KEY_FILE 1024

struct options {
    uint64_t port;
    uint64_t run_ms;
    uint64_t rate;
    uint64_t units;
    uint64_t unit_slots;
    uint64_t arena_bytes;
    uint64_t entropy;
    uint64_t clock_hz;
    uint64_t clock_start;
    uint64_t peer_port;
    const char *release;
    const char *list;
    const char *key_file;
    bool flood;
    bool one_way;
    bool no_module;
    bool clock_set;
};

static volatile sig_atomic_t stopped;
static uint64_t chatter_rate;
static bool flooding;
static FILE *list; /* of every user event recorded; NULL: none is kept */

static const char usage[] = "usage: vxm-posix-target [options]\n"
                            "  --port N         UDP port on 127.0.0.1 (6530; 0: any free one)\n"
                            "  --run SECONDS    end after this time (0: until a signal)\n"
                            "  --rate N         user events a second beside the module's\n"
                            "  --flood          user events as fast as they can be recorded\n"
                            "  --no-module      no simulated module, only user events\n"
                            "  --release R      OS release whose event table is used (2.4)\n"
                            "  --arena BYTES    memory for record buffers (4194304)\n"
                            "  --entropy N      seed of boot id and cookies (from the system)\n"
                            "  --key-file FILE  serve only hosts that have the key in FILE (hexadecimal)\n"
                            "  --clock-hz N     ticks a second (1000000000)\n"
                            "  --clock-start N  value of the clock at the start, in ticks\n"
                            "  --autostart PORT record at once and send to 127.0.0.1:PORT\n"
                            "  --one-way        with --autostart: expect no acknowledgements\n"
                            "  --units N        with --autostart: units of the ring\n"
                            "  --unit-slots N   with --autostart: slots a unit\n"
                            "  --list FILE      write down every user event recorded, for tests: four 32-bit words,\n"
                            "                   its index, event id, argument and first data word (0: none)\n";

static void on_signal(int number)
{
    (void)signal(number, on_signal); /* POSIX leaves open whether it stays */
    stopped = stopped + 1;
}

static void fail(const char *what, const char *value)
{
    (void)fprintf(stderr, "vxm-posix-target: %s%s%s\n", what, value != NULL ? ": " : "", value != NULL ? value : "");
    exit(USAGE_STATUS);
}

static uint64_t number(const char *option, const char *text, uint64_t most)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = text != NULL && text[0] != '-' ? strtoull(text, &end, 0) : 0;
    if (end == NULL || end == text || *end != '\0' || errno != 0 || value > most) {
        fail("not a possible value", option);
    }
    return value;
}

static uint64_t milliseconds(const char *option, const char *text)
{
    char *end = NULL;
    double seconds = text != NULL ? strtod(text, &end) : -1;
    if (end == NULL || end == text || *end != '\0' || !(seconds >= 0 && seconds < 1e9)) {
        fail("not a possible value", option);
    }
    return (uint64_t)(seconds * 1000.0);
}

static bool parse_flag(struct options *options, const char *name)
{
    if (strcmp(name, "--flood") == 0) {
        options->flood = true;
    } else if (strcmp(name, "--one-way") == 0) {
        options->one_way = true;
    } else if (strcmp(name, "--no-module") == 0) {
        options->no_module = true;
    } else {
        return false;
    }
    return true;
}

static void parse_clock_start(struct options *options, const char *name, const char *value)
{
    options->clock_start = number(name, value, UINT64_MAX / 2u);
    options->clock_set = true;
}

static void parse_value(struct options *options, const char *name, const char *value)
{
    const struct {
        const char *name;
        uint64_t *to;
        uint64_t most;
    } numbers[] = {
        {"--port", &options->port, UINT16_MAX},         {"--rate", &options->rate, 100000000u},
        {"--arena", &options->arena_bytes, 1u << 30},   {"--entropy", &options->entropy, UINT64_MAX},
        {"--clock-hz", &options->clock_hz, UINT32_MAX}, {"--autostart", &options->peer_port, UINT16_MAX},
        {"--units", &options->units, UINT16_MAX},       {"--unit-slots", &options->unit_slots, UINT16_MAX},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *numbers[i].to = number(name, value, numbers[i].most);
            return;
        }
    }
    if (strcmp(name, "--clock-start") == 0) {
        parse_clock_start(options, name, value);
    } else if (strcmp(name, "--run") == 0) {
        options->run_ms = milliseconds(name, value);
    } else if (strcmp(name, "--release") == 0 && value != NULL) {
        options->release = value;
    } else if (strcmp(name, "--list") == 0 && value != NULL) {
        options->list = value;
    } else if (strcmp(name, "--key-file") == 0 && value != NULL) {
        options->key_file = value;
    } else {
        fail("unknown option", name);
    }
}

static void parse(struct options *options, int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--help") == 0) {
            (void)fputs(usage, stdout);
            exit(0);
        }
        if (!parse_flag(options, arguments[i])) {
            parse_value(options, arguments[i], i + 1 < count ? arguments[i + 1] : NULL);
            i++;
        }
    }
    if (options->clock_hz < 1000000u) {
        fail("--clock-hz must be at least 1000000", NULL);
    }
}

static uint64_t system_entropy(void)
{
    uint64_t value = 0;
    FILE *source = fopen("/dev/urandom", "rb");
    if (source == NULL || fread(&value, sizeof value, 1, source) != 1) {
        fail("cannot read /dev/urandom", NULL);
    }
    (void)fclose(source);
    return value;
}

static void read_key(const char *name)
{
    char text[MAX_KEY_FILE + 1];
    FILE *file = fopen(name, "rb");
    size_t length = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    if (file == NULL || ferror(file) != 0) {
        fail("cannot read --key-file", name);
    }
    (void)fclose(file);
    if (length > MAX_KEY_FILE || !vxm_posix_set_key(text, length)) {
        fail("no key in --key-file (32 to 128 hexadecimal digits)", name);
    }
    memset(text, 0, sizeof text);
}

static bool on_scenario(const char *name)
{
    if (strcmp(name, "nominal") == 0) {
        chatter_rate = 0;
        flooding = false;
        activity_leak(false);
    } else if (strcmp(name, "leak") == 0) {
        activity_leak(true);
    } else if (strcmp(name, "faults") == 0 && module_next() != 0) {
        activity_faults();
    } else if (strcmp(name, "chatter") == 0) {
        chatter_rate = 100000;
        flooding = false;
    } else if (strcmp(name, "flood") == 0) {
        flooding = true;
    } else {
        return false;
    }
    return true;
}

static void set_up_list(const char *path)
{
    list = path != NULL ? fopen(path, "wb") : NULL;
    if (path != NULL && list == NULL) {
        fail("cannot write --list", path);
    }
}

static void set_up_clock(const struct options *options)
{
    vxm_posix.hz = (uint32_t)options->clock_hz;
    if (options->clock_set) {
        vxm_posix.offset = options->clock_start - vxm_posix_monotonic();
    }
}

static void set_up_agent(const struct options *options, uint16_t port)
{
    void *arena = malloc(options->arena_bytes);
    struct vxm_agent_config config = {
        .os_release = options->release,
        .os_name = "posix simulation",
        .board = "posix",
        .udp_port = port,
        .autostart = options->peer_port != 0,
        .peer = {0x7F000001u, (uint16_t)options->peer_port},
        .start =
            {
                .units = (uint16_t)options->units,
                .unit_slots = (uint16_t)options->unit_slots,
                .one_way = options->one_way,
            },
    };
    const struct vxm_event_table *table = vxm_event_table_find(options->release);
    if (arena == NULL || table == NULL) {
        fail(arena == NULL ? "no memory for --arena" : "no event table for --release", options->release);
    }
    memcpy(config.start.enable, table->offered, sizeof config.start.enable);
    vxm_posix_set_arena(arena, options->arena_bytes);
    vxm_posix_set_entropy(options->entropy != 0 ? options->entropy : system_entropy());
    vxm_posix_on_scenario = on_scenario;
    if (options->key_file != NULL) {
        read_key(options->key_file);
    }
    if (vxm_agent_init(&config) != VXM_OK) {
        fail("the agent does not take this configuration", NULL);
    }
}

/* Before the event is recorded: its index is the number of attempts so far. */
static void note(uint32_t id, uint32_t arg, uint32_t word)
{
    const uint32_t row[] = {vxm_recorder.stream[0].attempts, id, arg, word};
    if (list != NULL && vxm_enabled(id)) {
        (void)fwrite(row, sizeof row, 1, list);
    }
}

/* One user event in eight carries two words of data. */
static void record_some(uint32_t count)
{
    static uint32_t serial;
    for (uint32_t i = 0; i < count; i++, serial++) {
        if (serial % 8u == 0) {
            note(VXM_EVENT_USER, serial & 0xFFFFu, serial);
            vxm_user((uint16_t)serial, serial, ~serial);
        } else {
            note(VXM_EVENT_USER_POINT, serial & 0xFFFFu, 0);
            vxm_user_point((uint16_t)serial);
        }
    }
}

static void chatter(uint64_t now)
{
    static uint64_t since;
    static uint64_t recorded;
    if (flooding) {
        record_some(BURST);
        return;
    }
    if (chatter_rate == 0 || since == 0 || now < since) {
        since = now;
        recorded = 0;
        return;
    }
    uint64_t due = (now - since) / 1000u * chatter_rate / (vxm_posix.hz / 1000u);
    uint32_t count = due - recorded < BURST ? (uint32_t)(due - recorded) : BURST;
    record_some(count);
    recorded += count;
}

static void wait_for_work(bool with_module)
{
    uint64_t now = VXM_PORT_CLOCK64();
    if (flooding || chatter_rate > 1000000u) {
        return;
    }
    if (!with_module || module_next() > now + vxm_posix.hz / 500u) {
        vxm_posix_socket_wait(1);
    } else if (module_next() > now + vxm_posix.hz / 10000u) {
        const struct timespec nap = {0, 50000};
        (void)nanosleep(&nap, NULL);
    }
}

static void run(const struct options *options)
{
    uint64_t begin = VXM_PORT_CLOCK64();
    uint64_t length = options->run_ms * (vxm_posix.hz / 1000u);
    while (!stopped && (length == 0 || VXM_PORT_CLOCK64() - begin < length)) {
        uint64_t now = VXM_PORT_CLOCK64();
        if (!options->no_module) {
            module_advance(now);
        }
        chatter(now);
        if (!vxm_agent_step(now + vxm_posix.hz / 1000u)) {
            wait_for_work(!options->no_module);
        }
    }
}

/* What was recorded still leaves, as long as somebody takes it. A second signal ends it at once. */
static void drain(void)
{
    uint64_t end = VXM_PORT_CLOCK64() + (uint64_t)vxm_posix.hz * DRAIN_SECONDS;
    (void)vxm_agent_stop(VXM_STOP_REASON_SHUTDOWN);
    while (vxm_agent_busy() && stopped < 2 && VXM_PORT_CLOCK64() < end) {
        if (!vxm_agent_step(VXM_PORT_CLOCK64() + vxm_posix.hz / 1000u)) {
            vxm_posix_socket_wait(1);
        }
    }
}

int main(int count, char **arguments)
{
    struct options options = {
        .port = 6530,
        .release = "2.4",
        .arena_bytes = 4u << 20,
        .clock_hz = 1000000000u,
    };
    parse(&options, count, arguments);
    (void)signal(SIGINT, on_signal);
    (void)signal(SIGTERM, on_signal);
    set_up_clock(&options);
    set_up_list(options.list);
    uint16_t port = vxm_posix_socket_open((uint16_t)options.port);
    if (port == 0) {
        fail("cannot bind the port", strerror(errno));
    }
    set_up_agent(&options, port);
    if (!options.no_module) {
        module_create();
    }
    chatter_rate = options.rate;
    flooding = options.flood;
    (void)printf("vxm-posix-target: listening on 127.0.0.1:%" PRIu16 "\n", port);
    (void)fflush(stdout);
    run(&options);
    drain();
    if (list != NULL && fclose(list) != 0) {
        fail("cannot write --list", options.list);
    }
    struct vxm_totals totals;
    vxm_agent_totals(0, &totals);
    (void)printf("vxm-posix-target: recorded %" PRIu64 ", overwritten %" PRIu64 ", full %" PRIu64 ", exhausted %" PRIu64
                 ", blocks %" PRIu64 "\n",
                 totals.recorded, totals.overwritten, totals.full, totals.exhausted, totals.blocks);
    return 0;
}
