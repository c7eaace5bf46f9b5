/* SPDX-License-Identifier: Apache-2.0 */
/* The boot parameters: `key=value` words of the boot arguments in the device tree. */
#ifndef KERNEL_PARAMETERS_H
#define KERNEL_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads boot arguments, boot file and clock rate from a flattened device tree. */
void parameters_init(const void *device_tree);
/* The value of a parameter as it was written, or NULL. */
const char *parameter(const char *key);
/* The value as a number, or `otherwise` when it is not given; anything else ends the boot in words. */
uint64_t parameter_number(const char *key, uint64_t otherwise);
/* The place of the value in a list of words that ends with NULL; 0 when it is not given. */
unsigned parameter_choice(const char *key, const char *const words[]);

/*
 * The boot file (an initial RAM disk), which takes what the boot arguments must not show: a key. NULL: there is
 * none. Whoever reads it may overwrite it.
 */
char *boot_file(uint32_t *bytes);

/* Bytes of a property, or NULL; at most 2 MiB of tree are looked at. */
const void *device_tree_property(const void *tree, const char *node, const char *property, uint32_t *bytes);

/* Ticks per second, and the exact conversion of times: infinite and negative times give 0. */
uint32_t clock_hz(void);
uint64_t ticks_of_ns(uint64_t ns);
uint64_t ns_of_ticks(uint64_t ticks);

#endif
