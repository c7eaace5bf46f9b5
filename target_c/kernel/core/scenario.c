/* SPDX-License-Identifier: Apache-2.0 */
/* What the demo applications do, told to them in the page they all see. */
#include "kernel/library.h"
#include "kernel/parameters.h"
#include "kernel/sched.h"

#define DEFAULT_RATE 50000u
#define LARGEST_RATE 1000000u

static const char *const NAME[] = {"nominal", "overload", "chatter", "bursty", "faults", "leak", NULL};
static const char *const IDLE[] = {"spin", "wait", NULL};

_Static_assert(sizeof NAME / sizeof NAME[0] == SCENARIO_COUNT + 1, "every scenario has a name");

static union {
    struct shared_page page;
    uint8_t bytes[4096];
} shared __attribute__((aligned(4096)));

struct shared_page *const shared_page = &shared.page;

void scenario_init(void)
{
    const uint64_t rate = parameter_number("rate", DEFAULT_RATE);

    if (rate > LARGEST_RATE) {
        panic("boot parameter rate is more than %u events a second", LARGEST_RATE);
    }
    shared_page->chatter_rate = (uint32_t)rate;
    shared_page->scenario = parameter_choice("scenario", NAME);
    shared_page->idle_waits = parameter_choice("idle", IDLE);
}

bool scenario_set(const char *name)
{
    for (unsigned i = 0; i < SCENARIO_COUNT; i++) {
        if (text_equal(NAME[i], name)) {
            shared_page->scenario = i;
            return true;
        }
    }
    return false;
}
