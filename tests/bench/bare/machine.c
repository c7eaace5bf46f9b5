/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#define CCSR_VIRTUAL 0xE0000000u
#define UART (CCSR_VIRTUAL + 0x4500u)
#define GPIO (CCSR_VIRTUAL + 0xFF000u)
#define PLATFORM_BUS_VIRTUAL 0xD0000000u
#define DECREMENTER_ENABLE 0x04000000u

__asm__(".section .text.start,\"ax\"\n"
        ".globl _start\n"
        "_start:\n"
        "  lis %r1, bench_stack_end@ha\n"
        "  addi %r1, %r1, bench_stack_end@l\n"
        "  li %r0, 0\n"
        "  stwu %r0, -16(%r1)\n"
        "  bl bench_main\n"
        "1: b 1b\n"
        /* The decrementer's handler keeps what a C function may change. */
        ".balign 16\n"
        "bench_decrementer:\n"
        "  stwu %r1, -160(%r1)\n"
        "  stmw %r2, 16(%r1)\n"
        "  stw %r0, 8(%r1)\n"
        "  mflr %r3\n  mfctr %r4\n  mfxer %r5\n  mfcr %r6\n"
        "  stw %r3, 140(%r1)\n  stw %r4, 144(%r1)\n  stw %r5, 148(%r1)\n  stw %r6, 152(%r1)\n"
        "  bl bench_handle\n"
        "  lwz %r3, 140(%r1)\n  lwz %r4, 144(%r1)\n  lwz %r5, 148(%r1)\n  lwz %r6, 152(%r1)\n"
        "  mtlr %r3\n  mtctr %r4\n  mtxer %r5\n  mtcr %r6\n"
        "  lwz %r0, 8(%r1)\n"
        "  lmw %r2, 16(%r1)\n"
        "  addi %r1, %r1, 160\n"
        "  rfi\n"
        ".section .bss\n"
        ".balign 16\n"
        "  .space 32768\n"
        "bench_stack_end:\n"
        "  .space 16\n"
        ".text\n");

/* An entry of TLB1: 1 MB of device registers at physical 0xF_0000_0000 and more. */
static void map(uint32_t entry, uint32_t address, uint32_t physical)
{
    __asm__ volatile("mtspr 624, %0\n mtspr 625, %1\n mtspr 626, %2\n mtspr 627, %3\n mtspr 944, %4\n"
                     "isync\n tlbwe\n isync\n msync"
                     :
                     : "r"(1u << 28 | entry << 16), "r"(0xC0000500u), "r"(address | 0xAu), "r"(physical | 5u), "r"(0xFu)
                     : "memory");
}

void bare_start(void)
{
    map(1, CCSR_VIRTUAL, 0xE0000000u);
    map(2, PLATFORM_BUS_VIRTUAL, 0);
}

static void (*volatile handler_of)(void);

/* Also the assembler's. */
void bench_handle(void);

void bench_handle(void)
{
    __asm__ volatile("mtspr 340, %0\n mtspr 336, %1" : : "r"(0), "r"(0x08000000u)); /* TCR: off, TSR: seen */
    handler_of();
    handler_of = 0;
}

void bare_interrupt(void (*handler)(void))
{
    extern const uint8_t bench_decrementer[];
    const uint32_t at = (uint32_t)(uintptr_t)bench_decrementer;

    handler_of = handler;
    __asm__ volatile("mtspr 63, %0\n mtspr 410, %1\n mtspr 22, %2\n mtspr 340, %3\n wrteei 1"
                     :
                     : "r"(at & 0xFFFF0000u), "r"(at & 0xFFFFu), "r"(100u), "r"(DECREMENTER_ENABLE)
                     : "memory");
    while (handler_of != 0) {
    }
    __asm__ volatile("wrteei 0" ::: "memory");
}

void bare_print(const char *text)
{
    while (*text != '\0') {
        *(volatile uint8_t *)UART = (uint8_t)*text++;
    }
}

void bare_print_tenths(const char *name, uint64_t tenths)
{
    char digits[24];
    unsigned at = sizeof digits - 1u;
    digits[at] = '\0';
    digits[--at] = (char)('0' + tenths % 10u);
    digits[--at] = '.';
    tenths /= 10u;
    do {
        digits[--at] = (char)('0' + tenths % 10u);
        tenths /= 10u;
    } while (tenths != 0);
    bare_print(name);
    bare_print(" ");
    bare_print(digits + at);
    bare_print("\n");
}

void bare_power_off(void)
{
    *(volatile uint32_t *)GPIO = 0x80000000u;
    *(volatile uint32_t *)(GPIO + 8u) = 0x80000000u;
}
