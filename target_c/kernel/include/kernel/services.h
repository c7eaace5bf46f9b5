/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel calls of partitions. Kernel context, interrupts masked, the caller's memory visible. */
#ifndef KERNEL_SERVICES_H
#define KERNEL_SERVICES_H

#include "kernel/process.h"

/* Serves one call; enum return_code. A caller that is left waiting gets its result when it wakes. */
uint32_t service_call(struct process *process, uint32_t number);

/* One call's function. */
typedef uint32_t service_function(struct process *process);

service_function service_create_semaphore, service_wait_semaphore, service_signal_semaphore;
service_function service_create_event, service_set_event, service_reset_event, service_wait_event;
service_function service_create_buffer, service_send_buffer, service_receive_buffer;
service_function service_create_blackboard, service_display_blackboard, service_read_blackboard;
service_function service_clear_blackboard;
service_function service_create_queue, service_send_queue, service_receive_queue;
service_function service_create_sampling_port, service_write_sampling, service_read_sampling;
service_function service_create_queuing_port, service_send_queuing, service_receive_queuing;
service_function service_create_error_handler, service_get_error_status, service_raise_error;
service_function service_get_start_condition;
service_function service_allocate, service_free, service_open, service_close;

/* A call that does not exist is an error of its own. */
void service_illegal(struct process *process, uint32_t number);

/* Word `index` of the call's arguments; two of them as a time in nanoseconds. */
static inline uint32_t service_argument(const struct process *process, unsigned index)
{
    return arch_call_argument(&process->context, index);
}

static inline int64_t service_time(const struct process *process, unsigned index)
{
    return (int64_t)((uint64_t)service_argument(process, index) << 32 | service_argument(process, index + 1u));
}

/* When a time-out of a call that begins now is over; NEVER for an infinite one. */
uint64_t service_deadline(int64_t timeout);
/* Stores to the caller's memory; false when it is not the caller's. */
bool service_store(struct process *process, uint32_t address, const void *from, uint32_t bytes);
/* Does argument `index` point to a word of the caller's that it may write? */
bool service_owns_word(struct process *process, unsigned index);
/* Copies the name an argument points to; false when it is not the caller's, or empty. */
bool service_name(struct process *process, unsigned index, char name[NAME_BYTES + 1]);
bool service_store_word(struct process *process, uint32_t address, uint32_t value);

#endif
