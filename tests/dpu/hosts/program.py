# SPDX-License-Identifier: BSD-3-Clause
"""A host: prints what its DPUs computed, printed and counted, and how they ended."""

from __future__ import annotations

import io
import sys

from dpu import DpuError, DpuSet

# Sixteen tasklets: what is in `block` is multiplied by `factor`, and added up in `total`. The text
# goes to the log. With 0 as the factor of a DPU it faults.
SOURCE = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 16
    .text
    .globl main
main:
    lsl r0, id, 9
    add r1, r0, block
    add r2, r0, near
    ldma r2, r1, 63
    lw r3, zero, factor
    move r4, 128
    move r8, 0
    jneq r3, 0, .Lagain
    move r0, 0x20000
    lw r1, r0, 0
.Lagain:
    lw r5, r2, 0
    mul_ul_ul r5, r5, r3
    add r8, r8, r5
    sw r2, 0, r5
    add r2, r2, 4
    sub r4, r4, 1
    jneq r4, 0, .Lagain
    lsl r6, id, 2
    sw r6, total, r8
    add r2, r0, near
    sdma r2, r1, 63
    jneq id, 0, .Lend
    move r0, record
    move r1, __stdout_buffer
    sdma r0, r1, 1
    move r0, 16
    sw zero, __stdout_buffer_state, r0
.Lend:
    stop
    .section .data.__sys_host
    .align 8
    .globl factor
    .type factor, @object
    .size factor, 4
factor: .word 3
    .word 0
    .globl total
    .type total, @object
    .size total, 64
total: .space 64
    .data
    .align 8
record: .asciz "%s"
    .align 8
    .asciz "hello\\n"
    .align 8
    .globl __stdout_buffer_state
__stdout_buffer_state: .long 0, 0
near: .space 8192
    .section .mram.noinit
    .globl __stdout_buffer
__stdout_buffer: .space 1024
    .globl block
    .type block, @object
    .size block, 8192
block: .space 8192
    .globl __stdout_buffer_size
    .set __stdout_buffer_size, 1024
"""


def show(dpus: DpuSet) -> None:
    """Print everything that a launch leaves."""
    for one, report in zip(dpus.dpus(), dpus.report, strict=True):
        print(report)
        print(list(one.symbols["total"].uint32()), sum(one.symbols["block"].uint32()))


def main() -> int:
    """Launch some sets, synchronously and not, with faults and logs, and free them."""
    profile = sys.argv[1]
    first = DpuSet(nr_dpus=20, asm_source=io.StringIO(SOURCE), profile=profile)
    second = DpuSet(nr_dpus=9, asm_source=io.StringIO(SOURCE), profile=profile)
    for launch in range(3):
        values = [bytes((i + j + launch) % 251 for j in range(8192)) for i in range(len(first))]
        first.copy("block", values, async_mode=True)
        first.copy("factor", (launch + 1).to_bytes(4, "little"), async_mode=True)
        first.exec(async_mode=True)
        second.exec()
        first.sync()
        show(first)
        show(second)
    log = io.StringIO()
    first.log(log)
    print(log.getvalue())
    first.dpus()[13].copy("factor", bytes(4))
    try:
        first.exec()
    except DpuError as error:
        print(error, error.detail)
    show(first)
    first.free()
    third = DpuSet(nr_dpus=17, asm_source=io.StringIO(SOURCE), profile=profile)
    third.exec()
    show(third)
    return 0


if __name__ == "__main__":
    sys.exit(main())
