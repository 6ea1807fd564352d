# SPDX-License-Identifier: BSD-3-Clause
"""Makes the programs that fuzzing of loading, running and logs starts from.

``python -m tests.dpu.fuzz.run_corpus FOLDER``
"""

from __future__ import annotations

from pathlib import Path

from dpu.asm import Source, assemble
from tests.support.corpora import main, write_inputs

# Each tasklet takes a lock, counts, sends a piece of WRAM to MRAM and back, and waits for those
# before it.
TASKLETS = """
    .text
    .globl main
main:
    acquire zero, lock, nz, .
    lw r1, zero, counter
    add r1, r1, 1
    sw zero, counter, r1
    release zero, lock, nz, . + 1
    move r0, words
    move r1, buffer
    sdma r0, r1, 3
    ldma r0, r1, 255
    jeq id, 0, last
    stop
last:
    lw r1, zero, counter
    jltu r1, 4, last
    stop
    .section .data.__sys_host
    .align 8
    .globl counter
    .type counter, @object
    .size counter, 4
counter: .word 0, 0
    .globl words
    .type words, @object
    .size words, 2048
words: .space 2048
    .section .mram, "aw", @progbits
    .globl buffer
    .type buffer, @object
    .size buffer, 4096
buffer: .space 4096, 0x55
    .section .atomic, "aw", @nobits
lock: .zero 1
"""

# Prints the bytes of `text`.
PRINT = """
    .text
    .globl main
main:
    move r0, text
    move r1, __stdout_buffer
    sdma r0, r1, 7
    move r2, 64
    sw zero, __stdout_buffer_state, r2
    stop
    .data
    .align 8
text:
    .asciz "%s"
    .asciz "a text"
    .align 8
    .asciz "%-5d|%lx"
    .align 4
    .word 7
    .align 8
    .quad 1 << 40
    .align 8
    .asciz "%8.3f"
    .align 8
    .quad 0x3ff8000000000000
    .align 8
    .globl __stdout_buffer_state
    .type __stdout_buffer_state, @object
    .size __stdout_buffer_state, 8
__stdout_buffer_state: .word 0, 0
    .section .mram.noinit
    .globl __stdout_buffer
    .type __stdout_buffer, @object
    .size __stdout_buffer, 1024
__stdout_buffer: .space 1024
"""

FAULTS = {
    "fault": "fault 3",
    "endless": "jump .",
    "load": "move r2, 0x20000\n    lw r3, r2, 0",
    "transfer": "move r0, 0xFFF8\n    move r1, 0\n    ldma r0, r1, 255",
    "nothing": "stop",
}


def program(text: str, tasklets: int) -> bytes:
    """Assemble a text."""
    return assemble(Source("program.s", text, preprocess=False), nr_tasklets=tasklets)


def make_corpus(folder: Path) -> list[Path]:
    """Write the programs."""
    inputs = {"tasklets": program(TASKLETS, 4), "print": program(PRINT, 1)}
    for name, text in FAULTS.items():
        inputs[name] = program(f"    .text\n    .globl main\nmain:\n    {text}\n    stop\n", 2)
    inputs["no file"] = b""
    return write_inputs(folder, inputs)


if __name__ == "__main__":
    main(make_corpus)
