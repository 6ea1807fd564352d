# SPDX-License-Identifier: BSD-3-Clause
"""Programs and hosts that the tests profile; they need no compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dpu import asm

TASKLETS = 12
TIMES = 20
BYTES = 128

# Transfers, a lock, and a tasklet that sleeps until the last one wakes it.
ASSEMBLY = f"""
    .globl NR_TASKLETS
    .set NR_TASKLETS, {TASKLETS}
    .text
    .globl main
    .type main, @function
main:
    move r1, {TIMES}
    lsl r3, id, 8
.Lagain:
    acquire zero, 9, nz, .
    lw r2, zero, counter
    add r2, r2, 1
    sw zero, counter, r2
    release zero, 9, nz, .Lnext
.Lnext:
    ldma r3, r3, {BYTES // 8 - 1}
    add r1, r1, -1
    jneq r1, 0, .Lagain
    stop
    .size main, . - main
    .section .data.__sys_host
    .align 8
    .globl counter
    .type counter, @object
    .size counter, 4
counter: .word 0
    .word 0
"""

# Tasklets that take a lock in a function, again and again.
LOCKED = f"""
    .globl NR_TASKLETS
    .set NR_TASKLETS, {TASKLETS}
    .text
    .globl main
    .type main, @function
main:
    move r1, {TIMES}
.Lagain:
    call r23, FUNCTION
    add r1, r1, -1
    jneq r1, 0, .Lagain
    stop
    .size main, . - main
    .globl FUNCTION
    .type FUNCTION, @function
FUNCTION:
    acquire zero, 9, nz, .
    lw r2, zero, counter
    add r2, r2, 8
    sw zero, counter, r2
    release zero, 9, nz, .Lnext
.Lnext:
    jump r23
    .size FUNCTION, . - FUNCTION
    .section .data.__sys_host
    .align 8
    .globl counter
    .type counter, @object
    .size counter, 4
counter: .word 0
    .word 0
"""

HOST = """
import sys
from dpu import DpuSet
program, dpus, launches, end = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
with DpuSet(nr_dpus=dpus, binary=program) as dpu_set:
    for _ in range(launches):
        dpu_set.copy("counter", bytes(4))
        dpu_set.exec()
        report = dpu_set.report
        print(report.cycles, report.instructions, report.dma_read_bytes, flush=True)
        if end == "kill":
            import os, signal
            os.kill(os.getpid(), signal.SIGKILL)
sys.exit(3 if end == "fail" else 0)
"""


def build(folder: Path, text: str = ASSEMBLY) -> Path:
    """Assemble a program."""
    source, program = folder / "busy.S", folder / "busy.dpu"
    source.write_text(text)
    asm.assemble(str(source), str(program))
    return program


def command(program: Path, dpus: int = 1, launches: int = 1, end: str = "return") -> list[str]:
    """Return the command line of a host."""
    return [sys.executable, "-c", HOST, str(program), str(dpus), str(launches), end]


def run(words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    return subprocess.run(
        words,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
