/* SPDX-License-Identifier: Apache-2.0 */
/* TLB1, the processor's 64 entries of variable size, holds all there is: nothing is ever reloaded. */
#include "kernel/arch.h"
#include "ppc.h"

#define ENTRIES 64u
#define PERMISSION_USER_EXECUTE 0x23u    /* UX UR SR: the kernel reads it too */
#define PERMISSION_USER_READ 0x03u       /* UR SR */
#define PERMISSION_USER_READ_WRITE 0x0Fu /* UR SR UW SW */

static struct tlb_entry user[ENTRIES]; /* what partitions have */
static unsigned used = 1;              /* entry 0 is the boot loader's until the board replaces it */

#define VALID 0xC0000000u /* and not touched by invalidations */

static void write_entry(unsigned index, const struct tlb_entry *entry, uint32_t valid)
{
    MTSPR(SPR_MAS0, 1u << 28 | index << 16);
    MTSPR(SPR_MAS1, valid | (uint32_t)entry->space << 16 | entry->size << 8);
    MTSPR(SPR_MAS2, entry->address | (entry->device ? 0xAu : 0u));
    MTSPR(SPR_MAS3, (uint32_t)entry->physical | entry->permissions);
    MTSPR(SPR_MAS7, (uint32_t)(entry->physical >> 32));
    __asm__ volatile("isync\n\ttlbwe\n\tisync\n\tmsync" ::: "memory");
}

void tlb_clear(unsigned index)
{
    write_entry(index, &(struct tlb_entry){.size = 1}, 0);
}

bool tlb_add(const struct tlb_entry *entry)
{
    if (used == ENTRIES) {
        return false;
    }
    write_entry(used++, entry, VALID);
    return true;
}

void tlb_remove_last(void)
{
    tlb_clear(--used);
}

static uint32_t size_of(uint32_t bytes)
{
    uint32_t size = 1;

    while (bytes > 4096u) {
        bytes /= 4u;
        size++;
    }
    return size;
}

/* The entry that has some of these addresses already, or a new one; ENTRIES: there is none. */
static unsigned entry_for(const struct tlb_entry *wanted, uint32_t bytes)
{
    for (unsigned i = 0; i < used; i++) {
        const uint32_t size = 1024u << (2u * user[i].size);
        if (user[i].size != 0u && user[i].space == wanted->space && wanted->address < user[i].address + size &&
            user[i].address < wanted->address + bytes) {
            return i;
        }
    }
    return used < ENTRIES ? used++ : ENTRIES;
}

bool arch_map(uint8_t space, uint32_t address, uint32_t physical, uint32_t bytes, enum arch_access access)
{
    static const uint32_t PERMISSIONS[] = {
        [ARCH_READ] = PERMISSION_USER_READ,
        [ARCH_READ_WRITE] = PERMISSION_USER_READ_WRITE,
        [ARCH_EXECUTE] = PERMISSION_USER_EXECUTE,
    };
    const struct tlb_entry entry = {
        .address = address,
        .physical = physical,
        .size = size_of(bytes),
        .permissions = PERMISSIONS[access],
        .space = space,
    };

    const unsigned index = entry_for(&entry, bytes);
    if (index == ENTRIES) {
        return false;
    }
    user[index] = entry;
    write_entry(index, &entry, VALID);
    return true;
}

void arch_switch_space(uint8_t space)
{
    MTSPR(SPR_PID, space);
    __asm__ volatile("isync" ::: "memory");
}
