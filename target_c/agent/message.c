/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: what the payload mode and the filters leave of them. */
#include "compiler.h"
#include "vxm/hooks.h"

/* Bytes of content in one record: all data slots but the first, which has number, offset and length. */
#define PART_BYTES ((VXM_MAX_DATA_SLOTS - 1u) * VXM_SLOT_BYTES)

struct vxm_filters vxm_filters;
bool vxm_heads_only;

static void record_content(const struct vxm_message_info *message)
{
    uint32_t bytes = message->size < vxm_filters.content_bytes ? message->size : vxm_filters.content_bytes;

    if (vxm_heads_only && bytes > PART_BYTES) {
        bytes = PART_BYTES; /* one header says as much as many */
    }
    for (uint32_t offset = 0; offset < bytes; offset += PART_BYTES) {
        uint32_t left = bytes - offset;
        uint32_t part = left < PART_BYTES ? left : PART_BYTES;
        vxm_content(message->object, message->number, (uint16_t)offset, (uint16_t)part,
                    (const uint8_t *)message->content + offset);
    }
}

void vxm_hook_message(uint16_t event, const struct vxm_message_info *message)
{
    if (vxm_filters.payload == VXM_PAYLOAD_OFF || !vxm_shows_partition(message->partition) ||
        !vxm_shows_object(message->object)) {
        return;
    }
    if (event == VXM_EVENT_MSG_SEND) {
        vxm_msg_send(message->object, message->type, message->result, message->number, message->size, message->depth,
                     message->partition, message->task);
    } else {
        vxm_msg_receive(message->object, message->type, message->result, message->number, message->size, message->depth,
                        message->partition, message->task);
    }
    if (vxm_filters.payload == VXM_PAYLOAD_CONTENT && message->content != NULL && vxm_enabled(event)) {
        record_content(message);
    }
}
