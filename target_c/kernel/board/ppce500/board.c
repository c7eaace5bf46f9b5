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
#define SIZE_64K 3u
#define SIZE_1M 5u
#define SIZE_4M 6u
#define SIZE_16M 7u

/* The top of memory: above everything that the boot loader writes. */
#define PERSISTENT_MEMORY 0x07F00000u
#define RESET_CONTROL (CCSR + 0xE00B0u)
#define RESET_REQUEST 2u
#define TAKE_WINDOW 0x70000000u
#define TAKE_BYTES 0x00100000u
#define MONITOR_MEMORY 0x00400000u
#define MONITOR_MEMORY_BYTES 0x00400000u
#define MORE_MEMORY 0x00800000u
#define MORE_MEMORY_BYTES 0x00400000u

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

/* Looked at through addresses that are free as long as there are no partitions. */
void board_take(uint32_t physical, void *to, uint32_t bytes)
{
    const uint32_t offset = physical % TAKE_BYTES;
    uint8_t *const from = (uint8_t *)(uintptr_t)(TAKE_WINDOW + offset);

    (void)tlb_add(&(struct tlb_entry){
        .address = TAKE_WINDOW, .physical = physical - offset, .size = SIZE_1M, .permissions = KERNEL_READ_WRITE});
    memcpy(to, from, bytes);
    memset(from, 0, bytes);
    tlb_remove_last();
}

/* Instead of the boot loader's one entry for all: text not writable, data not executable, the rest not there. */
void board_protect(void)
{
    static const struct tlb_entry ENTRIES[] = {
        {.address = 0x00100000u, .physical = 0x00100000u, .size = SIZE_1M, .permissions = KERNEL_EXECUTE},
        {.address = 0x00200000u, .physical = 0x00200000u, .size = SIZE_1M, .permissions = KERNEL_READ_WRITE},
        {.address = 0x00300000u, .physical = 0x00300000u, .size = SIZE_1M, .permissions = KERNEL_READ_WRITE},
        {.address = MONITOR_MEMORY, .physical = MONITOR_MEMORY, .size = SIZE_4M, .permissions = KERNEL_READ_WRITE},
        {.address = MORE_MEMORY, .physical = MORE_MEMORY, .size = SIZE_4M, .permissions = KERNEL_READ_WRITE},
        {.address = PERSISTENT_MEMORY,
         .physical = PERSISTENT_MEMORY,
         .size = SIZE_64K,
         .permissions = KERNEL_READ_WRITE},
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

void *board_persistent_memory(void)
{
    return (void *)(uintptr_t)PERSISTENT_MEMORY;
}

void board_reset(void)
{
    write32(RESET_CONTROL, RESET_REQUEST);
    for (;;) {
    }
}

static uint32_t error_address;

void board_memory_error(uint32_t physical)
{
    error_address = physical;
    mpic_raise(BOARD_MEMORY_ERROR - IRQ_MESSAGE);
}

void board_power_fail(void)
{
    mpic_raise(BOARD_POWER_FAIL - IRQ_MESSAGE);
}

uint32_t board_error_address(void)
{
    return error_address;
}

void *board_more_memory(size_t *bytes)
{
    *bytes = MORE_MEMORY_BYTES;
    return (void *)(uintptr_t)MORE_MEMORY;
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
    } else if (vector == BOARD_MEMORY_ERROR || vector == BOARD_POWER_FAIL) {
        mpic_take_message(vector - IRQ_MESSAGE);
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
