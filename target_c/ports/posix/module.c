/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include <string.h>

#include "activity.h"
#include "vxm/agent.h"
#include "vxm/hooks.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define US_PER_SECOND 1000000u
#define FRAME_US 20000u
#define NONE 0xFFFFu

struct process {
    const char *name;
    uint16_t partition;
    uint16_t priority;
    uint32_t period_frames; /* released each so many frames; 0: idle */
    uint32_t run_us;
    uint16_t task;
    uint32_t activation;
};

struct slice {
    uint16_t partition;
    uint32_t us;
    bool release_point;
};

static const char *const partitions[] = {"NAV", "DISPLAY", "COMM", "MAINT"};

static struct process processes[] = {
    {"nav_filter", 1, 90, 1, 600, NONE, 0},   {"nav_sensors", 1, 80, 1, 300, NONE, 0},
    {"nav_route", 1, 40, 5, 900, NONE, 0},    {"nav_idle", 1, 0, 0, 0, NONE, 0},
    {"dsp_draw", 2, 70, 2, 1500, NONE, 0},    {"dsp_pages", 2, 60, 4, 700, NONE, 0},
    {"dsp_keys", 2, 50, 1, 100, NONE, 0},     {"dsp_idle", 2, 0, 0, 0, NONE, 0},
    {"com_receive", 3, 85, 1, 400, NONE, 0},  {"com_send", 3, 75, 1, 350, NONE, 0},
    {"com_log", 3, 20, 10, 1200, NONE, 0},    {"com_idle", 3, 0, 0, 0, NONE, 0},
    {"mnt_monitor", 4, 30, 5, 800, NONE, 0},  {"mnt_bite", 4, 25, 10, 500, NONE, 0},
    {"mnt_history", 4, 10, 25, 600, NONE, 0}, {"mnt_idle", 4, 0, 0, 0, NONE, 0},
};

/* Two windows of NAV are adjacent; SPARE has 10 % of the frame. */
static const struct slice slices[] = {
    {1, 3000, true},  {1, 1000, false}, {2, 4000, true},  {0, 1000, false}, {3, 3000, true},
    {1, 2000, false}, {4, 3000, true},  {3, 2000, false}, {0, 1000, false},
};

static struct vxm_window_info windows[COUNT(slices)];
static struct vxm_schedule_info schedule = {.id = 0, .window_count = COUNT(slices), .windows = windows};

static struct {
    uint64_t frame_start;
    uint64_t next; /* end of the running window or of the running process */
    uint64_t window_end;
    uint32_t frame;
    uint16_t window;
    uint16_t partition;
    struct process *running; /* NULL: SPARE */
    bool begun;
} at;

static uint64_t ticks(uint64_t us)
{
    return us * vxm_posix.hz / US_PER_SECOND;
}

static void create_processes(void)
{
    for (size_t i = 0; i < COUNT(processes); i++) {
        const struct vxm_task_info info = {
            .name = processes[i].name,
            .handle = 0x10000000u + (uint32_t)i * 0x100u,
            .partition = processes[i].partition,
            .priority = processes[i].priority,
            .stack_size = 8192,
            .period = ticks((uint64_t)processes[i].period_frames * FRAME_US),
            .time_capacity = ticks(processes[i].run_us * 2u),
            .idle = processes[i].period_frames == 0,
        };
        processes[i].task = vxm_hook_task_create(&info);
    }
}

void module_create(void)
{
    uint64_t offset = 0;
    for (size_t i = 0; i < COUNT(partitions); i++) {
        (void)vxm_hook_partition_create(partitions[i], 0x100u + (uint32_t)i);
    }
    create_processes();
    const uint16_t first[] = {processes[0].task, processes[4].task, processes[8].task, processes[12].task};
    activity_create(first, COUNT(partitions));
    for (size_t i = 0; i < COUNT(slices); i++) {
        windows[i] =
            (struct vxm_window_info){slices[i].partition, slices[i].release_point, offset, ticks(slices[i].us)};
        offset += windows[i].duration;
    }
    schedule.major_frame = offset;
    vxm_hook_schedule(&schedule);
}

static struct process *idle_of(uint16_t partition)
{
    for (size_t i = 0; i < COUNT(processes); i++) {
        if (processes[i].partition == partition && processes[i].period_frames == 0) {
            return &processes[i];
        }
    }
    return NULL;
}

static uint16_t task_of(const struct process *process)
{
    return process != NULL ? process->task : VXM_UNNAMED;
}

static void switch_to(struct process *process, uint16_t reason)
{
    if (process == at.running) {
        return;
    }
    vxm_hook_task_switch(task_of(process), reason, task_of(at.running));
    at.running = process;
}

static void release_all(uint16_t partition, uint64_t instant)
{
    for (size_t i = 0; i < COUNT(processes); i++) {
        struct process *process = &processes[i];
        if (process->partition == partition && process->period_frames != 0 && at.frame % process->period_frames == 0) {
            process->activation++;
            vxm_release(process->task, instant, instant + ticks((uint64_t)process->period_frames * FRAME_US),
                        process->activation);
        }
    }
}

/* The next process of the partition that has work in this frame's first window of it. */
static struct process *next_process(uint16_t partition, const struct process *after)
{
    bool passed = after == NULL;
    for (size_t i = 0; i < COUNT(processes); i++) {
        struct process *process = &processes[i];
        if (passed && process->partition == partition && process->period_frames != 0 &&
            at.frame % process->period_frames == 0) {
            return process;
        }
        passed = passed || process == after;
    }
    return NULL;
}

static void run_process(struct process *process, uint64_t now)
{
    switch_to(process, VXM_REASON_BLOCKED);
    at.next = now + ticks(process->run_us);
    if (at.next > at.window_end) {
        at.next = at.window_end;
    }
}

static void begin_window(uint64_t start)
{
    const struct vxm_window_info *window = &windows[at.window];
    if (at.window == 0) {
        vxm_hook_major_frame(schedule.id, at.frame, start);
        activity_frame(at.frame);
    }
    vxm_hook_window(at.window);
    if (window->partition != at.partition || !at.begun) {
        at.partition = window->partition;
        vxm_hook_partition_switch(at.partition);
    }
    at.begun = true;
    at.window_end = start + window->duration;
    at.next = at.window_end;
    struct process *first = NULL;
    if (window->release_point) {
        release_all(at.partition, start);
        first = next_process(at.partition, NULL);
    }
    switch_to(first != NULL ? first : idle_of(at.partition), VXM_REASON_WINDOW_END);
    if (first != NULL) {
        run_process(first, start);
    }
}

static void end_window(void)
{
    at.window++;
    if (at.window == COUNT(slices)) {
        at.window = 0;
        at.frame++;
        at.frame_start += schedule.major_frame;
    }
    begin_window(at.frame_start + windows[at.window].offset);
}

/* The running process is done: the next one, or the idle process, takes the rest of the window. */
static void complete_process(void)
{
    struct process *done = at.running;
    uint64_t instant = at.next;
    vxm_complete(done->task, done->activation);
    struct process *next = next_process(at.partition, done);
    at.next = at.window_end;
    if (next != NULL) {
        run_process(next, instant);
    } else {
        switch_to(idle_of(at.partition), VXM_REASON_BLOCKED);
    }
}

void module_advance(uint64_t now)
{
    if (!at.begun) {
        at.frame_start = now;
        begin_window(now);
    }
    while (at.next <= now) {
        if (at.next < at.window_end && at.running != NULL) {
            complete_process();
        } else {
            end_window();
        }
    }
}

uint64_t module_next(void)
{
    return at.next;
}

bool module_in_spare(void)
{
    return at.begun && at.partition == 0;
}
