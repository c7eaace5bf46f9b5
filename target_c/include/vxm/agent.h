/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent: what the port's monitoring task calls.
 *
 * One caller only (no locking inside), never from an interrupt handler. Nothing here blocks or
 * allocates; after vxm_agent_init the agent uses only the arena and its static memory.
 */
#ifndef VXM_AGENT_H
#define VXM_AGENT_H

#include "vxm/port.h"

/* Results of agent calls; the values are stable. */
enum vxm_status {
    VXM_OK = 0,
    VXM_ERR_ARGUMENT = -1, /* a value outside its limits */
    VXM_ERR_STATE = -2,    /* not possible now (already running, not running) */
    VXM_ERR_MEMORY = -3,   /* the arena or a table is too small */
    VXM_ERR_UNSUPPORTED = -4,
};

/* Buffer policy when all units are in use. */
enum vxm_policy {
    VXM_RING = 0,  /* overwrite the oldest */
    VXM_LINEAR = 1 /* keep what there is; count the rest as lost, cause full */
};

/* Indices that filters can name. */
#define VXM_FILTER_PARTITIONS 256u
#define VXM_FILTER_OBJECTS 1024u

/* How a run records and sends. Zero fields take the default in brackets. */
struct vxm_run_config {
    uint32_t enable[32];     /* events to record; events not offered are refused by name */
    uint16_t datagram_bytes; /* [1400] 512-1472 */
    uint16_t unit_slots;     /* [1024] 128-4096 */
    uint16_t units;          /* [all the arena holds] at least 2 a stream */
    uint8_t policy;          /* enum vxm_policy */
    uint8_t high_water;      /* [70] percent of a unit at which it is due */
    uint16_t flush_ms;       /* [100] age at which a unit that is not empty is due */
    bool one_way;            /* no acknowledgements */
    bool no_upload;          /* record only; upload begins at stop */
    uint64_t max_ticks;      /* stop by itself after this time; 0: never */
    /* Partitions and objects of which no calls, memory, messages and user events are recorded, as bit maps. */
    uint32_t hidden_partitions[VXM_FILTER_PARTITIONS / 32u];
    uint32_t hidden_objects[VXM_FILTER_OBJECTS / 32u];
    uint8_t payload;        /* enum vxm_payload of hooks.h */
    uint16_t content_bytes; /* [64] of a message, at most 4096; with VXM_PAYLOAD_CONTENT */
    bool fast;              /* combine events: only the header slot */
    uint32_t memory_ms;     /* [1000] periods of samples, 10-3600000 */
    uint32_t stack_ms;      /* [1000] */
    uint32_t operations_ms; /* [1000] */
    uint16_t grow_units;    /* [16] units of one growth */
    uint16_t max_units;     /* [units] of a stream, growth included */
    uint64_t max_records;   /* stop by itself after so many; 0: never */
    bool stop_when_full;    /* stop by itself when a record found no unit; needs VXM_LINEAR */
};

struct vxm_agent_config {
    const char *os_release; /* "2.2" or "2.4": selects the event table */
    const char *os_name;
    const char *board;
    uint16_t udp_port;    /* told in target information; the port's network listens on it */
    bool autostart;       /* begin `start` at init, sending to `peer` */
    struct vxm_peer peer; /* for autostart */
    struct vxm_run_config start;
};

/* A key from the text of a key file: bytes, or 0 when it is none. For ports; works before vxm_agent_init. */
size_t vxm_key_from_text(const char *text, size_t length, uint8_t key[VXM_KEY_MAX]);

/* Prepares everything; call once per boot, before the first hook. */
int vxm_agent_init(const struct vxm_agent_config *config);

/*
 * Does work until the clock reaches `deadline` (ticks), at most one step over by one datagram:
 * receives, answers, closes due units, cuts and sends blocks, repeats tables. Returns false when
 * there was nothing to do.
 */
bool vxm_agent_step(uint64_t deadline);

/* Starts and stops a run without a host. enum vxm_status. */
int vxm_agent_start(const struct vxm_run_config *config);
int vxm_agent_stop(uint16_t reason);

/* True while something recorded has not been sent (one-way) or acknowledged. */
bool vxm_agent_busy(void);

/* Counters of one stream in this run; exact when called from the agent's context. */
struct vxm_totals {
    uint64_t recorded; /* attempts */
    uint64_t overwritten;
    uint64_t full;
    uint64_t exhausted;
    uint64_t blocks; /* cut so far */
};
void vxm_agent_totals(unsigned stream, struct vxm_totals *totals);

#endif
