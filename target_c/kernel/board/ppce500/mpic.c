/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupt controller (Freescale MPIC). A source's vector is its number. */
#include "board.h"
#include "kernel/board.h"

#define MPIC (CCSR + 0x40000u)
#define GLOBAL_CONFIGURATION 0x1020u
#define MIXED_MODE 0x60000000u
#define SPURIOUS_VECTOR 0x10E0u
#define SOURCE(n) (0x10000u + 0x20u * (n))
#define DESTINATION 0x10u
/* Message-signalled interrupts: a write of the register's number to INDEX raises its source until it is read. */
#define MESSAGE(n) (0x1600u + 0x10u * (n))
#define MESSAGE_INDEX 0x1740u
#define MESSAGE_SHIFT 29u
#define LEVEL_HIGH 0x00400000u
#define PRIORITY 8u
#define TASK_PRIORITY 0x80u
#define ACKNOWLEDGE 0xA0u
#define END 0xB0u
#define NO_VECTOR 0xFFFFu

void mpic_init(void)
{
    write32(MPIC + GLOBAL_CONFIGURATION, MIXED_MODE);
    write32(MPIC + SPURIOUS_VECTOR, NO_VECTOR);
    write32(MPIC + TASK_PRIORITY, 0);
}

void mpic_enable(uint32_t source)
{
    write32(MPIC + SOURCE(source) + DESTINATION, 1);
    write32(MPIC + SOURCE(source), LEVEL_HIGH | PRIORITY << 16 | source);
}

void mpic_raise(unsigned message)
{
    mpic_enable(IRQ_MESSAGE + message);
    write32(MPIC + MESSAGE_INDEX, message << MESSAGE_SHIFT);
}

void mpic_take_message(unsigned message)
{
    (void)read32(MPIC + MESSAGE(message));
}

uint32_t mpic_acknowledge(void)
{
    const uint32_t vector = read32(MPIC + ACKNOWLEDGE) & 0xFFFFu;

    return vector == NO_VECTOR ? BOARD_NO_INTERRUPT : vector;
}

void mpic_end(void)
{
    write32(MPIC + END, 0);
}
