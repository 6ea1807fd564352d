# SPDX-License-Identifier: BSD-3-Clause
"""Compare cycles of the simulated DPU with figures published for the real one.

The published ones are of a UPMEM DPU at 350 MHz, in "Benchmarking a New Paradigm: An Experimental
Characterization of a Real Processing-in-Memory System" (Gomez-Luna et al., arXiv 2105.03814). They
were written down from memory of the paper, not read from it again. With --profiles, times of whole
programs are compared too (fidelity_programs.py). A column says whether a constant was taken from a
row.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.dpu.fidelity_programs import programs
from benchmarks.harness import HERE, Report, Sample, arguments
from dpu import DpuSet
from dpu.asm import Source, assemble
from dpu.compiler import Compiler

MHZ = 350.0
KERNEL = HERE / "dpu/kernels" / "arithmetic.c"

# Assembled loops; each tasklet runs BODY for COUNT times ELEMENTS.
LOOP = """
        .data
        .p2align 3
space:  .space  2048 * 24
        .section .mram
        .p2align 3
bank:   .space  65536
        .text
        .globl  main
main:   lsl     r0, id, 11
        move    r1, space
        add     r0, r0, r1
        move    r1, bank
        move    r2, COUNT
        move    r3, 1
        move    r4, r0
loop:
BODY
        add     r2, r2, -1, nz, loop
        jump    r23
"""

# Name: (instructions of one round of the loop without its end, elements or bytes of a round).
STREAMS = {
    "COPY": (["ld d6, r0, {0}", "sd r0, {0}, d6"], 16, 2818.98),
    "ADD": (
        ["ld d6, r0, {0}", "ld d8, r0, {1}", "add r7, r7, r9", "addc r6, r6, r8", "sd r0, {0}, d6"],
        24,
        1682.46,
    ),
}
# Million operations a second of b[i] = a[i] op scalar with at least 11 tasklets, by type.
PUBLISHED = {
    "int32": {"add": 58.56, "sub": 58.45, "mul": 10.27, "div": 11.27},
    "int64": {"add": 50.16, "sub": 50.09, "mul": 2.56, "div": 1.40},
    "float": {"add": 4.91, "sub": 4.59, "mul": 1.91, "div": 0.34},
    "double": {"add": 3.32, "sub": 3.11, "mul": 0.53, "div": 0.16},
}
FORMATS = {"int32": "i", "int64": "q", "float": "f", "double": "d"}
TYPES = {"int32": "int32_t", "int64": "int64_t", "float": "float", "double": "double"}
TASKLETS, ELEMENTS = 16, 128
# Milliseconds of PrIM's VA on one DPU by tasklets, from the profiles of fidelity_programs.py.
VECTOR_ADD = {1: 884.67, 2: 443.06, 4: 222.24, 8: 114.64, 16: 76.37}
VECTOR_BYTES = 2_621_440 * 4


def row(
    report: Report,
    series: str,
    found: float,
    unit: str,
    published: float,
    *,
    fitted: bool = False,
    **more: float,
) -> None:
    """Add a row with its error, and whether a constant was taken from it."""
    more = {"error_percent": 100 * (found - published) / published, **more, "fitted": int(fitted)}
    report.add(series, Sample.exact(found), unit, baseline=Sample.exact(published), **more)


def run_loop(body: list[str], count: int, tasklets: int) -> tuple[int, int]:
    """Run an assembled loop and return cycles and instructions."""
    text = LOOP.replace("BODY", "\n".join(body)).replace("COUNT", str(count))
    program = assemble(
        Source("loop.s", text, preprocess=False), nr_tasklets=tasklets, stack_size=64
    )
    with DpuSet(1, binary=program) as dpus:
        dpus.exec()
        return dpus.report.cycles, dpus.report.instructions


def transfers(report: Report) -> None:
    """Compare transfers between MRAM and WRAM."""
    report.section("DMA of one tasklet", "77 (read) or 61 (write) cycles and half a cycle per byte")
    for name, alpha, instruction in (
        ("read", 77, "ldma r0, r1, {}"),
        ("write", 61, "sdma r0, r1, {}"),
    ):
        for size in (8, 64, 512):
            cycles, _ = run_loop([instruction.format(size // 8 - 1)] * 50, 20, 1)
            found, published = size * 1000 * MHZ / cycles, size * MHZ / (alpha + size / 2)
            row(report, f"{name}, {size} bytes", found, "MB/s", published, fitted=True)

    report.section("DMA", "published figure")
    for name, instruction, published in (
        ("read, one tasklet, 2048 bytes", "ldma r0, r1, 255", 628.23),
        ("write, one tasklet, 2048 bytes", "sdma r0, r1, 255", 633.22),
    ):
        cycles, _ = run_loop([instruction] * 25, 20, 1)
        row(report, name, 2048 * 500 * MHZ / cycles, "MB/s", published, fitted=True)
    cycles, _ = run_loop(["ldma r0, r1, 127", "sdma r0, r1, 127"] * 4, 100, 16)
    copied = 2 * 1024 * 4 * 100 * 16
    row(report, "copy, 1024 bytes", copied * MHZ / cycles, "MB/s", 624.02, fitted=True)
    cycles, _ = run_loop(["ldma r0, r1, 0", "sdma r0, r1, 0"] * 4, 500, 16)
    moved = 16 * 500 * 8 * 8
    row(report, "random 8-byte read and write", moved * MHZ / cycles, "MB/s", 72.58, fitted=True)


def loops(report: Report) -> None:
    """Compare loops that no constant was taken from."""
    report.section("assembled loops in WRAM, 64-bit", "published figure")
    for name, (instructions, size, published) in STREAMS.items():
        places = [(8 * index, 8 * index + 1024) for index in range(64)]
        body = [line.format(*place) for place in places for line in instructions]
        cycles, _ = run_loop(body, 20, TASKLETS)
        rate = 64 * 20 * TASKLETS * size * MHZ / cycles
        row(report, f"STREAM {name}, {TASKLETS} tasklets", rate, "MB/s", published)

    report.section("assembled loop of six instructions, by tasklets", "58.56 x min(1, tasklets/11)")
    body = ["lw r5, r0, 0", "add r5, r5, r3", "sw r0, 0, r5", "add r4, r4, 4", "move r4, r0"]
    for tasklets in (1, 4, 8, 11, 12, 16, 24):
        cycles, _ = run_loop(body, 2000, tasklets)
        found = 2000 * tasklets * MHZ / cycles
        row(report, f"{tasklets} tasklets", found, "MOPS", 58.56 * min(1, tasklets / 11))


def vector_addition(report: Report) -> None:
    """Compare tasklets that could fall into phase: all of them read, compute and write in turns."""
    report.section("vector addition on one DPU, instructions as in VA, by tasklets", "measured")
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        for tasklets, published in VECTOR_ADD.items():
            program = f"{folder}/{tasklets}.dpu"
            Compiler().compile(
                str(HERE / "dpu/kernels/vector_add_blocks.c"),
                program,
                defines={"NR_TASKLETS": tasklets},
            )
            with DpuSet(1, binary=program) as dpus:
                dpus.bytes = struct.pack("<I", VECTOR_BYTES)
                dpus.exec()
                # The placement of refreshes was chosen by whether 2 and 4 stay in lockstep.
                fitted = tasklets in (2, 4)
                found = 1e3 * dpus.report.seconds
                row(report, f"{tasklets} tasklets", found, "ms", published, fitted=fitted)


def build(kind: str, operation: str, folder: str, costs: str) -> str:
    """Compile the kernel for a type and an operation."""
    sign = {"add": "+", "sub": "-", "mul": "*", "div": "/"}[operation]
    defines = {"NR_TASKLETS": TASKLETS, "ELEMENTS": ELEMENTS}
    output = f"{folder}/{kind}-{operation}-{costs}.dpu"
    Compiler(costs=costs).compile(
        str(KERNEL), output, defines={**defines, "TYPE": TYPES[kind], "OPERATION": sign}
    )
    return output


def operands() -> Iterator[int]:
    """Make numbers of 31 bits, as rand() does in PrIM's hosts."""
    state = 12345
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        yield state >> 33


def measure(kind: str, operation: str, program: str) -> tuple[float, float]:
    """Run a kernel, check what it computed, and return instructions and cycles an element."""
    form, total = FORMATS[kind], TASKLETS * ELEMENTS
    values = [value for value, _ in zip(operands(), range(total), strict=False)]
    scalar = 1 << 20
    with DpuSet(1, binary=program) as dpus:
        dpus.scalar = struct.pack(f"<{form}", scalar)
        dpus.numbers = struct.pack(f"<{total}{form}", *values)
        figures = []
        for rounds in (0, 1):
            dpus.rounds = struct.pack("<I", rounds)
            dpus.exec()
            figures.append((dpus.report.instructions, dpus.report.cycles))
        found = bytearray(struct.calcsize(form) * total)
        dpus.copy(found, "numbers")
    expected = computed(kind, operation, values, scalar)
    if bytes(found) != expected:
        raise RuntimeError(f"{kind} {operation}: the kernel computed something else")
    (first, start), (second, end) = figures
    return (second - first) / total, (end - start) / total


def computed(kind: str, operation: str, values: list[float], scalar: float) -> bytes:
    """Compute what a kernel has to."""
    import numpy as np

    numbers = np.array(values, dtype=FORMATS[kind])
    by = np.array(scalar, dtype=FORMATS[kind])
    if operation == "div" and kind.startswith("int"):
        result = np.sign(numbers) * (np.abs(numbers) // by)
    else:
        function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
        result = function[operation](numbers, by)
    return result.astype(FORMATS[kind]).tobytes()


def compiled(report: Report, costs: str) -> None:
    """Compile kernels and compare their code with that of the vendor's compiler."""
    report.section(
        f"compiled b[i] = a[i] op 2^20, {TASKLETS} tasklets, --costs={costs}: instructions "
        "an element",
        "350 MHz / published MOPS; less is shorter code",
    )
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        for kind, operations in PUBLISHED.items():
            for operation, published in operations.items():
                name = f"{kind} {operation}"
                try:
                    program = build(kind, operation, folder, costs)
                except subprocess.CalledProcessError as error:
                    report.skip(name, error.stderr.strip().partition("\n")[0])
                    continue
                instructions, cycles = measure(kind, operation, program)
                row(report, name, instructions, "instr", MHZ / published, mops=MHZ / cycles)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--profiles", type=Path, metavar="FOLDER", help="checkout of prim-benchmarks-insight"
    )
    options = parser.parse_args()
    report = Report("dpu_fidelity", "do cycles of the simulated DPU agree with published ones?")
    transfers(report)
    loops(report)
    vector_addition(report)
    for costs in ("offchip", "upmem"):
        compiled(report, costs)
    if options.profiles is not None:
        programs(report, options.profiles)
    report.finish(options.json)


if __name__ == "__main__":
    main()
