/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

void vxm_text_begin(struct vxm_text *text, char *to, size_t room)
{
    text->to = to;
    text->room = room;
    text->used = 0;
    to[0] = '\0';
}

void vxm_text_add(struct vxm_text *text, const char *more)
{
    while (*more != '\0' && text->used + 1 < text->room) {
        text->to[text->used++] = *more++;
    }
    text->to[text->used] = '\0';
}

void vxm_text_number(struct vxm_text *text, uint64_t number)
{
    char digits[21];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10u);
        number /= 10u;
    } while (number != 0);
    vxm_text_add(text, digits + at);
}

void vxm_text_copy(char *to, size_t size, const char *from)
{
    size_t used = 0;
    while (from != NULL && from[used] != '\0' && used + 1 < size) {
        to[used] = from[used] >= ' ' && from[used] <= '~' ? from[used] : '?';
        used++;
    }
    memset(to + used, 0, size - used);
}
