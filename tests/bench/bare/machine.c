/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#define CCSR_VIRTUAL 0xE0000000u
#define UART (CCSR_VIRTUAL + 0x4500u)
#define GPIO (CCSR_VIRTUAL + 0xFF000u)

__asm__(".section .text.start,\"ax\"\n"
        ".globl _start\n"
        "_start:\n"
        "  lis %r1, bench_stack_end@ha\n"
        "  addi %r1, %r1, bench_stack_end@l\n"
        "  li %r0, 0\n"
        "  stwu %r0, -16(%r1)\n"
        "  bl bench_main\n"
        "1: b 1b\n"
        ".section .bss\n"
        ".balign 16\n"
        "  .space 32768\n"
        "bench_stack_end:\n"
        "  .space 16\n"
        ".text\n");

/* TLB1 entry 1: 1 MB of device registers, CCSR at physical 0xF_E000_0000. */
void bare_start(void)
{
    __asm__ volatile("mtspr 624, %0\n mtspr 625, %1\n mtspr 626, %2\n mtspr 627, %3\n mtspr 944, %4\n"
                     "isync\n tlbwe\n isync\n msync"
                     :
                     : "r"(1u << 28 | 1u << 16), "r"(0xC0000500u), "r"(CCSR_VIRTUAL | 0xAu), "r"(0xE0000000u | 5u),
                       "r"(0xFu)
                     : "memory");
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
