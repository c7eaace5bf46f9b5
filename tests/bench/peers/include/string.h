/* SPDX-License-Identifier: Apache-2.0 */
/* What barectf's tracer takes from a C library; the compiler may inline copies, which is to its advantage. */
#ifndef BENCH_STRING_H
#define BENCH_STRING_H

#include <stddef.h>

#define memcpy __builtin_memcpy
#define memset __builtin_memset
#define strlen __builtin_strlen

#endif
