/* SPDX-License-Identifier: Apache-2.0 */
/* A UDP socket on 127.0.0.1 as the port's network. */
#ifndef VXM_POSIX_SOCKET_H
#define VXM_POSIX_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/* Binds 127.0.0.1:port (0: any free one). Returns the port, or 0 with errno set. */
uint16_t vxm_posix_socket_open(uint16_t port);

/* Waits until something arrives or `ms` have passed. */
void vxm_posix_socket_wait(int ms);

#endif
