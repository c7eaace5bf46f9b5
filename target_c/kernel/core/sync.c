/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores and events: the highest priority is served first, equals in the order in which they came. */
#include "kernel/sched.h"
#include "kernel/services.h"

#define LARGEST_VALUE 1000000u

uint32_t service_create_semaphore(struct process *process)
{
    const uint32_t value = service_argument(process, 1), maximum = service_argument(process, 2);

    if (maximum == 0u || maximum > LARGEST_VALUE || value > maximum) {
        return INVALID_PARAM;
    }
    return object_create(process, &(struct object){.type = OBJECT_SEMAPHORE, .value = value, .maximum = maximum}, 0, 3);
}

uint32_t service_wait_semaphore(struct process *process)
{
    struct object *semaphore = object_of(process, OBJECT_SEMAPHORE);

    if (semaphore == NULL) {
        return INVALID_PARAM;
    }
    if (semaphore->value != 0u) {
        semaphore->value--;
        return NO_ERROR;
    }
    return object_wait(process, semaphore, 1);
}

uint32_t service_signal_semaphore(struct process *process)
{
    struct object *semaphore = object_of(process, OBJECT_SEMAPHORE);

    if (semaphore == NULL) {
        return INVALID_PARAM;
    }
    struct process *waiter = object_waiter(semaphore);
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
    return object_create(process, &(struct object){.type = OBJECT_EVENT, .maximum = 1}, 0, 1);
}

uint32_t service_set_event(struct process *process)
{
    struct object *event = object_of(process, OBJECT_EVENT);
    struct process *waiter;

    if (event == NULL) {
        return INVALID_PARAM;
    }
    const uint64_t now = arch_time();
    event->value = 1;
    while ((waiter = object_waiter(event)) != NULL) {
        process_wake(waiter, NO_ERROR, now);
    }
    return NO_ERROR;
}

uint32_t service_reset_event(struct process *process)
{
    struct object *event = object_of(process, OBJECT_EVENT);

    if (event == NULL) {
        return INVALID_PARAM;
    }
    event->value = 0;
    return NO_ERROR;
}

uint32_t service_wait_event(struct process *process)
{
    struct object *event = object_of(process, OBJECT_EVENT);

    if (event == NULL) {
        return INVALID_PARAM;
    }
    return event->value != 0u ? (uint32_t)NO_ERROR : object_wait(process, event, 1);
}
