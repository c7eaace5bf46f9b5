/* SPDX-License-Identifier: Apache-2.0 */
/* Small things every part of the kernel uses: memory, numbers, console, panic. */
#ifndef KERNEL_LIBRARY_H
#define KERNEL_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);
bool text_equal(const char *a, const char *b);

/* Reads a decimal or 0x number at *text and moves past it. False: none, or more than 64 bits. */
bool text_number(const char **text, uint64_t *value);

/*
 * Formats with %s %c %u %d %x %p %% and widths with zero padding; l stands for a 32-bit, ll for a
 * 64-bit number. Output goes to a ring that idle time drains; when it is full the rest is dropped
 * and counted.
 */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_characters(const char *text, size_t bytes);
/* Sends up to `characters` of the ring to the device; false when it is empty. */
bool console_drain(unsigned characters);

/* Says why, ends the machine with exit status 1. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
