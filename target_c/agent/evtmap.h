/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event map: a hash table from event id to where the event comes from, how it is collected and how it is
 * switched. It is made at init from the table of the OS release and from what the port's interface of that
 * release can tell; an id that is not in it is refused.
 */
#ifndef VXM_AGENT_EVTMAP_H
#define VXM_AGENT_EVTMAP_H

#include "compiler.h"
#include "generated/event_table.h"
#include "vxm/agent.h"

/* Who may record an event. */
enum vxm_origin { VXM_ORIGIN_KERNEL = 1, VXM_ORIGIN_PARTITION = 2 };

/* How an event is collected beyond its enable bit. Functions may be NULL: there is nothing to do. */
struct vxm_collector {
    bool (*offered)(void); /* false: this release's interface cannot tell it */
    void (*configure)(const struct vxm_run_config *config);
    void (*enable)(uint64_t now);
    void (*disable)(void);
};

struct vxm_event_entry {
    uint16_t id;                           /* 0: no entry */
    uint8_t origin;                        /* enum vxm_origin */
    bool always;                           /* part of every run; cannot be switched off */
    const struct vxm_collector *kernel;    /* NULL: a hook records it, and nothing else is needed */
    const struct vxm_collector *partition; /* NULL: partitions do not record it */
};

void vxm_evtmap_init(const struct vxm_event_table *table);

/* The entry of an event the release offers, or NULL. */
const struct vxm_event_entry *vxm_evtmap_find(uint32_t id);

/* The lowest event of the bit map that is not offered, or 0. Bit maps: event e is bit e % 32 of word e / 32. */
uint32_t vxm_evtmap_refused(const uint32_t enable[32]);

/* Adds the events that are part of every run. */
void vxm_evtmap_add_always(uint32_t enable[32]);

/* Switches an event; the caller has closed the unit. Under the mask. */
void vxm_evtmap_switch(const struct vxm_event_entry *entry, bool on);

/* The events that are offered, as a bit map. */
void vxm_evtmap_offered(uint32_t offered[32]);

/* Prepares, begins or ends the collection of the events that are on in the recorder. Agent context. */
void vxm_evtmap_begin(const struct vxm_run_config *config, uint64_t now);
void vxm_evtmap_end(void);

/* The same for one event that was switched. */
void vxm_evtmap_collect(const struct vxm_event_entry *entry, bool on, uint64_t now);

/* Shows partitions which of their events are on. */
void vxm_evtmap_publish(void);

#endif
