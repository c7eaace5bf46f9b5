/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/library.h"
#include "kernel/log.h"

#include <stdarg.h>

#include "kernel/arch.h"
#include "kernel/board.h"

#define RING_BYTES 32768u

/* Written with interrupts masked; drained by whoever has time, also with them masked. */
static char ring[RING_BYTES];
static uint32_t head, tail, dropped;

static void put(char c)
{
    if (head - tail == RING_BYTES) {
        dropped++;
        return;
    }
    ring[head++ % RING_BYTES] = c;
}

void print_characters(const char *text, size_t bytes)
{
    const uint32_t state = arch_mask();

    while (bytes-- != 0u) {
        put(*text++);
    }
    arch_unmask(state);
}

bool console_drain(unsigned characters)
{
    while (characters-- != 0u) {
        const uint32_t state = arch_mask();
        const bool any = head != tail;
        const char c = any ? ring[tail++ % RING_BYTES] : '\0';
        arch_unmask(state);
        if (!any) {
            return false;
        }
        if (c == '\n') {
            board_put('\r');
        }
        board_put(c);
    }
    return true;
}

struct conversion {
    unsigned width;
    unsigned longs;
    bool zero;
    char type;
};

static const char *parse(const char *format, struct conversion *conversion)
{
    *conversion = (struct conversion){0};
    if (*format == '0') {
        conversion->zero = true;
        format++;
    }
    for (; *format >= '0' && *format <= '9'; format++) {
        conversion->width = conversion->width * 10u + (unsigned)(*format - '0');
    }
    for (; *format == 'l'; format++) {
        conversion->longs++;
    }
    conversion->type = *format;
    return *format != '\0' ? format + 1 : format;
}

static void pad(const struct conversion *conversion, size_t length)
{
    for (; length < conversion->width; length++) {
        put(conversion->zero ? '0' : ' ');
    }
}

static void put_number(const struct conversion *conversion, uint64_t value, bool negative)
{
    char digits[24];
    unsigned count = 0;
    const unsigned base = conversion->type == 'x' ? 16 : 10;

    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0u);
    if (negative) {
        digits[count++] = '-';
    }
    pad(conversion, count);
    while (count-- != 0u) {
        put(digits[count]);
    }
}

static void put_text(const struct conversion *conversion, const char *text)
{
    const size_t length = strlen(text);

    for (size_t i = 0; i < length; i++) {
        put(text[i]);
    }
    pad(conversion, length);
}

static uint64_t unsigned_argument(const struct conversion *conversion, va_list *arguments)
{
    return conversion->longs > 1u ? va_arg(*arguments, unsigned long long) : va_arg(*arguments, unsigned);
}

static void convert(struct conversion *conversion, va_list *arguments)
{
    switch (conversion->type) {
    case 's':
        put_text(conversion, va_arg(*arguments, const char *));
        break;
    case 'c':
        put((char)va_arg(*arguments, int));
        break;
    case 'd': {
        const int64_t value = conversion->longs > 1u ? va_arg(*arguments, long long) : (int64_t)va_arg(*arguments, int);
        put_number(conversion, value < 0 ? 0u - (uint64_t)value : (uint64_t)value, value < 0);
        break;
    }
    case 'p':
        *conversion = (struct conversion){.width = 8, .zero = true, .type = 'x'};
        put_number(conversion, va_arg(*arguments, uintptr_t), false);
        break;
    case 'u':
    case 'x':
        put_number(conversion, unsigned_argument(conversion, arguments), false);
        break;
    default:
        put(conversion->type);
        break;
    }
}

static void print_list(const char *format, va_list *arguments)
{
    while (*format != '\0') {
        if (*format != '%') {
            put(*format++);
            continue;
        }
        struct conversion conversion;
        format = parse(format + 1, &conversion);
        convert(&conversion, arguments);
    }
}

void print(const char *format, ...)
{
    const uint32_t state = arch_mask();
    va_list arguments;

    va_start(arguments, format);
    print_list(format, &arguments);
    va_end(arguments);
    arch_unmask(state);
}

void panic(const char *format, ...)
{
    static bool again;
    va_list arguments;

    (void)arch_mask();
    if (!again) {
        again = true;
        put_text(&(struct conversion){0}, "panic: ");
        va_start(arguments, format);
        print_list(format, &arguments);
        va_end(arguments);
        put('\n');
        log_panic("the kernel stopped: see the console");
        while (console_drain(RING_BYTES)) {
        }
    }
    board_power_off(false);
}
