/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses every kernel call. What is expected comes from ARINC 653 Part 1, and from the kernel's abi.h where
 * that says it differs.
 */
#include "checks.h"

#define KERNEL_ADDRESS 0x00200000u
#define BEFORE_US (PARTITION_TEXT - 4u)
#define LAST_WORD (PARTITION_DATA + PARTITION_SEGMENT_BYTES - 4u)

enum { HIGH = 1, LOW, EQUAL_A, EQUAL_B, RECEIVER, READER, TORTURE, DRIVER };

static OBJECT_ID_TYPE semaphore, event, buffer, board, small;
static char order[16];
static volatile unsigned ordered;
static RETURN_CODE_TYPE code, their_code;
static uint8_t received[8], shown[8];
static uint32_t received_length, shown_length;
static volatile uint32_t broken_registers;
static volatile unsigned torture_rounds;

static void note(char letter)
{
    order[ordered++ % sizeof order] = letter;
}

static int noted(const char *letters)
{
    unsigned i = 0;

    while (letters[i] != '\0' && order[i] == letters[i]) {
        i++;
    }
    const int same = letters[i] == '\0' && i == ordered;
    ordered = 0;
    return same;
}

static void wait_and_note(char letter)
{
    RETURN_CODE_TYPE own;

    for (;;) {
        WAIT_SEMAPHORE(semaphore, INFINITE_TIME, &own);
        note(letter);
    }
}

static void high(void)
{
    wait_and_note('H');
}

static void low(void)
{
    wait_and_note('L');
}

static void equal_a(void)
{
    RETURN_CODE_TYPE own;

    for (;;) {
        WAIT_EVENT(event, INFINITE_TIME, &own);
        note('a');
        TIMED_WAIT(MS / 10, &own);
    }
}

static void equal_b(void)
{
    RETURN_CODE_TYPE own;

    for (;;) {
        WAIT_EVENT(event, INFINITE_TIME, &own);
        note('b');
        TIMED_WAIT(MS / 10, &own);
    }
}

static void receiver(void)
{
    for (;;) {
        RECEIVE_BUFFER(buffer, 5 * MS, received, &received_length, &their_code);
        note('R');
    }
}

static void reader(void)
{
    for (;;) {
        READ_BLACKBOARD(board, INFINITE_TIME, shown, &shown_length, &their_code);
        note('B');
        STOP_SELF();
    }
}

/* All the registers that are ours must be the same after many preemptions. */
static void torture(void)
{
    for (;;) {
        uint32_t bad;

        __asm__ volatile("li 11, 0\n\t"
                         ".irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30\n\t"
                         "li \\n, \\n + 1000\n\t"
                         ".endr\n\t"
                         "lis 12, 0x2000\n\t"
                         "mtxer 12\n\t"
                         "lis 9, 4\n\t"
                         "mtctr 9\n\t"
                         "1: bdnz 1b\n\t"
                         ".irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30\n\t"
                         "xori 10, \\n, \\n + 1000\n\t"
                         "or 11, 11, 10\n\t"
                         ".endr\n\t"
                         "mfxer 10\n\t"
                         "xor 10, 10, 12\n\t"
                         "or %0, 11, 10"
                         : "=r"(bad)
                         :
                         : "r9", "r10", "r11", "r12", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22",
                           "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "ctr", "xer", "cr0");
        broken_registers |= bad;
        torture_rounds++;
    }
}

static void idle(void)
{
    for (;;) {
    }
}

static SYSTEM_TIME_TYPE now(void)
{
    SYSTEM_TIME_TYPE time = -1;

    GET_TIME(&time, &code);
    CHECK(code == NO_ERROR);
    return time;
}

static void check_time(void)
{
    SYSTEM_TIME_TYPE begin = now(), end;

    TIMED_WAIT(2 * MS, &code);
    end = now();
    CHECK(code == NO_ERROR && end - begin >= 2 * MS && end - begin < 6 * MS);
    TIMED_WAIT(0, &code);
    CHECK(code == NO_ERROR);
    TIMED_WAIT(-1, &code);
    CHECK(code == INVALID_PARAM);
    PERIODIC_WAIT(&code);
    CHECK(code == INVALID_MODE);
    REPLENISH(50 * MS, &code);
    CHECK(code == NO_ERROR);
    CHECK(raw_call(CALL_GET_TIME, KERNEL_ADDRESS, 0, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_GET_TIME, PARTITION_TEXT, 0, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_GET_TIME, LAST_WORD, 0, 0, 0, 0) == INVALID_PARAM);
}

/* HIGH and LOW wait on the semaphore, both before the driver in priority. */
static void check_semaphores(void)
{
    SYSTEM_TIME_TYPE begin;

    SIGNAL_SEMAPHORE(semaphore, &code);
    CHECK(code == NO_ERROR && noted("H"));
    SIGNAL_SEMAPHORE(semaphore, &code);
    CHECK(noted("H"));
    STOP(HIGH, &code);
    CHECK(code == NO_ERROR);
    SIGNAL_SEMAPHORE(semaphore, &code);
    CHECK(noted("L"));
    STOP(LOW, &code);
    STOP(LOW, &code);
    CHECK(code == NO_ACTION);
    for (unsigned i = 0; i < 2u; i++) {
        SIGNAL_SEMAPHORE(semaphore, &code);
        CHECK(code == NO_ERROR);
    }
    SIGNAL_SEMAPHORE(semaphore, &code);
    CHECK(code == NO_ACTION);
    WAIT_SEMAPHORE(semaphore, 0, &code);
    CHECK(code == NO_ERROR);
    WAIT_SEMAPHORE(semaphore, INFINITE_TIME, &code);
    CHECK(code == NO_ERROR && noted(""));
    WAIT_SEMAPHORE(semaphore, 0, &code);
    CHECK(code == NOT_AVAILABLE);
    begin = now();
    WAIT_SEMAPHORE(semaphore, 3 * MS, &code);
    CHECK(code == TIMED_OUT && now() - begin >= 3 * MS);
    WAIT_SEMAPHORE(event, 0, &code);
    CHECK(code == INVALID_PARAM);
    START(LOW, &code);
    CHECK(code == NO_ERROR && noted(""));
    START(LOW, &code);
    CHECK(code == NO_ACTION);
    SIGNAL_SEMAPHORE(semaphore, &code);
    CHECK(noted("L"));
}

static void check_events(void)
{
    SET_EVENT(event, &code);
    CHECK(code == NO_ERROR && noted("ab"));
    RESET_EVENT(event, &code);
    TIMED_WAIT(3 * MS, &code);
    CHECK(noted(""));
    SET_PRIORITY(EQUAL_B, 45, &code);
    SET_EVENT(event, &code);
    CHECK(noted("ba"));
    WAIT_EVENT(event, INFINITE_TIME, &code);
    CHECK(code == NO_ERROR);
    RESET_EVENT(event, &code);
    WAIT_EVENT(event, MS, &code);
    CHECK(code == TIMED_OUT);
    STOP(EQUAL_A, &code);
    STOP(EQUAL_B, &code);
    ordered = 0;
}

static void check_buffers(void)
{
    uint8_t message[8] = "1234567";
    uint32_t length = 0;

    START(RECEIVER, &code);
    SEND_BUFFER(buffer, message, 3, 0, &code);
    CHECK(code == NO_ERROR && noted("R") && their_code == NO_ERROR && received_length == 3u && received[2] == '3');
    TIMED_WAIT(8 * MS, &code);
    CHECK(noted("R") && their_code == TIMED_OUT);
    STOP(RECEIVER, &code);
    for (unsigned i = 0; i < 3u; i++) {
        message[0] = (uint8_t)('a' + i);
        SEND_BUFFER(buffer, message, i + 1u, 0, &code);
        CHECK(code == NO_ERROR);
    }
    SEND_BUFFER(buffer, message, 1, 0, &code);
    CHECK(code == NOT_AVAILABLE);
    for (unsigned i = 0; i < 3u; i++) {
        RECEIVE_BUFFER(buffer, 0, received, &length, &code);
        CHECK(code == NO_ERROR && received[0] == 'a' + i && length == i + 1u);
    }
    RECEIVE_BUFFER(buffer, 0, received, &length, &code);
    CHECK(code == NOT_AVAILABLE);
    SEND_BUFFER(buffer, message, 9, 0, &code);
    CHECK(code == INVALID_PARAM);
    SEND_BUFFER(buffer, message, 0, 0, &code);
    CHECK(code == INVALID_PARAM);
    SEND_BUFFER(buffer, (void *)KERNEL_ADDRESS, 8, 0, &code);
    CHECK(code == INVALID_PARAM);
    RECEIVE_BUFFER(buffer, 0, (void *)KERNEL_ADDRESS, &length, &code);
    CHECK(code == INVALID_PARAM);
    RECEIVE_BUFFER(buffer, 0, received, (void *)KERNEL_ADDRESS, &code);
    CHECK(code == INVALID_PARAM);
    RECEIVE_BUFFER(buffer, 0, (void *)(PARTITION_TEXT + 64u), &length, &code);
    CHECK(code == INVALID_PARAM);
}

static void check_blackboards(void)
{
    uint32_t length = 0;

    DISPLAY_BLACKBOARD(board, "ground", 6, &code);
    CHECK(code == NO_ERROR && noted("B") && shown_length == 6u && shown[5] == 'd');
    READ_BLACKBOARD(board, 0, received, &length, &code);
    CHECK(code == NO_ERROR && length == 6u && received[0] == 'g');
    CLEAR_BLACKBOARD(board, &code);
    READ_BLACKBOARD(board, 0, received, &length, &code);
    CHECK(code == NOT_AVAILABLE);
    READ_BLACKBOARD(board, MS, received, &length, &code);
    CHECK(code == TIMED_OUT);
    DISPLAY_BLACKBOARD(board, "too long!", 9, &code);
    CHECK(code == INVALID_PARAM);
    STOP(READER, &code);
    CHECK(code == NO_ACTION); /* it stopped itself */
}

static void check_processes(void)
{
    PROCESS_ATTRIBUTE_TYPE attributes = {INFINITE_TIME, INFINITE_TIME, (uint32_t)(uintptr_t)idle, 4096, 9, "late"};
    PROCESS_ID_TYPE id;

    CREATE_PROCESS(&attributes, &id, &code);
    CHECK(code == INVALID_MODE);
    START(0, &code);
    CHECK(code == INVALID_PARAM);
    START(99, &code);
    CHECK(code == INVALID_PARAM);
    STOP(DRIVER + 1, &code);
    CHECK(code == INVALID_PARAM); /* the idle process */
    SET_PRIORITY(HIGH, 0, &code);
    CHECK(code == INVALID_PARAM);
    SET_PRIORITY(HIGH, 240, &code);
    CHECK(code == INVALID_PARAM);
    SET_PARTITION_MODE(MODE_NORMAL, &code);
    CHECK(code == NO_ACTION);
    SET_PARTITION_MODE((OPERATING_MODE_TYPE)9, &code);
    CHECK(code == INVALID_PARAM);
}

static void check_numbers(void)
{
    CHECK(raw_call(0, 0, 0, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_COUNT, 0, 0, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_MONITOR_WAIT, 0, 0, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_MONITOR_WAKE, 0, 0, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(0xFFFFFFFFu, 0, 0, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_RECORD, 257, 1, 2, 3, 0) == NO_ERROR);
    CHECK(raw_call(CALL_RECORD, 32, 1, 2, 3, 0) == INVALID_PARAM); /* MAJOR_FRAME is the kernel's */
    CHECK(raw_call(CALL_RECORD, 5000, 1, 2, 3, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_RECORD, 258, 1, KERNEL_ADDRESS, 4, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_RECORD, 258, 1, PARTITION_TEXT, 65, 0) == INVALID_PARAM);
}

static void driver(void)
{
    STOP(RECEIVER, &code); /* until its turn: it times out by itself */
    CHECK(code == NO_ERROR);
    check_time();
    check_semaphores();
    check_events();
    check_buffers();
    check_blackboards();
    check_processes();
    check_numbers();
    TIMED_WAIT(60 * MS, &code);
    CHECK(torture_rounds > 2u && broken_registers == 0u);
    checks_end();
    SET_PARTITION_MODE(MODE_IDLE, &code);
}

static void create(const char *name, void (*entry)(void), uint32_t priority, PROCESS_ID_TYPE expected)
{
    PROCESS_ATTRIBUTE_TYPE attributes = {INFINITE_TIME, INFINITE_TIME, (uint32_t)(uintptr_t)entry, 4096, priority, ""};
    PROCESS_ID_TYPE id = 0;

    memcpy(attributes.name, name, text_length(name));
    CREATE_PROCESS(&attributes, &id, &code);
    CHECK(code == NO_ERROR && id == expected);
    START(id, &code);
    CHECK(code == NO_ERROR);
}

/* The return code for attributes that are right but for one word. */
static RETURN_CODE_TYPE create_with(PROCESS_ATTRIBUTE_TYPE attributes)
{
    PROCESS_ID_TYPE id;

    CREATE_PROCESS(&attributes, &id, &code);
    return code;
}

static void check_attributes(void)
{
    const uint32_t here = (uint32_t)(uintptr_t)idle;

    CHECK(create_with((PROCESS_ATTRIBUTE_TYPE){-1, -1, here, 4096, 240, "p"}) == INVALID_PARAM);
    CHECK(create_with((PROCESS_ATTRIBUTE_TYPE){-1, -1, here, 0, 9, "p"}) == INVALID_PARAM);
    CHECK(create_with((PROCESS_ATTRIBUTE_TYPE){-1, -1, here, STACK_MAX_BYTES + 1, 9, "p"}) == INVALID_PARAM);
    CHECK(create_with((PROCESS_ATTRIBUTE_TYPE){0, -1, here, 4096, 9, "p"}) == INVALID_PARAM);
    CHECK(create_with((PROCESS_ATTRIBUTE_TYPE){-1, -1, KERNEL_ADDRESS, 4096, 9, "p"}) == INVALID_PARAM);
    CHECK(create_with((PROCESS_ATTRIBUTE_TYPE){-1, -1, here, 4096, 9, ""}) == INVALID_PARAM);
    CHECK(raw_call(CALL_CREATE_PROCESS, KERNEL_ADDRESS, LAST_WORD, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_CREATE_PROCESS, LAST_WORD, LAST_WORD, 0, 0, 0) == INVALID_PARAM);
    CHECK(raw_call(CALL_CREATE_PROCESS, BEFORE_US, LAST_WORD, 0, 0, 0) == INVALID_PARAM);
}

static void check_before_normal(void)
{
    TIMED_WAIT(MS, &code);
    CHECK(code == INVALID_MODE);
    PERIODIC_WAIT(&code);
    CHECK(code == INVALID_MODE);
    WAIT_SEMAPHORE(semaphore, 0, &code);
    CHECK(code == NOT_AVAILABLE);
    WAIT_SEMAPHORE(semaphore, MS, &code);
    CHECK(code == INVALID_MODE);
    SET_PARTITION_MODE(MODE_NORMAL, &code);
    CHECK(code == INVALID_CONFIG); /* no idle process yet */
}

static void check_creation(void)
{
    OBJECT_ID_TYPE id;

    CREATE_SEMAPHORE("bad", 3, 2, &id, &code);
    CHECK(code == INVALID_PARAM);
    CREATE_SEMAPHORE("bad", 0, 0, &id, &code);
    CHECK(code == INVALID_PARAM);
    CHECK(raw_call(CALL_CREATE_SEMAPHORE, (uint32_t)(uintptr_t) "bad", 0, 1, KERNEL_ADDRESS, 0) == INVALID_PARAM);
    CREATE_BUFFER("bad", 0, 1, &id, &code);
    CHECK(code == INVALID_PARAM);
    CREATE_BUFFER("bad", MAX_MESSAGE_BYTES + 1, 1, &id, &code);
    CHECK(code == INVALID_PARAM);
    CREATE_BUFFER("bad", MAX_MESSAGE_BYTES, 64, &id, &code);
    CHECK(code == INVALID_CONFIG); /* more than the kernel has for messages */
    for (unsigned i = 0; i < 12u; i++) {
        char name[32] = "small_a";
        name[6] = (char)('a' + i);
        CREATE_SEMAPHORE(name, 0, 1, &small, &code);
        CHECK(code == NO_ERROR);
    }
    CREATE_SEMAPHORE("small_b", 0, 1, &id, &code);
    CHECK(code == NO_ACTION); /* there is one of that name */
    CREATE_SEMAPHORE("small_z", 0, 1, &small, &code);
    CHECK(code == INVALID_CONFIG); /* 16 objects are all there are */
}

int main(void)
{
    CREATE_SEMAPHORE("semaphore", 0, 2, &semaphore, &code);
    CREATE_EVENT("event", &event, &code);
    CREATE_BUFFER("buffer", 8, 3, &buffer, &code);
    CREATE_BLACKBOARD("board", 8, &board, &code);
    CHECK(code == NO_ERROR);
    check_attributes();
    check_creation();
    check_before_normal();
    create("high", high, 40, HIGH);
    create("low", low, 30, LOW);
    create("equal_a", equal_a, 35, EQUAL_A);
    create("equal_b", equal_b, 35, EQUAL_B);
    create("receiver", receiver, 50, RECEIVER);
    create("reader", reader, 50, READER);
    create("torture", torture, 2, TORTURE);
    create("driver", driver, 20, DRIVER);
    create("idle", idle, IDLE_PRIORITY, DRIVER + 1);
    SET_PARTITION_MODE(MODE_NORMAL, &code);
    CHECK(0);
    return 0;
}
