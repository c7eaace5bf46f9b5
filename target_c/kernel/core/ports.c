/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling and queuing ports and the channels between them. A message is copied to each destination when it is
 * sent and has its source's number there. A port's queue keeps what is in it when its partition restarts.
 */
#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/messages.h"
#include "kernel/parameters.h"
#include "kernel/sched.h"
#include "kernel/services.h"

/* A source has one place, from which its message goes to the destinations. */
struct object port_object[MAX_PORTS];

void ports_init(void)
{
    for (unsigned i = 0; i < module_config.port_count; i++) {
        const struct port_config *port = &module_config.ports[i];
        struct object *object = &port_object[i];
        *object = (struct object){
            .type = port->queuing ? OBJECT_QUEUING_PORT : OBJECT_SAMPLING_PORT,
            .number = VXM_UNNAMED,
            .partition = &module.partition[port->partition],
            .port = port,
            .maximum = port->source ? 1u : port->messages,
            .message_bytes = port->message_bytes,
        };
        memcpy(object->name, port->name, strlen(port->name));
        const uint32_t address = heap_allocate(kernel_heap, object->maximum * message_room(port->message_bytes));
        if (address == 0u) {
            panic("port %s: the kernel has no memory left for its messages", port->name);
        }
        object->memory = (uint8_t *)(uintptr_t)address;
    }
}

static struct object *destination_of(const struct port_config *source, unsigned at)
{
    return &port_object[source->destinations[at]];
}

static struct object *find_port(const struct partition *partition, const char *name)
{
    for (unsigned i = 0; i < module_config.port_count; i++) {
        if (port_object[i].partition == partition && text_equal(port_object[i].name, name)) {
            return &port_object[i];
        }
    }
    return NULL;
}

/* The port whose id is argument 0, if it is the caller's and of that kind. */
static struct object *port_of(struct process *process, enum object_type type, bool source)
{
    const uint32_t id = service_argument(process, 0);
    struct object *object = id < module_config.port_count ? &port_object[id] : NULL;

    return object != NULL && object->exists && object->partition == process->partition && object->type == type &&
                   object->port->source == source
               ? object
               : NULL;
}

/* Name, message size, source or destination, address of the id. The configuration must say the same. */
static uint32_t create_port(struct process *process, enum object_type type)
{
    char name[NAME_BYTES + 1];

    if (process->partition->mode == MODE_NORMAL) {
        return INVALID_MODE;
    }
    if (!service_name(process, 0, name) || !service_owns_word(process, 3)) {
        return INVALID_PARAM;
    }
    struct object *object = find_port(process->partition, name);
    if (object == NULL || object->type != type || object->message_bytes != service_argument(process, 1) ||
        object->port->source != (service_argument(process, 2) == PORT_SOURCE)) {
        return INVALID_CONFIG;
    }
    if (object->exists) {
        return NO_ACTION;
    }
    const uint32_t id = (uint32_t)(object - port_object);
    object->exists = true;
    if (object->number == VXM_UNNAMED) {
        object->number = vxm_hook_object_create(object->name, object->type, process->partition->index, 0x80000000u | id,
                                                object->message_bytes, object->port->messages);
        count_operation(&process->partition->operations, OPERATION_OBJECT_CREATE,
                        object->maximum * message_room(object->message_bytes));
    }
    (void)service_store_word(process, service_argument(process, 3), id);
    return NO_ERROR;
}

uint32_t service_create_sampling_port(struct process *process)
{
    return create_port(process, OBJECT_SAMPLING_PORT);
}

uint32_t service_create_queuing_port(struct process *process)
{
    return create_port(process, OBJECT_QUEUING_PORT);
}

static void copy_message(struct message *to, const struct message *from)
{
    memcpy(to, from, sizeof *from + from->length);
}

uint32_t service_write_sampling(struct process *process)
{
    struct object *source = port_of(process, OBJECT_SAMPLING_PORT, true);

    if (source == NULL) {
        return INVALID_PARAM;
    }
    if (!message_is_sound(process, source->message_bytes)) {
        message_note_send(source, process, MESSAGE_INVALID_PARAM, NULL, service_argument(process, 2));
        return INVALID_PARAM;
    }
    struct message *message = message_at(source, 0);
    message_take(process, message, ++source->sent, arch_time());
    source->value = 1;
    for (unsigned i = 0; i < source->port->destination_count; i++) {
        struct object *destination = destination_of(source->port, i);
        copy_message(message_at(destination, 0), message);
        destination->sent = message->number;
        destination->value = 1;
    }
    message_note_send(source, process, MESSAGE_OK, message, message->length);
    return NO_ERROR;
}

/* Argument 3: where it is stored whether the message is valid: not older than the port's refresh period. */
uint32_t service_read_sampling(struct process *process)
{
    struct object *port = port_of(process, OBJECT_SAMPLING_PORT, false);

    if (port == NULL) {
        return INVALID_PARAM;
    }
    if (!message_can_receive(process, port->message_bytes) || !service_owns_word(process, 3)) {
        message_note_receive(port, process, MESSAGE_INVALID_PARAM, NULL);
        return INVALID_PARAM;
    }
    if (port->value == 0u) {
        (void)service_store_word(process, service_argument(process, 3), 0);
        message_note_receive(port, process, MESSAGE_EMPTY, NULL);
        return NO_ACTION;
    }
    const struct message *message = message_at(port, 0);
    const bool valid = arch_time() - message->time <= ticks_of_ns(port->port->refresh_ns);
    message_give(process, message);
    (void)service_store_word(process, service_argument(process, 3), valid);
    message_note_receive(port, process, valid ? MESSAGE_OK : MESSAGE_STALE, message);
    return NO_ERROR;
}

/* A channel whose receivers may lose messages always has room for its sender. */
static bool has_room(const struct object *source)
{
    for (unsigned i = 0; !source->port->discard && i < source->port->destination_count; i++) {
        const struct object *destination = destination_of(source->port, i);
        if (destination->value == destination->maximum) {
            return false;
        }
    }
    return true;
}

/* What a full destination loses is told as a message it was sent and had no room for. */
static void pass_on(const struct object *source, const struct process *sender, uint64_t now)
{
    const struct message *message = message_at(source, 0);

    for (unsigned i = 0; i < source->port->destination_count; i++) {
        struct object *destination = destination_of(source->port, i);
        if (destination->value == destination->maximum) {
            message_note_send(destination, sender, MESSAGE_FULL, message, message->length);
            continue;
        }
        copy_message(queue_place(destination), message);
        destination->sent = message->number;
        queue_added(destination, now);
    }
}

static void send_queuing(struct object *source, const struct process *sender, uint64_t now)
{
    struct message *message = message_at(source, 0);

    message_take(sender, message, ++source->sent, now);
    message_note_send(source, sender, MESSAGE_OK, message, message->length);
    pass_on(source, sender, now);
}

uint32_t service_send_queuing(struct process *process)
{
    struct object *source = port_of(process, OBJECT_QUEUING_PORT, true);

    if (source == NULL) {
        return INVALID_PARAM;
    }
    const uint32_t length = service_argument(process, 2);
    if (!message_is_sound(process, source->message_bytes)) {
        message_note_send(source, process, MESSAGE_INVALID_PARAM, NULL, length);
        return INVALID_PARAM;
    }
    if (!has_room(source)) {
        const uint32_t result = object_wait(process, source, 3);
        if (result != NO_ERROR) {
            message_note_send(source, process, result == INVALID_MODE ? MESSAGE_INVALID_MODE : MESSAGE_FULL, NULL,
                              length);
        }
        return result;
    }
    send_queuing(source, process, arch_time());
    return NO_ERROR;
}

uint32_t service_receive_queuing(struct process *process)
{
    struct object *port = port_of(process, OBJECT_QUEUING_PORT, false);

    return port != NULL ? queue_receive(process, port) : (uint32_t)INVALID_PARAM;
}

void port_has_room(struct object *destination)
{
    const uint16_t from = destination->port->from;

    if (from == NO_PORT || !has_room(&port_object[from])) {
        return;
    }
    struct object *source = &port_object[from];
    struct process *waiter = object_waiter(source);
    if (waiter != NULL) {
        const uint64_t now = arch_time();
        process_wake(waiter, NO_ERROR, now);
        send_queuing(source, waiter, now);
    }
}
