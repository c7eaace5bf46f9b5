/* SPDX-License-Identifier: Apache-2.0 */
/* Waiters are found by a look through the partition's processes, at most MAX_PROCESSES. */
#include "kernel/objects.h"

#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/messages.h"
#include "kernel/sched.h"
#include "kernel/services.h"

#if KERNEL_MONITORED
_Static_assert((int)OBJECT_IO == (int)VXM_OBJECT_TYPE_IO && (int)MESSAGE_STALE == (int)VXM_COMM_RESULT_STALE &&
                   (int)MESSAGE_TIMED_OUT == (int)VXM_COMM_RESULT_TIMED_OUT,
               "types and results are those of the event table");
#endif

static uint32_t handle_of(const struct object *object)
{
    return (uint32_t)object->partition->index << 16 | (uint32_t)(object - object->partition->object);
}

static bool name_is_used(const struct partition *partition, uint8_t type, const char *name)
{
    for (unsigned i = 0; i < MAX_OBJECTS; i++) {
        const struct object *object = &partition->object[i];
        if (object->exists && object->type == type && text_equal(object->name, name)) {
            return true;
        }
    }
    return false;
}

static struct object *free_place(struct partition *partition)
{
    for (unsigned i = 0; i < MAX_OBJECTS; i++) {
        if (!partition->object[i].exists) {
            return &partition->object[i];
        }
    }
    return NULL;
}

/* Of the kernel's heap a partition gets no more than its share. */
static bool take_memory(struct partition *partition, struct object *object, uint32_t bytes)
{
    if (bytes == 0u) {
        return true;
    }
    const uint32_t address = bytes <= MESSAGE_BYTES - partition->message_bytes ? heap_allocate(kernel_heap, bytes) : 0u;
    object->memory = (uint8_t *)(uintptr_t)address;
    if (address == 0u) {
        return false;
    }
    object->pool_bytes = bytes;
    partition->message_bytes += bytes;
    return true;
}

uint32_t object_create(struct process *process, const struct object *wanted, uint32_t pool_bytes, unsigned id_argument)
{
    struct partition *partition = process->partition;
    struct object object = *wanted;

    if (partition->mode == MODE_NORMAL) {
        return INVALID_MODE;
    }
    if (!service_name(process, 0, object.name) || !service_owns_word(process, id_argument)) {
        return INVALID_PARAM;
    }
    if (name_is_used(partition, object.type, object.name)) {
        return NO_ACTION;
    }
    struct object *place = free_place(partition);
    if (place == NULL || !take_memory(partition, &object, pool_bytes)) {
        return INVALID_CONFIG;
    }
    object.exists = true;
    object.partition = partition;
    *place = object;
    place->number = vxm_hook_object_create(place->name, place->type, partition->index, handle_of(place),
                                           place->message_bytes, place->maximum);
    count_operation(&partition->operations, OPERATION_OBJECT_CREATE, pool_bytes);
    (void)service_store_word(process, service_argument(process, id_argument), (uint32_t)(place - partition->object));
    return NO_ERROR;
}

struct object *object_of(struct process *process, enum object_type type)
{
    const uint32_t id = service_argument(process, 0);
    struct object *object = id < MAX_OBJECTS ? &process->partition->object[id] : NULL;

    return object != NULL && object->exists && object->type == type ? object : NULL;
}

struct process *object_waiter(const struct object *object)
{
    struct process *best = NULL;

    for (unsigned i = 0; i < object->partition->process_count; i++) {
        struct process *process = &object->partition->process[i];
        if (process->state == STATE_WAITING && process->wait == WAIT_OBJECT && process->object == object &&
            (best == NULL || process->priority > best->priority ||
             (process->priority == best->priority && (int32_t)(process->order - best->order) < 0))) {
            best = process;
        }
    }
    return best;
}

uint32_t object_wait(struct process *process, struct object *object, unsigned timeout_argument)
{
    const int64_t timeout = service_time(process, timeout_argument);

    if (timeout == 0) {
        return NOT_AVAILABLE;
    }
    if (!process_may_wait(process)) {
        return INVALID_MODE;
    }
    process->object = object;
    process->order = module.order++;
    process_wait(process, WAIT_OBJECT, service_deadline(timeout));
    return NO_ERROR;
}

void object_timed_out(struct process *process)
{
    if (process->object != NULL) {
        message_timed_out(process, process->object);
    }
}

void objects_release(struct partition *partition)
{
    for (unsigned i = 0; i < MAX_OBJECTS; i++) {
        struct object *object = &partition->object[i];
        if (object->exists) {
            (void)heap_free(kernel_heap, (uint32_t)(uintptr_t)object->memory);
            vxm_hook_object_delete(object->number, handle_of(object));
            count_operation(&partition->operations, OPERATION_OBJECT_DELETE, object->pool_bytes);
            object->exists = false;
        }
    }
    partition->message_bytes = 0;
    for (unsigned i = 0; i < module_config.port_count; i++) {
        if (port_object[i].partition == partition) {
            port_object[i].exists = false;
        }
    }
}

static void print_object(const struct object *object)
{
    print("book object partition=%s name=%s index=%u type=%u sent=%u depth=%u", object->partition->name, object->name,
          object->number, object->type, object->sent, object->value);
    for (unsigned i = 0; i < MESSAGE_RESULTS; i++) {
        if (object->sends[i] != 0u) {
            print(" send%u=%u", i, object->sends[i]);
        }
        if (object->receives[i] != 0u) {
            print(" receive%u=%u", i, object->receives[i]);
        }
    }
    print("\n");
}

void objects_print(const struct partition *partition)
{
    for (unsigned i = 0; i < MAX_OBJECTS; i++) {
        if (partition->object[i].exists) {
            print_object(&partition->object[i]);
        }
    }
    for (unsigned i = 0; i < module_config.port_count; i++) {
        if (port_object[i].partition == partition && port_object[i].number != VXM_UNNAMED) {
            print_object(&port_object[i]);
        }
    }
}
