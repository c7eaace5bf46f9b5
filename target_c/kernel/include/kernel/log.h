/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HM log and the ED&R log: in memory that no program is loaded to and that a warm reset leaves alone.
 * Each keeps the newest entries; what is overwritten is counted. Kernel context, interrupts masked, but
 * for log_read and log_state.
 */
#ifndef KERNEL_LOG_H
#define KERNEL_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/abi.h"

enum log_id { LOG_HM, LOG_EDR, LOGS };

/* Severity and facility of an ED&R entry, as Wind River's edrLibCommon.h numbers them. */
enum edr_kind {
    EDR_FATAL = 1,
    EDR_NONFATAL = 2,
    EDR_WARNING = 3,
    EDR_INFO = 4,
    EDR_KERNEL = 0x10,
    EDR_INTERRUPT = 0x20,
    EDR_INIT = 0x30,
    EDR_BOOT = 0x40,
    EDR_REBOOT = 0x50,
    EDR_USER = 0x200,
};

#define LOG_MESSAGE_BYTES 64u

struct log_entry {
    uint64_t number; /* from 0 on, also over resets */
    uint64_t time;   /* ticks of that boot */
    uint32_t boot_cycle;
    uint32_t kind;
    uint32_t subcode;
    uint32_t address;
    uint16_t code;
    uint16_t level;
    uint16_t action;
    uint16_t partition;
    uint16_t task;
    char partition_name[NAME_BYTES + 1];
    char task_name[NAME_BYTES + 1];
    char message[LOG_MESSAGE_BYTES];
};

struct log_state {
    uint64_t oldest;
    uint64_t next;
    uint64_t missed;
    uint32_t generation;
    uint32_t boot_cycle;
};

struct process;
struct partition;

/* Finds the logs of an earlier boot, or makes them. */
void log_init(void);
/* Fills number, time and boot cycle, and the names of whom it is about (NULL: nobody), and keeps it. */
uint64_t log_append(enum log_id log, struct log_entry *entry, const struct partition *partition,
                    const struct process *process);
/* An entry of the ED&R log. */
void log_edr(uint32_t kind, uint32_t address, const struct partition *partition, const struct process *process,
             const char *message);
void log_panic(const char *message);
/* False: it is not kept any more, or is damaged. */
bool log_read(enum log_id log, uint64_t number, struct log_entry *entry);
void log_get_state(enum log_id log, struct log_state *state);
void log_print(void);

/* Did this boot come from a reset of the module's own? Says so to the next one. */
bool log_warm_boot(void);
void log_announce_reset(void);
uint32_t log_boot_cycle(void);

#endif
