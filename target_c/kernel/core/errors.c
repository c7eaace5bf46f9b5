/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel calls about errors: handlers, application errors, why a partition began. */
#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/sched.h"
#include "kernel/services.h"

void service_illegal(struct process *process, uint32_t number)
{
    hm_raise(&(struct hm_error){.code = ERROR_ILLEGAL_REQUEST,
                                .subcode = number,
                                .address = arch_instruction(&process->context),
                                .partition = process->partition,
                                .process = process,
                                .message = "no such kernel call"});
}

uint32_t service_create_error_handler(struct process *process)
{
    struct partition *partition = process->partition;
    const uint32_t number = partition->process_count;
    struct process_attributes attributes = {
        .period = INFINITE_TIME,
        .time_capacity = INFINITE_TIME,
        .entry = service_argument(process, 0),
        .stack_size = service_argument(process, 1),
        .priority = HANDLER_PRIORITY,
        .name = "error_handler",
    };

    if (partition->mode == MODE_NORMAL) {
        return INVALID_MODE;
    }
    if (partition->handler != NULL) {
        return NO_ACTION;
    }
    if (!partition_owns(partition, attributes.entry, 4, false) || attributes.stack_size == 0u ||
        attributes.stack_size > STACK_MAX_BYTES) {
        return INVALID_PARAM;
    }
    attributes.stack_size = attributes.stack_size <= 0x1000u ? 0x1000u : STACK_MAX_BYTES;
    if (number == MAX_PROCESSES || !partition_map_stack(partition, number, attributes.stack_size)) {
        return INVALID_CONFIG;
    }
    partition->handler = process_create(partition, &attributes);
    return NO_ERROR;
}

/* The oldest error; only the handler may ask. */
uint32_t service_get_error_status(struct process *process)
{
    struct partition *partition = process->partition;

    if (process != partition->handler) {
        return INVALID_CONFIG;
    }
    if (partition->error_count == 0u) {
        return NO_ACTION;
    }
    const struct error_status *status = &partition->error[partition->error_first];
    if (!service_store(process, service_argument(process, 0), status, sizeof *status)) {
        return INVALID_PARAM;
    }
    partition->error_first = (partition->error_first + 1u) % MAX_ERRORS;
    partition->error_count--;
    return NO_ERROR;
}

uint32_t service_raise_error(struct process *process)
{
    const uint32_t address = service_argument(process, 1), length = service_argument(process, 2);
    struct hm_error error = {
        .code = ERROR_APPLICATION,
        .address = arch_instruction(&process->context),
        .partition = process->partition,
        .process = process,
    };

    if (service_argument(process, 0) != ERROR_APPLICATION || length > MAX_ERROR_MESSAGE ||
        !partition_owns(process->partition, address, length, false)) {
        return INVALID_PARAM;
    }
    memcpy(error.message, (const void *)(uintptr_t)address, length);
    error.message[MAX_ERROR_MESSAGE - 1] = '\0';
    error.subcode = length;
    hm_raise(&error);
    return NO_ERROR;
}

uint32_t service_get_start_condition(struct process *process)
{
    return service_store_word(process, service_argument(process, 0), process->partition->start_condition)
               ? NO_ERROR
               : INVALID_PARAM;
}
