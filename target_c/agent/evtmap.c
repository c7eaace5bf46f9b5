/* SPDX-License-Identifier: Apache-2.0 */
#include "evtmap.h"

#include "vxm/generated/events.h"

#define SLOTS 256u /* a power of two; releases offer far fewer events */
#define WORDS (VXM_MAX_EVENTS / 32u)

static struct vxm_event_entry map[SLOTS];
static const struct vxm_event_table *source;

/* Without these a reader could not make sense of a run. */
static const uint16_t always[] = {
    VXM_EVENT_START, VXM_EVENT_STOP, VXM_EVENT_FILTER, VXM_EVENT_SNAPSHOT, VXM_EVENT_LINK,
};

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

void vxm_evtmap_init(const struct vxm_event_table *table)
{
    memset(map, 0, sizeof map);
    source = table;
    for (uint32_t id = 1; id < VXM_MAX_EVENTS; id++) {
        struct vxm_event_entry *entry = test(table->offered, id) ? place_of(id) : NULL;
        if (entry != NULL) {
            entry->id = (uint16_t)id;
            entry->origin = VXM_ORIGIN_KERNEL;
            entry->origin |= test(table->partition, id) ? VXM_ORIGIN_PARTITION : 0;
            entry->always = is_always(id);
        }
    }
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
