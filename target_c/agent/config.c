/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "block.h"
#include "evtmap.h"
#include "objects.h"
#include "upload.h"
#include "vxm/hooks.h"

#define MIN_UNIT_SLOTS 128u
#define MAX_UNIT_SLOTS 4096u
#define DEFAULT_HIGH_WATER 70u
#define DEFAULT_FLUSH_MS 100u
#define MAX_FLUSH_MS 60000u
#define MIN_UNITS 2u
#define MAX_UNITS 65535u
#define DEFAULT_CONTENT 64u
#define DEFAULT_PERIOD_MS 1000u
#define DEFAULT_GROW 16u
#define MAX_GROW 1024u

static uint32_t share(void)
{
    return (uint32_t)(vxm_agent.arena_size / VXM_PORT_STREAMS);
}

uint32_t vxm_config_max_units(uint32_t unit_slots)
{
    size_t units = share() / (vxm_units_bytes(unit_slots) + VXM_UPLOAD_ENTRY_BYTES);
    return units < MAX_UNITS ? (uint32_t)units : MAX_UNITS;
}

/* Units that a stream can begin with when up to max_units are kept account of. */
static uint32_t units_that_fit(uint32_t unit_slots, uint32_t max_units)
{
    size_t accounts = max_units * VXM_UPLOAD_ENTRY_BYTES;
    size_t units = accounts < share() ? (share() - accounts) / vxm_units_bytes(unit_slots) : 0;
    uint32_t most = vxm_config_max_units(unit_slots);
    if (max_units == 0) {
        return most;
    }
    return units < MAX_UNITS ? (uint32_t)units : MAX_UNITS;
}

static void default32(uint32_t *value, uint32_t otherwise)
{
    *value = *value != 0 ? *value : otherwise;
}

static void fill_buffers(struct vxm_run_config *config)
{
    if (config->datagram_bytes == 0) {
        config->datagram_bytes = VXM_FRAME_DEFAULT;
    }
    if (config->unit_slots == 0) {
        config->unit_slots = VXM_DEFAULT_UNIT_SLOTS;
    }
    if (config->units == 0 && config->unit_slots >= MIN_UNIT_SLOTS) {
        uint32_t most = units_that_fit(config->unit_slots, config->max_units);
        config->units = (uint16_t)(config->max_units != 0 && config->max_units < most ? config->max_units : most);
    }
    if (config->max_units == 0) {
        config->max_units = config->units;
    }
    if (config->grow_units == 0) {
        config->grow_units = DEFAULT_GROW;
    }
    if (config->high_water == 0) {
        config->high_water = DEFAULT_HIGH_WATER;
    }
    if (config->flush_ms == 0) {
        config->flush_ms = DEFAULT_FLUSH_MS;
    }
}

void vxm_config_fill(struct vxm_run_config *config)
{
    fill_buffers(config);
    default32(&config->memory_ms, DEFAULT_PERIOD_MS);
    default32(&config->stack_ms, DEFAULT_PERIOD_MS);
    default32(&config->operations_ms, DEFAULT_PERIOD_MS);
    if (config->content_bytes == 0) {
        config->content_bytes = DEFAULT_CONTENT;
    }
    vxm_evtmap_add_always(config->enable);
}

bool vxm_config_within(const char *name, uint32_t value, uint32_t low, uint32_t high, struct vxm_text *why)
{
    if (value >= low && value <= high) {
        return true;
    }
    vxm_text_add(why, name);
    vxm_text_add(why, " ");
    vxm_text_number(why, value);
    vxm_text_add(why, " is outside ");
    vxm_text_number(why, low);
    vxm_text_add(why, "-");
    vxm_text_number(why, high);
    return false;
}

void vxm_config_name_event(struct vxm_text *why, uint32_t id)
{
    const char *name = vxm_event_name(id);
    vxm_text_add(why, "event ");
    if (name != NULL) {
        vxm_text_add(why, name);
        vxm_text_add(why, " (");
        vxm_text_number(why, id);
        vxm_text_add(why, ")");
    } else {
        vxm_text_add(why, "EVENT_");
        vxm_text_number(why, id);
    }
}

vxmon_Result vxm_config_refuse_event(struct vxm_text *why, uint32_t id)
{
    vxm_config_name_event(why, id);
    vxm_text_add(why, " is not offered by release ");
    vxm_text_add(why, vxm_agent.table->os_release);
    return vxmon_Result_UNSUPPORTED;
}

/* A unit becomes at most 32 blocks, one bit each in the list of what was acknowledged. */
static bool blocks_fit(const struct vxm_run_config *config, struct vxm_text *why)
{
    uint32_t slots = vxm_block_max_slots(config->datagram_bytes);
    if (vxm_block_most_per_unit(config->unit_slots, slots) <= VXM_UPLOAD_MAX_BLOCKS) {
        return true;
    }
    vxm_text_add(why, "units of ");
    vxm_text_number(why, config->unit_slots);
    vxm_text_add(why, " slots need more than 32 datagrams of ");
    vxm_text_number(why, config->datagram_bytes);
    vxm_text_add(why, " bytes");
    return false;
}

static vxmon_Result check_memory(const struct vxm_run_config *config, struct vxm_text *why)
{
    uint32_t growth = config->max_units > config->units ? config->max_units : 0;
    uint32_t most = units_that_fit(config->unit_slots, growth);
    if (most >= MIN_UNITS && config->units <= most) {
        return vxmon_Result_OK;
    }
    vxm_text_add(why, "the buffer memory holds ");
    vxm_text_number(why, most);
    vxm_text_add(why, " units of ");
    vxm_text_number(why, config->unit_slots);
    vxm_text_add(why, " slots a stream, not ");
    vxm_text_number(why, config->units);
    return vxmon_Result_MEMORY;
}

static bool check_numbers(const struct vxm_run_config *config, struct vxm_text *why)
{
    return vxm_config_within("datagram_bytes", config->datagram_bytes, VXM_FRAME_MIN_LIMIT, VXM_FRAME_MAX, why) &&
           vxm_config_within("unit_slots", config->unit_slots, MIN_UNIT_SLOTS, MAX_UNIT_SLOTS, why) &&
           vxm_config_within("high_water", config->high_water, 1, 100, why) &&
           vxm_config_within("flush_ms", config->flush_ms, 1, MAX_FLUSH_MS, why) &&
           vxm_config_within("policy", config->policy, VXM_RING, VXM_LINEAR, why) &&
           vxm_config_within("payload", config->payload, VXM_PAYLOAD_METADATA, VXM_PAYLOAD_CONTENT, why) &&
           vxm_config_within("content_bytes", config->content_bytes, 1, VXM_MAX_CONTENT_BYTES, why) &&
           vxm_config_within("memory_ms", config->memory_ms, VXM_MIN_PERIOD_MS, VXM_MAX_PERIOD_MS, why) &&
           vxm_config_within("stack_ms", config->stack_ms, VXM_MIN_PERIOD_MS, VXM_MAX_PERIOD_MS, why) &&
           vxm_config_within("operations_ms", config->operations_ms, VXM_MIN_PERIOD_MS, VXM_MAX_PERIOD_MS, why) &&
           vxm_config_within("grow_units", config->grow_units, 1, MAX_GROW, why);
}

/* The highest bit that is set plus 1; 0: none is. */
static uint32_t bits_end(const uint32_t *bits, uint32_t words)
{
    uint32_t end = words * 32u;
    while (end > 0 && !((bits[(end - 1u) / 32u] >> ((end - 1u) % 32u)) & 1u)) {
        end--;
    }
    return end;
}

static bool check_filter(const char *what, const uint32_t *bits, uint32_t words, uint32_t count, struct vxm_text *why)
{
    uint32_t end = bits_end(bits, words);
    if (end <= count) {
        return true;
    }
    vxm_text_add(why, what);
    vxm_text_add(why, " ");
    vxm_text_number(why, end - 1u);
    vxm_text_add(why, " does not exist: there are ");
    vxm_text_number(why, count);
    return false;
}

static bool check_filters(const struct vxm_run_config *config, struct vxm_text *why)
{
    return check_filter("partition", config->hidden_partitions, VXM_FILTER_PARTITIONS / 32u,
                        vxm_objects.partition_count, why) &&
           check_filter("object", config->hidden_objects, VXM_FILTER_OBJECTS / 32u, vxm_objects.object_count, why);
}

static bool check_stop(const struct vxm_run_config *config, struct vxm_text *why)
{
    if (config->stop_when_full && config->policy != VXM_LINEAR) {
        vxm_text_add(why, "stop_when_full needs the policy linear: a ring overwrites when it is full");
        return false;
    }
    return true;
}

vxmon_Result vxm_config_check(const struct vxm_run_config *config, struct vxm_text *why)
{
    uint32_t refused = vxm_evtmap_refused(config->enable);
    if (refused != 0) {
        return vxm_config_refuse_event(why, refused);
    }
    if (!check_numbers(config, why) || !check_filters(config, why) || !check_stop(config, why)) {
        return vxmon_Result_LIMIT;
    }
    vxmon_Result memory = check_memory(config, why);
    if (memory != vxmon_Result_OK) {
        return memory;
    }
    if (!vxm_config_within("units", config->units, MIN_UNITS, MAX_UNITS, why) ||
        !vxm_config_within("max_units", config->max_units, config->units, MAX_UNITS, why) || !blocks_fit(config, why)) {
        return vxmon_Result_LIMIT;
    }
    return vxmon_Result_OK;
}
