/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/sched.h"

#include "kernel/board.h"
#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/log.h"
#include "kernel/monitor.h"
#include "kernel/parameters.h"

#define FIRST_FRAME_NS 1000000u

struct module module;

/* Schedules in ticks, as the monitor wants them and as we use them. */
static struct vxm_window_info window_info[MAX_SCHEDULES][MAX_WINDOWS];
static struct vxm_schedule_info schedule_info[MAX_SCHEDULES];

/* Runs where a partition has nobody to run; it belongs to no partition's execution time. */
static struct partition nowhere;
static uint8_t nobody_stack[2048] __attribute__((aligned(16)));

static uint64_t run_frames; /* 0: without end */

static void nobody_main(void)
{
    for (;;) {
        arch_wait();
    }
}

static const struct vxm_window_info *window_at(uint32_t window)
{
    return &window_info[module.schedule - module_config.schedules][window];
}

static void convert_schedule(unsigned at)
{
    const struct schedule_config *config = &module_config.schedules[at];

    for (unsigned w = 0; w < config->window_count; w++) {
        const struct window_config *window = &config->windows[w];
        const uint64_t offset = ticks_of_ns(window->offset_ns);
        window_info[at][w] = (struct vxm_window_info){
            .partition = (uint16_t)window->partition,
            .release_point = window->release_point,
            .offset = offset,
            .duration = ticks_of_ns(window->offset_ns + window->duration_ns) - offset,
        };
    }
    schedule_info[at] = (struct vxm_schedule_info){
        .id = (uint16_t)config->id,
        .window_count = (uint16_t)config->window_count,
        .major_frame = ticks_of_ns(config->major_frame_ns),
        .windows = window_info[at],
    };
    if (ns_of_ticks(schedule_info[at].major_frame) != config->major_frame_ns) {
        panic("schedule %u: the major frame is no whole number of clock ticks", config->id);
    }
    vxm_hook_schedule(&schedule_info[at]);
}

/* run=<frames>f or run=<seconds>[s] */
static void read_run(void)
{
    const char *value = parameter("run"), *at = value;
    uint64_t number = 0;

    if (value == NULL) {
        return;
    }
    if (!text_number(&at, &number) || number == 0u || number > 100000000u ||
        (*at != '\0' && !text_equal(at, "f") && !text_equal(at, "s"))) {
        panic("boot parameter run=%s is neither frames (500f) nor seconds (10s)", value);
    }
    run_frames = *at == 'f' ? number : number * 1000000000u / module.schedule->major_frame_ns;
}

static void take_schedule(const struct schedule_config *schedule)
{
    if (module.schedule != schedule && module.schedule != NULL) {
        vxm_schedule((uint16_t)schedule->id, (uint16_t)module.schedule->id);
    }
    module.schedule = schedule;
    module.frame_ticks = ticks_of_ns(schedule->major_frame_ns);
}

static _Noreturn void finish(void)
{
    arch_disarm_timer();
    sched_close_books();
    monitor_finish();
    sched_print_books();
    log_print();
    print("kernel: end of run, pass\n");
    while (console_drain(256)) {
    }
    board_power_off(true);
}

static void begin_frame(void)
{
    if (run_frames != 0u && module.frame == run_frames) {
        finish();
    }
    module_reset_if_due();
    scenario_frame();
    take_schedule(module.next_schedule);
    vxm_hook_major_frame((uint16_t)module.schedule->id, module.frame, module.frame_start);
}

/* The books read the clock right before the record does, on a path that is always the same. */
static void give_to(struct partition *partition)
{
    const struct heap *heap = &module.current->heap;

    vxm_hook_partition_memory(module.current->index, heap_free_bytes(heap), heap->allocated);
    arch_switch_space((uint8_t)partition->index);
    const uint64_t now = arch_time();
    module.current->ticks += now - module.partition_since;
    module.partition_since = now;
    module.current = partition;
    module.window_ended = true;
    module.partition_switches++;
    partition->switches++;
    vxm_hook_partition_switch(partition->index);
}

static void note_lateness(uint64_t now)
{
    struct window_books *books = &module.window_books[module.window];
    const uint32_t late = (uint32_t)(now - module.window_start);

    books->count++;
    books->latest = late > books->latest ? late : books->latest;
    module.windows++;
}

static void begin_window(uint64_t now)
{
    const struct vxm_window_info *window = window_at(module.window);
    struct partition *partition = &module.partition[window->partition];

    module.window_start = module.frame_start + window->offset;
    module.window_end = module.window_start + window->duration;
    note_lateness(arch_time());
    vxm_hook_window((uint16_t)module.window);
    if (partition != module.current) {
        give_to(partition);
    }
    if (window->release_point) {
        partition_release_point(partition, module.window_start);
    }
    if (partition->index == 0u) {
        module_os_window(now);
    }
}

static void next_window(uint64_t now)
{
    module.window++;
    if (module.window == module.schedule->window_count) {
        module.window = 0;
        module.frame++;
        module.frame_start += module.frame_ticks;
        begin_frame();
    }
    begin_window(now);
}

static void arm(uint64_t time)
{
    module.timer = time;
    arch_arm_timer(time);
}

void sched_due(uint64_t time)
{
    if (time < module.timer) {
        arm(time);
    }
}

void sched_timer(void)
{
    uint64_t now = arch_time();

    module.timer = 0; /* nothing arms it on the way */
    while (now >= module.window_end) {
        next_window(now);
        now = arch_time();
    }
    const uint64_t due = partition_tick(module.current, now);
    arm(due < module.window_end ? due : module.window_end);
}

static enum leave_reason why_left(const struct process *process)
{
    if (module.window_ended) {
        return LEFT_WINDOW_END;
    }
    switch (process->state) {
    case STATE_WAITING:
        return LEFT_BLOCKED;
    case STATE_DORMANT:
        return LEFT_ENDED;
    default:
        return LEFT_PREEMPTED;
    }
}

/* Not inlined: what follows in switch_to has one path, whoever left. */
static __attribute__((noinline)) void note_stack(const struct process *process)
{
    if (process != module.nobody) {
        vxm_hook_stack(process->task, process->stack_top - arch_stack_pointer(&process->context));
    }
}

static void switch_to(struct process *next)
{
    struct process *previous = module.running;
    const uint16_t reason = (uint16_t)why_left(previous);

    note_stack(previous);
    const uint64_t now = arch_time();

    previous->ticks += now - module.task_since;
    module.task_since = now;
    module.running = next;
    module.task_switches++;
    next->switches++;
    vxm_hook_task_switch(next->task, reason, previous->task);
    if (module.window_ended) {
        const uint32_t late = (uint32_t)(now - module.window_start);
        module.latest_dispatch = late > module.latest_dispatch ? late : module.latest_dispatch;
    }
}

struct arch_context *sched_dispatch(void)
{
    struct process *next = partition_choose(module.current);

    if (next == NULL) {
        next = module.nobody;
    }
    if (next != module.running) {
        switch_to(next);
    }
    module.window_ended = false;
    if (next->call != 0u) {
        vxm_hook_kernel_exit(next->call, next->partition->index, next->task, (int32_t)arch_result(&next->context));
        next->call = 0;
    }
    return &next->context;
}

bool sched_set_schedule(uint32_t id)
{
    for (unsigned i = 0; i < module_config.schedule_count; i++) {
        if (module_config.schedules[i].id == id) {
            module.next_schedule = &module_config.schedules[i];
            return true;
        }
    }
    return false;
}

static void create_partition(unsigned at)
{
    const struct partition_config *config = &module_config.partitions[at];
    struct partition *partition = &module.partition[at + 1u];

    partition->config = config;
    partition->name = config->name;
    partition->index = (uint16_t)(at + 1u);
    partition->mode = MODE_COLD_START;
    const uint16_t index = vxm_hook_partition_create(config->name, config->id);
    if (KERNEL_MONITORED && index != partition->index) {
        panic("partition %s: the monitor gave it number %u", config->name, index);
    }
    partition->start_condition = log_warm_boot() ? HM_MODULE_RESTART : NORMAL_START;
    partition_begin(partition, partition_load(partition));
    vxm_partition_mode(partition->index, MODE_COLD_START, MODE_IDLE);
}

static void create_nobody(void)
{
    struct process *nobody = &nowhere.process[0];

    module.nobody = nobody;
    nobody->partition = &nowhere;
    nobody->task = VXM_UNNAMED;
    nobody->stack_top = (uint32_t)(uintptr_t)(nobody_stack + sizeof nobody_stack);
    nobody->entry = (uint32_t)(uintptr_t)nobody_main;
    memcpy(nobody->name, "nobody", 7);
    process_reset(nobody);
    nobody->state = STATE_READY;
}

/* The tick on which the first frame begins leaves room for the rest of the boot. */
static void first_window(void)
{
    module.began = arch_time();
    module.frame_start = module.began + ticks_of_ns(FIRST_FRAME_NS);
    module.window_end = module.frame_start;
    module.window = module.schedule->window_count - 1u;
    module.frame_start -= module.frame_ticks;
    module.frame = UINT32_MAX;
    module.task_since = module.partition_since = module.began;
}

struct arch_context *sched_begin(void)
{
    module.partition_count = module_config.partition_count + 1u;
    if (!sched_set_schedule(0)) {
        panic("there is no schedule 0");
    }
    module.timer = 0;
    module.current = &module.partition[0];
    create_nobody();
    module.running = module.nobody;
    for (unsigned i = 0; i < module_config.schedule_count; i++) {
        convert_schedule(i);
    }
    take_schedule(module.next_schedule);
    read_run();
    module_os_init(&module.partition[0]);
    ports_init();
    for (unsigned i = 0; i < module_config.partition_count; i++) {
        create_partition(i);
    }
    first_window();
    arm(module.window_end);
    return sched_dispatch();
}
