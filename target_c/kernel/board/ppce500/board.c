/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's ppce500 machine: memory, console, interrupts, power. */
#include "kernel/board.h"

#include "board.h"
#include "kernel/library.h"
#include "ppc.h"

#define UART (CCSR + 0x4500u)
#define UART_DATA 0u
#define UART_LINE_STATUS 5u
#define LINE_EMPTY 0x20u
#define GPIO (CCSR + 0xFF000u)
#define GPIO_DIRECTION 0u
#define GPIO_DATA 8u
#define POWER_OFF_LINE 0x80000000u

#define KERNEL_EXECUTE 0x11u    /* SX SR */
#define KERNEL_READ_WRITE 0x05u /* SW SR */
#define SIZE_1M 5u
#define SIZE_4M 6u
#define SIZE_16M 7u

#define MONITOR_MEMORY 0x00400000u
#define MONITOR_MEMORY_BYTES 0x00400000u

const char board_name[] = "ppce500";

static void map_devices(uint32_t address, uint64_t physical)
{
    (void)tlb_add(&(struct tlb_entry){
        .address = address, .physical = physical, .size = SIZE_1M, .permissions = KERNEL_READ_WRITE, .device = true});
}

void board_init(void)
{
    map_devices(CCSR, CCSR_PHYSICAL);
    map_devices(PLATFORM_BUS, PLATFORM_BUS_PHYSICAL);
    map_devices(PCI_MEMORY, PCI_MEMORY_PHYSICAL);
}

/* Instead of the boot loader's one entry for all: text not writable, data not executable, the rest not there. */
void board_protect(void)
{
    static const struct tlb_entry ENTRIES[] = {
        {.address = 0x00100000u, .physical = 0x00100000u, .size = SIZE_1M, .permissions = KERNEL_EXECUTE},
        {.address = 0x00200000u, .physical = 0x00200000u, .size = SIZE_1M, .permissions = KERNEL_READ_WRITE},
        {.address = 0x00300000u, .physical = 0x00300000u, .size = SIZE_1M, .permissions = KERNEL_READ_WRITE},
        {.address = MONITOR_MEMORY, .physical = MONITOR_MEMORY, .size = SIZE_4M, .permissions = KERNEL_READ_WRITE},
        {.address = BOARD_PARTITION_MEMORY,
         .physical = BOARD_PARTITION_MEMORY,
         .size = SIZE_16M,
         .permissions = KERNEL_READ_WRITE},
    };

    for (unsigned i = 0; i < sizeof ENTRIES / sizeof ENTRIES[0]; i++) {
        (void)tlb_add(&ENTRIES[i]);
    }
    tlb_clear(0);
    mpic_init();
}

void *board_monitor_memory(size_t *bytes)
{
    *bytes = MONITOR_MEMORY_BYTES;
    return (void *)(uintptr_t)MONITOR_MEMORY;
}

void board_put(char character)
{
    while ((read8(UART + UART_LINE_STATUS) & LINE_EMPTY) == 0u) {
    }
    write8(UART + UART_DATA, (uint8_t)character);
}

uint32_t board_interrupt(void)
{
    const uint32_t vector = mpic_acknowledge();

    if (vector == IRQ_ETSEC_RX) {
        etsec_interrupt();
    }
    return vector;
}

void board_interrupt_done(void)
{
    mpic_end();
}

/* The power-off line ends QEMU with status 0; only its panic device can end it with 1. Without it, stand still. */
void board_power_off(bool pass)
{
    if (pass) {
        write32(GPIO + GPIO_DIRECTION, POWER_OFF_LINE);
        write32(GPIO + GPIO_DATA, POWER_OFF_LINE);
    } else {
        pvpanic_write();
    }
    for (;;) {
    }
}
