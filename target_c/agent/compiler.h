/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent needs from the compiler and the C runtime, beyond C11 freestanding. */
#ifndef VXM_AGENT_COMPILER_H
#define VXM_AGENT_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define VXM_COLD __attribute__((cold, noinline))
#define VXM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* memcpy of a few bytes as loads and stores, also where the compiler may not replace functions. */
#define VXM_COPY(to, from, size) __builtin_memcpy(to, from, size)
#else
#define VXM_COLD
#define VXM_UNLIKELY(condition) (condition)
#define VXM_COPY(to, from, size) memcpy(to, from, size)
#endif

/* The only library functions the agent calls; a compiler may call them by itself too. */
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *text);

#endif
