/* SPDX-License-Identifier: Apache-2.0 */
/* A partition begins here, in its main process, on a stack the kernel gave it. */
    .section .text.start, "ax"
    .globl _start
_start:
    bl main
1:
    b 1b
