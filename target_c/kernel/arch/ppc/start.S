/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry of the kernel and of all exceptions.
 *
 * The kernel runs with interrupts masked on one stack and is never interrupted, so an exception saves
 * all registers where SPRG0 points, in the running process, calls C on the kernel's stack, and
 * loads the registers C returns. An exception of the kernel itself ends in a panic on a stack of its own.
 */
#include "ppc.h"
#include "kernel/abi.h"

#define KERNEL_STACK_BYTES 16384
#define PANIC_STACK_BYTES 8192

/* MSR[PR] as the condition code sees it. */
#define USER_MODE(reg) andi. reg, reg, MSR_PR

    /* The vectors come first: IVPR holds the upper half of their addresses. */
    .section .vectors, "ax"

.macro save_volatile_start
    mtspr SPR_SCRATCH, %r3
    mfspr %r3, SPR_CONTEXT
    stw %r0, 0(%r3)
    stw %r1, 4(%r3)
    stw %r2, 8(%r3)
    stmw %r4, 16(%r3)
.endm

.macro vector number
    .balign 32
vector_\number:
    save_volatile_start
    li %r4, \number
    b exception
.endm

/* Critical and machine check exceptions may interrupt the kernel anywhere: they end in a panic. */
.macro critical number, address, state
    .balign 64
vector_\number:
    mtspr SPR_SCRATCH, %r3
    lis %r3, panic_context@ha
    addi %r3, %r3, panic_context@l
    stw %r0, 0(%r3)
    stw %r1, 4(%r3)
    stw %r2, 8(%r3)
    stmw %r4, 16(%r3)
    mfspr %r5, \address
    mfspr %r6, \state
    li %r4, \number
    b panic_entry
.endm

    critical 0, SPR_CSRR0, SPR_CSRR1
    critical 1, SPR_MCSRR0, SPR_MCSRR1
    vector 2
    vector 3
    vector 4
    vector 5
    vector 6
    vector 7
    vector 9
    vector 10
    vector 11
    critical 12, SPR_CSRR0, SPR_CSRR1
    vector 13
    vector 14
    critical 15, SPR_CSRR0, SPR_CSRR1

/*
 * The recording call is served like a function call of the process: what a function may clobber is
 * not saved. r13-r31 are C's to keep, the caller's address and state wait on the kernel's stack.
 */
    .balign 32
vector_8:
    cmpwi %r0, CALL_RECORD
    bne 1f
    lis %r11, kernel_stack_top@ha
    addi %r11, %r11, kernel_stack_top@l
    stwu %r1, -32(%r11)
    mr %r1, %r11
    mfspr %r9, SPR_SRR0
    mfspr %r10, SPR_SRR1
    mflr %r12
    stw %r9, 8(%r1)
    stw %r10, 12(%r1)
    stw %r12, 16(%r1)
    bl trap_record
    lwz %r9, 8(%r1)
    lwz %r10, 12(%r1)
    lwz %r12, 16(%r1)
    mtspr SPR_SRR0, %r9
    mtspr SPR_SRR1, %r10
    mtlr %r12
    lwz %r1, 0(%r1)
    rfi
1:
    save_volatile_start
    li %r4, VECTOR_CALL

exception:
    mfspr %r5, SPR_SRR0
    mfspr %r6, SPR_SRR1
    mfspr %r7, SPR_SCRATCH
    mflr %r8
    mfctr %r9
    mfxer %r10
    mfcr %r11
    stw %r7, 12(%r3)
    stw %r5, CONTEXT_PC(%r3)
    stw %r6, CONTEXT_MSR(%r3)
    stw %r8, CONTEXT_LR(%r3)
    stw %r9, CONTEXT_CTR(%r3)
    stw %r10, CONTEXT_XER(%r3)
    stw %r11, CONTEXT_CR(%r3)
    /* The kernel's own tasks run with interrupts on; the kernel never does. */
    andi. %r0, %r6, MSR_PR | MSR_EE
    beq kernel_fault
    lis %r1, (kernel_stack_top - 16)@ha
    addi %r1, %r1, (kernel_stack_top - 16)@l
    bl ppc_exception

    .globl ppc_resume
ppc_resume:
    mtspr SPR_CONTEXT, %r3
    lwz %r5, CONTEXT_PC(%r3)
    lwz %r6, CONTEXT_MSR(%r3)
    lwz %r7, CONTEXT_LR(%r3)
    lwz %r8, CONTEXT_CTR(%r3)
    lwz %r9, CONTEXT_XER(%r3)
    lwz %r10, CONTEXT_CR(%r3)
    mtspr SPR_SRR0, %r5
    mtspr SPR_SRR1, %r6
    mtlr %r7
    mtctr %r8
    mtxer %r9
    mtcr %r10
    lwz %r0, 0(%r3)
    lwz %r1, 4(%r3)
    lwz %r2, 8(%r3)
    lmw %r4, 16(%r3)
    lwz %r3, 12(%r3)
    rfi

panic_entry:
    mfspr %r7, SPR_SCRATCH
    stw %r7, 12(%r3)
    stw %r5, CONTEXT_PC(%r3)
    stw %r6, CONTEXT_MSR(%r3)
    mflr %r8
    stw %r8, CONTEXT_LR(%r3)
kernel_fault:
    lis %r1, (panic_stack_top - 16)@ha
    addi %r1, %r1, (panic_stack_top - 16)@l
    bl ppc_panic

    .section .text.start, "ax"
    .globl _start
_start:
    mr %r31, %r3 /* the device tree */
    lis %r1, (kernel_stack_top - 16)@ha
    addi %r1, %r1, (kernel_stack_top - 16)@l
    lis %r3, __bss_start@ha
    addi %r3, %r3, __bss_start@l
    lis %r4, __bss_end@ha
    addi %r4, %r4, __bss_end@l
    li %r0, 0
1:
    cmplw %r3, %r4
    bge 2f
    stw %r0, 0(%r3)
    addi %r3, %r3, 4
    b 1b
2:
    mr %r3, %r31
    bl ppc_start
3:
    b 3b

/* void ppc_kernel_call(uint32_t number) */
    .globl arch_call
arch_call:
    mr %r0, %r3
    sc
    blr

/* uint64_t arch_time(void): the upper half must be the same before and after. */
    .globl arch_time
arch_time:
    mfspr %r3, SPR_TBU_READ
    mfspr %r4, SPR_TBL_READ
    mfspr %r5, SPR_TBU_READ
    cmpw %r3, %r5
    beqlr+
    b arch_time

/* Offsets of the vectors for the IVORs, by number. */
    .section .rodata
    .globl ppc_vectors
ppc_vectors:
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .long vector_\number
    .endr

/* The stack's lower end is that of writable memory: an overflow meets the read-only text. */
    .section .stack, "aw", @nobits
    .balign 16
    .space KERNEL_STACK_BYTES
kernel_stack_top:
    .space PANIC_STACK_BYTES
panic_stack_top:

    .section .bss
    .balign 16
    .globl panic_context
panic_context:
    .space 160
