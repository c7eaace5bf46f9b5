/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/arch.h"
#include "kernel/library.h"
#include "kernel/sched.h"
#include "ppc.h"

extern const uint32_t ppc_vectors[VECTORS];
extern struct arch_context panic_context;
_Noreturn void ppc_resume(struct arch_context *context);
_Noreturn void ppc_start(const void *device_tree);

static uint32_t *field(struct arch_context *context, unsigned offset)
{
    return &context->word[offset / 4u];
}

void arch_context_init(struct arch_context *context, uint32_t entry, uint32_t stack_top, bool user)
{
    *context = (struct arch_context){0};
    context->word[1] = stack_top - 16u;
    *field(context, CONTEXT_PC) = entry;
    *field(context, CONTEXT_MSR) = MSR_EE | MSR_ME | (user ? MSR_PR : 0u);
}

uint32_t arch_call_argument(const struct arch_context *context, unsigned index)
{
    return context->word[3u + index];
}

uint32_t arch_stack_pointer(const struct arch_context *context)
{
    return context->word[1];
}

uint32_t arch_instruction(const struct arch_context *context)
{
    return context->word[CONTEXT_PC / 4u];
}

uint32_t arch_call_number(const struct arch_context *context)
{
    return context->word[0];
}

void arch_set_result(struct arch_context *context, uint32_t result)
{
    context->word[3] = result;
}

uint32_t arch_result(const struct arch_context *context)
{
    return context->word[3];
}

void arch_set_time(uint64_t ticks)
{
    MTSPR(SPR_TBL_WRITE, 0);
    MTSPR(SPR_TBU_WRITE, (uint32_t)(ticks >> 32));
    MTSPR(SPR_TBL_WRITE, (uint32_t)ticks);
}

/* The order matters: a decrementer set before its status is cleared can lose its only interrupt. */
void arch_arm_timer(uint64_t ticks)
{
    MTSPR(SPR_TCR, 0);
    MTSPR(SPR_TSR, 0xFFFFFFFFu);
    MTSPR(SPR_TCR, TCR_DIE);
    const int64_t left = (int64_t)(ticks - arch_time());
    MTSPR(SPR_DEC, left < 1 ? 1u : left > INT32_MAX ? (uint32_t)INT32_MAX : (uint32_t)left);
}

void arch_disarm_timer(void)
{
    MTSPR(SPR_TCR, 0);
    MTSPR(SPR_TSR, 0xFFFFFFFFu);
}

uint32_t arch_mask(void)
{
    uint32_t state;

    __asm__ volatile("mfmsr %0\n\twrteei 0" : "=r"(state)::"memory");
    return state;
}

void arch_unmask(uint32_t state)
{
    __asm__ volatile("wrtee %0" ::"r"(state) : "memory");
}

/* `wait` only where the boot parameter asks for it: else guest time is a function of instructions alone. */
void arch_wait(void)
{
    if (shared_page->idle_waits != 0u) {
        __asm__ volatile(".long 0x7c00007c" ::: "memory");
    }
}

_Noreturn void arch_start(struct arch_context *first)
{
    ppc_resume(first);
}

static const char *const vector_name[VECTORS] = {
    "critical input",
    "machine check",
    "data storage",
    "instruction storage",
    "external input",
    "alignment",
    "program",
    "floating point unavailable",
    "system call",
    "auxiliary unavailable",
    "decrementer",
    "interval timer",
    "watchdog",
    "data TLB miss",
    "instruction TLB miss",
    "debug",
};

static enum fault_kind kind_of(uint32_t vector, uint32_t syndrome)
{
    if (vector == VECTOR_PROGRAM) {
        return (syndrome & (ESR_TRAP | ESR_FLOATING_POINT)) != 0u ? FAULT_NUMERIC : FAULT_INSTRUCTION;
    }
    return vector == VECTOR_NO_FLOATING_POINT ? FAULT_INSTRUCTION : FAULT_MEMORY;
}

static bool is_instruction_fault(uint32_t vector)
{
    return vector != 2u && vector != 5u && vector != 13u;
}

struct arch_context *ppc_exception(struct arch_context *context, uint32_t vector)
{
    const uint32_t pc = *field(context, CONTEXT_PC);

    switch (vector) {
    case VECTOR_CALL:
        return trap_call(context);
    case VECTOR_DECREMENTER:
        return trap_timer(pc);
    case VECTOR_EXTERNAL:
        return trap_device(pc);
    default:
        break;
    }
    if ((*field(context, CONTEXT_MSR) & MSR_PR) == 0u) {
        ppc_panic(context, vector);
    }
    const struct fault fault = {
        .vector = vector,
        .code = MFSPR(SPR_ESR),
        .address = is_instruction_fault(vector) ? pc : MFSPR(SPR_DEAR),
        .ip = pc,
        .name = vector_name[vector],
        .kind = kind_of(vector, MFSPR(SPR_ESR)),
    };
    return trap_fault(&fault);
}

_Noreturn void ppc_panic(const struct arch_context *context, uint32_t vector)
{
    const uint32_t *word = context->word;

    MTSPR(SPR_CONTEXT, &panic_context);
    for (unsigned i = 0; i < 32u; i += 4u) {
        print("r%02u %08x %08x %08x %08x\n", i, word[i], word[i + 1u], word[i + 2u], word[i + 3u]);
    }
    print("pc %08x msr %08x lr %08x esr %08x dear %08x\n", word[CONTEXT_PC / 4], word[CONTEXT_MSR / 4],
          word[CONTEXT_LR / 4], MFSPR(SPR_ESR), MFSPR(SPR_DEAR));
    panic("%s in the kernel", vector < VECTORS ? vector_name[vector] : "exception");
}

_Noreturn void ppc_start(const void *device_tree)
{
    MTSPR(SPR_CONTEXT, &panic_context);
    MTSPR(SPR_IVPR, ppc_vectors[0] & 0xFFFF0000u);
    MTSPR(SPR_IVOR0 + 0, ppc_vectors[0] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 1, ppc_vectors[1] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 2, ppc_vectors[2] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 3, ppc_vectors[3] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 4, ppc_vectors[4] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 5, ppc_vectors[5] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 6, ppc_vectors[6] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 7, ppc_vectors[7] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 8, ppc_vectors[8] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 9, ppc_vectors[9] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 10, ppc_vectors[10] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 11, ppc_vectors[11] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 12, ppc_vectors[12] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 13, ppc_vectors[13] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 14, ppc_vectors[14] & 0xFFFFu);
    MTSPR(SPR_IVOR0 + 15, ppc_vectors[15] & 0xFFFFu);
    kernel_main(device_tree);
}
