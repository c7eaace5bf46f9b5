/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QEMU's ppce500 without an operating system, for programs that count instructions: with
 * `-icount shift=0,sleep=off` an instruction takes 1 ns and a tick of the timebase is 2.5 of them. The program begins
 * at bench_main, with interrupts off and a stack of 32 KiB.
 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdint.h>

/* Tenths of an instruction. */
#define BARE_TENTHS_PER_TICK 25u

void bench_main(void);

/* Make the console and the switch reachable; call it first. */
void bare_start(void);

void bare_print(const char *text);

/* A line `name value`, the value with one decimal. */
void bare_print_tenths(const char *name, uint64_t tenths);

/* Runs a function as the handler of the decrementer's interrupt, once. */
void bare_interrupt(void (*handler)(void));

void bare_power_off(void);

static inline uint32_t bare_clock(void)
{
    uint32_t ticks;
    __asm__ volatile("mfspr %0, 268" : "=r"(ticks));
    return ticks;
}

#endif
