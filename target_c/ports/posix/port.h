/* SPDX-License-Identifier: Apache-2.0 */
/* What programs on Linux set up before vxm_agent_init, and the network behind the port. */
#ifndef VXM_POSIX_PORT_H
#define VXM_POSIX_PORT_H

#include "vxm/port.h"

/* Memory for record buffers; the caller keeps it. */
void vxm_posix_set_arena(void *memory, size_t size);
void vxm_posix_set_entropy(uint64_t entropy);
/* The text of a key file; false when it holds no key. */
bool vxm_posix_set_key(const char *text, size_t length);

/* Called with the bits of every publication and with the name of every scenario; NULL: nothing. */
extern void (*vxm_posix_on_publish)(const uint32_t bits[32]);
extern bool (*vxm_posix_on_scenario)(const char *name);

/* Network of the port: a UDP socket (socket.c) or a test's own (vxm_sim.c). */
size_t vxm_posix_network_receive(struct vxm_peer *from, const uint8_t **data);
bool vxm_posix_network_send(const struct vxm_peer *to, uint8_t *data, size_t length);

#endif
