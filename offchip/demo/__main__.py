# SPDX-License-Identifier: BSD-3-Clause
"""Run the demonstration: ``offchip demo``, or ``python -m offchip.demo``.

Four ranks, each with four DPUs of its own, count the bytes of Python's standard library. ACCL adds
the counts up, a Vector Engine finds Huffman's code for them, accelforge predicts what the stages
take, and NumPy checks the results.
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np

import accelforge
import accl
import dpu
import veo
from accelforge import kernels
from accl.launch import run_together
from dpu.compiler import Compiler
from offchip.demo.plan import BYTES_PER_DPU, DPUS, RANKS, read_text
from offchip.error_pages import format_error
from offchip.errors import OffchipError
from offchip.lazy import need
from offchip.waiting_line import Waiting

SOURCE = Path(__file__).with_name("huffman.c")
DEADLINE = 120.0
COULD_NOT_RUN = (
    OffchipError,
    ImportError,
    RuntimeError,
    OSError,
    subprocess.SubprocessError,
    accelforge.EvaluationError,
)
COUNTING, SUMMING = "count on DPUs", "sum over the ranks"


def build(folder: Path) -> tuple[Path, str]:
    """Compile the program of the DPUs and the library of the VE."""
    kernel = kernels.dpu_histogram(BYTES_PER_DPU)
    program = folder / "histogram.dpu"
    Compiler().compile(kernel.source, program, defines=kernel.defines)
    builder = veo.VeBuild(check=True)
    builder.set_build_dir(folder)
    builder.set_c_src("huffman", SOURCE.read_text())
    with contextlib.redirect_stdout(io.StringIO()):  # VeBuild names what it compiles, as py-veo's
        library = builder.build_so(check=True, verbose=False)
    return program, library


def commands(program: Path, library: str) -> list[list[str]]:
    """List what to start: mpiexec once, or without MPI a process for each rank."""
    rank = [sys.executable, "-P", "-m", "offchip.demo.rank"]
    rank += ["--program", str(program), "--library", library]
    launcher = Path(sys.executable).parent / "mpiexec"
    if launcher.exists() and importlib.util.find_spec("mpi4py") is not None:
        return [[str(launcher), "-n", str(RANKS), *rank]]
    rank += ["--job", f"demo-{uuid.uuid4().hex}", "--ranks", str(RANKS), "--rank"]
    return [[*rank, str(number)] for number in range(RANKS)]


def find_result(printed: str) -> dict[str, Any]:
    """Find the line of JSON in what the ranks print: MPI's libraries may print there too."""
    for line in printed.splitlines():
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict):
                return value
    raise RuntimeError(f"the ranks gave no result; they printed: {printed.strip() or 'nothing'}")


def huffman_bits(counts: np.ndarray) -> int:
    """Compute what the text takes in Huffman's code: each joining of two nodes adds its weight."""
    heap = [int(number) for number in counts if number]
    heapq.heapify(heap)
    bits = 0
    while len(heap) > 1:
        weight = heapq.heappop(heap) + heapq.heappop(heap)
        bits += weight
        heapq.heappush(heap, weight)
    return bits


def check(result: dict[str, Any], text: np.ndarray) -> list[str]:
    """Say what is wrong with the results."""
    counts = np.bincount(text, minlength=256)
    lengths = np.array(result["lengths"])
    wrong = []
    if not np.array_equal(counts, result["counts"]):
        wrong.append("the counts differ from NumPy's")
    if result["bits"] != huffman_bits(counts) or result["bits"] != int(counts @ lengths):
        wrong.append("the code is not Huffman's")
    if not np.isclose(np.sum(0.5 ** lengths[counts > 0]), 1):
        wrong.append("the lengths are not those of a code")
    return wrong


def predict() -> dict[str, float]:
    """Predict stages with accelforge, in seconds."""
    found = {}
    for stage, kernel in (
        (COUNTING, kernels.dpu_histogram(BYTES_PER_DPU)),
        (SUMMING, kernels.accl_allreduce(256 * 8, ranks=RANKS)),
    ):
        found[stage] = float(kernel.spec().evaluate_mapping().latency())
    return found


def _text(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def report(result: dict[str, Any], predicted: dict[str, float]) -> None:
    """Print the table of stages."""
    print(f"\n  {'stage, on rank 0':<32}{'predicted':>14}{'modelled':>14}{'measured':>14}")
    for stage, seconds in result["seconds"].items():
        print(
            f"  {stage:<32}{_text(predicted.get(stage)):>14}"
            f"{_text(result['modelled'].get(stage)):>14}{_text(seconds):>14}"
        )
    print(
        "\n  predicted: by accelforge, for a DPU and for ranks on this host\n"
        "  modelled: by the simulator's clock of the DPU\n"
        "  measured: here, which for simulated DPUs is the time of the simulator; a sum is\n"
        "            timed as it is predicted: ten together, in the fastest round"
    )


def describe(module: Any, soft: str, vendor: str) -> str:
    """Say which library a package uses."""
    return soft if module.library_info()["kind"] == "soft" else vendor


def main() -> int:
    """Run the command; the status is 1 if a result is wrong, 2 if something could not be run."""
    parser = argparse.ArgumentParser(prog="offchip demo", description=(__doc__ or "").strip())
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    begin = time.perf_counter()
    text = read_text()
    try:
        for module in ("yaml", "jinja2"):  # missed now, not when all has run
            need(module, "Predicting the stages")
        used = (
            f"  {DPUS} DPUs each:       {describe(dpu, 'simulated', 'hardware')}",
            f"  ACCL:              {describe(accl, 'the soft engine', 'FPGAs')}",
            f"  a Vector Engine:   {describe(veo, 'a process of this host', 'hardware')}",
        )
        if not options.json:
            print(f"{len(text) >> 20} MiB of Python's standard library, on {RANKS} ranks with:")
            print("\n".join(used), flush=True)
        with tempfile.TemporaryDirectory(prefix="offchip-demo-") as folder:
            with Waiting("compiling"):
                started = commands(*build(Path(folder)))
            with Waiting("running"):
                printed = run_together(started, timeout=DEADLINE)
        result = find_result("".join(printed))
        if not options.json:
            print("It has run. To predict, ranks of this host are timed: some seconds.", flush=True)
        with Waiting("predicting"):
            predicted = predict()
    except COULD_NOT_RUN as error:
        print(f"offchip demo: {format_error(error)}", file=sys.stderr)
        return 2
    wrong = check(result, text)
    seconds = time.perf_counter() - begin
    if options.json:
        kept = {key: result[key] for key in ("bits", "seconds", "modelled", "mpi")}
        print(json.dumps({**kept, "predicted": predicted, "wrong": wrong}, indent=2))
        return 1 if wrong else 0
    report(result, predicted)
    share = result["bits"] / 8 / len(text)
    print(f"\n  Huffman's code makes the text {share:.1%} as long: {result['bits']} bits")
    for line in wrong:
        print(f"  FAILED: {line}")
    if not wrong:
        print(f"  OK: counts and code agree with NumPy ({seconds:.1f} s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
