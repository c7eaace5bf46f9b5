/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/parameters.h"

#include "kernel/board.h"
#include "kernel/library.h"

#define MAX_TEXT 1024u
#define MAX_FILE 1024u
#define MAX_PARAMETERS 32u
#define NS_PER_SECOND 1000000000u

static const char *const KNOWN[] = {"scenario", "port",  "entropy", "autostart", "config", "peer",
                                    "run",      "clock", "idle",    "release",   "rate",   "address"};

static char text[MAX_TEXT];
static char file[MAX_FILE];
static uint32_t file_bytes;
static struct {
    const char *key;
    const char *value;
} entry[MAX_PARAMETERS];
static unsigned entries;
static uint32_t hz, ticks_part, ns_part;

static bool known(const char *key)
{
    for (unsigned i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        if (text_equal(KNOWN[i], key)) {
            return true;
        }
    }
    return false;
}

/* Takes one word "key=value" that ends at NUL. */
static void take(char *item)
{
    char *at = item;

    while (*at != '\0' && *at != '=') {
        at++;
    }
    if (*at == '\0') {
        panic("boot parameter '%s' has no value", item);
    }
    *at = '\0';
    if (!known(item) || entries == MAX_PARAMETERS || parameter(item) != NULL) {
        panic("boot parameter '%s' is %s", item, known(item) ? "given twice" : "not known");
    }
    entry[entries].key = item;
    entry[entries++].value = at + 1;
}

static void split(void)
{
    char *at = text;

    while (*at != '\0') {
        char *item = at;
        while (*at != '\0' && *at != ' ') {
            at++;
        }
        if (*at == ' ') {
            *at++ = '\0';
        }
        if (*item != '\0') {
            take(item);
        }
    }
}

static void set_clock(uint32_t rate)
{
    uint32_t a = rate, b = NS_PER_SECOND;

    while (b != 0u) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    hz = rate;
    ticks_part = rate / a;
    ns_part = NS_PER_SECOND / a;
}

static uint32_t chosen_address(const void *device_tree, const char *property)
{
    uint32_t bytes = 0;
    const uint32_t *address = device_tree_property(device_tree, "chosen", property, &bytes);

    return address != NULL && bytes == sizeof *address ? *address : 0u;
}

static void take_file(const void *device_tree)
{
    const uint32_t begin = chosen_address(device_tree, "linux,initrd-start");
    const uint32_t end = chosen_address(device_tree, "linux,initrd-end");

    if (begin == 0u || end <= begin) {
        return;
    }
    file_bytes = end - begin;
    if (file_bytes > MAX_FILE) {
        panic("boot file is longer than %u bytes", MAX_FILE);
    }
    board_take(begin, file, file_bytes);
}

char *boot_file(uint32_t *bytes)
{
    *bytes = file_bytes;
    return file_bytes != 0u ? file : NULL;
}

void parameters_init(const void *device_tree)
{
    uint32_t bytes = 0;
    const uint32_t *rate = device_tree_property(device_tree, "cpus", "timebase-frequency", &bytes);

    if (rate == NULL || bytes != 4u || *rate == 0u) {
        panic("the device tree has no timebase-frequency");
    }
    set_clock(*rate);
    const char *arguments = device_tree_property(device_tree, "chosen", "bootargs", &bytes);
    if (arguments != NULL) {
        if (bytes >= MAX_TEXT) {
            panic("the boot arguments are longer than %u characters", MAX_TEXT);
        }
        memcpy(text, arguments, bytes);
        split();
    }
    take_file(device_tree);
}

const char *parameter(const char *key)
{
    for (unsigned i = 0; i < entries; i++) {
        if (text_equal(entry[i].key, key)) {
            return entry[i].value;
        }
    }
    return NULL;
}

uint64_t parameter_number(const char *key, uint64_t otherwise)
{
    const char *value = parameter(key), *at = value;
    uint64_t number = otherwise;

    if (value != NULL && (!text_number(&at, &number) || *at != '\0')) {
        panic("boot parameter %s=%s is not a number", key, value);
    }
    return number;
}

unsigned parameter_choice(const char *key, const char *const words[])
{
    const char *value = parameter(key);
    unsigned i = 0;

    while (value != NULL && words[i] != NULL && !text_equal(words[i], value)) {
        i++;
    }
    if (words[i] == NULL) {
        panic("boot parameter %s=%s is not one of its values, such as %s", key, value, words[0]);
    }
    return i;
}

uint32_t clock_hz(void)
{
    return hz;
}

/* The division comes first only where the product could overflow: times of more than 58 years. */
static uint64_t scale(uint64_t value, uint32_t by, uint32_t over)
{
    if (value >> 32 == 0u) {
        return value * by / over;
    }
    return value / over * by + value % over * by / over;
}

uint64_t ticks_of_ns(uint64_t ns)
{
    return scale(ns, ticks_part, ns_part);
}

uint64_t ns_of_ticks(uint64_t ticks)
{
    return scale(ticks, ns_part, ticks_part);
}
