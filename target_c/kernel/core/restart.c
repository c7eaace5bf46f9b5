/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restarts of partitions. What a partition had is taken from it at once; its program is loaded anew by the module
 * OS in SPARE time, with interrupts on, and begins in the partition's next window.
 */
#include "kernel/hm.h"
#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/log.h"
#include "kernel/parameters.h"
#include "kernel/sched.h"

#define MAIN_SUFFIX "_main"

static void delete_processes(struct partition *partition)
{
    for (unsigned i = 0; i < partition->process_count; i++) {
        process_delete(&partition->process[i]);
    }
    partition->process_count = 0;
    partition->handler = NULL;
    partition->error_count = 0;
    partition->chosen = NULL;
    partition->stale = true;
}

void partition_restart(struct partition *partition, enum partition_mode mode, enum start_condition condition)
{
    const uint8_t previous = partition->mode;

    partition->mode = (uint8_t)mode;
    partition->start_condition = (uint8_t)condition;
    delete_processes(partition);
    objects_release(partition);
    memory_release(partition);
    partition->operations = (struct operations){0};
    partition->restarts++;
    partition->load = true;
    vxm_partition_mode(partition->index, partition->mode, previous);
    log_edr(EDR_WARNING | EDR_KERNEL, 0, partition, NULL, mode == MODE_WARM_START ? "warm restart" : "cold restart");
}

/* NAV's first process is nav_main. */
static void name_main(char name[NAME_BYTES + 1], const char *partition)
{
    size_t length = strlen(partition);

    length = length < NAME_BYTES - sizeof MAIN_SUFFIX ? length : NAME_BYTES - sizeof MAIN_SUFFIX;
    for (size_t i = 0; i < length; i++) {
        name[i] = (char)(partition[i] >= 'A' && partition[i] <= 'Z' ? partition[i] + 32 : partition[i]);
    }
    memcpy(name + length, MAIN_SUFFIX, sizeof MAIN_SUFFIX);
}

void partition_begin(struct partition *partition, uint32_t entry)
{
    struct process_attributes attributes = {
        .period = INFINITE_TIME,
        .time_capacity = INFINITE_TIME,
        .entry = entry,
        .stack_size = STACK_MAX_BYTES,
        .priority = MAX_PRIORITY,
    };

    name_main(attributes.name, partition->name);
    struct process *process = process_create(partition, &attributes);
    process_release(process, arch_time());
    log_edr(EDR_INFO | EDR_INIT, entry, partition, process, "partition begins");
}

bool partition_load_next(void)
{
    for (unsigned i = 1; i < module.partition_count; i++) {
        struct partition *partition = &module.partition[i];
        if (*(volatile bool *)&partition->load) {
            const uint32_t entry = partition_reload(partition);
            const uint32_t state = arch_mask();
            partition->load = false;
            partition_begin(partition, entry);
            arch_unmask(state);
            return true;
        }
    }
    return false;
}
