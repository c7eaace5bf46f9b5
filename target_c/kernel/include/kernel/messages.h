/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kinds of message objects share. A call for a message has the object's id in argument 0, address and
 * length (sending) or address of the length (receiving) in 1 and 2, and a time-out in 3 and 4 if it may wait.
 * Kernel context, interrupts masked.
 */
#ifndef KERNEL_MESSAGES_H
#define KERNEL_MESSAGES_H

#include "kernel/objects.h"

/* Counts a call for a message and tells the monitor. `message` is NULL when the call got none. */
void message_note_send(struct object *object, const struct process *process, enum message_result result,
                       const struct message *message, uint32_t length);
void message_note_receive(struct object *object, const struct process *process, enum message_result result,
                          const struct message *message);

/* Is the message that arguments 1 and 2 describe the caller's own, and not too long? */
bool message_is_sound(struct process *process, uint32_t message_bytes);
/* Can the caller take a message where arguments 1 and 2 point to? */
bool message_can_receive(struct process *process, uint32_t message_bytes);
/* Copies a process's message to where it is kept; also when another partition's memory is the visible one. */
void message_take(const struct process *sender, struct message *message, uint32_t number, uint64_t now);
void message_give(struct process *receiver, const struct message *message);

/* The place of the next message of a queue that is not full; queue_added makes it one, and serves who waits. */
struct message *queue_place(const struct object *queue);
void queue_added(struct object *queue, uint64_t now);
/* Takes the oldest message or waits for one; enum return_code. */
uint32_t queue_receive(struct process *process, struct object *queue);

/* A wait for a message, or for room for one, ended by time. */
void message_timed_out(struct process *process, struct object *object);
/* There is room again at a destination of a channel. */
void port_has_room(struct object *destination);

#endif
