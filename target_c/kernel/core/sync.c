/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes of one partition wait on: semaphores, events, buffers, blackboards. Waiters are
 * found by a look through the partition's processes, at most MAX_PROCESSES; the highest priority is
 * served first, equals in the order in which they came.
 */
#include "kernel/library.h"
#include "kernel/sched.h"
#include "kernel/services.h"

#define LARGEST_VALUE 1000000u
#define MAX_MESSAGES 64u

static struct sync_object *object_of(struct process *process, uint32_t index, enum object_kind kind)
{
    struct partition *partition = process->partition;
    const uint32_t id = service_argument(process, index);

    return id < MAX_OBJECTS && partition->object[id].kind == kind ? &partition->object[id] : NULL;
}

struct process *object_waiter(struct partition *partition, const struct sync_object *object)
{
    struct process *best = NULL;

    for (unsigned i = 0; i < partition->process_count; i++) {
        struct process *process = &partition->process[i];
        if (process->state == STATE_WAITING && process->wait == WAIT_OBJECT && process->object == object &&
            (best == NULL || process->priority > best->priority ||
             (process->priority == best->priority && (int32_t)(process->order - best->order) < 0))) {
            best = process;
        }
    }
    return best;
}

/* Makes an object and stores its id for the caller. */
static uint32_t create(struct process *process, struct sync_object object, uint32_t pool_bytes, unsigned id_argument)
{
    struct partition *partition = process->partition;
    uint32_t id = 0;

    if (partition->mode == MODE_NORMAL) {
        return INVALID_MODE;
    }
    while (id < MAX_OBJECTS && partition->object[id].kind != OBJECT_NONE) {
        id++;
    }
    if (id == MAX_OBJECTS) {
        return INVALID_CONFIG;
    }
    if (!service_store_word(process, service_argument(process, id_argument), id)) {
        return INVALID_PARAM;
    }
    if (pool_bytes > MESSAGE_BYTES - partition->message_bytes) {
        return INVALID_CONFIG;
    }
    if (pool_bytes != 0u) {
        const uint32_t address = heap_allocate(kernel_heap, pool_bytes);
        if (address == 0u) {
            return INVALID_CONFIG;
        }
        object.memory = (uint8_t *)(uintptr_t)address;
    }
    partition->message_bytes += pool_bytes;
    count_operation(&partition->operations, OPERATION_OBJECT_CREATE, pool_bytes);
    partition->object[id] = object;
    return NO_ERROR;
}

/* Waits for an object with a time-out in two arguments; returns what the call returns if it does not wait. */
static uint32_t wait_for(struct process *process, struct sync_object *object, unsigned timeout_argument)
{
    const int64_t timeout = service_time(process, timeout_argument);

    if (timeout == 0) {
        return NOT_AVAILABLE;
    }
    if (process->partition->mode != MODE_NORMAL || process->priority == IDLE_PRIORITY) {
        return INVALID_MODE;
    }
    process->object = object;
    process->order = module.order++;
    process_wait(process, WAIT_OBJECT, service_deadline(timeout));
    return NO_ERROR;
}

uint32_t service_create_semaphore(struct process *process)
{
    const uint32_t value = service_argument(process, 0), maximum = service_argument(process, 1);

    if (maximum == 0u || maximum > LARGEST_VALUE || value > maximum) {
        return INVALID_PARAM;
    }
    return create(process, (struct sync_object){.kind = OBJECT_SEMAPHORE, .value = value, .maximum = maximum}, 0, 2);
}

uint32_t service_wait_semaphore(struct process *process)
{
    struct sync_object *semaphore = object_of(process, 0, OBJECT_SEMAPHORE);

    if (semaphore == NULL) {
        return INVALID_PARAM;
    }
    if (semaphore->value != 0u) {
        semaphore->value--;
        return NO_ERROR;
    }
    return wait_for(process, semaphore, 1);
}

uint32_t service_signal_semaphore(struct process *process)
{
    struct sync_object *semaphore = object_of(process, 0, OBJECT_SEMAPHORE);

    if (semaphore == NULL) {
        return INVALID_PARAM;
    }
    struct process *waiter = object_waiter(process->partition, semaphore);
    if (waiter != NULL) {
        process_wake(waiter, NO_ERROR, arch_time());
        return NO_ERROR;
    }
    if (semaphore->value == semaphore->maximum) {
        return NO_ACTION;
    }
    semaphore->value++;
    return NO_ERROR;
}

uint32_t service_create_event(struct process *process)
{
    return create(process, (struct sync_object){.kind = OBJECT_EVENT}, 0, 0);
}

/* Wakes all that wait. */
static void wake_all(struct process *process, struct sync_object *object)
{
    const uint64_t now = arch_time();
    struct process *waiter;

    while ((waiter = object_waiter(process->partition, object)) != NULL) {
        process_wake(waiter, NO_ERROR, now);
    }
}

uint32_t service_set_event(struct process *process)
{
    struct sync_object *event = object_of(process, 0, OBJECT_EVENT);

    if (event == NULL) {
        return INVALID_PARAM;
    }
    event->value = 1;
    wake_all(process, event);
    return NO_ERROR;
}

uint32_t service_reset_event(struct process *process)
{
    struct sync_object *event = object_of(process, 0, OBJECT_EVENT);

    if (event == NULL) {
        return INVALID_PARAM;
    }
    event->value = 0;
    return NO_ERROR;
}

uint32_t service_wait_event(struct process *process)
{
    struct sync_object *event = object_of(process, 0, OBJECT_EVENT);

    if (event == NULL) {
        return INVALID_PARAM;
    }
    return event->value != 0u ? (uint32_t)NO_ERROR : wait_for(process, event, 1);
}

/* A message in an object's memory: its length, then its bytes. */
struct slot {
    uint32_t length;
    uint8_t content[];
};

static uint32_t slot_bytes(uint32_t message_bytes)
{
    return (uint32_t)sizeof(struct slot) + ((message_bytes + 3u) & ~3u);
}

static struct slot *slot_at(const struct sync_object *object, uint32_t index)
{
    return (struct slot *)(void *)(object->memory + index % object->maximum * slot_bytes(object->message_bytes));
}

/* Creates a buffer or a blackboard. */
static uint32_t create_messages(struct process *process, enum object_kind kind, uint32_t messages, unsigned id_argument)
{
    const uint32_t bytes = service_argument(process, 0);

    if (bytes == 0u || bytes > MAX_MESSAGE_BYTES || messages == 0u || messages > MAX_MESSAGES) {
        return INVALID_PARAM;
    }
    return create(process, (struct sync_object){.kind = (uint8_t)kind, .maximum = messages, .message_bytes = bytes},
                  messages * slot_bytes(bytes), id_argument);
}

/* Copies the caller's message (arguments 1 and 2) to where it is kept. */
static bool take_message(struct process *process, struct slot *slot, uint32_t message_bytes)
{
    const uint32_t address = service_argument(process, 1), length = service_argument(process, 2);

    if (length == 0u || length > message_bytes || !partition_owns(process->partition, address, length, false)) {
        return false;
    }
    slot->length = length;
    memcpy(slot->content, (const void *)(uintptr_t)address, length);
    return true;
}

/* Can a message be given to this receiver (arguments 1 and 2)? Asked before it waits. */
static bool can_receive(struct process *process, uint32_t message_bytes)
{
    return partition_owns(process->partition, service_argument(process, 1), message_bytes, true) &&
           (service_argument(process, 2) & 3u) == 0u &&
           partition_owns(process->partition, service_argument(process, 2), 4, true);
}

static void give_message(struct process *receiver, const struct slot *slot)
{
    (void)service_store(receiver, service_argument(receiver, 1), slot->content, slot->length);
    (void)service_store_word(receiver, service_argument(receiver, 2), slot->length);
}

uint32_t service_create_buffer(struct process *process)
{
    return create_messages(process, OBJECT_BUFFER, service_argument(process, 1), 2);
}

/* A full buffer is told, not waited for. */
uint32_t service_send_buffer(struct process *process)
{
    struct sync_object *buffer = object_of(process, 0, OBJECT_BUFFER);

    if (buffer == NULL) {
        return INVALID_PARAM;
    }
    if (buffer->value == buffer->maximum) {
        return NOT_AVAILABLE;
    }
    struct slot *slot = slot_at(buffer, buffer->first + buffer->value);
    if (!take_message(process, slot, buffer->message_bytes)) {
        return INVALID_PARAM;
    }
    struct process *waiter = object_waiter(process->partition, buffer);
    if (waiter != NULL) {
        give_message(waiter, slot);
        process_wake(waiter, NO_ERROR, arch_time());
    } else {
        buffer->value++;
    }
    return NO_ERROR;
}

uint32_t service_receive_buffer(struct process *process)
{
    struct sync_object *buffer = object_of(process, 0, OBJECT_BUFFER);

    if (buffer == NULL || !can_receive(process, buffer->message_bytes)) {
        return INVALID_PARAM;
    }
    if (buffer->value == 0u) {
        return wait_for(process, buffer, 3);
    }
    give_message(process, slot_at(buffer, buffer->first));
    buffer->first = (buffer->first + 1u) % buffer->maximum;
    buffer->value--;
    return NO_ERROR;
}

uint32_t service_create_blackboard(struct process *process)
{
    return create_messages(process, OBJECT_BLACKBOARD, 1, 1);
}

uint32_t service_display_blackboard(struct process *process)
{
    struct sync_object *board = object_of(process, 0, OBJECT_BLACKBOARD);
    struct process *waiter;

    if (board == NULL || !take_message(process, slot_at(board, 0), board->message_bytes)) {
        return INVALID_PARAM;
    }
    board->value = 1;
    while ((waiter = object_waiter(process->partition, board)) != NULL) {
        give_message(waiter, slot_at(board, 0));
        process_wake(waiter, NO_ERROR, arch_time());
    }
    return NO_ERROR;
}

uint32_t service_read_blackboard(struct process *process)
{
    struct sync_object *board = object_of(process, 0, OBJECT_BLACKBOARD);

    if (board == NULL || !can_receive(process, board->message_bytes)) {
        return INVALID_PARAM;
    }
    if (board->value == 0u) {
        return wait_for(process, board, 3);
    }
    give_message(process, slot_at(board, 0));
    return NO_ERROR;
}

uint32_t service_clear_blackboard(struct process *process)
{
    struct sync_object *board = object_of(process, 0, OBJECT_BLACKBOARD);

    if (board == NULL) {
        return INVALID_PARAM;
    }
    board->value = 0;
    return NO_ERROR;
}
