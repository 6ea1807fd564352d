# SPDX-License-Identifier: BSD-3-Clause
"""Programs for the tests of the package, in assembly."""

from __future__ import annotations

import functools
import io

from dpu.asm import assemble

# cmd: 0 counts, 1 stops with fault 3, 2 spins forever, 3 reads WRAM beyond its end. The buffer
# in MRAM and `words` are for copies only.
COUNTER = """
    .text
    .globl __bootstrap
    .globl main
__bootstrap:
main:
    lw r0, zero, cmd
    jeq r0, 1, .Lfault
    jeq r0, 2, .Lspin
    jeq r0, 3, .Lbeyond
    lw r1, zero, counter
    add r1, r1, 1
    sw zero, counter, r1
    stop
.Lfault:
    fault 3
.Lspin:
    jump .Lspin
.Lbeyond:
    move r2, 0x20000
    lw r3, r2, 0
    stop
    .section .data.__sys_host
    .align 8
    .globl cmd
    .type cmd, @object
    .size cmd, 4
cmd: .word 0
    .globl counter
    .type counter, @object
    .size counter, 4
counter: .word 0
    .globl words
    .type words, @object
    .size words, 4096
words: .space 4096
    .globl copy
    .type copy, @object
    .size copy, 4
copy: .word 7
    .section .mram.noinit
    .globl buffer
    .type buffer, @object
    .size buffer, 65536
buffer: .space 65536
"""


@functools.cache
def build(source: str) -> bytes:
    """Assemble a program, once."""
    return assemble(io.StringIO(source))


def command(number: int) -> bytes:
    """Return the bytes that `cmd` or `counter` is set to."""
    return number.to_bytes(4, "little")
