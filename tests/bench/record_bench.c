/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recording costs on e500mc, in instructions: a bare-metal program for QEMU's ppce500 with
 * `-icount shift=0,sleep=off`, where an instruction takes 1 ns and a tick of the timebase is 2.5 of
 * them. It runs the agent with the recording path of the demo kernel's port, without the kernel, so
 * nothing else runs. Prints lines `name value` on the console; tests/bench/recording.py runs it.
 *
 * Built a second time with tests/bench/masked on the include path, it measures the time under the mask.
 */
#include "vxm/agent.h"
#include "vxm/collect.h"
#include "vxm/hooks.h"

#include "auth.h"
#include "block.h"
#include "frame.h"
#include "kernel/net.h"
#include "machine.h"
#include "units.h"

#define HZ 400000000u
#define ROUNDS 20000u
#define ARENA_BYTES (4u << 20)
#define UNIT_SLOTS 1024u
#define KEY_BYTES 32u

static uint64_t arena[ARENA_BYTES / sizeof(uint64_t)];

/* Filled by the masked build's port: see tests/bench/masked/vxm_port_config.h. */
volatile uint32_t bench_masked_since;
volatile uint32_t bench_masked_ticks;

/* ------------------------------------------------------------------ the port's functions */

static uint64_t sent_bytes;
static uint64_t sent_blocks;

uint32_t vxm_port_clock_hz(void)
{
    return HZ;
}

void *vxm_port_arena(size_t *size)
{
    *size = sizeof arena;
    return arena;
}

uint64_t vxm_port_entropy(void)
{
    return 1;
}

size_t vxm_port_key(uint8_t key[VXM_KEY_MAX])
{
    memset(key, 0x5A, KEY_BYTES);
    return KEY_BYTES;
}

size_t vxm_port_receive(struct vxm_peer *from, const uint8_t **data)
{
    (void)from;
    (void)data;
    return 0;
}

bool vxm_port_send(const struct vxm_peer *to, uint8_t *data, size_t length)
{
    (void)to;
    if (data[6] == 3u) { /* channel BLOCK */
        sent_bytes += length;
        sent_blocks++;
    }
    return true;
}

void vxm_port_publish_enable(const uint32_t bits[32])
{
    (void)bits;
}

bool vxm_port_scenario(const char *name)
{
    (void)name;
    return false;
}

const struct vxm_interface *vxm_port_interface(const char *os_release)
{
    static const struct vxm_interface nothing;
    (void)os_release;
    return &nothing;
}

void *vxm_port_more_memory(size_t bytes)
{
    (void)bytes;
    return NULL;
}

/* ------------------------------------------------------------------ what the kernel's network driver calls */

/* As in the kernel's headers, which do not go together with the agent's. */
uint64_t arch_time(void);
uint64_t ticks_of_ns(uint64_t ns);
const char *parameter(const char *key);
void mpic_enable(uint32_t source);

uint64_t arch_time(void)
{
    return VXM_PORT_CLOCK64();
}

uint64_t ticks_of_ns(uint64_t ns)
{
    return ns * 2u / 5u;
}

const char *parameter(const char *key)
{
    (void)key;
    return NULL;
}

void mpic_enable(uint32_t source)
{
    (void)source;
}

/* ------------------------------------------------------------------ measuring */

static const uint16_t ENABLED[] = {VXM_EVENT_USER_POINT, VXM_EVENT_COMPLETE, VXM_EVENT_DEADLINE, VXM_EVENT_MSG_SEND,
                                   VXM_EVENT_USER_TEXT,  VXM_EVENT_INT_ENTR, VXM_EVENT_USER};

static void start(uint16_t units, uint8_t policy)
{
    struct vxm_agent_config config = {
        .os_release = "2.4",
        .os_name = "bench",
        .board = "bench",
        .autostart = true,
        .peer = {1, 1},
        .start = {.unit_slots = UNIT_SLOTS, .units = units, .policy = policy, .one_way = true, .flush_ms = 60000},
    };
    for (unsigned i = 0; i < sizeof ENABLED / sizeof ENABLED[0]; i++) {
        config.start.enable[ENABLED[i] / 32u] |= 1u << (ENABLED[i] % 32u);
    }
    if (vxm_agent_init(&config) != VXM_OK) {
        bare_print("the agent does not start\n");
        bare_power_off();
    }
}

/*
 * The functions under test have the arguments of the recording call, so that their bodies are what a hook
 * in an operating system is: the test of the enable bit and the call. Against each stands an empty one.
 */
#define FUNCTION static __attribute__((noipa)) void

FUNCTION nothing(uint16_t i)
{
    __asm__ volatile("" : : "r"(i));
}

FUNCTION one_argument(uint16_t i)
{
    vxm_user_point(i);
}

FUNCTION four_nothings(uint16_t task, uint64_t deadline, uint32_t kind, uint32_t activation)
{
    __asm__ volatile("" : : "r"(task), "r"(deadline), "r"(kind), "r"(activation));
}

FUNCTION four_words(uint16_t task, uint64_t deadline, uint32_t kind, uint32_t activation)
{
    vxm_deadline(task, deadline, kind, activation);
}

FUNCTION one_more_nothing(uint16_t i, uint32_t a)
{
    __asm__ volatile("" : : "r"(i), "r"(a));
}

FUNCTION two_words(uint16_t task, uint32_t activation)
{
    vxm_complete(task, activation);
}

FUNCTION two_nothings(uint16_t i, uint32_t a, uint32_t b)
{
    __asm__ volatile("" : : "r"(i), "r"(a), "r"(b));
}

FUNCTION interrupt_entry(uint16_t interrupt, uint32_t vector, uint32_t ip)
{
    vxm_hook_interrupt_entry(interrupt, vector, ip);
}

FUNCTION eight_nothings(uint16_t a, uint16_t b, uint16_t c, uint32_t d, uint32_t e, uint32_t f, uint16_t g, uint16_t h)
{
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f), "r"(g), "r"(h));
}

FUNCTION eight_words(uint16_t object, uint16_t type, uint16_t result, uint32_t number, uint32_t size, uint32_t depth,
                     uint16_t partition, uint16_t task)
{
    vxm_msg_send(object, type, result, number, size, depth, partition, task);
}

FUNCTION text_of_16(uint16_t i)
{
    vxm_user_text(i, "sixteen letters.");
}

FUNCTION switched_off(uint16_t i, uint32_t a, uint32_t b)
{
    vxm_stack_sample(i, a, b);
}

FUNCTION two_arguments(uint16_t i)
{
    vxm_complete(i, i);
}

FUNCTION user_event(uint16_t i)
{
    vxm_user(i, i, i);
}

FUNCTION four_arguments(uint16_t i)
{
    vxm_deadline(i, i, i, i);
}

FUNCTION eight_arguments(uint16_t i)
{
    vxm_msg_send(i, i, i, i, i, i, i, i);
}

FUNCTION in_interrupt(uint16_t i)
{
    vxm_hook_interrupt_entry(i, i, i);
}

#define EIGHT_TIMES(call) call, call, call, call, call, call, call, call
#define ROUNDS_OF_EIGHT 24u

/* Few enough records for one unit, so that none changes it. The empty one's return is added again. */
#define MEASURE_USUAL(name, call, empty)                                                                               \
    do {                                                                                                               \
        start(0, VXM_RING);                                                                                            \
        vxm_user_point(1);                                                                                             \
        uint32_t begin = VXM_PORT_CLOCK32();                                                                           \
        for (unsigned i = 0; i < ROUNDS_OF_EIGHT; i++) {                                                               \
            EIGHT_TIMES(call);                                                                                         \
        }                                                                                                              \
        uint32_t middle = VXM_PORT_CLOCK32();                                                                          \
        for (unsigned i = 0; i < ROUNDS_OF_EIGHT; i++) {                                                               \
            EIGHT_TIMES(empty);                                                                                        \
        }                                                                                                              \
        uint32_t end = VXM_PORT_CLOCK32();                                                                             \
        uint32_t ticks = (middle - begin) - (end - middle);                                                            \
        bare_print_tenths(name, (uint64_t)ticks *BARE_TENTHS_PER_TICK / (8u * ROUNDS_OF_EIGHT) + 10u);                 \
    } while (0)

/* Ticks of one call; its average over many hides that a tick is 2.5 instructions. */
static uint32_t ticks_of(void (*function)(uint16_t))
{
    uint32_t begin = VXM_PORT_CLOCK32();
    function(1);
    return VXM_PORT_CLOCK32() - begin;
}

static uint32_t masked_of(void (*function)(uint16_t))
{
    bench_masked_ticks = 0;
    function(1);
    return bench_masked_ticks;
}

/* Sums by what the record did to the unit: nothing, closed it, opened one. */
struct sums {
    uint64_t ticks[3];
    uint32_t count[3];
    uint32_t most;
};

static void measure_each(struct sums *sums, uint32_t (*measure)(void (*)(uint16_t)), void (*function)(uint16_t))
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const struct vxm_unit *before = vxm_recorder.stream[0].unit;
        uint32_t ticks = measure(function);
        const struct vxm_unit *after = vxm_recorder.stream[0].unit;
        unsigned kind = before == after ? 0 : after == NULL ? 1 : 2;
        sums->ticks[kind] += ticks;
        sums->count[kind]++;
        sums->most = ticks > sums->most ? ticks : sums->most;
    }
}

static uint64_t mean(const struct sums *sums, unsigned kind)
{
    return sums->count[kind] == 0 ? 0 : sums->ticks[kind] * BARE_TENTHS_PER_TICK / sums->count[kind];
}

static void measure_changes(const char *const names[3], uint16_t units, void (*function)(uint16_t))
{
    struct sums sums = {0};
    struct sums empty = {0};
    start(units, VXM_RING);
    measure_each(&empty, ticks_of, nothing);
    measure_each(&sums, ticks_of, function);
    uint64_t overhead = mean(&empty, 0) - 10u; /* its return */
    bare_print_tenths(names[0], mean(&sums, 1) - overhead);
    bare_print_tenths(names[1], mean(&sums, 2) - overhead);
    bare_print_tenths(names[2], (uint64_t)(sums.most - empty.most) * BARE_TENTHS_PER_TICK + 10u);
}

/* In the masked build; the reads of the clock within the mask are measured with an empty mask. */
static void empty_mask(uint16_t i)
{
    (void)i;
    uintptr_t state = VXM_PORT_MASK();
    VXM_PORT_UNMASK(state);
}

/* Of what is recorded in a unit that has room. */
static void measure_masked_usual(uint64_t overhead)
{
    static const struct {
        const char *name;
        void (*function)(uint16_t);
    } records[] = {{"masked_two_arguments", two_arguments},
                   {"masked_eight_arguments", eight_arguments},
                   {"masked_text_of_16_bytes", text_of_16},
                   {"masked_from_interrupt", in_interrupt}};

    for (unsigned i = 0; i < sizeof records / sizeof records[0]; i++) {
        struct sums sums = {0};
        measure_each(&sums, masked_of, records[i].function);
        bare_print_tenths(records[i].name, mean(&sums, 0) - overhead);
    }
}

static void measure_masked(void)
{
    struct sums one = {0};
    struct sums four = {0};
    struct sums empty = {0};
    start(4, VXM_RING);
    measure_each(&empty, masked_of, empty_mask);
    measure_each(&one, masked_of, one_argument);
    measure_each(&four, masked_of, four_arguments);
    uint64_t overhead = mean(&empty, 0) - 10u; /* the wrtee that ends the mask counts */
    bare_print_tenths("masked_close", mean(&one, 1) - overhead);
    bare_print_tenths("masked_open", mean(&one, 2) - overhead);
    bare_print_tenths("masked_open_four_arguments", mean(&four, 2) - overhead);
    measure_masked_usual(overhead);
}

static void measure_usual(void)
{
    MEASURE_USUAL("one_argument", one_argument(7), nothing(7));
    MEASURE_USUAL("two_arguments", two_words(7, 1), one_more_nothing(7, 1));
    MEASURE_USUAL("four_arguments", four_words(7, 1, 2, 3), four_nothings(7, 1, 2, 3));
    MEASURE_USUAL("eight_arguments", eight_words(7, 1, 2, 3, 4, 5, 6, 8), eight_nothings(7, 1, 2, 3, 4, 5, 6, 8));
    MEASURE_USUAL("text_of_16_bytes", text_of_16(7), nothing(7));
    MEASURE_USUAL("switched_off", switched_off(7, 1, 2), two_nothings(7, 1, 2));
}

/* In the handler of an interrupt: the hook of its entry. */
static void measure_interrupt(void)
{
    MEASURE_USUAL("from_interrupt", interrupt_entry(256, 10, 7), two_nothings(256, 10, 7));
}

static void measure_lost(void)
{
    start(2, VXM_LINEAR);
    for (uint32_t i = 0; i < 3u * UNIT_SLOTS; i++) {
        vxm_user_point(1);
    }
    uint32_t begin = VXM_PORT_CLOCK32();
    for (uint16_t i = 0; i < 1000; i++) {
        one_argument(i);
    }
    uint32_t middle = VXM_PORT_CLOCK32();
    for (uint16_t i = 0; i < 1000; i++) {
        nothing(i);
    }
    uint32_t ticks = (middle - begin) - (VXM_PORT_CLOCK32() - middle);
    bare_print_tenths("lost_record", (uint64_t)ticks * BARE_TENTHS_PER_TICK / 1000u + 10u);
}

/* Instructions of cutting and sending what was recorded, without the network driver. */
static void measure_upload(const char *name, void (*function)(uint16_t), uint32_t slots)
{
    const uint32_t events = 100000u;
    start(0, VXM_LINEAR);
    while (vxm_agent_step(VXM_PORT_CLOCK64() + HZ)) {
    }
    sent_bytes = 0;
    sent_blocks = 0;
    for (uint32_t i = 0; i < events; i++) {
        function((uint16_t)i);
    }
    uint64_t begin = VXM_PORT_CLOCK64();
    (void)vxm_agent_step(begin + HZ);
    uint64_t tenths = (VXM_PORT_CLOCK64() - begin) * BARE_TENTHS_PER_TICK;
    bare_print(name);
    bare_print_tenths("_instructions_per_event", tenths / events);
    bare_print(name);
    bare_print_tenths("_instructions_per_byte", tenths / ((uint64_t)events * slots * VXM_SLOT_BYTES));
    bare_print(name);
    bare_print_tenths("_instructions_per_block", sent_blocks != 0 ? tenths / sent_blocks : 0);
    bare_print(name);
    bare_print_tenths("_bytes_per_event", sent_bytes * 10u / events);
}

/*
 * Where the instructions of an upload go: finding the records of a block, its message, the copy with the checksum that
 * is a part of it, header and CRC. What is left of upload_*_instructions_per_block is the cutting around them.
 */
static void measure_parts(const char *name, uint32_t data_slots)
{
    static uint32_t words[UNIT_SLOTS * VXM_SLOT_WORDS];
    static uint8_t copy[VXM_FRAME_MAX];
    struct vxm_block block = {.run = 3, .sequence = 300};
    struct vxm_unit unit = {.base = words, .end = words + UNIT_SLOTS, .base_time = 1ull << 40, .first_index = 1u << 20};
    struct vxm_cursor cursor;
    size_t covered = 0;

    for (uint32_t at = 0; at < UNIT_SLOTS; at += VXM_SLOT_WORDS * (1u + data_slots)) {
        words[at] = VXM_HEAD(VXM_EVENT_USER_POINT, data_slots, at);
        words[at + 1u] = at;
    }
    vxm_cursor_begin(&cursor, &unit);
    uint32_t begin = VXM_PORT_CLOCK32();
    (void)vxm_block_walk(&cursor, &unit, vxm_block_max_slots(VXM_FRAME_DEFAULT), &block);
    uint32_t walked = VXM_PORT_CLOCK32();
    size_t length = vxm_block_encode(&block, vxm_frame_payload(), &covered);
    uint32_t encoded = VXM_PORT_CLOCK32();
    (void)vxm_block_copy(copy, block.words, block.slots);
    uint32_t copied = VXM_PORT_CLOCK32();
    (void)vxm_frame_send_block(&(struct vxm_peer){1, 1}, block.sequence, length, covered);
    uint32_t sent = VXM_PORT_CLOCK32();

    bare_print(name);
    bare_print_tenths("_walk_instructions_per_record", (uint64_t)(walked - begin) * BARE_TENTHS_PER_TICK / block.count);
    bare_print(name);
    bare_print_tenths("_copy_instructions_per_slot", (uint64_t)(copied - encoded) * BARE_TENTHS_PER_TICK / block.slots);
    bare_print(name);
    bare_print_tenths("_message_instructions_per_block",
                      (uint64_t)((encoded - walked) - (copied - encoded)) * BARE_TENTHS_PER_TICK);
    bare_print(name);
    bare_print_tenths("_header_and_crc_instructions_per_block", (uint64_t)(sent - copied) * BARE_TENTHS_PER_TICK);
}

/* A heartbeat of the host, an acknowledgement, a command with a configuration, the largest datagram. */
static void measure_seals(void)
{
    static const struct {
        const char *name;
        uint32_t bytes;
    } datagrams[] = {
        {"seal_44_bytes", 44}, {"seal_100_bytes", 100}, {"seal_300_bytes", 300}, {"seal_1400_bytes", 1400}};
    static uint8_t datagram[VXM_FRAME_MAX];
    const struct vxm_frame hello = {.number = 0};

    start(0, VXM_RING);
    vxm_auth_open(&hello);
    for (unsigned i = 0; i < sizeof datagrams / sizeof datagrams[0]; i++) {
        uint32_t begin = VXM_PORT_CLOCK32();
        vxm_auth_seal(datagram, datagrams[i].bytes);
        bare_print_tenths(datagrams[i].name, (uint64_t)(VXM_PORT_CLOCK32() - begin) * BARE_TENTHS_PER_TICK);
    }
    vxm_auth_close();
}

/* The demo kernel's network, to a neighbour it knows: headers, and the device, which is not counted while it copies. */
static void measure_driver(void)
{
    static const uint8_t ethernet[6] = {0x52, 0x55, 0x0A, 0, 2, 2};
    const struct net_peer peer = {.address = 0x0A000202u, .port = 6530};
    uint8_t *datagram = vxm_frame_payload() - VXM_FRAME_HEADER;
    uint32_t sent = 0;

    (void)net_init(0x0A00020Fu, 6530);
    net_set_neighbour(peer.address, ethernet);
    uint32_t begin = VXM_PORT_CLOCK32();
    for (unsigned i = 0; i < 100; i++) {
        sent += net_send(&peer, datagram, VXM_FRAME_DEFAULT);
    }
    uint32_t ticks = VXM_PORT_CLOCK32() - begin;
    bare_print_tenths("network_driver_instructions_per_block", (uint64_t)ticks * BARE_TENTHS_PER_TICK / sent);
}

void bench_main(void)
{
    const char *const free_names[3] = {"close", "open_free", "slowest_free"};
    const char *const reuse_names[3] = {"close_again", "open_reuse", "slowest_reuse"};
    const char *const four_names[3] = {"close_four", "open_reuse_four", "slowest_four"};

    bare_start();
#ifdef BENCH_MASKED
    measure_masked();
#else
    measure_usual();
    bare_interrupt(measure_interrupt);
    measure_changes(free_names, 0, one_argument);
    measure_changes(reuse_names, 4, one_argument);
    measure_changes(four_names, 4, four_arguments);
    measure_lost();
    measure_upload("upload_8", one_argument, 1);
    measure_upload("upload_16", user_event, 2);
    measure_upload("upload_24", four_arguments, 3);
    measure_parts("upload_8", 0);
    measure_parts("upload_24", 2);
    measure_driver();
    measure_seals();
#endif
    bare_print_tenths("end", 0);
    bare_power_off();
}
