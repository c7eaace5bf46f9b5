/* SPDX-License-Identifier: Apache-2.0 */
/* The module's configuration, as partitions/configure.py makes it from module.xml. */
#ifndef KERNEL_CONFIG_H
#define KERNEL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/abi.h"

#define MAX_PARTITIONS 16
#define MAX_SCHEDULES 16
#define MAX_WINDOWS 64
#define MAX_PORTS 64
/* No number of a port. */
#define NO_PORT 0xFFFFu

enum hm_state { HM_MODULE_MODE, HM_PARTITION_MODE, HM_PROCESS_MODE, HM_STATES };
enum hm_level { LEVEL_PROCESS, LEVEL_PARTITION, LEVEL_MODULE };
enum hm_action {
    ACTION_IGNORE,
    ACTION_LOG,
    ACTION_RESTART_PROCESS,
    ACTION_STOP_PROCESS,
    ACTION_WARM_RESTART,
    ACTION_COLD_RESTART,
    ACTION_IDLE_PARTITION,
    ACTION_RESET_MODULE,
    ACTION_HANDLER,      /* not in tables: the partition's error handler was told */
    ACTION_DEFAULT = 255 /* the table does not say */
};

struct partition_config {
    const char *name;
    uint32_t id; /* the number in module.xml, not 0 */
    uint32_t memory_bytes;
    const uint8_t *image; /* its ELF file */
    const uint8_t *image_end;
    uint8_t hm_action[ERROR_CODES]; /* enum hm_action */
};

/* Ports are numbered as they stand in module_config.ports. */
struct port_config {
    const char *name;
    uint32_t partition; /* 1: the first of module_config.partitions */
    bool queuing;
    bool source;
    bool discard; /* a source: what its destinations have no room for is lost instead of waited for */
    uint32_t message_bytes;
    uint32_t messages; /* 1 for a sampling port */
    uint64_t refresh_ns;
    uint16_t from; /* a destination: its channel's source */
    uint16_t destination_count;
    const uint16_t *destinations; /* a source: its channel's */
};

struct window_config {
    uint32_t partition; /* 1: the first of module_config.partitions; 0: SPARE */
    bool release_point;
    uint64_t offset_ns; /* from the start of the major frame */
    uint64_t duration_ns;
};

struct schedule_config {
    uint32_t id;
    uint32_t window_count;
    uint64_t major_frame_ns;
    const struct window_config *windows;
};

struct module_config {
    const char *name;
    uint32_t id;
    uint32_t partition_count;
    const struct partition_config *partitions;
    uint32_t schedule_count;
    const struct schedule_config *schedules;
    uint32_t port_count;
    const struct port_config *ports;
    uint8_t hm_level[HM_STATES][ERROR_CODES]; /* enum hm_level */
    uint8_t hm_module_action[ERROR_CODES];    /* enum hm_action */
    uint32_t hm_log_entries;
};

extern const struct module_config module_config;

#endif
