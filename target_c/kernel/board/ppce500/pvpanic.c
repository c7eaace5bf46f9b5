/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QEMU's pvpanic-pci device (QEMU docs/specs/pvpanic.txt): writing 1 to its first byte says that the
 * guest panicked; with -action panic=exit-failure QEMU then exits with status 1.
 */
#include "board.h"

#define PCI (CCSR + 0x8000u)
#define CONFIG_ADDRESS 0x0u
#define CONFIG_DATA 0x4u
#define OUTBOUND_WINDOW 0xC20u        /* target address, its upper half, base, -, attributes */
#define WINDOW_ATTRIBUTES 0x80044000u /* enabled, memory reads and writes */
#define WINDOW_1M 19u

#define PVPANIC 0x00111B36u /* device and vendor */
#define BAR0 0x10u
#define COMMAND 0x04u
#define COMMAND_MEMORY 0x2u
#define BUS_ADDRESS 0x80000000u
#define PANICKED 1u
#define SLOTS 32u

static void select_register(unsigned slot, unsigned offset)
{
    write32(PCI + CONFIG_ADDRESS, 0x80000000u | slot << 11 | offset);
}

static uint32_t config_read(unsigned slot, unsigned offset)
{
    select_register(slot, offset);
    return __builtin_bswap32(read32(PCI + CONFIG_DATA));
}

static void config_write(unsigned slot, unsigned offset, uint32_t value)
{
    select_register(slot, offset);
    write32(PCI + CONFIG_DATA, __builtin_bswap32(value));
}

void pvpanic_write(void)
{
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        if (config_read(slot, 0) == PVPANIC) {
            config_write(slot, BAR0, BUS_ADDRESS);
            config_write(slot, COMMAND, COMMAND_MEMORY);
            write32(PCI + OUTBOUND_WINDOW, BUS_ADDRESS >> 12);
            write32(PCI + OUTBOUND_WINDOW + 0x8u, (uint32_t)(PCI_MEMORY_PHYSICAL >> 12));
            write32(PCI + OUTBOUND_WINDOW + 0x10u, WINDOW_ATTRIBUTES | WINDOW_1M);
            write8(PCI_MEMORY, PANICKED);
        }
    }
}
