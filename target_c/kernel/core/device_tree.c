/* SPDX-License-Identifier: Apache-2.0 */
/* Flattened device tree, Devicetree Specification 0.4 chapter 5; all numbers big-endian. */
#include "kernel/library.h"
#include "kernel/parameters.h"

#define MAGIC 0xD00DFEEDu
#define MAX_BYTES 0x200000u
#define MAX_DEPTH 8u

enum token { BEGIN_NODE = 1, END_NODE = 2, PROPERTY = 3, NOP = 4 };

struct walk {
    const uint8_t *structure;
    uint32_t structure_bytes;
    const char *strings;
    uint32_t string_bytes;
    uint32_t at;
};

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool walk_init(struct walk *walk, const uint8_t *tree)
{
    const uint32_t total = word(tree + 4), structure = word(tree + 8), strings = word(tree + 12);

    walk->string_bytes = word(tree + 32);
    walk->structure_bytes = word(tree + 36);
    walk->structure = tree + structure;
    walk->strings = (const char *)tree + strings;
    walk->at = 0;
    return word(tree) == MAGIC && total <= MAX_BYTES && structure <= total && strings <= total &&
           walk->structure_bytes <= total - structure && walk->string_bytes <= total - strings;
}

/* The next word of the structure block; END_NODE's neighbour 9 (end) when it is used up. */
static uint32_t next(struct walk *walk)
{
    if (walk->at > walk->structure_bytes || walk->structure_bytes - walk->at < 4u) {
        return 9;
    }
    walk->at += 4u;
    return word(walk->structure + walk->at - 4u);
}

/* Is the text at `text` (of at most `room` bytes) `name`, perhaps with a unit address? */
static bool named(const char *text, uint32_t room, const char *name)
{
    const size_t length = strlen(name);

    return length < room && memcmp(text, name, length) == 0 && (text[length] == '\0' || text[length] == '@');
}

static void skip_name(struct walk *walk)
{
    while (walk->at < walk->structure_bytes && walk->structure[walk->at] != '\0') {
        walk->at++;
    }
    walk->at = (walk->at + 4u) & ~3u;
}

/* One property: its value when it has the name, else NULL; *bytes is its size. */
static const void *read_property(struct walk *walk, const char *name, uint32_t *bytes)
{
    const uint32_t size = next(walk), offset = next(walk);

    if (size > walk->structure_bytes - walk->at || offset >= walk->string_bytes) {
        walk->at = walk->structure_bytes;
        return NULL;
    }
    const uint8_t *value = walk->structure + walk->at;
    walk->at += (size + 3u) & ~3u;
    *bytes = size;
    return named(walk->strings + offset, walk->string_bytes - offset, name) ? value : NULL;
}

/* Walks all nodes; `node` is a path of at most two names, such as "chosen" or "cpus/PowerPC". */
const void *device_tree_property(const void *tree, const char *node, const char *property, uint32_t *bytes)
{
    struct walk walk;
    unsigned depth = 0, inside = 0;

    if (tree == NULL || !walk_init(&walk, tree)) {
        return NULL;
    }
    for (;;) {
        const uint32_t token = next(&walk);
        if (token == BEGIN_NODE) {
            const char *name = (const char *)walk.structure + walk.at;
            depth++;
            if (inside == 0u && named(name, walk.structure_bytes - walk.at, node)) {
                inside = depth;
            }
            skip_name(&walk);
        } else if (token == END_NODE) {
            inside = inside == depth ? 0u : inside;
            depth--;
        } else if (token == PROPERTY) {
            const void *value = read_property(&walk, property, bytes);
            if (value != NULL && inside != 0u) {
                return value;
            }
        } else if (token != NOP) {
            return NULL;
        }
        if (depth > MAX_DEPTH) {
            return NULL;
        }
    }
}
