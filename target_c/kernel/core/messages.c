/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers, message queues and blackboards, and what ports have in common with them. Each object numbers its
 * messages from 1; the number stays with the message until somebody has received it.
 */
#include "kernel/messages.h"

#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/sched.h"
#include "kernel/services.h"

#define MAX_MESSAGES 64u

static void note(uint16_t event, const struct object *object, const struct process *process, enum message_result result,
                 const struct message *message, uint32_t length)
{
    const struct vxm_message_info info = {
        .object = object->number,
        .type = object->type,
        .result = (uint16_t)result,
        .partition = process->partition->index,
        .task = process->task,
        .number = message != NULL ? message->number : 0u,
        .size = length,
        .depth = object->value,
        .content = message != NULL ? message->content : NULL,
    };

    vxm_hook_message(event, &info);
}

void message_note_send(struct object *object, const struct process *process, enum message_result result,
                       const struct message *message, uint32_t length)
{
    object->sends[result]++;
    if (vxm_enabled(VXM_EVENT_MSG_SEND)) {
        note(VXM_EVENT_MSG_SEND, object, process, result, message, length);
    }
}

void message_note_receive(struct object *object, const struct process *process, enum message_result result,
                          const struct message *message)
{
    object->receives[result]++;
    if (vxm_enabled(VXM_EVENT_MSG_RECEIVE)) {
        note(VXM_EVENT_MSG_RECEIVE, object, process, result, message, message != NULL ? message->length : 0u);
    }
}

bool message_is_sound(struct process *process, uint32_t message_bytes)
{
    const uint32_t address = service_argument(process, 1), length = service_argument(process, 2);

    /* Not the page that all share: it lies outside what partition_memory knows. */
    return length != 0u && length <= message_bytes && address - PARTITION_TEXT < PARTITION_LAYOUT_BYTES &&
           partition_owns(process->partition, address, length, false);
}

bool message_can_receive(struct process *process, uint32_t message_bytes)
{
    return partition_owns(process->partition, service_argument(process, 1), message_bytes, true) &&
           service_owns_word(process, 2);
}

void message_take(const struct process *sender, struct message *message, uint32_t number, uint64_t now)
{
    message->time = now;
    message->number = number;
    message->length = service_argument(sender, 2);
    memcpy(message->content, partition_memory(sender->partition, service_argument(sender, 1)), message->length);
}

void message_give(struct process *receiver, const struct message *message)
{
    const struct partition *partition = receiver->partition;

    memcpy(partition_memory(partition, service_argument(receiver, 1)), message->content, message->length);
    *(uint32_t *)partition_memory(partition, service_argument(receiver, 2)) = message->length;
}

struct message *queue_place(const struct object *queue)
{
    return message_at(queue, queue->first + queue->value);
}

/* The oldest message goes to a process, which has room for it. */
static void hand_over(struct object *queue, struct process *receiver)
{
    const struct message *message = message_at(queue, queue->first);

    queue->first = (queue->first + 1u) % queue->maximum;
    queue->value--;
    message_give(receiver, message);
    message_note_receive(queue, receiver, MESSAGE_OK, message);
}

void queue_added(struct object *queue, uint64_t now)
{
    queue->value++;
    struct process *waiter = object_waiter(queue);
    if (waiter != NULL) {
        hand_over(queue, waiter);
        process_wake(waiter, NO_ERROR, now);
    }
}

/* Of a process that sends to a queue with room. The record of the sending comes before that of the receipt. */
static void add(struct object *queue, const struct process *sender, uint64_t now)
{
    struct message *message = queue_place(queue);

    message_take(sender, message, ++queue->sent, now);
    queue->value++;
    message_note_send(queue, sender, MESSAGE_OK, message, message->length);
    queue->value--;
    queue_added(queue, now);
}

/* Somebody took a message from a full queue: who waits to send can do so. */
static void serve_sender(struct object *queue)
{
    struct process *waiter = object_waiter(queue);

    if (waiter != NULL) {
        /* Woken first: who waits at the queue then is a receiver. Its arguments stay as they are. */
        const uint64_t now = arch_time();
        process_wake(waiter, NO_ERROR, now);
        add(queue, waiter, now);
    }
}

uint32_t queue_receive(struct process *process, struct object *queue)
{
    if (!message_can_receive(process, queue->message_bytes)) {
        message_note_receive(queue, process, MESSAGE_INVALID_PARAM, NULL);
        return INVALID_PARAM;
    }
    if (queue->value == 0u) {
        const uint32_t result = object_wait(process, queue, 3);
        if (result != NO_ERROR) {
            message_note_receive(queue, process, result == INVALID_MODE ? MESSAGE_INVALID_MODE : MESSAGE_EMPTY, NULL);
        }
        return result;
    }
    hand_over(queue, process);
    if (queue->port != NULL) {
        port_has_room(queue);
    } else {
        serve_sender(queue);
    }
    return NO_ERROR;
}

static uint32_t create_messages(struct process *process, enum object_type type, uint32_t messages, unsigned id_argument)
{
    const uint32_t bytes = service_argument(process, 1);

    if (bytes == 0u || bytes > MAX_MESSAGE_BYTES || messages == 0u || messages > MAX_MESSAGES) {
        return INVALID_PARAM;
    }
    const struct object object = {.type = (uint8_t)type, .maximum = messages, .message_bytes = bytes};
    return object_create(process, &object, messages * message_room(bytes), id_argument);
}

static uint32_t send(struct process *process, struct object *queue)
{
    if (queue == NULL) {
        return INVALID_PARAM;
    }
    const uint32_t length = service_argument(process, 2);
    if (!message_is_sound(process, queue->message_bytes)) {
        message_note_send(queue, process, MESSAGE_INVALID_PARAM, NULL, length);
        return INVALID_PARAM;
    }
    if (queue->value == queue->maximum) {
        const uint32_t result = object_wait(process, queue, 3);
        if (result != NO_ERROR) {
            message_note_send(queue, process, result == INVALID_MODE ? MESSAGE_INVALID_MODE : MESSAGE_FULL, NULL,
                              length);
        }
        return result;
    }
    add(queue, process, arch_time());
    return NO_ERROR;
}

static uint32_t receive(struct process *process, struct object *queue)
{
    return queue != NULL ? queue_receive(process, queue) : (uint32_t)INVALID_PARAM;
}

uint32_t service_create_buffer(struct process *process)
{
    return create_messages(process, OBJECT_BUFFER, service_argument(process, 2), 3);
}

uint32_t service_send_buffer(struct process *process)
{
    return send(process, object_of(process, OBJECT_BUFFER));
}

uint32_t service_receive_buffer(struct process *process)
{
    return receive(process, object_of(process, OBJECT_BUFFER));
}

uint32_t service_create_queue(struct process *process)
{
    return create_messages(process, OBJECT_MESSAGE_QUEUE, service_argument(process, 2), 3);
}

uint32_t service_send_queue(struct process *process)
{
    return send(process, object_of(process, OBJECT_MESSAGE_QUEUE));
}

uint32_t service_receive_queue(struct process *process)
{
    return receive(process, object_of(process, OBJECT_MESSAGE_QUEUE));
}

uint32_t service_create_blackboard(struct process *process)
{
    return create_messages(process, OBJECT_BLACKBOARD, 1, 2);
}

uint32_t service_display_blackboard(struct process *process)
{
    struct object *board = object_of(process, OBJECT_BLACKBOARD);
    struct process *waiter;

    if (board == NULL) {
        return INVALID_PARAM;
    }
    if (!message_is_sound(process, board->message_bytes)) {
        message_note_send(board, process, MESSAGE_INVALID_PARAM, NULL, service_argument(process, 2));
        return INVALID_PARAM;
    }
    const uint64_t now = arch_time();
    struct message *message = message_at(board, 0);
    message_take(process, message, ++board->sent, now);
    board->value = 1;
    message_note_send(board, process, MESSAGE_OK, message, message->length);
    while ((waiter = object_waiter(board)) != NULL) {
        message_give(waiter, message);
        message_note_receive(board, waiter, MESSAGE_OK, message);
        process_wake(waiter, NO_ERROR, now);
    }
    return NO_ERROR;
}

uint32_t service_read_blackboard(struct process *process)
{
    struct object *board = object_of(process, OBJECT_BLACKBOARD);

    if (board == NULL) {
        return INVALID_PARAM;
    }
    if (!message_can_receive(process, board->message_bytes)) {
        message_note_receive(board, process, MESSAGE_INVALID_PARAM, NULL);
        return INVALID_PARAM;
    }
    if (board->value == 0u) {
        const uint32_t result = object_wait(process, board, 3);
        if (result != NO_ERROR) {
            message_note_receive(board, process, result == INVALID_MODE ? MESSAGE_INVALID_MODE : MESSAGE_EMPTY, NULL);
        }
        return result;
    }
    message_give(process, message_at(board, 0));
    message_note_receive(board, process, MESSAGE_OK, message_at(board, 0));
    return NO_ERROR;
}

uint32_t service_clear_blackboard(struct process *process)
{
    struct object *board = object_of(process, OBJECT_BLACKBOARD);

    if (board == NULL) {
        return INVALID_PARAM;
    }
    board->value = 0;
    return NO_ERROR;
}

static bool carries_messages(const struct object *object)
{
    return object->type <= OBJECT_QUEUING_PORT;
}

/* Who waits at a source or a full queue wants to send. Nobody waits to send to a blackboard. */
static bool wants_to_send(const struct object *object)
{
    if (object->port != NULL) {
        return object->port->source;
    }
    return object->type != OBJECT_BLACKBOARD && object->value == object->maximum;
}

void message_timed_out(struct process *process, struct object *object)
{
    if (!carries_messages(object)) {
        return;
    }
    if (wants_to_send(object)) {
        message_note_send(object, process, MESSAGE_TIMED_OUT, NULL, service_argument(process, 2));
    } else {
        message_note_receive(object, process, MESSAGE_TIMED_OUT, NULL);
    }
}
