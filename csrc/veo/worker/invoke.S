/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * void veow_invoke(fn, ints[], fps[8], stack[], nstack, out[2])
 *
 * A call by the host's ABI (System V's of x86-64, AAPCS64) with all argument registers set.
 * Registers and stack words that the callee does not take do no harm.
 */
        .text
        .globl  veow_invoke
        .hidden veow_invoke
        .type   veow_invoke, @function
veow_invoke:
        .cfi_startproc
#if defined(__aarch64__)
        stp     x29, x30, [sp, #-32]!
        .cfi_def_cfa_offset 32
        .cfi_offset 29, -32
        .cfi_offset 30, -24
        mov     x29, sp
        .cfi_def_cfa_register 29
        str     x19, [sp, #16]
        .cfi_offset 19, -16
        mov     x19, x5
        mov     x16, x0
        mov     x9, x1
        lsl     x10, x4, #3
        add     x10, x10, #15
        and     x10, x10, #-16
        sub     sp, sp, x10
        mov     x10, #0
        b       2f
1:      ldr     x11, [x3, x10, lsl #3]
        str     x11, [sp, x10, lsl #3]
        add     x10, x10, #1
2:      cmp     x10, x4
        b.lo    1b
        ldp     d0, d1, [x2]
        ldp     d2, d3, [x2, #16]
        ldp     d4, d5, [x2, #32]
        ldp     d6, d7, [x2, #48]
        ldp     x0, x1, [x9]
        ldp     x2, x3, [x9, #16]
        ldp     x4, x5, [x9, #32]
        ldp     x6, x7, [x9, #48]
        blr     x16
        str     x0, [x19]
        str     d0, [x19, #8]
        mov     sp, x29
        ldr     x19, [sp, #16]
        ldp     x29, x30, [sp], #32
        .cfi_def_cfa sp, 0
        ret
#else
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq   %rbx
        .cfi_offset %rbx, -24
        pushq   %r12
        .cfi_offset %r12, -32
        movq    %r9, %rbx
        movq    %rdi, %r11
        leaq    15(,%r8,8), %rax
        andq    $-16, %rax
        subq    %rax, %rsp
        xorl    %eax, %eax
        jmp     2f
1:      movq    (%rcx,%rax,8), %r10
        movq    %r10, (%rsp,%rax,8)
        incq    %rax
2:      cmpq    %r8, %rax
        jb      1b
        movsd   0(%rdx), %xmm0
        movsd   8(%rdx), %xmm1
        movsd   16(%rdx), %xmm2
        movsd   24(%rdx), %xmm3
        movsd   32(%rdx), %xmm4
        movsd   40(%rdx), %xmm5
        movsd   48(%rdx), %xmm6
        movsd   56(%rdx), %xmm7
        movq    0(%rsi), %rdi
        movq    16(%rsi), %rdx
        movq    24(%rsi), %rcx
        movq    32(%rsi), %r8
        movq    40(%rsi), %r9
        movq    8(%rsi), %rsi
        /* Bounds the vector registers used, for callees with variable arguments. */
        movl    $8, %eax
        call    *%r11
        movq    %rax, 0(%rbx)
        movsd   %xmm0, 8(%rbx)
        leaq    -16(%rbp), %rsp
        popq    %r12
        popq    %rbx
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
#endif
        .cfi_endproc
        .size   veow_invoke, .-veow_invoke
        .globl  veow_invoke_end
        .hidden veow_invoke_end
veow_invoke_end:
        .section .note.GNU-stack,"",@progbits
