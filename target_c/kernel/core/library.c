/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/library.h"

/* Compilers turn plain loops back into calls of these very functions; kernel.mk forbids it. */

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;

    if ((((uintptr_t)out | (uintptr_t)in) & 3u) == 0u) {
        for (; bytes >= 16u; bytes -= 16u, out += 16, in += 16) {
            const uint32_t *word = (const uint32_t *)(const void *)in;
            uint32_t a = word[0], b = word[1], c = word[2], d = word[3];
            uint32_t *store = (uint32_t *)(void *)out;
            store[0] = a;
            store[1] = b;
            store[2] = c;
            store[3] = d;
        }
    }
    while (bytes-- != 0u) {
        *out++ = *in++;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;

    if (out <= in || out >= in + bytes) {
        return memcpy(to, from, bytes);
    }
    while (bytes-- != 0u) {
        out[bytes] = in[bytes];
    }
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *out = to;

    if (((uintptr_t)out & 3u) == 0u) {
        const uint32_t word = (uint8_t)value * 0x01010101u;
        for (; bytes >= 4u; bytes -= 4u, out += 4) {
            *(uint32_t *)(void *)out = word;
        }
    }
    while (bytes-- != 0u) {
        *out++ = (uint8_t)value;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    const uint8_t *left = a, *right = b;

    for (; bytes != 0u; bytes--, left++, right++) {
        if (*left != *right) {
            return *left < *right ? -1 : 1;
        }
    }
    return 0;
}

size_t strlen(const char *text)
{
    size_t length = 0;

    while (text[length] != '\0') {
        length++;
    }
    return length;
}

bool text_equal(const char *a, const char *b)
{
    const size_t length = strlen(a);

    return length == strlen(b) && memcmp(a, b, length) == 0;
}

static unsigned digit(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10u : 16u;
}

bool text_number(const char **text, uint64_t *value)
{
    const char *at = *text;
    unsigned base = 10;
    uint64_t sum = 0;

    if (at[0] == '0' && (at[1] | 0x20) == 'x') {
        base = 16;
        at += 2;
    }
    if (digit(*at) >= base) {
        return false;
    }
    for (; digit(*at) < base; at++) {
        if (sum > (UINT64_MAX - digit(*at)) / base) {
            return false;
        }
        sum = sum * base + digit(*at);
    }
    *text = at;
    *value = sum;
    return true;
}
