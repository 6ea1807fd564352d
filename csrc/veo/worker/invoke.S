/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * void veow_invoke(fn, ints[6], fps[8], stack[], nstack, out[2])
 *
 * A call by the System V x86-64 ABI with all argument registers set. Registers and stack words
 * that the callee does not take do no harm; al bounds the vector registers used, for callees
 * with variable arguments.
 */
        .text
        .globl  veow_invoke
        .hidden veow_invoke
        .type   veow_invoke, @function
veow_invoke:
        .cfi_startproc
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
        .cfi_endproc
        .size   veow_invoke, .-veow_invoke
        .globl  veow_invoke_end
        .hidden veow_invoke_end
veow_invoke_end:
        .section .note.GNU-stack,"",@progbits
