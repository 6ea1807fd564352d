# SPDX-License-Identifier: BSD-3-Clause
"""Checksum text on 64 DPUs with 16 tasklets each: a block a DPU, through WRAM.

The kernel is dpu_checksum.c; where there is no compiler for it, the same in assembly.
"""

import io
import tempfile
import zlib
from pathlib import Path

import numpy as np

from dpu import DpuSet, asm
from dpu.compiler import Compiler
from dpu.toolchain import ToolchainError, find_toolchain

NR_DPUS, NR_TASKLETS, BLOCK = 64, 16, 64 * 1024
SOURCE = Path(__file__).with_name("dpu_checksum.c")

ASSEMBLY = f"""
#define SLICE {BLOCK // NR_TASKLETS}
#define SLICE_BITS {(BLOCK // NR_TASKLETS).bit_length() - 1}
#define CHUNK 1024
    .globl NR_TASKLETS
    .set NR_TASKLETS, {NR_TASKLETS}
    .text
    .globl main
main:
    lsl r0, id, 10              // the tasklet's CHUNK bytes of WRAM
    add r0, r0, chunks
    lsl r1, id, SLICE_BITS
    move r9, block
    add r1, r1, r9              // its slice in MRAM
    move r2, 0                  // a
    move r3, 0                  // b
    move r4, SLICE / CHUNK
.Lnext_chunk:
    ldma r0, r1, CHUNK / 8 - 1
    move r5, r0
    add r6, r0, CHUNK
.Lnext_byte:
    lbu r7, r5, 0
    add r2, r2, r7
    add r3, r3, r2
    add r5, r5, 1
    jneq r5, r6, .Lnext_byte
    add r1, r1, CHUNK
    sub r4, r4, 1
    jneq r4, 0, .Lnext_chunk
    lsl r8, id, 3
    sw r8, sums, r2
    add r8, r8, 4
    sw r8, sums, r3
    stop
    .section .data.__sys_host
    .align 8
    .globl sums
    .type sums, @object
    .size sums, {8 * NR_TASKLETS}
sums: .space {8 * NR_TASKLETS}
    .data
    .align 8
chunks: .space {1024 * NR_TASKLETS}
    .section .mram.noinit
    .align 8
    .globl block
    .type block, @object
    .size block, {BLOCK}
block: .space {BLOCK}
"""


def build() -> tuple[bytes, str]:
    """Build the program; return it with the language that it was written in."""
    try:
        compiler = find_toolchain()
    except ToolchainError:
        return asm.assemble(io.StringIO(ASSEMBLY)), "assembly"
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "checksum.dpu"
        Compiler().compile(SOURCE, output=output, defines={"NR_TASKLETS": NR_TASKLETS})
        return output.read_bytes(), f"C, by {compiler.describe()}"


def read_text(size: int) -> bytes:
    """Take the sources of the standard library: some megabytes of real text."""
    text = b"".join(path.read_bytes() for path in sorted(Path(io.__file__).parent.glob("*.py")))
    return (text * (size // len(text) + 1))[:size]


def combine(sums: np.ndarray, length: int) -> int:
    """Join the sums of slices of `length` bytes, which all began with zero."""
    a, b = 1, 0
    for slice_a, slice_b in sums.reshape(-1, 2).tolist():
        b = (b + length * a + slice_b) % 65521
        a = (a + slice_a) % 65521
    return b << 16 | a


def checksum(program: bytes, text: bytes) -> tuple[int, float, int]:
    """Compute zlib's adler32; return modelled seconds and executed instructions with it."""
    blocks = [text[start : start + BLOCK] for start in range(0, len(text), BLOCK)]
    with DpuSet(nr_dpus=NR_DPUS, binary=program) as dpus:
        dpus.copy("block", blocks)
        dpus.exec()
        sums = np.concatenate([np.frombuffer(view, np.uint32) for view in dpus.sums.data()])
        report = dpus.report
    return combine(sums, BLOCK // NR_TASKLETS), report.seconds, report.instructions


def main() -> None:
    text = read_text(NR_DPUS * BLOCK)
    program, language = build()
    print(f"kernel in {language}")
    got, seconds, instructions = checksum(program, text)
    print(f"{len(text)} bytes on {NR_DPUS} DPUs: checksum {got:#010x}")
    print(f"modelled time {seconds * 1e3:.2f} ms, {instructions} instructions")
    assert got == zlib.adler32(text), "the checksum differs from zlib's"
    print("as zlib has it")


if __name__ == "__main__":
    main()
