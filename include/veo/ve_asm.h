/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ve_asm.h: instructions of the Vector Engine that kernels have in inline assembler, as macros for
 * the host's assembler: loads and stores of host memory (lhm, shm), and fences; and functions that
 * kernels in C call without a declaration. The compilers of the folder that veo-env makes include
 * it in every source of C and C++; nothing is to be included by hand.
 *
 * smir, which reads a register such as the cycle counter, does nothing: its result is undefined.
 */
#if defined(__x86_64__) && !defined(__ASSEMBLER__) && !defined(VE_ASM_H)
#define VE_ASM_H

/* clang-format off */
__asm__(".macro fencem kind\n\tmfence\n.endm\n"
        ".macro lhm.l to, from\n\tmovq \\from, \\to\n.endm\n"
        ".macro lhm.w to, from\n\tmovl \\from, \\to\n.endm\n"
        ".macro shm.l from, to\n\tmovq \\from, \\to\n.endm\n"
        ".macro shm.w from, to\n\tmovl \\from, \\to\n.endm\n"
        ".macro smir to, from\n.endm\n");
/* clang-format on */

#ifndef __cplusplus
/* As int functions, which they are without <veo_hmem.h>, they would lose half of the address; those
 * of the Vector Engine return a whole register. */
void *veo_get_hmem_addr(void *);
void *veo_set_proc_identifier(void *, int);
#endif

#endif
