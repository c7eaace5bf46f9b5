/* SPDX-License-Identifier: Apache-2.0 */
#include "evtmap.h"

#include "sample.h"
#include "vxm/generated/events.h"

#define SLOTS 256u /* a power of two; releases offer far fewer events */
#define WORDS (VXM_MAX_EVENTS / 32u)

static struct vxm_event_entry map[SLOTS];
static const struct vxm_event_table *source;

/* Without these a reader could not make sense of a run. */
static const uint16_t always[] = {
    VXM_EVENT_START, VXM_EVENT_STOP, VXM_EVENT_FILTER, VXM_EVENT_SNAPSHOT, VXM_EVENT_LINK,
};

/* ------------------------------------------------------------------ collectors */

static uint32_t periods[VXM_SAMPLERS];

static void configure_samples(const struct vxm_run_config *config)
{
    periods[VXM_SAMPLE_MEMORY] = config->memory_ms;
    periods[VXM_SAMPLE_STACK] = config->stack_ms;
    periods[VXM_SAMPLE_OPERATIONS] = config->operations_ms;
}

static bool memory_offered(void)
{
    return vxm_sample_offered(VXM_SAMPLE_MEMORY);
}

static void memory_enable(uint64_t now)
{
    vxm_sample_begin(VXM_SAMPLE_MEMORY, periods[VXM_SAMPLE_MEMORY], now);
}

static void memory_disable(void)
{
    vxm_sample_end(VXM_SAMPLE_MEMORY);
}

static bool stack_offered(void)
{
    return vxm_sample_offered(VXM_SAMPLE_STACK);
}

static void stack_enable(uint64_t now)
{
    vxm_sample_begin(VXM_SAMPLE_STACK, periods[VXM_SAMPLE_STACK], now);
}

static void stack_disable(void)
{
    vxm_sample_end(VXM_SAMPLE_STACK);
}

static bool operations_offered(void)
{
    return vxm_sample_offered(VXM_SAMPLE_OPERATIONS);
}

static void operations_enable(uint64_t now)
{
    vxm_sample_begin(VXM_SAMPLE_OPERATIONS, periods[VXM_SAMPLE_OPERATIONS], now);
}

static void operations_disable(void)
{
    vxm_sample_end(VXM_SAMPLE_OPERATIONS);
}

static const struct vxm_collector memory = {memory_offered, configure_samples, memory_enable, memory_disable};
static const struct vxm_collector stack = {stack_offered, configure_samples, stack_enable, stack_disable};
static const struct vxm_collector operations = {operations_offered, configure_samples, operations_enable,
                                                operations_disable};

static void publish(uint64_t now)
{
    (void)now;
    vxm_evtmap_publish();
}

/* Partitions record by themselves what is on in the page that is shown to them. */
static const struct vxm_collector recording_call = {NULL, NULL, publish, vxm_evtmap_publish};

static const struct {
    uint16_t id;
    const struct vxm_collector *collector;
} sampled[] = {
    {VXM_EVENT_MEM_SAMPLE, &memory},
    {VXM_EVENT_STACK_SAMPLE, &stack},
    {VXM_EVENT_OP_COUNT, &operations},
};

static const struct vxm_collector *kernel_collector(uint32_t id)
{
    for (size_t i = 0; i < sizeof sampled / sizeof sampled[0]; i++) {
        if (sampled[i].id == id) {
            return sampled[i].collector;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------ the map */

static bool test(const uint32_t bits[WORDS], uint32_t id)
{
    return (bits[id / 32u] >> (id % 32u)) & 1u;
}

/* Ids come in runs of 32; spread the runs. */
static uint32_t hash(uint32_t id)
{
    return (id * 0x9E3779B1u) >> 24;
}

static struct vxm_event_entry *place_of(uint32_t id)
{
    uint32_t at = hash(id) % SLOTS;
    for (uint32_t tried = 0; tried < SLOTS; tried++, at = (at + 1u) % SLOTS) {
        if (map[at].id == id || map[at].id == 0) {
            return &map[at];
        }
    }
    return NULL;
}

static bool is_always(uint32_t id)
{
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (always[i] == id) {
            return true;
        }
    }
    return false;
}

static void add(uint32_t id, bool from_partition)
{
    const struct vxm_collector *collector = kernel_collector(id);
    if (collector != NULL && !collector->offered()) {
        return;
    }
    struct vxm_event_entry *entry = place_of(id);
    if (entry == NULL) {
        return;
    }
    *entry = (struct vxm_event_entry){
        .id = (uint16_t)id,
        .origin = (uint8_t)(VXM_ORIGIN_KERNEL | (from_partition ? VXM_ORIGIN_PARTITION : 0)),
        .always = is_always(id),
        .kernel = collector,
        .partition = from_partition ? &recording_call : NULL,
    };
}

void vxm_evtmap_init(const struct vxm_event_table *table)
{
    memset(map, 0, sizeof map);
    source = table;
    for (uint32_t id = 1; id < VXM_MAX_EVENTS; id++) {
        if (test(table->offered, id)) {
            add(id, test(table->partition, id));
        }
    }
}

void vxm_evtmap_offered(uint32_t offered[WORDS])
{
    memset(offered, 0, WORDS * sizeof offered[0]);
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (map[i].id != 0) {
            offered[map[i].id / 32u] |= 1u << (map[i].id % 32u);
        }
    }
}

void vxm_evtmap_collect(const struct vxm_event_entry *entry, bool on, uint64_t now)
{
    const struct vxm_collector *sides[] = {entry->kernel, entry->partition};
    for (unsigned i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        if (sides[i] == NULL) {
            continue;
        }
        if (on) {
            sides[i]->enable(now);
        } else {
            sides[i]->disable();
        }
    }
}

void vxm_evtmap_begin(const struct vxm_run_config *config, uint64_t now)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct vxm_collector *collector = map[i].id != 0 ? map[i].kernel : NULL;
        if (collector != NULL && test(vxm_recorder.enable, map[i].id)) {
            collector->configure(config);
            collector->enable(now);
        } else if (collector != NULL) {
            collector->configure(config);
            collector->disable();
        }
    }
    vxm_evtmap_publish();
}

void vxm_evtmap_end(void)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (map[i].id != 0 && map[i].kernel != NULL) {
            map[i].kernel->disable();
        }
    }
    vxm_evtmap_publish();
}

const struct vxm_event_entry *vxm_evtmap_find(uint32_t id)
{
    const struct vxm_event_entry *entry = id == 0 || id >= VXM_MAX_EVENTS ? NULL : place_of(id);
    return entry != NULL && entry->id == id ? entry : NULL;
}

uint32_t vxm_evtmap_refused(const uint32_t enable[WORDS])
{
    for (uint32_t id = 0; id < VXM_MAX_EVENTS; id++) {
        if (test(enable, id) && id != 0 && vxm_evtmap_find(id) == NULL) {
            return id;
        }
    }
    return 0;
}

void vxm_evtmap_add_always(uint32_t enable[WORDS])
{
    enable[0] &= ~1u; /* id 0 names no event */
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (vxm_evtmap_find(always[i]) != NULL) {
            enable[always[i] / 32u] |= 1u << (always[i] % 32u);
        }
    }
}

void vxm_evtmap_switch(const struct vxm_event_entry *entry, bool on)
{
    uint32_t bit = 1u << (entry->id % 32u);
    if (on) {
        vxm_recorder.enable[entry->id / 32u] |= bit;
    } else {
        vxm_recorder.enable[entry->id / 32u] &= ~bit;
    }
}

void vxm_evtmap_publish(void)
{
    uint32_t bits[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        bits[i] = vxm_recorder.enable[i] & source->partition[i];
    }
    vxm_port_publish_enable(bits);
}
