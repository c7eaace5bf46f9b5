/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel needs from a processor architecture. Kernel context, interrupts masked. */
#ifndef KERNEL_ARCH_H
#define KERNEL_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_CONTEXT_WORDS 40

/* The registers of a process that does not run. */
struct arch_context {
    uint32_t word[ARCH_CONTEXT_WORDS];
};

/* Makes a context that begins at `entry`. User mode, or the kernel's own with interrupts on. */
void arch_context_init(struct arch_context *context, uint32_t entry, uint32_t stack_top, bool user);
/* Word `index` (0-5) of a kernel call; its number; its result. */
uint32_t arch_call_argument(const struct arch_context *context, unsigned index);
uint32_t arch_stack_pointer(const struct arch_context *context);
/* The instruction it will go on with. */
uint32_t arch_instruction(const struct arch_context *context);
uint32_t arch_call_number(const struct arch_context *context);
void arch_set_result(struct arch_context *context, uint32_t result);
uint32_t arch_result(const struct arch_context *context);
/* A kernel call without arguments by a task of the module OS. */
void arch_call(uint32_t number);

/* The time base in ticks, and its rate. */
uint64_t arch_time(void);
void arch_set_time(uint64_t ticks);
/* Arms the one timer interrupt for an absolute time, or as soon as possible when that is past. */
void arch_arm_timer(uint64_t ticks);
void arch_disarm_timer(void);

/* Masks interrupts and returns the state to restore. */
uint32_t arch_mask(void);
void arch_unmask(uint32_t state);
/* Waits for an interrupt in kernel mode with interrupts on; may return at any time. */
void arch_wait(void);

enum arch_access { ARCH_READ, ARCH_READ_WRITE, ARCH_EXECUTE };
/* Instead of what was mapped at any of these addresses before.
 * Maps memory of one partition: `bytes` is 4 KiB times a power of 4, addresses are aligned to it.
 * False when the processor has no entry left. */
bool arch_map(uint8_t space, uint32_t address, uint32_t physical, uint32_t bytes, enum arch_access access);
/* Makes a partition's memory the visible one; 0: none. */
void arch_switch_space(uint8_t space);

/* Begins with the first process; interrupts come on with it. */
_Noreturn void arch_start(struct arch_context *first);

#endif
