/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The health monitor, as ARINC 653 Part 1 has it. The system table gives an error's level by the state it
 * came in; at process level the partition's error handler is told, or else its table decides; at module
 * level the module's table. Kernel context, interrupts masked.
 */
#ifndef KERNEL_HM_H
#define KERNEL_HM_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/abi.h"
#include "kernel/config.h"

struct partition;
struct process;

#define MAX_ERRORS 8

struct hm_error {
    enum error_code code;
    uint32_t subcode; /* what the processor, the caller or the board says of it */
    uint32_t address;
    struct partition *partition; /* NULL: none */
    struct process *process;     /* NULL: none */
    bool stuck;                  /* the process cannot go on: it would do the same again */
    bool device;                 /* told by a device, whatever was running */
    char message[MAX_ERROR_MESSAGE];
};

/* Finds the level, logs, and does what the tables say. */
void hm_raise(const struct hm_error *error);
/* The error handler of a partition ended: who cannot go on is stopped, and it runs again if errors wait. */
void hm_handler_ended(struct partition *partition);
/* A device's report. */
void hm_device(uint32_t interrupt);
const char *hm_action_name(uint32_t action);

/* Stops all of a partition and has the module OS load it anew. */
void partition_restart(struct partition *partition, enum partition_mode mode, enum start_condition condition);
/* At a task of the module OS, interrupts on: loads one partition that waits for it. False: none does. */
bool partition_load_next(void);

/* Resets the module at the next major frame, until when the monitor may send what it has. */
void module_reset_soon(const char *why);
/* Called as a major frame begins. */
void module_reset_if_due(void);

#endif
