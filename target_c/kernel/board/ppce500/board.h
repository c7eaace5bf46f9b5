/* SPDX-License-Identifier: Apache-2.0 */
/* The board's own parts to each other. Registers are big-endian, as the processor is. */
#ifndef BOARD_PPCE500_H
#define BOARD_PPCE500_H

#include <stdbool.h>
#include <stdint.h>

/* Where the kernel sees the devices. */
#define CCSR 0xE0000000u
#define PLATFORM_BUS 0xD0000000u
#define PCI_MEMORY 0xC0000000u
/* Where they are. */
#define CCSR_PHYSICAL 0xFE0000000ull
#define PLATFORM_BUS_PHYSICAL 0xF00000000ull
#define PCI_MEMORY_PHYSICAL 0xC00000000ull

static inline uint32_t read32(uint32_t address)
{
    return *(volatile uint32_t *)(uintptr_t)address;
}

static inline void write32(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)address = value;
    __asm__ volatile("msync" ::: "memory");
}

static inline uint8_t read8(uint32_t address)
{
    return *(volatile uint8_t *)(uintptr_t)address;
}

static inline void write8(uint32_t address, uint8_t value)
{
    *(volatile uint8_t *)(uintptr_t)address = value;
    __asm__ volatile("msync" ::: "memory");
}

/* Interrupt sources of the MPIC. */
#define IRQ_ETSEC_RX 6u
#define IRQ_MESSAGE 0xE0u

void mpic_init(void);
void mpic_enable(uint32_t source);
/* The vector (equal to the source) of the pending interrupt, or BOARD_NO_INTERRUPT. */
uint32_t mpic_acknowledge(void);
void mpic_end(void);
/* Raises source IRQ_MESSAGE + message (0 to 7), as a device does that signals by messages; and makes it quiet. */
void mpic_raise(unsigned message);
void mpic_take_message(unsigned message);

/* Tells QEMU that the guest panicked, when there is a pvpanic-pci device. */
void pvpanic_write(void);

/* The network device's interrupt is handled: it is quiet until the next frame. */
void etsec_interrupt(void);

#endif
