# SPDX-License-Identifier: BSD-3-Clause
"""Measure vector instructions of the VE, and kernels of them, next to the same for the host."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

import veo
from benchmarks.harness import HERE, Report, alternate, arguments

LENGTH, SIDE, GRID, MANY = 256, 512, 1024, 100_000
TARGET = 3
CALL = Callable[[int], object]

# Arguments behind the count of repetitions, by what is added to the size of an array.
INSTRUCTIONS = {
    "add_long": np.int64,
    "multiply_long": np.int64,
    "and_long": np.int64,
    "shift_long": np.int64,
    "add_packed": np.int32,
    "add_double": np.float64,
    "fma_double": np.float64,
    "divide_double": np.float64,
    "root_double": np.float64,
    "fma_packed": np.float32,
    "copy": np.float64,
    "gather": np.float64,
}


def compile_kernels(folder: Path) -> tuple[Path, Path]:
    """Compile the kernels for the VE and, by the same compiler, for this processor."""
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise SystemExit("a compiler for the VE is needed: pip install offchip[toolchain]")
    home = Path(found.origin).parent
    clang = [str(home / "zig"), "clang", "-O2", str(HERE / "veo/vector_kernels.c")]
    ours, baseline = folder / "kernels.o", folder / "kernels.so"
    include = f"{home}/lib/include"
    for_ve = ["--target=ve-unknown-linux-gnu", "-isystem", include, "-c", "-o", str(ours)]
    for_host = ["-march=native", "-shared", "-fPIC", "-nostdlib", "-o", str(baseline)]
    subprocess.run([*clang, *for_ve], check=True)
    subprocess.run([*clang, *for_host], check=True)
    return ours, baseline


class Bench:
    """A run: a VE process with both kinds of kernels, and arrays in its memory."""

    def __init__(self, folder: Path, quick: bool) -> None:
        self.rounds = 5 if quick else 15
        self.report = Report("veo_vector_speed", "how fast is vector code of the VE executed?")
        self.proc = veo.VeoProc(0)
        self.ctx = self.proc.open_context()
        ours, baseline = compile_kernels(folder)
        self.libraries = [self.proc.load_library(str(path)) for path in (ours, baseline)]

    def close(self) -> None:
        """End the VE process."""
        self.proc.proc_destroy()

    def array(self, values: np.ndarray) -> int:
        """Copy an array to the VE."""
        memory = self.proc.alloc_mem(values.nbytes)
        self.proc.write_mem(memory, values, values.nbytes)
        return int(memory)

    def compare(self, name: str, repeats: int, work: float, unit: str, *values: object) -> None:
        """Time a kernel, and report units of work a second."""
        types = ["double" if isinstance(value, float) else "long" for value in values]
        calls: list[Callable[[], float]] = []
        for library in self.libraries:
            function = library.find_function(name)
            function.args_type("long", *types)
            function.ret_type("double" if name == "dot" else "void")

            def measure(function: object = function) -> float:
                start = time.perf_counter_ns()
                function(self.ctx, repeats, *values).wait_result()  # type: ignore[operator]
                return (time.perf_counter_ns() - start) / repeats

            calls.append(measure)
        ours, baseline = alternate(calls[0], calls[1], self.rounds)
        self.report.add(
            name,
            ours.map(lambda ns: work / ns),
            unit,
            baseline=baseline.map(lambda ns: work / ns),
            ratio_at_least=1 / TARGET,
        )

    def instructions(self) -> None:
        """Time one instruction over and over, on vectors of 256 elements."""
        self.report.section("instructions on 256 elements", "loops of clang -O2 -march=native")
        for name, dtype in INSTRUCTIONS.items():
            count = LENGTH * (8 // np.dtype(dtype).itemsize)
            arrays = [np.full(count, value, dtype) for value in (3, 1, 1)]
            if name == "gather":
                arrays[2] = np.random.default_rng(1).permutation(LENGTH)
            addresses = [self.array(values) for values in arrays]
            self.compare(name, 100_000, count, "G/s", *addresses)

    def kernels(self) -> None:
        """Time whole kernels."""
        self.report.section("kernels", "loops of clang -O2 -march=native")
        rng = np.random.default_rng(2)
        x, y = (self.array(rng.random(MANY)) for _ in range(2))
        self.compare("axpy", 200, 2 * MANY, "GF/s", MANY, 1e-9, x, y)
        self.compare("dot", 200, 2 * MANY, "GF/s", MANY, x, y)
        a, b, c = (self.array(rng.random(SIDE * SIDE)) for _ in range(3))
        self.compare("dgemm", 2, 2 * SIDE**3, "GF/s", a, b, c)
        grids = [self.array(rng.random(GRID * GRID)) for _ in range(2)]
        self.compare("stencil", 10, 4 * (GRID - 2) ** 2, "GF/s", *grids)
        self.convolutions(rng)
        self.choices_and_conversions(rng, x, y)

    def convolutions(self, rng: np.random.Generator) -> None:
        """Time convolutions of float, one filter at a time and two."""
        image, to = (self.array(rng.random((8, 66, 256), np.float32)) for _ in range(2))
        weights = self.array(rng.random((8, 8, 9), np.float32))
        for name in ("convolve", "convolve_packed"):
            self.compare(name, 1, 2 * 9 * 64 * 64 * 254, "GF/s", image, weights, to)

    def choices_and_conversions(self, rng: np.random.Generator, x: int, y: int) -> None:
        """Time conversions, comparisons, and accesses by addresses."""
        words = self.array(rng.integers(-1000, 1000, MANY, np.int32))
        places = self.array(rng.permutation(MANY))
        self.compare("integers", 200, MANY, "G/s", MANY, words, y)
        self.compare("truncated", 200, MANY, "G/s", MANY, x, words)
        self.compare("narrowed", 200, MANY, "G/s", MANY, x, words)
        self.compare("chosen", 200, MANY, "G/s", MANY, 0.5, x, y)
        self.compare("largest", 200, MANY, "G/s", MANY, 0.5, x, y)
        self.compare("gathered", 50, MANY, "G/s", MANY, places, x, y)
        self.compare("scattered", 50, MANY, "G/s", MANY, places, x, y)


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__ or "").parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.quick)
        try:
            bench.instructions()
            bench.kernels()
        finally:
            bench.close()
        bench.report.finish(options.json)


if __name__ == "__main__":
    main()
