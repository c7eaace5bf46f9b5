/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions' memory and ELF files (System V ABI, ELF32 big-endian, PowerPC executables).
 * Each partition has two segments at fixed addresses, text (read, execute) and data (read, write), and
 * its processes' stacks with unmapped memory between them.
 */
#include "kernel/board.h"
#include "kernel/library.h"
#include "kernel/sched.h"

#define MAX_HEADERS 8u
#define PAGE_BYTES 4096u
#define STACK_FILL 0xEE

enum { ELF_EXECUTABLE = 2, ELF_POWERPC = 20, SEGMENT_LOAD = 1 };

struct elf_header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version, entry, header_offset, section_offset, flags;
    uint16_t header_bytes, segment_header_bytes, segment_count;
    uint16_t section_header_bytes, section_count, names;
};

struct segment_header {
    uint32_t type, offset, address, physical, file_bytes, memory_bytes, flags, alignment;
};

_Static_assert(sizeof(struct elf_header) == 52 && sizeof(struct segment_header) == 32, "as in the ABI");

static uint32_t memory_used;

static _Noreturn void refuse(const struct partition *partition, const char *why)
{
    panic("partition %s: its ELF file %s", partition->name, why);
}

static void check_header(const struct partition *partition, const struct elf_header *header, uint32_t size)
{
    static const uint8_t IDENT[6] = {0x7F, 'E', 'L', 'F', 1, 2};

    if (size < sizeof *header || memcmp(header->ident, IDENT, sizeof IDENT) != 0 || header->type != ELF_EXECUTABLE ||
        header->machine != ELF_POWERPC || header->segment_header_bytes != sizeof(struct segment_header)) {
        refuse(partition, "is no 32-bit big-endian PowerPC executable");
    }
    if (header->segment_count > MAX_HEADERS || (header->header_offset & 3u) != 0u || header->header_offset > size ||
        size - header->header_offset < header->segment_count * sizeof(struct segment_header)) {
        refuse(partition, "has program headers outside the file, or too many");
    }
}

static bool inside(uint32_t address, uint32_t bytes, uint32_t begin, uint32_t room)
{
    return address >= begin && address - begin <= room && bytes <= room - (address - begin);
}

static void load_segment(const struct partition *partition, const struct segment_header *segment, uint32_t size)
{
    const uint8_t *image = partition->config->image;

    if (segment->file_bytes > segment->memory_bytes || segment->offset > size ||
        segment->file_bytes > size - segment->offset) {
        refuse(partition, "has a segment outside the file");
    }
    if (!inside(segment->address, segment->memory_bytes, PARTITION_TEXT, PARTITION_SEGMENT_BYTES) &&
        !inside(segment->address, segment->memory_bytes, PARTITION_DATA, PARTITION_HEAP - PARTITION_DATA)) {
        refuse(partition, "has a segment outside the partition's memory");
    }
    uint8_t *to = (uint8_t *)(uintptr_t)(partition->physical + (segment->address - PARTITION_TEXT));
    memcpy(to, image + segment->offset, segment->file_bytes);
    memset(to + segment->file_bytes, 0, segment->memory_bytes - segment->file_bytes);
}

static void allocate(struct partition *partition)
{
    const uint32_t bytes = (partition->config->memory_bytes + PARTITION_LAYOUT_BYTES - 1u) / PARTITION_LAYOUT_BYTES *
                           PARTITION_LAYOUT_BYTES;

    if (bytes == 0u || bytes > BOARD_PARTITION_MEMORY_BYTES - memory_used) {
        panic("partition %s: no room for %u bytes", partition->name, partition->config->memory_bytes);
    }
    partition->physical = BOARD_PARTITION_MEMORY + memory_used;
    memory_used += bytes;
}

/* The part of each stack that may be mapped gets the pattern by which its use is seen. */
static void fill_stacks(const struct partition *partition)
{
    for (uint32_t number = 0; number < MAX_PROCESSES; number++) {
        const uint32_t bottom = PARTITION_STACKS + (number + 1u) * STACK_SPACING - STACK_MAX_BYTES;
        memset(partition_memory(partition, bottom), STACK_FILL, STACK_MAX_BYTES);
    }
}

bool partition_map_stack(const struct partition *partition, uint32_t number, uint32_t bytes)
{
    const uint32_t address = PARTITION_STACKS + (number + 1u) * STACK_SPACING - bytes;

    return arch_map((uint8_t)partition->index, address, partition->physical + (address - PARTITION_TEXT), bytes,
                    ARCH_READ_WRITE);
}

static void map(const struct partition *partition)
{
    const uint8_t space = (uint8_t)partition->index;
    const uint32_t base = partition->physical;

    if (!arch_map(space, PARTITION_TEXT, base, PARTITION_SEGMENT_BYTES, ARCH_EXECUTE) ||
        !arch_map(space, PARTITION_DATA, base + (PARTITION_DATA - PARTITION_TEXT), PARTITION_SEGMENT_BYTES,
                  ARCH_READ_WRITE) ||
        !partition_map_stack(partition, 0, STACK_MAX_BYTES) ||
        !arch_map(space, PARTITION_SHARED_PAGE, (uint32_t)(uintptr_t)shared_page, PAGE_BYTES, ARCH_READ)) {
        panic("partition %s: the processor has no memory entry left", partition->name);
    }
}

static const struct elf_header *header_of(const struct partition *partition)
{
    return (const struct elf_header *)(const void *)partition->config->image;
}

uint32_t partition_reload(struct partition *partition)
{
    const struct elf_header *header = header_of(partition);
    const uint32_t size = (uint32_t)(partition->config->image_end - partition->config->image);
    const struct segment_header *segment =
        (const struct segment_header *)(const void *)(partition->config->image + header->header_offset);

    for (unsigned i = 0; i < header->segment_count; i++) {
        if (segment[i].type == SEGMENT_LOAD) {
            load_segment(partition, &segment[i], size);
        }
    }
    if (partition->mode == MODE_COLD_START) {
        memset(partition_memory(partition, PARTITION_HEAP), 0, HEAP_BYTES);
    }
    fill_stacks(partition);
    return header->entry;
}

uint32_t partition_load(struct partition *partition)
{
    const struct elf_header *header = header_of(partition);

    check_header(partition, header, (uint32_t)(partition->config->image_end - partition->config->image));
    if (!inside(header->entry, 4, PARTITION_TEXT, PARTITION_SEGMENT_BYTES)) {
        refuse(partition, "begins outside its text");
    }
    allocate(partition);
    map(partition);
    heap_reset(&partition->heap, PARTITION_HEAP);
    return partition_reload(partition);
}

static bool owns_stack(const struct partition *partition, uint32_t address, uint32_t bytes)
{
    const uint32_t number = (address - PARTITION_STACKS) / STACK_SPACING;

    if (address < PARTITION_STACKS || number >= partition->process_count) {
        return false;
    }
    const uint32_t room = partition->process[number].stack_size;
    return inside(address, bytes, PARTITION_STACKS + (number + 1u) * STACK_SPACING - room, room);
}

bool partition_owns(const struct partition *partition, uint32_t address, uint32_t bytes, bool write)
{
    if (inside(address, bytes, PARTITION_DATA, PARTITION_SEGMENT_BYTES) || owns_stack(partition, address, bytes)) {
        return true;
    }
    return !write && (inside(address, bytes, PARTITION_TEXT, PARTITION_SEGMENT_BYTES) ||
                      inside(address, bytes, PARTITION_SHARED_PAGE, PAGE_BYTES));
}
