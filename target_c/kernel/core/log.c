/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/log.h"

#include "kernel/board.h"
#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/sched.h"

#define MAGIC 0x564C4F47u /* "VLOG" */
#define LAYOUT 1u
#define WARM 0x57415246u
#define MAX_ENTRIES 128u
#define EDR_ENTRIES 64u

struct kept_entry {
    struct log_entry entry;
    uint32_t check;
};

struct log_head {
    uint64_t next;
    uint64_t missed;
    uint32_t generation;
    uint32_t capacity;
};

struct kept_log {
    struct log_head head;
    uint32_t check;
    struct kept_entry entry[MAX_ENTRIES];
};

struct kept {
    uint32_t magic;
    uint32_t layout;
    uint32_t boot_cycle;
    uint32_t warm; /* WARM: the next boot comes from a reset of ours */
    struct kept_log log[LOGS];
};
_Static_assert(sizeof(struct kept) <= BOARD_PERSISTENT_BYTES, "the logs fit the memory that survives");

static struct kept *kept;
static bool warm_boot;

/* In the manner of Fletcher's sum, over words. */
static uint32_t sum(const void *data, uint32_t bytes)
{
    const uint32_t *word = data;
    uint32_t a = 1, b = 0;

    for (uint32_t i = 0; i < bytes / 4u; i++) {
        a += word[i];
        b += a;
    }
    return a ^ b << 1;
}

static uint64_t oldest_of(const struct log_head *head)
{
    return head->next > head->capacity ? head->next - head->capacity : 0u;
}

static void seal(struct kept_log *log)
{
    log->check = sum(&log->head, sizeof log->head);
}

/* A log that is damaged or of another size is made anew, and says so by its generation. */
static void open_log(struct kept_log *log, uint32_t capacity, bool known)
{
    if (known && log->check == sum(&log->head, sizeof log->head) && log->head.capacity == capacity) {
        return;
    }
    log->head = (struct log_head){.generation = known ? log->head.generation + 1u : 1u, .capacity = capacity};
    seal(log);
}

void log_init(void)
{
    const uint32_t hm = module_config.hm_log_entries;

    kept = board_persistent_memory();
    const bool known = kept->magic == MAGIC && kept->layout == LAYOUT;
    warm_boot = known && kept->warm == WARM;
    kept->boot_cycle = known ? kept->boot_cycle + 1u : 0u;
    kept->warm = 0;
    open_log(&kept->log[LOG_HM], hm < MAX_ENTRIES ? hm : MAX_ENTRIES, known);
    open_log(&kept->log[LOG_EDR], EDR_ENTRIES, known);
    kept->layout = LAYOUT;
    kept->magic = MAGIC;
}

static void copy_text(char *to, const char *from, unsigned most)
{
    for (unsigned i = 0; i < most && from[i] != '\0'; i++) {
        to[i] = from[i];
    }
}

uint64_t log_append(enum log_id id, struct log_entry *entry, const struct partition *partition,
                    const struct process *process)
{
    struct kept_log *log = &kept->log[id];
    struct kept_entry *place = &log->entry[log->head.next % log->head.capacity];

    entry->number = log->head.next;
    entry->time = arch_time();
    entry->boot_cycle = kept->boot_cycle;
    entry->partition = partition != NULL ? partition->index : VXM_UNNAMED;
    entry->task = process != NULL ? process->task : VXM_UNNAMED;
    if (partition != NULL) {
        copy_text(entry->partition_name, partition->name, NAME_BYTES);
    }
    if (process != NULL) {
        copy_text(entry->task_name, process->name, NAME_BYTES);
    }
    place->entry = *entry;
    place->check = sum(entry, sizeof *entry);
    if (log->head.next - oldest_of(&log->head) == log->head.capacity) {
        log->head.missed++;
    }
    log->head.next++;
    seal(log);
    return entry->number;
}

void log_edr(uint32_t kind, uint32_t address, const struct partition *partition, const struct process *process,
             const char *message)
{
    struct log_entry entry = {.kind = kind, .address = address};

    copy_text(entry.message, message, LOG_MESSAGE_BYTES - 1u);
    const uint64_t number = log_append(LOG_EDR, &entry, partition, process);
    vxm_edr_event(entry.partition, kind, (uint32_t)number, address, entry.task, (uint16_t)entry.boot_cycle);
}

bool log_read(enum log_id id, uint64_t number, struct log_entry *entry)
{
    const struct kept_log *log = &kept->log[id];
    const uint32_t state = arch_mask();
    const bool there = number < log->head.next && number >= oldest_of(&log->head);
    const struct kept_entry copy = log->entry[number % log->head.capacity];

    arch_unmask(state);
    *entry = copy.entry;
    return there && copy.entry.number == number && copy.check == sum(entry, sizeof *entry);
}

void log_get_state(enum log_id id, struct log_state *state)
{
    const struct log_head *head = &kept->log[id].head;
    const uint32_t mask = arch_mask();

    *state = (struct log_state){
        .oldest = oldest_of(head),
        .next = head->next,
        .missed = head->missed,
        .generation = head->generation,
        .boot_cycle = kept->boot_cycle,
    };
    arch_unmask(mask);
}

/* The kernel is broken: nothing is recorded, and before log_init nothing is kept. */
void log_panic(const char *message)
{
    struct log_entry entry = {.kind = EDR_FATAL | EDR_KERNEL};

    if (kept != NULL) {
        copy_text(entry.message, message, LOG_MESSAGE_BYTES - 1u);
        (void)log_append(LOG_EDR, &entry, NULL, NULL);
    }
}

bool log_warm_boot(void)
{
    return warm_boot;
}

void log_announce_reset(void)
{
    kept->warm = WARM;
}

uint32_t log_boot_cycle(void)
{
    return kept->boot_cycle;
}

/* One word of printable characters, so that what a partition wrote cannot look like a line of ours. */
static void make_word(char *text)
{
    for (; *text != '\0'; text++) {
        if (*text <= ' ' || *text > '~') {
            *text = *text == ' ' ? '_' : '.';
        }
    }
}

static void print_entry(const char *name, struct log_entry *entry)
{
    make_word(entry->message);
    print("book %s number=%llu boot=%u time=%llu code=%u level=%u action=%u kind=0x%x subcode=0x%x address=0x%x "
          "partition=%s task=%s message=%s\n",
          name, entry->number, entry->boot_cycle, entry->time, entry->code, entry->level, entry->action, entry->kind,
          entry->subcode, entry->address, entry->partition_name[0] != '\0' ? entry->partition_name : "-",
          entry->task_name[0] != '\0' ? entry->task_name : "-", entry->message);
}

void log_print(void)
{
    static const char *const NAME[] = {"hm", "edr"};
    struct log_entry entry;
    struct log_state state;

    for (unsigned id = 0; id < LOGS; id++) {
        log_get_state(id, &state);
        print("book log name=%s oldest=%llu next=%llu missed=%llu generation=%u boot=%u\n", NAME[id], state.oldest,
              state.next, state.missed, state.generation, state.boot_cycle);
        for (uint64_t number = state.oldest; number < state.next; number++) {
            print_entry(log_read(id, number, &entry) ? NAME[id] : "damaged", &entry);
            while (console_drain(256)) {
            }
        }
    }
}
