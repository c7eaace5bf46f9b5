/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap, files, queues, ports and error handlers. What is expected comes from ARINC 653 Part 1, from the sizes in
 * this partition's module.xml, and from the kernel's abi.h where that says it differs.
 */
#include "checks.h"

#define HEAP 0x20000u /* bytes, in blocks of 32 */
#define BLOCK 32u
#define KEPT 64u
#define ROUNDS 3000u

enum { SENDER = 2, DIVIDER, DRIVER };

static RETURN_CODE_TYPE code;
static OBJECT_ID_TYPE queue, loop_out, loop_in, lossy_out, lossy_in, sample_out, sample_in;
static volatile unsigned sent, handled, divided;
static RETURN_CODE_TYPE sender_code, handler_wait;
static ERROR_STATUS_TYPE seen;

static uint32_t dice(void)
{
    static uint32_t state = 2463534242u;

    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void check_heap_edges(void)
{
    void *one = NULL, *other = NULL, *all = NULL;
    unsigned pages = 0;

    ALLOCATE(0, &one, &code);
    CHECK(code == INVALID_PARAM);
    ALLOCATE(HEAP + 1u, &one, &code);
    CHECK(code == INVALID_PARAM);
    CHECK(raw_call(CALL_ALLOCATE, 32, 0x00200000u, 0, 0, 0) == INVALID_PARAM);
    ALLOCATE(1, &one, &code);
    CHECK(code == NO_ERROR && (uint32_t)(uintptr_t)one == PARTITION_HEAP);
    ALLOCATE(100, &other, &code);
    CHECK(code == NO_ERROR && (uint8_t *)other - (uint8_t *)one == BLOCK);
    FREE((uint8_t *)other + BLOCK, &code);
    CHECK(code == INVALID_PARAM);
    FREE(one, &code);
    CHECK(code == NO_ERROR);
    FREE(one, &code);
    CHECK(code == INVALID_PARAM);
    do {
        ALLOCATE(4096, &all, &code);
        pages += code == NO_ERROR;
    } while (code == NO_ERROR);
    CHECK(code == NOT_AVAILABLE && pages == 31u); /* 131072 less 32 free in front and 128 of the other block */
    for (uint32_t at = 0; at < HEAP; at += BLOCK) {
        FREE((void *)(uintptr_t)(PARTITION_HEAP + at), &code);
    }
    ALLOCATE(HEAP, &all, &code);
    CHECK(code == NO_ERROR); /* what was freed is one again */
    FREE(all, &code);
}

/* Blocks of many sizes come and go; each keeps what was written to its ends. */
static void check_heap_use(void)
{
    static uint32_t *block[KEPT], size[KEPT];
    unsigned broken = 0;
    void *all;

    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned at = dice() % KEPT;
        if (block[at] != NULL) {
            broken += block[at][0] != at || block[at][size[at] - 1u] != at;
            FREE(block[at], &code);
            broken += code != NO_ERROR;
            block[at] = NULL;
        } else {
            size[at] = 1u + dice() % 700u;
            ALLOCATE(size[at] * 4u, (void **)&block[at], &code);
            if (code == NO_ERROR) {
                block[at][0] = block[at][size[at] - 1u] = at;
            }
        }
    }
    for (unsigned at = 0; at < KEPT; at++) {
        if (block[at] != NULL) {
            broken += block[at][0] != at || block[at][size[at] - 1u] != at;
            FREE(block[at], &code);
        }
    }
    CHECK(broken == 0u);
    ALLOCATE(HEAP, &all, &code);
    CHECK(code == NO_ERROR);
    FREE(all, &code);
}

static void check_files(void)
{
    OBJECT_ID_TYPE id;

    for (unsigned i = 0; i < 8u; i++) {
        OPEN(i % 2u == 0u ? "disk" : "tape", &id, &code);
        CHECK(code == NO_ERROR && id == i);
    }
    OPEN("disk", &id, &code);
    CHECK(code == INVALID_CONFIG);
    CLOSE(3, &code);
    CHECK(code == NO_ERROR);
    CLOSE(3, &code);
    CHECK(code == INVALID_PARAM);
    CLOSE(99, &code);
    CHECK(code == INVALID_PARAM);
    OPEN("tape", &id, &code);
    CHECK(code == NO_ERROR && id == 3u);
    OPEN("", &id, &code);
    CHECK(code == INVALID_PARAM);
}

static void sender(void)
{
    SEND_QUEUE(queue, "third", 5, INFINITE_TIME, &sender_code);
    sent++;
    SEND_QUEUING_MESSAGE(loop_out, "three", 5, INFINITE_TIME, &sender_code);
    sent++;
    STOP_SELF();
}

static int is(const uint8_t *message, uint32_t length, const char *text)
{
    for (uint32_t i = 0; i < length; i++) {
        if (message[i] != (uint8_t)text[i]) {
            return 0;
        }
    }
    return length == text_length(text);
}

/* SENDER waits for room in a queue of 2, then in a channel whose destination has 2 places. */
static void check_waiting_to_send(void)
{
    uint8_t message[8];
    uint32_t length;

    SEND_QUEUE(queue, "first", 5, 0, &code);
    SEND_QUEUE(queue, "second", 6, 0, &code);
    CHECK(code == NO_ERROR);
    SEND_QUEUE(queue, "no", 2, 0, &code);
    CHECK(code == NOT_AVAILABLE);
    SEND_QUEUE(queue, "no", 2, MS, &code);
    CHECK(code == TIMED_OUT);
    SEND_QUEUE(queue, (void *)PARTITION_SHARED_PAGE, 8, 0, &code);
    CHECK(code == INVALID_PARAM);
    SEND_QUEUING_MESSAGE(loop_out, "one", 3, 0, &code);
    SEND_QUEUING_MESSAGE(loop_out, "two", 3, 0, &code);
    CHECK(code == NO_ERROR);
    SEND_QUEUING_MESSAGE(loop_out, "no", 2, 0, &code);
    CHECK(code == NOT_AVAILABLE);
    START(SENDER, &code);
    CHECK(code == NO_ERROR && sent == 0u);
    RECEIVE_QUEUE(queue, 0, message, &length, &code);
    CHECK(code == NO_ERROR && is(message, length, "first") && sent == 1u && sender_code == NO_ERROR);
    RECEIVE_QUEUE(queue, 0, message, &length, &code);
    CHECK(is(message, length, "second"));
    RECEIVE_QUEUE(queue, 0, message, &length, &code);
    CHECK(is(message, length, "third"));
    RECEIVE_QUEUING_MESSAGE(loop_in, 0, message, &length, &code);
    CHECK(is(message, length, "one") && sent == 2u && sender_code == NO_ERROR);
    RECEIVE_QUEUING_MESSAGE(loop_in, 0, message, &length, &code);
    CHECK(is(message, length, "two"));
    RECEIVE_QUEUING_MESSAGE(loop_in, MS, message, &length, &code);
    CHECK(code == NO_ERROR && is(message, length, "three"));
    RECEIVE_QUEUING_MESSAGE(loop_in, MS, message, &length, &code);
    CHECK(code == TIMED_OUT);
}

static void check_ports(void)
{
    uint8_t message[8];
    uint32_t length, valid = 9;

    READ_SAMPLING_MESSAGE(sample_in, message, &length, &valid, &code);
    CHECK(code == NO_ACTION && valid == 0u);
    WRITE_SAMPLING_MESSAGE(sample_out, "old", 3, &code);
    WRITE_SAMPLING_MESSAGE(sample_out, "new", 3, &code);
    READ_SAMPLING_MESSAGE(sample_in, message, &length, &valid, &code);
    CHECK(code == NO_ERROR && valid == 1u && is(message, length, "new"));
    TIMED_WAIT(6 * MS, &code); /* the refresh period is 5 ms */
    READ_SAMPLING_MESSAGE(sample_in, message, &length, &valid, &code);
    CHECK(code == NO_ERROR && valid == 0u && is(message, length, "new"));
    WRITE_SAMPLING_MESSAGE(sample_out, "too long!", 9, &code);
    CHECK(code == INVALID_PARAM);
    WRITE_SAMPLING_MESSAGE(sample_in, "in", 2, &code);
    CHECK(code == INVALID_PARAM);
    READ_SAMPLING_MESSAGE(sample_out, message, &length, &valid, &code);
    CHECK(code == INVALID_PARAM);
    SEND_QUEUING_MESSAGE(lossy_out, "kept", 4, 0, &code);
    SEND_QUEUING_MESSAGE(lossy_out, "lost", 4, 0, &code);
    CHECK(code == NO_ERROR); /* RECEIVER_DISCARD: the sender does not learn of it */
    RECEIVE_QUEUING_MESSAGE(lossy_in, 0, message, &length, &code);
    CHECK(code == NO_ERROR && is(message, length, "kept"));
    RECEIVE_QUEUING_MESSAGE(lossy_in, 0, message, &length, &code);
    CHECK(code == NOT_AVAILABLE);
}

static void handler(void)
{
    for (;;) {
        GET_ERROR_STATUS(&seen, &code);
        if (code != NO_ERROR) {
            TIMED_WAIT(MS, &handler_wait);
            STOP_SELF();
        }
        handled++;
    }
}

static void divider(void)
{
    divided++;
    (void)checked_divide(1, divided - 1u);
    divided += 100u;
    STOP_SELF();
}

static void check_errors(void)
{
    ERROR_STATUS_TYPE status;

    GET_ERROR_STATUS(&status, &code);
    CHECK(code == INVALID_CONFIG); /* only the handler may ask */
    RAISE_APPLICATION_ERROR(ERROR_APPLICATION, "tyre", 4, &code);
    CHECK(handled == 1u && seen.code == ERROR_APPLICATION && seen.process == DRIVER &&
          is((uint8_t *)seen.message, 4, "tyre"));
    CHECK(handler_wait == INVALID_MODE);
    RAISE_APPLICATION_ERROR(ERROR_NUMERIC, "tyre", 4, &code);
    CHECK(code == INVALID_PARAM);
    RAISE_APPLICATION_ERROR(ERROR_APPLICATION, "tyre", 65, &code);
    CHECK(code == INVALID_PARAM && handled == 1u);
    START(DIVIDER, &code);
    CHECK(divided == 1u && handled == 2u && seen.code == ERROR_NUMERIC && seen.process == DIVIDER);
    STOP(DIVIDER, &code);
    CHECK(code == NO_ACTION); /* the kernel stopped it: the handler left it where it could not go on */
    START(DIVIDER, &code);
    CHECK(code == NO_ERROR && divided == 102u);
    START(1, &code);
    CHECK(code == INVALID_PARAM); /* the handler is started by errors alone */
}

/* A switch between two processes that this partition says it made. */
static void check_recording(void)
{
    const uint32_t ended_sender = 2u << 16 | SENDER;

    CHECK(raw_call(CALL_RECORD, 64, DIVIDER, ended_sender, 0, 0) == NO_ERROR);
    CHECK(raw_call(CALL_RECORD, 64, 15, ended_sender, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_RECORD, 64, DIVIDER, 2u << 16 | 15u, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_RECORD, 64, DIVIDER, 4u << 16 | SENDER, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_RECORD, 34, 1, 0, 0, 0) == INVALID_PARAM); /* PARTITION_SWITCH is the kernel's alone */
}

static void driver(void)
{
    check_heap_edges();
    check_heap_use();
    check_files();
    check_waiting_to_send();
    check_ports();
    check_errors();
    check_recording();
    checks_end();
    for (;;) {
        TIMED_WAIT(100 * MS, &code);
    }
}

static void create(const char *name, void (*entry)(void), uint32_t priority, PROCESS_ID_TYPE expected)
{
    PROCESS_ATTRIBUTE_TYPE attributes = {INFINITE_TIME, INFINITE_TIME, (uint32_t)(uintptr_t)entry, 4096, priority, ""};
    PROCESS_ID_TYPE id = 0;

    memcpy(attributes.name, name, text_length(name));
    CREATE_PROCESS(&attributes, &id, &code);
    CHECK(code == NO_ERROR && id == expected);
}

static void idle(void)
{
    for (;;) {
    }
}

static void create_ports(void)
{
    OBJECT_ID_TYPE id;

    CREATE_QUEUING_PORT("nowhere", 8, PORT_SOURCE, &id, &code);
    CHECK(code == INVALID_CONFIG);
    CREATE_QUEUING_PORT("loop_out", 8, PORT_DESTINATION, &id, &code);
    CHECK(code == INVALID_CONFIG);
    CREATE_QUEUING_PORT("loop_out", 9, PORT_SOURCE, &id, &code);
    CHECK(code == INVALID_CONFIG);
    CREATE_SAMPLING_PORT("loop_out", 8, PORT_SOURCE, &id, &code);
    CHECK(code == INVALID_CONFIG);
    CREATE_QUEUING_PORT("loop_out", 8, PORT_SOURCE, &loop_out, &code);
    CHECK(code == NO_ERROR);
    CREATE_QUEUING_PORT("loop_out", 8, PORT_SOURCE, &id, &code);
    CHECK(code == NO_ACTION);
    CREATE_QUEUING_PORT("loop_in", 8, PORT_DESTINATION, &loop_in, &code);
    CREATE_QUEUING_PORT("lossy_out", 8, PORT_SOURCE, &lossy_out, &code);
    CREATE_QUEUING_PORT("lossy_in", 8, PORT_DESTINATION, &lossy_in, &code);
    CREATE_SAMPLING_PORT("sample_out", 8, PORT_SOURCE, &sample_out, &code);
    CREATE_SAMPLING_PORT("sample_in", 8, PORT_DESTINATION, &sample_in, &code);
    CHECK(code == NO_ERROR);
}

int main(void)
{
    create_ports();
    CREATE_QUEUE("queue", 8, 2, &queue, &code);
    CREATE_ERROR_HANDLER(handler, 4096, &code);
    CHECK(code == NO_ERROR);
    CREATE_ERROR_HANDLER(handler, 4096, &code);
    CHECK(code == NO_ACTION);
    create("sender", sender, 30, SENDER);
    create("divider", divider, 30, DIVIDER);
    create("driver", driver, 20, DRIVER);
    create("idle", idle, IDLE_PRIORITY, DRIVER + 1);
    START(DRIVER, &code);
    START(DRIVER + 1, &code);
    SET_PARTITION_MODE(MODE_NORMAL, &code);
    CHECK(0);
    return 0;
}
