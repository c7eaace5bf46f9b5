/* SPDX-License-Identifier: Apache-2.0 */
/* What the demo applications do, told to them in the page they all see. */
#include "kernel/board.h"
#include "kernel/library.h"
#include "kernel/log.h"
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

/* Frames of the scenario at which the hardware fails; not again after the reset that the second one leads to. */
#define MEMORY_ERROR_FRAME 160u
#define POWER_FAIL_FRAME 450u
#define ECC_OFFSET 0x60000u

static uint32_t faults_since;

void scenario_frame(void)
{
    const uint32_t frame = module.frame - faults_since;

    if (shared_page->scenario != SCENARIO_FAULTS || log_warm_boot()) {
        return;
    }
    if (frame == MEMORY_ERROR_FRAME) {
        board_memory_error(module.partition[1].physical + ECC_OFFSET);
    } else if (frame == POWER_FAIL_FRAME) {
        board_power_fail();
    }
}

bool scenario_set(const char *name)
{
    for (unsigned i = 0; i < SCENARIO_COUNT; i++) {
        if (text_equal(NAME[i], name)) {
            shared_page->scenario = i;
            faults_since = module.frame;
            return true;
        }
    }
    return false;
}
