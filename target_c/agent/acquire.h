/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition: memory and the logs, as the host asks for them, a page a reply. Agent context only. */
#ifndef VXM_AGENT_ACQUIRE_H
#define VXM_AGENT_ACQUIRE_H

#include "generated/vxmon.pb.h"
#include "state.h"
#include "text.h"

bool vxm_acquire_has_log(uint8_t log);

vxmon_Result vxm_acquire_memory(const vxmon_MemoryRequest *request, vxmon_MemoryPage *page, struct vxm_text *why);

/* Newest first. Looks at no more than a bounded number of entries, so a page may be empty and not the last. */
vxmon_Result vxm_acquire_log(const vxmon_LogRequest *request, vxmon_LogPage *page, struct vxm_text *why);

#endif
