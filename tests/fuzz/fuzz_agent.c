/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-agent: hostile datagrams into the agent, under the sanitizers it is built with. Random bytes,
 * valid messages with random fields, and mutations of both with the CRC put right again, so that they
 * get past the frame check; from the controlling host and from strangers, while records, clock and
 * network go on. Three things must hold: no finding, strangers never get more bytes than they sent,
 * and in the end the agent still answers.
 *
 *   fuzz-agent [--count N] [--seconds S] [--seed N] [--key 1]
 *
 * With a key most datagrams of the host are sealed, so that they get past the HMAC too.
 */
#include <bearssl_hmac.h>
#include <errno.h>
#include <inttypes.h>
#include <pb_decode.h>
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frame.h"
#include "generated/event_table.h"
#include "generated/vxmon.pb.h"
#include "port.h"
#include "state.h"
#include "vxm/agent.h"
#include "vxm/hooks.h"

#define HZ 1000000u
#define ARENA_BYTES (1u << 16)
#define LOOPBACK 0x7F000001u
#define HOST_PORT 4000u
#define STRANGER_PORT 5000u
#define STRANGERS 8u
#define LARGEST 1600u
#define CHECK_EACH 32u

static const char DIGITS[] = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";
static const uint8_t secret[] = {0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a,
                                 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a};
static uint64_t chance = 1;

static struct {
    uint8_t bytes[LARGEST];
    size_t length;
    struct vxm_peer from;
    bool waiting;
} incoming;

static struct {
    uint8_t bytes[LARGEST];
    size_t length;
    bool arrived;
} last_reply;

static uint64_t stranger_sent[STRANGERS]; /* by the stranger */
static uint64_t stranger_got[STRANGERS];
static bool network_up = true;
static uint32_t request = 1;
static uint64_t served;
static uint64_t while_running;

/* xorshift64*, Marsaglia and Vigna */
static uint64_t any(void)
{
    chance ^= chance >> 12;
    chance ^= chance << 25;
    chance ^= chance >> 27;
    return chance * 0x2545F4914F6CDD1Du;
}

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(any() % limit);
}

/* Small, large and edge values more often than others. */
static uint64_t odd_number(void)
{
    switch (below(6)) {
    case 0:
        return below(4);
    case 1:
        return below(2000);
    case 2:
        return UINT64_MAX - below(4);
    case 3:
        return (uint64_t)1 << below(64);
    case 4:
        return ((uint64_t)1 << below(64)) - 1u;
    default:
        return any();
    }
}

static void fail(const char *what)
{
    (void)fprintf(stderr, "fuzz-agent: %s after %" PRIu64 " datagrams\n", what, served);
    exit(1);
}

/* ------------------------------------------------------------------ network */

size_t vxm_posix_network_receive(struct vxm_peer *from, const uint8_t **data)
{
    if (!incoming.waiting) {
        return 0;
    }
    incoming.waiting = false;
    *from = incoming.from;
    *data = incoming.bytes;
    return incoming.length;
}

static void check_stranger(uint16_t port, size_t length)
{
    if (port < STRANGER_PORT || port >= STRANGER_PORT + STRANGERS) {
        fail("a datagram for nobody");
    }
    stranger_got[port - STRANGER_PORT] += length;
    if (stranger_got[port - STRANGER_PORT] > stranger_sent[port - STRANGER_PORT]) {
        fail("a stranger got more than it sent");
    }
}

bool vxm_posix_network_send(const struct vxm_peer *to, uint8_t *data, size_t length)
{
    vxm_posix.now += 5;
    if (!network_up) {
        return false;
    }
    if (length < VXM_FRAME_HEADER || length > VXM_FRAME_MAX) {
        fail("a datagram of impossible size");
    }
    if (to->port != HOST_PORT) {
        check_stranger(to->port, length);
    } else if (data[6] == VXM_CHANNEL_REPLY && data[17] == 0) {
        last_reply.length = length - VXM_FRAME_HEADER - ((data[5] & 2u) != 0 ? VXM_FRAME_TRAILER : 0u);
        memcpy(last_reply.bytes, data + VXM_FRAME_HEADER, last_reply.length);
        last_reply.arrived = true;
    }
    memset(data - VXM_PORT_HEADROOM, 0x5A, VXM_PORT_HEADROOM + length);
    return true;
}

static void put(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(value >> (8u * (bytes - 1u - i)));
    }
}

static void fix_crc(void)
{
    if (incoming.length >= VXM_FRAME_HEADER) {
        uint32_t crc = vxm_frame_crc(0, incoming.bytes, 28);
        crc = vxm_frame_crc(crc, incoming.bytes + VXM_FRAME_HEADER, incoming.length - VXM_FRAME_HEADER);
        put(incoming.bytes + 28, crc, 4);
    }
}

/* A right header for the payload that is in place. */
static void make_header(uint8_t channel, size_t payload)
{
    uint8_t *data = incoming.bytes;
    memset(data, 0, VXM_FRAME_HEADER);
    put(data, VXM_FRAME_MAGIC, 4);
    data[4] = VXM_FRAME_VERSION;
    data[6] = channel;
    data[7] = VXM_FRAME_HEADER;
    put(data + 18, 1, 2);
    put(data + 20, payload, 2);
    put(data + 22, payload, 2);
    incoming.length = VXM_FRAME_HEADER + payload;
    fix_crc();
}

/* What the host knows of its session; session 0: it has no key, or none yet. */
static struct {
    bool keyed;
    uint64_t nonce;
    uint32_t session;
    uint32_t number;
} host;

static void make_mac(size_t size)
{
    static const uint8_t label[] = "vxm1host";
    br_hmac_key_context key;
    br_hmac_context hmac;
    uint8_t nonce[8];
    put(nonce, host.nonce, 8);
    br_hmac_key_init(&key, &br_sha256_vtable, secret, sizeof secret);
    br_hmac_init(&hmac, &key, 16);
    br_hmac_update(&hmac, label, 8);
    br_hmac_update(&hmac, nonce, 8);
    br_hmac_update(&hmac, incoming.bytes, size);
    br_hmac_out(&hmac, incoming.bytes + size);
}

/* Puts a right trailer behind what is there, whatever that is. */
static void seal(void)
{
    size_t size = incoming.length;
    if (host.session == 0 || size < VXM_FRAME_HEADER || size > LARGEST - VXM_FRAME_TRAILER) {
        return;
    }
    incoming.bytes[5] |= 2u;
    fix_crc();
    put(incoming.bytes + size, host.session, 4);
    put(incoming.bytes + size + 4u, host.number++, 4);
    make_mac(size + 8u);
    incoming.length = size + VXM_FRAME_TRAILER;
}

static void deliver(uint16_t port)
{
    incoming.from = (struct vxm_peer){LOOPBACK, port};
    incoming.waiting = true;
    if (port != HOST_PORT) {
        stranger_sent[port - STRANGER_PORT] += incoming.length;
    }
    served++;
    while_running += vxm_agent.running;
    for (unsigned i = 0; i < 4 && (incoming.waiting || i == 0); i++) {
        (void)vxm_agent_step(vxm_posix.now + 100u);
    }
}

/* ------------------------------------------------------------------ messages */

static void encode(uint8_t channel, const pb_msgdesc_t *fields, const void *message)
{
    pb_ostream_t stream = pb_ostream_from_buffer(incoming.bytes + VXM_FRAME_HEADER, VXM_FRAME_MAX - VXM_FRAME_HEADER);
    if (!pb_encode(&stream, fields, message)) {
        stream.bytes_written = below(64); /* what was written so far, cut somewhere */
    }
    make_header(channel, stream.bytes_written);
}

static void random_config(vxmon_RunConfig *config)
{
    const struct vxm_event_table *table = vxm_event_table_find("2.4");
    config->enable.size = (pb_size_t)below(129);
    for (unsigned i = 0; i < config->enable.size; i++) {
        config->enable.bytes[i] = (uint8_t)(table->offered[i / 4u] >> (8u * (i % 4u)));
    }
    if (below(32) == 0 && config->enable.size > 0) {
        config->enable.bytes[below(config->enable.size)] = (uint8_t)any();
    }
    config->datagram_bytes = below(32) == 0 ? (uint32_t)odd_number() : 512u + below(961);
    config->unit_slots = below(32) == 0 ? (uint32_t)odd_number() : 128u + below(1000);
    config->units = below(32) == 0 ? (uint32_t)odd_number() : 2u + below(5);
    config->policy = (vxmon_Policy)(below(32) == 0 ? 2u : below(2));
    config->high_water = below(32) == 0 ? (uint32_t)odd_number() : below(101);
    config->flush_ms = below(32) == 0 ? (uint32_t)odd_number() : below(200);
    config->one_way = below(4) == 0;
    config->no_upload = below(8) == 0;
    config->max_ticks = below(4) == 0 ? odd_number() : 0;
}

static void random_text(char *text, size_t size)
{
    size_t length = below((uint32_t)size);
    for (size_t i = 0; i < length; i++) {
        text[i] = (char)(1u + below(255));
    }
    text[length] = '\0';
}

static void random_body(vxmon_Command *command)
{
    command->which_body = (pb_size_t)(vxmon_Command_hello_tag + below(10));
    switch (command->which_body) {
    case vxmon_Command_hello_tag:
        command->body.hello.cookie = below(2) == 0 ? any() : 0;
        command->body.hello.pad.size = (pb_size_t)below(65);
        break;
    case vxmon_Command_start_tag:
        command->body.start.has_config = below(8) != 0;
        random_config(&command->body.start.config);
        break;
    case vxmon_Command_trigger_tag:
        command->body.trigger.number = (uint32_t)odd_number();
        random_text(command->body.trigger.text, sizeof command->body.trigger.text);
        break;
    case vxmon_Command_scenario_tag:
        random_text(command->body.scenario.name, sizeof command->body.scenario.name);
        break;
    case vxmon_Command_filter_tag:
        command->body.filter.event = below(3) == 0 ? (uint32_t)odd_number() : below(300);
        command->body.filter.on = below(2) == 0;
        break;
    default:
        break;
    }
}

static void random_command(void)
{
    static vxmon_Command command;
    memset(&command, 0, sizeof command);
    command.request = below(200) == 0 ? (uint32_t)odd_number() : ++request;
    random_body(&command);
    encode(VXM_CHANNEL_COMMAND, vxmon_Command_fields, &command);
}

static uint64_t odd_or(uint64_t number)
{
    return below(64) == 0 ? odd_number() : number;
}

/* Blocks that were cut are acknowledged and missed; now and then a number is one that cannot be. */
static void random_stream_ack(vxmon_StreamAck *stream, uint64_t blocks)
{
    uint64_t window = blocks < 40u ? blocks : 40u;
    uint64_t at = blocks - (window != 0 ? any() % (window + 1u) : 0);
    stream->stream = (uint32_t)odd_or(0);
    stream->next = odd_or(at);
    stream->seen = odd_or(at + (blocks > at ? any() % (blocks - at + 1u) : 0));
    while (stream->missing_count < 16u && at < blocks && below(8) != 0) {
        uint64_t count = 1u + any() % (blocks - at);
        count = count < 3u ? count : 3u;
        stream->missing[stream->missing_count].first = odd_or(at);
        stream->missing[stream->missing_count++].count = odd_or(count);
        at += count + below(3);
    }
}

static void random_ack(void)
{
    static vxmon_Ack ack;
    struct vxm_totals totals;
    memset(&ack, 0, sizeof ack);
    vxm_agent_totals(0, &totals);
    ack.run = (uint32_t)odd_or(vxm_agent.run);
    ack.streams_count = (pb_size_t)(below(16) == 0 ? below(9) : 1);
    for (unsigned i = 0; i < ack.streams_count; i++) {
        random_stream_ack(&ack.streams[i], totals.blocks);
    }
    encode(VXM_CHANNEL_ACK, vxmon_Ack_fields, &ack);
}

static void random_heartbeat(void)
{
    const vxmon_HostHeartbeat heartbeat = {odd_number()};
    encode(VXM_CHANNEL_HEARTBEAT, vxmon_HostHeartbeat_fields, &heartbeat);
}

/* Of the newest messages, now and then of any. */
static void random_fragment_request(void)
{
    const vxmon_FragmentRequest wanted = {
        .channel = (uint32_t)odd_or(below(2) == 0 ? VXM_CHANNEL_REPLY : VXM_CHANNEL_TABLE),
        .message = (uint32_t)odd_or(below(64)),
        .missing = any(),
    };
    encode(VXM_CHANNEL_RESEND, vxmon_FragmentRequest_fields, &wanted);
}

static void random_bytes(void)
{
    incoming.length = below(LARGEST);
    for (size_t i = 0; i < incoming.length; i++) {
        incoming.bytes[i] = (uint8_t)any();
    }
}

/* Changes, repeats, removes or cuts bytes from `at` on. */
static void mutate_once(size_t from)
{
    if (incoming.length <= from) {
        return;
    }
    size_t span = incoming.length - from;
    uint8_t *at = incoming.bytes + from + below((uint32_t)span);
    size_t left = (size_t)(incoming.bytes + incoming.length - at);
    size_t length = 1u + below(8);
    switch (below(5)) {
    case 0:
        *at ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        *at = (uint8_t)odd_number();
        break;
    case 2: /* repeat */
        if (incoming.length + length <= LARGEST) {
            memmove(at + length, at, left);
            incoming.length += length;
        }
        break;
    case 3: /* remove */
        length = length < left ? length : left;
        memmove(at, at + length, left - length);
        incoming.length -= length;
        break;
    default:
        incoming.length = (size_t)(at - incoming.bytes);
        break;
    }
}

static void mutate(void)
{
    bool payload_only = below(3) != 0;
    for (uint32_t times = 1u + below(4); times > 0; times--) {
        mutate_once(payload_only ? VXM_FRAME_HEADER : 0);
    }
    if (payload_only && incoming.length >= VXM_FRAME_HEADER) {
        put(incoming.bytes + 20, incoming.length - VXM_FRAME_HEADER, 2);
        put(incoming.bytes + 22, incoming.length - VXM_FRAME_HEADER, 2);
    }
    if (below(8) != 0) {
        fix_crc();
    }
}

static void make_datagram(void)
{
    switch (below(9)) {
    case 0:
        random_bytes();
        return;
    case 8:
        random_fragment_request();
        break;
    case 1:
    case 2:
    case 3:
        random_ack();
        break;
    case 4:
        random_heartbeat();
        break;
    default:
        random_command();
        break;
    }
    if (below(2) == 0) {
        mutate();
    }
}

/* ------------------------------------------------------------------ the world around */

static void record_some(void)
{
    for (uint32_t count = below(200); count > 0; count--) {
        vxm_user((uint16_t)count, count, ~count);
        vxm_user_point((uint16_t)count);
    }
    if (below(16) == 0) {
        vxm_hook_window((uint16_t)below(10));
        vxm_hook_partition_switch((uint16_t)below(5));
    }
}

static void live(void)
{
    if (below(4) == 0) {
        record_some();
    }
    if (below(8) == 0) {
        vxm_posix.now += below(100) == 0 ? 4u * HZ : below(HZ / 10u);
    }
    network_up = below(50) != 0 && (network_up || below(4) == 0);
}

/* A well-made command of the host; its reply, decoded. */
static const vxmon_Reply *ask(const vxmon_Command *command)
{
    static vxmon_Reply reply;
    network_up = true;
    last_reply.arrived = false;
    vxm_posix.now += HZ / 40u; /* HMACs are bounded in a time */
    encode(VXM_CHANNEL_COMMAND, vxmon_Command_fields, command);
    seal();
    deliver(HOST_PORT);
    memset(&reply, 0, sizeof reply);
    pb_istream_t stream = pb_istream_from_buffer(last_reply.bytes, last_reply.length);
    if (!last_reply.arrived || !pb_decode(&stream, vxmon_Reply_fields, &reply)) {
        fail("no answer");
    }
    return &reply;
}

/* A hostile command may have had the id that is next; a host takes another id then, as it does here. */
static bool take_control(vxmon_Command *command)
{
    command->request = ++request;
    command->which_body = vxmon_Command_hello_tag;
    command->body.hello.cookie = 0;
    command->body.hello.pad.size = 64;
    host.session = 0;
    const vxmon_Reply *reply = ask(command);
    if (reply->request != request || reply->result != vxmon_Result_COOKIE) {
        return false;
    }
    if (reply->has_challenge != host.keyed) {
        fail("a challenge where there is no key, or none");
    }
    host.nonce = reply->challenge.nonce;
    host.session = reply->challenge.session;
    host.number = 0;
    command->request = ++request;
    command->body.hello.cookie = reply->body.cookie;
    reply = ask(command);
    return reply->request == request && reply->result == vxmon_Result_OK;
}

static void check_answers(void)
{
    static vxmon_Command command;
    memset(&command, 0, sizeof command);
    if (!take_control(&command) && !take_control(&command)) {
        fail("no control");
    }
    command.request = ++request;
    command.which_body = vxmon_Command_info_tag;
    const vxmon_Reply *reply = ask(&command);
    if (reply->request != request || reply->result != vxmon_Result_OK || reply->which_body != vxmon_Reply_info_tag) {
        fail("no target information");
    }
}

static void set_up(void)
{
    const struct vxm_agent_config config = {.os_release = "2.4", .os_name = "fuzz", .board = "none"};
    void *arena = malloc(ARENA_BYTES);
    vxm_posix.manual = true;
    vxm_posix.hz = HZ;
    vxm_posix.now = UINT32_MAX - HZ;
    vxm_posix_set_arena(arena, ARENA_BYTES);
    vxm_posix_set_entropy(any());
    if (host.keyed && !vxm_posix_set_key(DIGITS, sizeof DIGITS - 1u)) {
        fail("no key");
    }
    if (arena == NULL || vxm_agent_init(&config) != VXM_OK) {
        fail("the agent does not start");
    }
}

static uint64_t option(int count, char **arguments, const char *name, uint64_t otherwise)
{
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], name) == 0) {
            return strtoull(arguments[i + 1], NULL, 0);
        }
    }
    return otherwise;
}

int main(int count, char **arguments)
{
    uint64_t datagrams = option(count, arguments, "--count", 1000000u);
    uint64_t seconds = option(count, arguments, "--seconds", 0);
    chance = option(count, arguments, "--seed", 1) * 2u + 1u;
    time_t end = time(NULL) + (time_t)seconds;
    host.keyed = option(count, arguments, "--key", 0) != 0;
    set_up();
    check_answers();
    while (served < datagrams && (seconds == 0 || time(NULL) < end)) {
        live();
        make_datagram();
        if (below(4) != 0) {
            seal();
        }
        deliver((uint16_t)(below(4) != 0 ? HOST_PORT : STRANGER_PORT + below(STRANGERS)));
        if (below(CHECK_EACH) == 0) {
            check_answers();
        }
    }
    check_answers();
    (void)printf("fuzz-agent: %" PRIu64 " datagrams, %" PRIu64 " while recording, %" PRIu64 " refused, %" PRIu64
                 " sent, %" PRIu64 " resent, the agent answers\n",
                 served, while_running, vxm_frame_counters.refused, vxm_frame_counters.sent, vxm_frame_counters.resent);
    return 0;
}
