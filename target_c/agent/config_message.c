/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a run as a message, and back. */
#include "config.h"

static uint16_t clamp16(uint32_t value)
{
    return value < UINT16_MAX ? (uint16_t)value : UINT16_MAX;
}

static uint8_t clamp8(uint32_t value)
{
    return value < UINT8_MAX ? (uint8_t)value : UINT8_MAX;
}

static void bits_from(uint32_t *to, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        to[i / 4u] |= (uint32_t)bytes[i] << (8u * (i % 4u));
    }
}

/* Without the zero bytes at its end. */
static pb_size_t bits_to(uint8_t *to, const uint32_t *bits, size_t size)
{
    pb_size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        to[i] = (uint8_t)(bits[i / 4u] >> (8u * (i % 4u)));
        used = to[i] != 0 ? (pb_size_t)(i + 1u) : used;
    }
    return used;
}

/* A period that is left out is 0 here and becomes the default; one of 0 ms is a mistake. */
static bool period_from(uint32_t *to, const char *name, bool given, uint32_t value, struct vxm_text *why)
{
    *to = given ? value : 0;
    return !given || vxm_config_within(name, value, VXM_MIN_PERIOD_MS, VXM_MAX_PERIOD_MS, why);
}

static bool periods_from(struct vxm_run_config *config, const vxmon_RunConfig *from, struct vxm_text *why)
{
    return period_from(&config->memory_ms, "memory_ms", from->has_memory_ms, from->memory_ms, why) &&
           period_from(&config->stack_ms, "stack_ms", from->has_stack_ms, from->stack_ms, why) &&
           period_from(&config->operations_ms, "operations_ms", from->has_operations_ms, from->operations_ms, why);
}

/* Values too large for the type stay too large, and are refused by their limits. */
vxmon_Result vxm_config_from_message(struct vxm_run_config *config, const vxmon_RunConfig *from, struct vxm_text *why)
{
    memset(config, 0, sizeof *config);
    bits_from(config->enable, from->enable.bytes, from->enable.size);
    bits_from(config->hidden_partitions, from->hidden_partitions.bytes, from->hidden_partitions.size);
    bits_from(config->hidden_objects, from->hidden_objects.bytes, from->hidden_objects.size);
    config->datagram_bytes = clamp16(from->datagram_bytes);
    config->unit_slots = clamp16(from->unit_slots);
    config->units = clamp16(from->units);
    config->policy = clamp8((uint32_t)from->policy);
    config->high_water = clamp8(from->high_water);
    config->flush_ms = clamp16(from->flush_ms);
    config->one_way = from->one_way;
    config->no_upload = from->no_upload;
    config->max_ticks = from->max_ticks;
    config->payload = clamp8((uint32_t)from->payload);
    config->content_bytes = clamp16(from->content_bytes);
    config->fast = from->fast;
    config->grow_units = clamp16(from->grow_units);
    config->max_units = clamp16(from->max_units);
    config->max_records = from->max_records;
    config->stop_when_full = from->stop_when_full;
    return periods_from(config, from, why) ? vxmon_Result_OK : vxmon_Result_LIMIT;
}

void vxm_config_to_message(vxmon_RunConfig *to, const struct vxm_run_config *config)
{
    to->enable.size = sizeof to->enable.bytes;
    for (uint32_t i = 0; i < sizeof to->enable.bytes; i++) {
        to->enable.bytes[i] = (uint8_t)(config->enable[i / 4u] >> (8u * (i % 4u)));
    }
    to->datagram_bytes = config->datagram_bytes;
    to->unit_slots = config->unit_slots;
    to->units = config->units;
    to->policy = config->policy == VXM_LINEAR ? vxmon_Policy_LINEAR : vxmon_Policy_RING;
    to->high_water = config->high_water;
    to->flush_ms = config->flush_ms;
    to->one_way = config->one_way;
    to->no_upload = config->no_upload;
    to->max_ticks = config->max_ticks;
    to->hidden_partitions.size =
        bits_to(to->hidden_partitions.bytes, config->hidden_partitions, sizeof to->hidden_partitions.bytes);
    to->hidden_objects.size =
        bits_to(to->hidden_objects.bytes, config->hidden_objects, sizeof to->hidden_objects.bytes);
    to->payload = (vxmon_Payload)config->payload;
    to->content_bytes = config->content_bytes;
    to->fast = config->fast;
    to->has_memory_ms = to->has_stack_ms = to->has_operations_ms = true;
    to->memory_ms = config->memory_ms;
    to->stack_ms = config->stack_ms;
    to->operations_ms = config->operations_ms;
    to->grow_units = config->grow_units;
    to->max_units = config->max_units;
    to->max_records = config->max_records;
    to->stop_when_full = config->stop_when_full;
}
