/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel calls for memory: a partition's heap, and files and devices, which cost the kernel memory. */
#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/sched.h"
#include "kernel/services.h"

#define FILE_BUFFER_BYTES 512u
/* Above the handles of objects that processes wait on. */
#define DEVICE_HANDLE(partition, number) ((uint32_t)(partition)->index << 16 | 0x100u | (number))
#define STACK_FILL_WORD 0xEEEEEEEEu

uint32_t service_allocate(struct process *process)
{
    struct partition *partition = process->partition;
    const uint32_t bytes = service_argument(process, 0);

    if (bytes == 0u || bytes > HEAP_BYTES || !service_owns_word(process, 1)) {
        return INVALID_PARAM;
    }
    const uint32_t address = heap_allocate(&partition->heap, bytes);
    if (address == 0u) {
        return NOT_AVAILABLE;
    }
    count_operation(&partition->operations, OPERATION_ALLOCATE, bytes);
    (void)service_store_word(process, service_argument(process, 1), address);
    return NO_ERROR;
}

/* What is freed is counted with the block's size: the size asked for is known to its owner alone. */
uint32_t service_free(struct process *process)
{
    struct partition *partition = process->partition;
    const uint32_t bytes = heap_free(&partition->heap, service_argument(process, 0));

    if (bytes == 0u) {
        return INVALID_PARAM;
    }
    count_operation(&partition->operations, OPERATION_FREE, bytes);
    return NO_ERROR;
}

/* A device is an object of the monitor from its first opening on. */
static struct device *find_device(struct partition *partition, const char *name)
{
    struct device *device = partition->device;

    for (unsigned i = 0; i < MAX_DEVICES; i++, device++) {
        if (device->name[0] == '\0') {
            memcpy(device->name, name, sizeof device->name);
            device->object = vxm_hook_object_create(name, OBJECT_IO, partition->index, DEVICE_HANDLE(partition, i),
                                                    FILE_BUFFER_BYTES, MAX_FILES);
            return device;
        }
        if (text_equal(device->name, name)) {
            return device;
        }
    }
    return NULL;
}

uint32_t service_open(struct process *process)
{
    struct partition *partition = process->partition;
    char name[NAME_BYTES + 1];
    uint32_t id = 0;

    if (!service_name(process, 0, name) || !service_owns_word(process, 1)) {
        return INVALID_PARAM;
    }
    while (id < MAX_FILES && partition->file[id].buffer != 0u) {
        id++;
    }
    struct device *device = id < MAX_FILES ? find_device(partition, name) : NULL;
    const uint32_t buffer = device != NULL ? heap_allocate(kernel_heap, FILE_BUFFER_BYTES) : 0u;
    if (buffer == 0u) {
        return INVALID_CONFIG;
    }
    partition->file[id] = (struct file){.device = device, .buffer = buffer};
    count_operation(&partition->operations, OPERATION_IO_OPEN, FILE_BUFFER_BYTES);
    (void)service_store_word(process, service_argument(process, 1), id);
    return NO_ERROR;
}

static bool close_file(struct partition *partition, uint32_t id)
{
    if (id >= MAX_FILES || partition->file[id].buffer == 0u) {
        return false;
    }
    (void)heap_free(kernel_heap, partition->file[id].buffer);
    partition->file[id] = (struct file){0};
    count_operation(&partition->operations, OPERATION_IO_CLOSE, FILE_BUFFER_BYTES);
    return true;
}

uint32_t service_close(struct process *process)
{
    return close_file(process->partition, service_argument(process, 0)) ? NO_ERROR : INVALID_PARAM;
}

void memory_release(struct partition *partition)
{
    for (uint32_t id = 0; id < MAX_FILES; id++) {
        (void)close_file(partition, id);
    }
    heap_reset(&partition->heap, PARTITION_HEAP);
}

struct process *process_of_task(uint16_t task)
{
    for (unsigned i = 0; i < module.partition_count; i++) {
        struct partition *partition = &module.partition[i];
        for (unsigned p = 0; p < partition->process_count; p++) {
            if (partition->process[p].task == task && !partition->process[p].deleted) {
                return &partition->process[p];
            }
        }
    }
    return NULL;
}

uint32_t process_stack_high_water(const struct process *process)
{
    const struct partition *partition = process->partition;
    const uint32_t bottom = process->stack_top - process->stack_size;
    const uint32_t *word =
        partition->index == 0u ? (const uint32_t *)(uintptr_t)bottom : partition_memory(partition, bottom);
    const uint32_t words = process->stack_size / sizeof *word;
    uint32_t untouched = 0;

    while (untouched < words && word[untouched] == STACK_FILL_WORD) {
        untouched++;
    }
    return process->stack_size - untouched * (uint32_t)sizeof *word;
}
