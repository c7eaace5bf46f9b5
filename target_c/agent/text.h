/* SPDX-License-Identifier: Apache-2.0 */
/* Short texts for replies, without a formatter. */
#ifndef VXM_AGENT_TEXT_H
#define VXM_AGENT_TEXT_H

#include "compiler.h"

struct vxm_text {
    char *to; /* always ends with NUL */
    size_t room;
    size_t used;
};

void vxm_text_begin(struct vxm_text *text, char *to, size_t room);
void vxm_text_add(struct vxm_text *text, const char *more);
void vxm_text_number(struct vxm_text *text, uint64_t number);

/* Copies at most size - 1 characters; bytes that are not printable ASCII become '?'. */
void vxm_text_copy(char *to, size_t size, const char *from);

#endif
