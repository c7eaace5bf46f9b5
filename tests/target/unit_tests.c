/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the agent on their own, where a test from outside cannot reach: checksums, cookies, numbers
 * near 2^32. Prints one line for each test that fails; the exit status is their number. Sources with
 * static functions to test are included.
 */
#include <bearssl_hmac.h>
#include <pb_decode.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "block.h"
#include "cookie.c" /* NOLINT: sip_hash is static */
#include "evtmap.h"
#include "frame.h"
#include "port.h"
#include "text.h"
#include "unit_tests.h"
#include "units.h"
#include "upload.h"
#include "vxm/agent.h"
#include "vxm/hooks.h"

static int failures;
static const char *running;

void unit_check(bool right, const char *what, int line)
{
    if (!right) {
        (void)printf("%s: line %d: %s\n", running, line, what);
        failures++;
    }
}

/* ------------------------------------------------------------------ the port's network */

static uint8_t sent[2048];
static size_t sent_length;
/* Of blocks that arrive: the index behind the last record. A block that does not follow sets it to the largest. */
static uint64_t arrived;
/* The block that is left in the middle of its sending; 0: none. */
static unsigned left_block;
static jmp_buf outside;

static void take_block(const uint8_t *data, size_t length)
{
    vxmon_Block block = vxmon_Block_init_zero;
    pb_istream_t stream = pb_istream_from_buffer(data + VXM_FRAME_HEADER, length - VXM_FRAME_HEADER);
    bool follows = pb_decode(&stream, vxmon_Block_fields, &block) && block.first_index == arrived;
    arrived = follows ? arrived + block.count : UINT64_MAX;
}

size_t vxm_posix_network_receive(struct vxm_peer *from, const uint8_t **data)
{
    (void)from;
    (void)data;
    return 0;
}

bool vxm_posix_network_send(const struct vxm_peer *to, uint8_t *data, size_t length)
{
    (void)to;
    memcpy(sent, data, length);
    sent_length = length;
    if (data[6] == VXM_CHANNEL_BLOCK) {
        if (left_block != 0 && --left_block == 0) {
            longjmp(outside, 1);
        }
        take_block(data, length);
    }
    return true;
}

static _Alignas(8) uint8_t arena[1 << 16];

static void start_agent(uint16_t unit_slots, uint16_t units, uint8_t policy)
{
    struct vxm_agent_config config = {
        .os_release = "2.4",
        .os_name = "unit tests",
        .board = "none",
        .autostart = true,
        .peer = {0x7F000001u, 4000},
        .start = {.unit_slots = unit_slots, .units = units, .policy = policy, .one_way = true, .no_upload = true},
    };
    memcpy(config.start.enable, vxm_event_table_find("2.4")->offered, sizeof config.start.enable);
    vxm_posix.manual = true;
    vxm_posix.now = 1000;
    vxm_posix.hz = 1000000;
    vxm_posix_set_arena(arena, sizeof arena);
    CHECK(vxm_agent_init(&config) == VXM_OK);
}

/* ------------------------------------------------------------------ tests */

/* "123456789" has the check value of the CRC catalogue; the others are what zlib gives. */
static void crc_is_that_of_zlib(void)
{
    uint8_t bytes[64];
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 7u);
    }
    vxm_frame_init(1);
    CHECK(vxm_frame_crc(0, (const uint8_t *)"123456789", 9) == 0xCBF43926u);
    CHECK(vxm_frame_crc(0, bytes, 0) == 0);
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        uint32_t whole = vxm_frame_crc(0, bytes, sizeof bytes);
        CHECK(vxm_frame_crc(vxm_frame_crc(0, bytes, cut), bytes + cut, sizeof bytes - cut) == whole);
    }
}

/* The published vectors of SipHash-2-4 (Aumasson and Bernstein): key 00 01 ... 0f, message 00 01 ... 0f. */
static void cookies_are_siphash(void)
{
    key[0] = 0x0706050403020100u;
    key[1] = 0x0F0E0D0C0B0A0908u;
    CHECK(sip_hash(0x0706050403020100u, 0x0F0E0D0C0B0A0908u) == 0x3F2ACC7F57C29BDBu);
}

/* Fletcher-64 straight from its definition, reduced at each step. */
static uint64_t slow_fletcher(const uint32_t *words, uint32_t count)
{
    uint64_t first = 0;
    uint64_t second = 0;
    for (uint32_t i = 0; i < count; i++) {
        first = (first + words[i]) % 0xFFFFFFFFu;
        second = (second + first) % 0xFFFFFFFFu;
    }
    return second << 32 | first;
}

static void checksum_is_the_defined_one(void)
{
    uint32_t words[2u * VXM_BLOCK_MAX_SLOTS];
    uint8_t copy[sizeof words + 1];
    const uint32_t fills[] = {0, 1, 0xFFFFFFFFu, 0xFFFFFFFEu, 0x80000000u, 0x12345678u};
    for (unsigned f = 0; f < sizeof fills / sizeof fills[0]; f++) {
        for (uint32_t i = 0; i < 2u * VXM_BLOCK_MAX_SLOTS; i++) {
            words[i] = fills[f] == 0x12345678u ? i * 0x9E3779B1u : fills[f];
        }
        for (uint32_t count = 2; count <= 2u * VXM_BLOCK_MAX_SLOTS; count += 2) {
            CHECK(vxm_block_copy(copy + 1, words, count / 2u) == slow_fletcher(words, count));
            CHECK(memcmp(copy + 1, words, count * sizeof words[0]) == 0);
        }
    }
}

/* The message with every number at its largest must still fit; and the next slot must not be wasted by much. */
static void the_largest_block_fits_its_datagram(void)
{
    static uint32_t words[2u * VXM_BLOCK_MAX_SLOTS];
    uint8_t to[VXM_FRAME_MAX + 2u];
    for (uint32_t bytes = 512; bytes <= VXM_FRAME_MAX; bytes++) {
        struct vxm_block block = {
            .run = UINT32_MAX,
            .stream = 7,
            .sequence = UINT64_MAX,
            .overwritten = UINT64_MAX,
            .full = UINT64_MAX,
            .exhausted = UINT64_MAX,
            .first_index = UINT64_MAX,
            .first_time = UINT64_MAX,
            .last_time = UINT64_MAX,
            .context = {UINT16_MAX, UINT16_MAX, UINT16_MAX, UINT16_MAX},
            .count = 4096,
            .words = words,
            .slots = vxm_block_max_slots(bytes),
        };
        size_t covered = 0;
        memset(to, 0xA5, sizeof to);
        size_t length = vxm_block_encode(&block, to + 1, &covered);
        CHECK(block.slots <= VXM_BLOCK_MAX_SLOTS);
        CHECK(length + VXM_FRAME_HEADER <= bytes && to[1u + length] == 0xA5);
        CHECK(length + VXM_FRAME_HEADER + 2u * VXM_SLOT_BYTES > bytes);
        CHECK(covered == length - block.slots * VXM_SLOT_BYTES);
    }
}

static void units_of_any_size_fit_32_blocks_or_are_refused(void)
{
    CHECK(vxm_block_most_per_unit(4096, vxm_block_max_slots(1400)) <= 32);
    CHECK(vxm_block_most_per_unit(4096, vxm_block_max_slots(512)) > 32);
    CHECK(vxm_block_most_per_unit(1024, vxm_block_max_slots(512)) <= 32);
}

static uint32_t sent32(size_t at)
{
    return (uint32_t)sent[at] << 24 | (uint32_t)sent[at + 1] << 16 | (uint32_t)sent[at + 2] << 8 | sent[at + 3];
}

static void block_sequence_wraps_in_the_header_only(void)
{
    const struct vxm_peer peer = {1, 2};
    vxm_frame_init(9);
    CHECK(vxm_frame_send_block(&peer, UINT64_C(0x2FFFFFFFF), 40, 20));
    CHECK(sent_length == 72 && sent32(12) == 0xFFFFFFFFu);
    CHECK(vxm_frame_send_block(&peer, UINT64_C(0x300000000), 40, 20));
    CHECK(sent32(12) == 0 && sent32(8) == 9);
}

static void too_large_a_message_is_refused(void)
{
    static uint8_t body[64 * 480 + 1];
    struct vxm_message message = {.channel = VXM_CHANNEL_TABLE, .body = body, .body_size = sizeof body};
    CHECK(!vxm_message_begin(&message, 512));
    CHECK(vxm_message_done(&message));
    message.body_size--;
    CHECK(vxm_message_begin(&message, 512) && message.fragments == 64);
}

/* The stream as it would be after 2^32 - 40 records. */
static void move_near_the_wrap(void)
{
    vxm_units_close(0);
    vxm_recorder.stream[0].attempts = UINT32_MAX - 39u;
    vxm_store[0].index_low = UINT32_MAX - 39u;
}

static void attempts_wrap_within_a_unit(void)
{
    struct vxm_totals totals;
    start_agent(128, 4, VXM_RING);
    move_near_the_wrap();
    for (uint16_t i = 0; i < 100; i++) {
        vxm_user_point(i);
    }
    vxm_agent_totals(0, &totals);
    CHECK(totals.recorded == UINT64_C(0x100000000) + 60);
    struct vxm_unit *unit = vxm_recorder.stream[0].unit;
    CHECK(unit->first_index == UINT32_MAX - 39u);
    vxm_units_close(0);
    CHECK(unit->uncut == 100);
    vxm_user_point(1);
    CHECK(vxm_recorder.stream[0].unit->first_index == UINT64_C(0x100000000) + 60);
}

static void attempts_wrap_while_records_are_lost(void)
{
    struct vxm_totals totals;
    start_agent(128, 2, VXM_LINEAR);
    for (unsigned i = 0; i < 300; i++) {
        vxm_user_point(1);
    }
    move_near_the_wrap();
    uint64_t before = vxm_store[0].dropped;
    for (unsigned i = 0; i < 100; i++) {
        vxm_user_point(1);
    }
    vxm_agent_totals(0, &totals);
    CHECK(totals.recorded == UINT64_C(0x100000000) + 60);
    CHECK(totals.full == before + 100);
}

/* A module that goes down does not wait for the agent's step that it interrupted, but begins others. */
static void a_step_that_is_left_while_it_sends_loses_nothing(void)
{
    static unsigned leave;
    for (leave = 1; leave <= 12; leave++) {
        struct vxm_totals totals;
        start_agent(256, 8, VXM_RING);
        for (uint16_t i = 0; i < 1500; i++) {
            vxm_user_point(i);
        }
        CHECK(vxm_agent_stop(VXM_STOP_REASON_SHUTDOWN) == VXM_OK);
        arrived = 0;
        left_block = leave;
        if (setjmp(outside) == 0) {
            (void)vxm_agent_step(vxm_posix.now + 1u);
        }
        while (vxm_upload_busy()) {
            (void)vxm_agent_step(vxm_posix.now + 1u);
        }
        vxm_agent_totals(0, &totals);
        CHECK(totals.recorded > 1500u && totals.overwritten == 0);
        CHECK(left_block == 0 && arrived == totals.recorded);
    }
}

static void overwritten_counts_past_32_bits(void)
{
    start_agent(128, 2, VXM_RING);
    vxm_store[0].overwritten = UINT32_MAX - 10u;
    vxm_store[0].overwritten_seen = UINT32_MAX - 10u;
    vxm_store[0].overwritten_total = UINT64_C(0x5FFFFFFF5);
    for (unsigned i = 0; i < 400; i++) {
        vxm_user_point(1);
    }
    CHECK(vxm_units_overwritten(0) > UINT64_C(0x600000000));
}

static void a_record_longer_than_the_largest_is_not_stored(void)
{
    const uint32_t words[20] = {0};
    start_agent(128, 2, VXM_RING);
    uint32_t before = vxm_recorder.stream[0].attempts;
    vxm_record_n(VXM_HEAD(VXM_EVENT_USER, 9, 0), words);
    vxm_record_n(VXM_HEAD(VXM_EVENT_USER, 63, 0), words);
    CHECK(vxm_recorder.stream[0].attempts == before);
    vxm_record_n(VXM_HEAD(VXM_EVENT_USER, 8, 0), words);
    CHECK(vxm_recorder.stream[0].attempts == before + 1u);
}

/* SPEC section 3: the rest of a record, padded with zeros to its slot; what does not fit is left out. */
static void content_is_packed_behind_the_fields(void)
{
    uint8_t content[80];
    for (unsigned i = 0; i < sizeof content; i++) {
        content[i] = (uint8_t)(i + 1u);
    }
    for (uint32_t used = 0; used <= 4; used++) {
        for (uint32_t length = 0; length <= 70; length++) {
            uint32_t words[2u * VXM_MAX_DATA_SLOTS];
            uint8_t expected[sizeof words] = {0};
            uint32_t room = (uint32_t)sizeof words - 4u * used;
            uint32_t taken = length < room ? length : room;
            memset(words, 0xEE, sizeof words);
            CHECK(vxm_pack_bytes(words, used, content + length % 4u, length) == taken);
            memcpy(expected, content + length % 4u, taken);
            uint32_t end = vxm_data_slots(used, taken) * VXM_SLOT_BYTES;
            CHECK(memcmp(words + used, expected, end < 4u * used ? 0 : end - 4u * used) == 0);
        }
    }
}

static void a_text_ends_with_its_record(void)
{
    char text[80];
    memset(text, 'x', sizeof text);
    CHECK(vxm_text_length(NULL) == 0);
    CHECK(vxm_text_length(text) == VXM_MAX_DATA_SLOTS * VXM_SLOT_BYTES);
    for (uint32_t length = 0; length <= 64; length++) {
        text[length] = '\0';
        CHECK(vxm_text_length(text) == length);
        text[length] = 'x';
    }
}

/* Whatever function serves a number of slots. */
static void records_of_any_length_are_stored_whole(void)
{
    uint32_t words[2u * VXM_MAX_DATA_SLOTS];
    for (uint32_t i = 0; i < 2u * VXM_MAX_DATA_SLOTS; i++) {
        words[i] = 0x1000u + i;
    }
    start_agent(128, 2, VXM_RING);
    vxm_user_point(1);
    for (uint32_t slots = 0; slots <= VXM_MAX_DATA_SLOTS; slots++) {
        const uint32_t *at = vxm_recorder.stream[0].head;
        uint32_t before = vxm_recorder.stream[0].attempts;
        vxm_record_n(VXM_HEAD(VXM_EVENT_USER, slots, slots), words);
        CHECK(at[0] == VXM_HEAD(VXM_EVENT_USER, slots, slots));
        CHECK(memcmp(at + 2, words, slots * VXM_SLOT_BYTES) == 0);
        CHECK(vxm_recorder.stream[0].head == at + 2u * (slots + 1u));
        CHECK(vxm_recorder.stream[0].attempts == before + 1u);
    }
}

static void every_offered_event_is_in_the_map_and_no_other(void)
{
    const char *const releases[] = {"2.2", "2.4"};
    for (unsigned r = 0; r < 2; r++) {
        const struct vxm_event_table *table = vxm_event_table_find(releases[r]);
        vxm_evtmap_init(table);
        for (uint32_t id = 0; id < VXM_MAX_EVENTS + 5u; id++) {
            bool offered = id < VXM_MAX_EVENTS && ((table->offered[id / 32u] >> (id % 32u)) & 1u);
            const struct vxm_event_entry *entry = vxm_evtmap_find(id);
            CHECK((entry != NULL) == offered);
            CHECK(entry == NULL || entry->id == id);
        }
    }
}

static void numbers_become_text_that_fits(void)
{
    char to[8];
    struct vxm_text text;
    vxm_text_begin(&text, to, sizeof to);
    vxm_text_number(&text, 0);
    vxm_text_add(&text, "-");
    vxm_text_number(&text, UINT64_MAX);
    CHECK(strcmp(to, "0-18446") == 0);
}

static void an_unknown_release_is_refused(void)
{
    const struct vxm_agent_config config = {.os_release = "9.9", .os_name = "x", .board = "x"};
    CHECK(vxm_agent_init(&config) == VXM_ERR_UNSUPPORTED);
}

/* Two units are the least a run can do with. */
static void an_arena_too_small_is_refused(void)
{
    struct vxm_agent_config config = {.os_release = "2.4", .os_name = "x", .board = "x", .autostart = true};
    vxm_posix_set_arena(arena, 4096);
    CHECK(vxm_agent_init(&config) == VXM_ERR_MEMORY);
    vxm_posix_set_arena(arena, 3u * 8192u);
    CHECK(vxm_agent_init(&config) == VXM_OK);
}

/* ------------------------------------------------------------------ HMAC-SHA256 and keys */

/* RFC 4231, sections 4.2 to 4.7: a byte that fills the key, or its text; likewise the data. */
static const struct {
    uint8_t key_byte;
    uint8_t data_byte;
    size_t key_length;
    size_t data_length;
    const char *key;
    const char *data;
    size_t mac_length;
    uint8_t mac[32];
} rfc_4231[] = {
    {.key_byte = 0x0b,
     .key_length = 20,
     .data = "Hi There",
     .mac_length = 32,
     .mac = {0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf, 0xce, 0xaf, 0x0b, 0xf1, 0x2b,
             0x88, 0x1d, 0xc2, 0x00, 0xc9, 0x83, 0x3d, 0xa7, 0x26, 0xe9, 0x37, 0x6c, 0x2e, 0x32, 0xcf, 0xf7}},
    {.key = "Jefe",
     .data = "what do ya want for nothing?",
     .mac_length = 32,
     .mac = {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
             0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43}},
    {.key_byte = 0xaa,
     .key_length = 20,
     .data_byte = 0xdd,
     .data_length = 50,
     .mac_length = 32,
     .mac = {0x77, 0x3e, 0xa9, 0x1e, 0x36, 0x80, 0x0e, 0x46, 0x85, 0x4d, 0xb8, 0xeb, 0xd0, 0x91, 0x81, 0xa7,
             0x29, 0x59, 0x09, 0x8b, 0x3e, 0xf8, 0xc1, 0x22, 0xd9, 0x63, 0x55, 0x14, 0xce, 0xd5, 0x65, 0xfe}},
    {.key_byte = 0x0c,
     .key_length = 20,
     .data = "Test With Truncation",
     .mac_length = 16,
     .mac = {0xa3, 0xb6, 0x16, 0x74, 0x73, 0x10, 0x0e, 0xe0, 0x6e, 0x0c, 0x79, 0x6c, 0x29, 0x55, 0x55, 0x2b}},
    {.key_byte = 0xaa,
     .key_length = 131,
     .data = "Test Using Larger Than Block-Size Key - Hash Key First",
     .mac_length = 32,
     .mac = {0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f, 0x0d, 0x8a, 0x26, 0xaa, 0xcb, 0xf5, 0xb7, 0x7f,
             0x8e, 0x0b, 0xc6, 0x21, 0x37, 0x28, 0xc5, 0x14, 0x05, 0x46, 0x04, 0x0f, 0x0e, 0xe3, 0x7f, 0x54}},
    {.key_byte = 0xaa,
     .key_length = 131,
     .data = "This is a test using a larger than block-size key and a larger than block-size data. "
             "The key needs to be hashed before being used by the HMAC algorithm.",
     .mac_length = 32,
     .mac = {0x9b, 0x09, 0xff, 0xa7, 0x1b, 0x94, 0x2f, 0xcb, 0x27, 0x63, 0x5f, 0xbc, 0xd5, 0xb0, 0xe9, 0x44,
             0xbf, 0xdc, 0x63, 0x64, 0x4f, 0x07, 0x13, 0x93, 0x8a, 0x7f, 0x51, 0x53, 0x5c, 0x3a, 0x35, 0xe2}},
};

/* The text, or the byte so many times. */
static size_t fill(uint8_t *to, const char *text, uint8_t byte, size_t length)
{
    if (text != NULL) {
        memcpy(to, text, strlen(text));
        return strlen(text);
    }
    memset(to, byte, length);
    return length;
}

static void hmac_is_that_of_rfc_4231(void)
{
    for (size_t i = 0; i < sizeof rfc_4231 / sizeof rfc_4231[0]; i++) {
        uint8_t secret[160];
        uint8_t data[160];
        uint8_t mac[32];
        br_hmac_key_context context;
        br_hmac_context hmac;
        size_t key_length = fill(secret, rfc_4231[i].key, rfc_4231[i].key_byte, rfc_4231[i].key_length);
        size_t length = fill(data, rfc_4231[i].data, rfc_4231[i].data_byte, rfc_4231[i].data_length);
        br_hmac_key_init(&context, &br_sha256_vtable, secret, key_length);
        br_hmac_init(&hmac, &context, rfc_4231[i].mac_length);
        br_hmac_update(&hmac, data, length / 3u);
        br_hmac_update(&hmac, data + length / 3u, length - length / 3u);
        CHECK(br_hmac_out(&hmac, mac) == rfc_4231[i].mac_length);
        CHECK(memcmp(mac, rfc_4231[i].mac, rfc_4231[i].mac_length) == 0);
    }
}

static size_t key_of(const char *text, uint8_t bytes[VXM_KEY_MAX])
{
    return vxm_key_from_text(text, strlen(text), bytes);
}

static void keys_are_hexadecimal_and_of_16_to_64_bytes(void)
{
    static const char digits[] = "000102030405060708090a0b0c0d0e0fF01112131415161718191A1b1c1d1e1f";
    char text[160];
    uint8_t bytes[VXM_KEY_MAX];
    CHECK(key_of(digits, bytes) == 32u && bytes[1] == 1u && bytes[15] == 15u && bytes[16] == 0xF0u &&
          bytes[26] == 0x1Au);
    (void)snprintf(text, sizeof text, " \t\r\n%s\n", digits);
    CHECK(key_of(text, bytes) == 32u && bytes[31] == 31u);
    (void)snprintf(text, sizeof text, "%s%s", digits, digits);
    CHECK(key_of(text, bytes) == VXM_KEY_MAX);
    CHECK(vxm_key_from_text(digits, 32, bytes) == VXM_KEY_MIN);
    CHECK(vxm_key_from_text(digits, 30, bytes) == 0u);
    CHECK(vxm_key_from_text(digits, 33, bytes) == 0u);
    (void)snprintf(text, sizeof text, "%s%s00", digits, digits);
    CHECK(key_of(text, bytes) == 0u);
    CHECK(key_of("", bytes) == 0u && key_of(" \n", bytes) == 0u);
    CHECK(key_of("0001 2030405060708090a0b0c0d0e0f00", bytes) == 0u);
    CHECK(key_of("0x0102030405060708090a0b0c0d0e0f00", bytes) == 0u);
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    {"crc_is_that_of_zlib", crc_is_that_of_zlib},
    {"cookies_are_siphash", cookies_are_siphash},
    {"checksum_is_the_defined_one", checksum_is_the_defined_one},
    {"blocks_hold_the_records_that_fit", blocks_hold_the_records_that_fit},
    {"the_largest_block_fits_its_datagram", the_largest_block_fits_its_datagram},
    {"units_of_any_size_fit_32_blocks_or_are_refused", units_of_any_size_fit_32_blocks_or_are_refused},
    {"block_sequence_wraps_in_the_header_only", block_sequence_wraps_in_the_header_only},
    {"too_large_a_message_is_refused", too_large_a_message_is_refused},
    {"attempts_wrap_within_a_unit", attempts_wrap_within_a_unit},
    {"attempts_wrap_while_records_are_lost", attempts_wrap_while_records_are_lost},
    {"a_step_that_is_left_while_it_sends_loses_nothing", a_step_that_is_left_while_it_sends_loses_nothing},
    {"overwritten_counts_past_32_bits", overwritten_counts_past_32_bits},
    {"a_record_longer_than_the_largest_is_not_stored", a_record_longer_than_the_largest_is_not_stored},
    {"content_is_packed_behind_the_fields", content_is_packed_behind_the_fields},
    {"a_text_ends_with_its_record", a_text_ends_with_its_record},
    {"records_of_any_length_are_stored_whole", records_of_any_length_are_stored_whole},
    {"every_offered_event_is_in_the_map_and_no_other", every_offered_event_is_in_the_map_and_no_other},
    {"numbers_become_text_that_fits", numbers_become_text_that_fits},
    {"an_unknown_release_is_refused", an_unknown_release_is_refused},
    {"an_arena_too_small_is_refused", an_arena_too_small_is_refused},
    {"hmac_is_that_of_rfc_4231", hmac_is_that_of_rfc_4231},
    {"keys_are_hexadecimal_and_of_16_to_64_bytes", keys_are_hexadecimal_and_of_16_to_64_bytes},
};

int main(void)
{
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        running = tests[i].name;
        tests[i].run();
    }
    (void)printf("%zu tests, %d failures\n", sizeof tests / sizeof tests[0], failures);
    return failures;
}
