/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the e500mc (Freescale E500MCRM, EREF). Used by C and by the assembler. */
#ifndef ARCH_PPC_H
#define ARCH_PPC_H

#define SPR_DEC 22
#define SPR_SRR0 26
#define SPR_SRR1 27
#define SPR_PID 48
#define SPR_CSRR0 58
#define SPR_CSRR1 59
#define SPR_DEAR 61
#define SPR_ESR 62
#define SPR_IVPR 63
#define SPR_TBL_READ 268
#define SPR_TBU_READ 269
#define SPR_CONTEXT 272 /* SPRG0: where the running process's registers are saved */
#define SPR_SCRATCH 273 /* SPRG1 */
#define SPR_TBL_WRITE 284
#define SPR_TBU_WRITE 285
#define SPR_TSR 336
#define SPR_TCR 340
#define SPR_IVOR0 400
#define SPR_MCSRR0 570
#define SPR_MCSRR1 571
#define SPR_MAS0 624
#define SPR_MAS1 625
#define SPR_MAS2 626
#define SPR_MAS3 627
#define SPR_MAS7 944

#define MSR_EE 0x8000
#define MSR_PR 0x4000
#define MSR_ME 0x1000
/* A trap instruction: in applications, the check before a division. */
#define ESR_TRAP 0x02000000
#define ESR_FLOATING_POINT 0x01000000
#define TCR_DIE 0x04000000

/* Offsets in a context; gpr[n] is at 4 * n. */
#define CONTEXT_PC 128
#define CONTEXT_MSR 132
#define CONTEXT_LR 136
#define CONTEXT_CTR 140
#define CONTEXT_XER 144
#define CONTEXT_CR 148

/* Interrupt vector offset register numbers. */
#define VECTOR_CRITICAL 0
#define VECTOR_MACHINE_CHECK 1
#define VECTOR_EXTERNAL 4
#define VECTOR_PROGRAM 6
#define VECTOR_NO_FLOATING_POINT 7
#define VECTOR_CALL 8
#define VECTOR_DECREMENTER 10
#define VECTORS 16

#ifndef __ASSEMBLER__
#include <stdint.h>

#define MTSPR(spr, value) __asm__ volatile("mtspr %0, %1" ::"i"(spr), "r"(value) : "memory")
#define MFSPR(spr)                                                                                                     \
    ({                                                                                                                 \
        uint32_t value_;                                                                                               \
        __asm__ volatile("mfspr %0, %1" : "=r"(value_) : "i"(spr));                                                    \
        value_;                                                                                                        \
    })

/* One entry of TLB1. `permissions` as in MAS3: UX 0x20, SX 0x10, UW 8, SW 4, UR 2, SR 1. */
struct tlb_entry {
    uint32_t address;
    uint64_t physical;
    uint32_t size; /* 4 KiB times 4 to the power of size - 1 */
    uint32_t permissions;
    uint8_t space; /* 0: all */
    bool device;   /* not cached, guarded */
};
/* Adds an entry in the next free place; false when there is none. */
bool tlb_add(const struct tlb_entry *entry);
void tlb_clear(unsigned index);
/* Takes the entry away that was added last. */
void tlb_remove_last(void);

/* Called by the vectors: what to do about an exception, and whose registers to load then. */
struct arch_context *ppc_exception(struct arch_context *context, uint32_t vector);
_Noreturn void ppc_panic(const struct arch_context *context, uint32_t vector);
#endif
#endif
