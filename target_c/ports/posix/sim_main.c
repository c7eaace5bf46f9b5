/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vxm-sim: the agent with a clock, a network and interrupts that a test drives line by line on stdin.
 * Numbers are decimal or 0x..., bytes are hexadecimal. What answers says so; the rest is silent.
 *
 *   init NAME=NUMBER...        release=24 arena hz clock entropy cost, and for a run that starts at once:
 *                              autostart=PORT one_way units unit_slots policy datagram_bytes high_water
 *                              flush_ms no_upload max_ticks            -> init STATUS
 *   clock TICKS | advance TICKS
 *   stream NUMBER              who runs from now on
 *   record ID ARG [WORD...]    if the event is on; words in pairs
 *   interrupt NTH ID ARG [WORD...]   the same in an interrupt at the NTH end of a masked section from now
 *   fired                      forgets interrupts that did not come     -> fired INDEX TIME ... of those that came
 *   window N | partition N | task N REASON PREVIOUS | enter N | exit N | age | exception V C A I
 *   create partition NAME HANDLE | create task NAME PARTITION HANDLE | create object NAME TYPE PARTITION HANDLE
 *                                                                     -> index N
 *   schedule WINDOWS           a schedule of so many windows
 *   step TICKS                 the agent works for so long            -> step WORKED
 *   network COUNT              the network takes so many datagrams (-1: all)
 *   inject ADDRESS PORT BYTES
 *   sent                       -> datagram ADDRESS PORT BYTES ..., then: end
 *   totals STREAM              -> totals RECORDED OVERWRITTEN FULL EXHAUSTED BLOCKS BUSY
 *   stop REASON                -> stop STATUS
 *   send OBJECT TYPE RESULT NUMBER DEPTH PARTITION TASK SIZE   a message sent, with bytes NUMBER, NUMBER + 1 ...
 *   receive ...                                                the same, received
 *   switched PARTITION FREE ALLOCATED | stack_used TASK USED   the hooks of that
 *   kernel_call CALL PARTITION TASK
 *   memory PARTITION FREE ALLOCATED BLOCKS LARGEST HIGH | stack TASK SIZE HIGH
 *   operation PARTITION OPERATION CLASS COUNT TOTAL | more BYTES
 *   log LOG CODE KIND PARTITION TASK TIME    an entry of a log
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generated/event_table.h"
#include "port.h"
#include "sim_sources.h"
#include "vxm/agent.h"
#include "vxm/hooks.h"

#define MAX_WORDS 64
#define MAX_DATAGRAM 2048u
#define MAX_QUEUE 4096u
#define MAX_INTERRUPTS 64u
#define MAX_WINDOWS 512u
#define MAX_LINE 8192
#define LOOPBACK 0x7F000001u

struct datagram {
    struct vxm_peer peer;
    size_t length;
    uint8_t bytes[MAX_DATAGRAM];
};

struct queue {
    struct datagram *items;
    size_t first;
    size_t count;
};

struct record {
    uint64_t nth;
    uint32_t id;
    uint16_t arg;
    uint32_t data_words;
    uint32_t words[2u * VXM_MAX_DATA_SLOTS];
};

static struct queue inbox;
static struct queue outbox;
static int64_t network = -1;
static uint64_t send_cost;
static struct record interrupts[MAX_INTERRUPTS];
static size_t interrupt_count;
static struct {
    uint32_t index; /* records attempted before, low 32 bits */
    uint64_t time;
} fired[MAX_INTERRUPTS];
static size_t fired_count;
static char *words[MAX_WORDS];
static int word_count;

static void fail(const char *what)
{
    (void)fprintf(stderr, "vxm-sim: %s%s%s\n", what, word_count > 0 ? ": " : "", word_count > 0 ? words[0] : "");
    exit(2);
}

static uint64_t number_of(const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (end == text || *end != '\0' || errno != 0) {
        fail("not a number");
    }
    return value;
}

static uint64_t number(int at)
{
    if (at >= word_count) {
        fail("a number is missing");
    }
    return number_of(words[at]);
}

static const char *text(int at)
{
    if (at >= word_count) {
        fail("a word is missing");
    }
    return words[at];
}

/* ------------------------------------------------------------------ network */

static struct datagram *add(struct queue *queue)
{
    if (queue->items == NULL) {
        queue->items = calloc(MAX_QUEUE, sizeof *queue->items);
    }
    if (queue->items == NULL || queue->count == MAX_QUEUE) {
        fail("too many datagrams");
    }
    return &queue->items[(queue->first + queue->count++) % MAX_QUEUE];
}

static struct datagram *take(struct queue *queue)
{
    struct datagram *item = &queue->items[queue->first];
    queue->first = (queue->first + 1u) % MAX_QUEUE;
    queue->count--;
    return item;
}

size_t vxm_posix_network_receive(struct vxm_peer *from, const uint8_t **data)
{
    if (inbox.count == 0) {
        return 0;
    }
    const struct datagram *datagram = take(&inbox);
    *from = datagram->peer;
    *data = datagram->bytes;
    return datagram->length;
}

bool vxm_posix_network_send(const struct vxm_peer *to, uint8_t *data, size_t length)
{
    vxm_posix.now += send_cost;
    if (network == 0) {
        return false;
    }
    if (network > 0) {
        network--;
    }
    struct datagram *datagram = add(&outbox);
    datagram->peer = *to;
    datagram->length = length;
    memcpy(datagram->bytes, data, length);
    memset(data - VXM_PORT_HEADROOM, 0xA5, VXM_PORT_HEADROOM + length); /* the port may use both as it likes */
    return true;
}

static int nibble(char digit)
{
    const char digits[] = "0123456789abcdef";
    const char *at = digit != '\0' ? strchr(digits, digit) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static void do_inject(void)
{
    const char *from = text(3);
    size_t length = strlen(from) / 2u;
    if (length > MAX_DATAGRAM || strlen(from) % 2u != 0) {
        fail("not a datagram");
    }
    struct datagram *datagram = add(&inbox);
    datagram->peer = (struct vxm_peer){(uint32_t)number(1), (uint16_t)number(2)};
    datagram->length = length;
    for (size_t i = 0; i < length; i++) {
        int high = nibble(from[2u * i]);
        int low = nibble(from[2u * i + 1u]);
        if (high < 0 || low < 0) {
            fail("not hexadecimal");
        }
        datagram->bytes[i] = (uint8_t)(high << 4 | low);
    }
}

static void do_sent(void)
{
    static char hex[2u * MAX_DATAGRAM + 1u];
    while (outbox.count > 0) {
        const struct datagram *datagram = take(&outbox);
        for (size_t i = 0; i < datagram->length; i++) {
            hex[2u * i] = "0123456789abcdef"[datagram->bytes[i] >> 4];
            hex[2u * i + 1u] = "0123456789abcdef"[datagram->bytes[i] & 15u];
        }
        hex[2u * datagram->length] = '\0';
        (void)printf("datagram %" PRIu32 " %" PRIu16 " %s\n", datagram->peer.address, datagram->peer.port, hex);
    }
    (void)printf("end\n");
}

/* ------------------------------------------------------------------ recording */

static struct record record_from(int at)
{
    struct record record = {.id = (uint32_t)number(at), .arg = (uint16_t)number(at + 1)};
    int count = word_count - at - 2;
    if (record.id >= VXM_MAX_EVENTS || count % 2 != 0 || count > (int)(2u * VXM_MAX_DATA_SLOTS)) {
        fail("not a record");
    }
    record.data_words = (uint32_t)count;
    for (int i = 0; i < count; i++) {
        record.words[i] = (uint32_t)number(at + 2 + i);
    }
    return record;
}

/* Each size takes the way that the generated functions of this size take. */
static void store(const struct record *record)
{
    const uint32_t *w = record->words;
    uint32_t head = VXM_HEAD(record->id, record->data_words / 2u, record->arg);
    if (!vxm_enabled(record->id)) {
        return;
    }
    switch (record->data_words) {
    case 0:
        vxm_record0(head);
        break;
    case 2:
        vxm_record1(head, w[0], w[1]);
        break;
    case 4:
        vxm_record2(head, w[0], w[1], w[2], w[3]);
        break;
    case 6:
        vxm_record3(head, w[0], w[1], w[2], w[3], w[4], w[5]);
        break;
    default:
        vxm_record_n(head, w);
        break;
    }
}

static void on_interrupt(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < interrupt_count; i++) {
        if (--interrupts[i].nth == 0) {
            fired[fired_count].index = vxm_recorder.stream[VXM_PORT_STREAM()].attempts;
            fired[fired_count++].time = vxm_posix.now;
            store(&interrupts[i]);
        } else {
            interrupts[kept++] = interrupts[i];
        }
    }
    interrupt_count = kept;
    vxm_posix.interrupt = kept > 0 ? on_interrupt : NULL;
}

static void do_interrupt(void)
{
    if (interrupt_count + fired_count == MAX_INTERRUPTS || number(1) == 0) {
        fail("not a possible interrupt");
    }
    interrupts[interrupt_count] = record_from(2);
    interrupts[interrupt_count++].nth = number(1);
    vxm_posix.interrupt = on_interrupt;
}

static void do_fired(void)
{
    (void)printf("fired");
    for (size_t i = 0; i < fired_count; i++) {
        (void)printf(" %" PRIu32 " %" PRIu64, fired[i].index, fired[i].time);
    }
    (void)printf("\n");
    interrupt_count = 0;
    fired_count = 0;
    vxm_posix.interrupt = NULL;
}

static void do_record(void)
{
    const struct record record = record_from(1);
    store(&record);
}

/* ------------------------------------------------------------------ the agent */

static uint64_t setting(const char *name, uint64_t otherwise)
{
    size_t length = strlen(name);
    for (int i = 1; i < word_count; i++) {
        if (strncmp(words[i], name, length) == 0 && words[i][length] == '=') {
            return number_of(words[i] + length + 1u);
        }
    }
    return otherwise;
}

static void fill_run(struct vxm_run_config *run, const char *release)
{
    const struct vxm_event_table *table = vxm_event_table_find(release);
    memcpy(run->enable, table->offered, sizeof run->enable);
    run->datagram_bytes = (uint16_t)setting("datagram_bytes", 0);
    run->unit_slots = (uint16_t)setting("unit_slots", 0);
    run->units = (uint16_t)setting("units", 0);
    run->policy = (uint8_t)setting("policy", 0);
    run->high_water = (uint8_t)setting("high_water", 0);
    run->flush_ms = (uint16_t)setting("flush_ms", 0);
    run->one_way = setting("one_way", 0) != 0;
    run->no_upload = setting("no_upload", 0) != 0;
    run->max_ticks = setting("max_ticks", 0);
}

static void do_init(void)
{
    size_t arena_bytes = (size_t)setting("arena", 1u << 18);
    struct vxm_agent_config config = {
        .os_release = setting("release", 24) == 22 ? "2.2" : "2.4",
        .os_name = "simulation",
        .board = "none",
        .udp_port = 6530,
        .autostart = setting("autostart", 0) != 0,
        .peer = {LOOPBACK, (uint16_t)setting("autostart", 0)},
    };
    fill_run(&config.start, config.os_release);
    vxm_posix.manual = true;
    vxm_posix.hz = (uint32_t)setting("hz", 400000000u);
    vxm_posix.now = setting("clock", 0);
    send_cost = setting("cost", 1);
    vxm_posix_set_arena(malloc(arena_bytes), arena_bytes);
    vxm_posix_set_entropy(setting("entropy", 1));
    (void)printf("init %d\n", vxm_agent_init(&config));
}

/* Before init: the text of a key file. */
static void do_key(void)
{
    (void)printf("key %d\n", vxm_posix_set_key(text(1), strlen(text(1))));
}

static void do_create(void)
{
    uint16_t index = VXM_UNNAMED;
    const char *name = text(2);
    if (strcmp(text(1), "partition") == 0) {
        index = vxm_hook_partition_create(name, (uint32_t)number(3));
    } else if (strcmp(text(1), "task") == 0) {
        const struct vxm_task_info info = {
            .name = name, .partition = (uint16_t)number(3), .handle = (uint32_t)number(4)};
        index = vxm_hook_task_create(&info);
    } else if (strcmp(text(1), "object") == 0) {
        index = vxm_hook_object_create(name, (uint16_t)number(3), (uint16_t)number(4), (uint32_t)number(5), 64, 8);
    } else {
        fail("cannot create that");
    }
    (void)printf("index %" PRIu16 "\n", index);
}

static void do_schedule(void)
{
    static struct vxm_window_info windows[MAX_WINDOWS];
    static struct vxm_schedule_info schedule = {.windows = windows};
    if (number(1) > MAX_WINDOWS) {
        fail("too many windows");
    }
    schedule.window_count = (uint16_t)number(1);
    for (uint16_t i = 0; i < schedule.window_count; i++) {
        windows[i] = (struct vxm_window_info){.partition = i % 4u, .offset = i * 1000u, .duration = 1000};
    }
    schedule.major_frame = schedule.window_count * 1000u;
    vxm_hook_schedule(&schedule);
}

static void do_totals(void)
{
    struct vxm_totals totals;
    vxm_agent_totals((unsigned)number(1), &totals);
    (void)printf("totals %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n", totals.recorded,
                 totals.overwritten, totals.full, totals.exhausted, totals.blocks, vxm_agent_busy());
}

static void do_stream(void)
{
    if (number(1) >= VXM_PORT_STREAMS) {
        fail("no such stream");
    }
    vxm_posix.stream = (unsigned)number(1);
}

static void do_clock(void)
{
    vxm_posix.now = number(1);
}

static void do_advance(void)
{
    vxm_posix.now += number(1);
}

static void do_network(void)
{
    network = strcmp(text(1), "-1") == 0 ? -1 : (int64_t)number(1);
}

static void do_step(void)
{
    (void)printf("step %d\n", vxm_agent_step(vxm_posix.now + number(1)));
}

static void do_stop(void)
{
    (void)printf("stop %d\n", vxm_agent_stop((uint16_t)number(1)));
}

static void do_window(void)
{
    vxm_hook_window((uint16_t)number(1));
}

static void do_partition(void)
{
    vxm_hook_partition_switch((uint16_t)number(1));
}

static void do_task(void)
{
    vxm_hook_task_switch((uint16_t)number(1), (uint16_t)number(2), (uint16_t)number(3));
}

static void do_enter(void)
{
    vxm_hook_interrupt_entry((uint16_t)number(1), 0x500, 0x1000);
}

static void do_exit(void)
{
    vxm_hook_interrupt_exit((uint16_t)number(1));
}

static void do_exception(void)
{
    vxm_pending_exception((uint32_t)number(1), (uint32_t)number(2), (uint32_t)number(3), (uint32_t)number(4));
}

static const struct {
    const char *name;
    void (*run)(void);
} commands[] = {
    {"init", do_init},           {"clock", do_clock},         {"advance", do_advance}, {"stream", do_stream},
    {"record", do_record},       {"interrupt", do_interrupt}, {"window", do_window},   {"partition", do_partition},
    {"task", do_task},           {"enter", do_enter},         {"exit", do_exit},       {"age", vxm_hook_age_check},
    {"exception", do_exception}, {"create", do_create},       {"step", do_step},       {"network", do_network},
    {"schedule", do_schedule},   {"inject", do_inject},       {"sent", do_sent},       {"totals", do_totals},
    {"stop", do_stop},           {"fired", do_fired},         {"key", do_key},
};

static void split(char *line)
{
    word_count = 0;
    for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        if (word_count == MAX_WORDS) {
            fail("too many words");
        }
        words[word_count++] = word;
    }
}

/* All words but the first. */
static const uint64_t *numbers(void)
{
    static uint64_t values[MAX_WORDS];
    for (int i = 1; i < word_count; i++) {
        values[i - 1] = number(i);
    }
    return values;
}

static void serve(void)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(words[0], commands[i].name) == 0) {
            commands[i].run();
            return;
        }
    }
    if (!sim_source(words[0], numbers(), word_count - 1)) {
        fail("unknown command");
    }
}

int main(void)
{
    static char line[MAX_LINE];
    while (fgets(line, sizeof line, stdin) != NULL) {
        split(line);
        if (word_count > 0) {
            serve();
            (void)fflush(stdout);
        }
    }
    return 0;
}
