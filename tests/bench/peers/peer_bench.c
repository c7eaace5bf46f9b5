/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other recorders cost on the same machine, with the same compiler and options, for the same two events as
 * record_bench.c: one with one argument, one with four. They are a tracer that barectf generated, and a protobuf
 * message an event by nanopb. Neither protects itself from interrupts, as the recording call of vxmon does, so each is
 * measured alone and once more between the instructions that mask and unmask, as its caller would have to do it.
 */
#include <stddef.h>

#include "event.pb.h"
#include "machine.h"
#include "pb_encode.h"
#include "tracer.h"

#define CALLS 64u
#define BUFFER_BYTES 8192u

static uint8_t buffer[BUFFER_BYTES];

static inline uint32_t mask(void)
{
    uint32_t state;
    __asm__ volatile("mfmsr %0\n\twrteei 0" : "=r"(state) : : "memory");
    return state;
}

static inline void unmask(uint32_t state)
{
    __asm__ volatile("wrtee %0" : : "r"(state) : "memory");
}

/* ------------------------------------------------------------------ barectf */

static struct tracer_records_ctx tracer;

static uint32_t now(void *data)
{
    (void)data;
    return bare_clock();
}

static int never_full(void *data)
{
    (void)data;
    return 0;
}

static void open_packet(void *data)
{
    (void)data;
    tracer_records_open_packet(&tracer);
}

static void close_packet(void *data)
{
    (void)data;
    tracer_records_close_packet(&tracer);
}

static void barectf_begin(void)
{
    const struct tracer_platform_callbacks callbacks = {now, never_full, open_packet, close_packet};
    tracer_init(&tracer, buffer, sizeof buffer, callbacks, NULL);
    open_packet(NULL);
}

static void barectf_one(uint16_t argument)
{
    tracer_records_trace_one(&tracer, argument);
}

static void barectf_four(uint16_t argument)
{
    tracer_records_trace_four(&tracer, argument, 2, 3, 1);
}

static void barectf_off(void)
{
    barectf_begin();
    tracer_enable_tracing(&tracer.parent, 0);
}

/* ------------------------------------------------------------------ a message an event */

static pb_ostream_t stream;

static void nanopb_begin(void)
{
    stream = pb_ostream_from_buffer(buffer, sizeof buffer);
}

static void nanopb_one(uint16_t argument)
{
    PeerEvent event = {.id = 64, .argument = argument, .time = bare_clock()};
    (void)pb_encode_ex(&stream, PeerEvent_fields, &event, PB_ENCODE_DELIMITED);
}

static void nanopb_four(uint16_t argument)
{
    PeerEvent event = {.id = 65, .argument = argument, .time = bare_clock(), .kind = 2, .activation = 3, .deadline = 1};
    (void)pb_encode_ex(&stream, PeerEvent_fields, &event, PB_ENCODE_DELIMITED);
}

/* ------------------------------------------------------------------ measuring */

static __attribute__((noipa)) void nothing(uint16_t argument)
{
    __asm__ volatile("" : : "r"(argument));
}

/* The pointer keeps the compiler from inlining; a call by it and the loop are measured with an empty function. */
static uint32_t ticks_of(void (*volatile function)(uint16_t))
{
    uint32_t begin = bare_clock();
    for (uint32_t i = 0; i < CALLS; i++) {
        function(7);
    }
    return bare_clock() - begin;
}

static uint32_t masked_ticks_of(void (*volatile function)(uint16_t))
{
    uint32_t begin = bare_clock();
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t state = mask();
        function(7);
        unmask(state);
    }
    return bare_clock() - begin;
}

/* The return of the empty function is added again. */
static void measure(const char *name, const char *masked_name, void (*begin)(void), void (*function)(uint16_t))
{
    uint32_t empty = ticks_of(nothing);
    begin();
    uint64_t ticks = ticks_of(function) - empty;
    bare_print_tenths(name, ticks * BARE_TENTHS_PER_TICK / CALLS + 10u);
    begin();
    ticks = masked_ticks_of(function) - empty;
    bare_print_tenths(masked_name, ticks * BARE_TENTHS_PER_TICK / CALLS + 10u);
}

void bench_main(void)
{
    bare_start();
    measure("barectf_one", "barectf_one_masked", barectf_begin, barectf_one);
    measure("barectf_four", "barectf_four_masked", barectf_begin, barectf_four);
    measure("barectf_off", "barectf_off_masked", barectf_off, barectf_four);
    measure("nanopb_one", "nanopb_one_masked", nanopb_begin, nanopb_one);
    measure("nanopb_four", "nanopb_four_masked", nanopb_begin, nanopb_four);
    bare_print_tenths("end", 0);
    bare_power_off();
}
