/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions of handlers that the mask does not stop, kept until it is safe to record them. */
#ifndef VXM_AGENT_PENDING_H
#define VXM_AGENT_PENDING_H

void vxm_pending_init(void);

#endif
