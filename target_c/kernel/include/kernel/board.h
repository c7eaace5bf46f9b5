/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel needs from a board. Kernel context. */
#ifndef KERNEL_BOARD_H
#define KERNEL_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char board_name[];

/* The console works after board_init. board_protect gives the kernel its final view of memory, without the
 * device tree, and the other devices. */
void board_init(void);
void board_protect(void);
/* Before board_protect: moves at most 64 KiB out of memory that nothing else looks at, and leaves zeros there. */
void board_take(uint32_t physical, void *to, uint32_t bytes);
/* One character to the console; waits until the device takes it. */
void board_put(char character);
/* Ends the machine: exit status 0 after `pass`, 1 else. */
_Noreturn void board_power_off(bool pass);

#define BOARD_NO_INTERRUPT 0xFFFFFFFFu
/* The device interrupt that is pending, with the device made quiet; board_interrupt_done ends it. */
uint32_t board_interrupt(void);
void board_interrupt_done(void);

/* Memory that belongs to partitions, and what the monitor may use for its buffers. */
#define BOARD_PARTITION_MEMORY 0x01000000u
#define BOARD_PARTITION_MEMORY_BYTES 0x00800000u
void *board_monitor_memory(size_t *bytes);
/* What it may have besides, when its buffers grow. */
void *board_more_memory(size_t *bytes);

/* Memory that no program is loaded to and that a reset leaves alone. */
#define BOARD_PERSISTENT_BYTES 0x10000u
void *board_persistent_memory(void);
/* Begins again with the boot. */
_Noreturn void board_reset(void);

/*
 * Interrupts of the memory controller and of the power supply. This machine has neither: the two functions
 * let the interrupt controller raise them as the devices would.
 */
#define BOARD_MEMORY_ERROR 0xE0u
#define BOARD_POWER_FAIL 0xE1u
void board_memory_error(uint32_t physical);
void board_power_fail(void);
/* What the memory controller says of its last error. */
uint32_t board_error_address(void);

/* The network device. False: there is none. */
bool board_net_init(void);
const uint8_t *board_net_address(void);
/* Sends one Ethernet frame from where it lies; the memory is free again on return. */
bool board_net_send(const uint8_t *frame, size_t bytes);
/* The next received frame without its checksum, or 0. It is valid until board_net_release. */
size_t board_net_receive(const uint8_t **frame);
void board_net_release(void);
bool board_net_pending(void);

#endif
