# SPDX-License-Identifier: BSD-3-Clause
"""Show all four packages in less than a minute, and write a page with what came of it.

First the cost of two matrix products is predicted (accelforge_matmuls.py), of which a formula
checks the numbers. Then a Vector Engine finds the edges of an image (demo_vector_engine.py), which
NumPy checks; 64 UPMEM DPUs checksum text (dpu_checksum.py), which zlib checks; four ranks add up
counts (accl_allreduce.py), which one rank checks. Last, a kernel is profiled on a DPU, and the
predicted time of another compared with that of a run.

The page has tables, pictures, the profile of the DPU kernel, a timeline and what to do next; it
goes to the folder given by --out. The first part needs no more than accelforge's model and its
readers of YAML, so that `make demo` shows it while all else is still built.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import accelforge_matmuls
from demo_page import Page, timed


def predict(failures: list[str]) -> None:
    """Predict what two matrix products cost, fused and not fused."""
    size, bits, main_memory = 128, 8, 100
    matrix = size * size * bits * main_memory
    print("  two matrix products, in units of one operation")
    seconds, _ = timed(partial(accelforge_matmuls.main, []), 1)
    print(f"  took           {seconds * 1e3:.0f} ms")
    for mapping, matrices in zip(accelforge_matmuls.MAPPINGS, (6, 4), strict=True):
        result = accelforge_matmuls.evaluate(mapping, 2, 2**20)
        energy = result.energy(per_component=True)
        # Each matrix passes once, and without fusing the one in between twice.
        if abs(energy["MainMemory"] - matrices * matrix) > 1e-9 * energy["MainMemory"]:
            failures.append(f"{mapping} does not move {matrices} matrices")
        if energy["MAC"] != 2 * size**3:
            failures.append(f"{mapping} does not have {2 * size**3} operations")


def draw_mappings(page: Page) -> None:
    """Draw the two mappings."""
    pictures = []
    for name, mapping in zip(("unfused", "fused"), accelforge_matmuls.MAPPINGS, strict=True):
        result = accelforge_matmuls.evaluate(mapping, 2, 2**20)
        file = page.folder / f"{name}.svg"
        file.write_text(result.render())
        pictures.append((file.name, name))
    page.pictures(pictures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("build/demo"), help="folder for the page")
    parser.add_argument("--part", choices=("first", "rest", "all"), default="all")
    options = parser.parse_args()
    page = Page(options.out)
    failures: list[str] = []

    if options.part == "rest":
        page.read()
    else:
        with page.section("What a design would cost"):
            predict(failures)
            draw_mappings(page)
    if options.part == "first":
        page.keep()
    else:
        import demo_rest  # imports what the first part must do without

        failures += demo_rest.run(page)

    path = page.write(failures, ended=options.part != "first")
    for failure in failures:
        print(f"  FAILED: {failure}")
    if options.part == "first":
        print(f"  open {path} in a browser: pictures; it shows more when the rest is built")
    else:
        if not failures:
            seconds = time.perf_counter() - page.begin
            print(f"\n  OK: all results agree with NumPy and zlib ({seconds:.1f} s)")
        print(f"  open {path} in a browser: pictures, tables, what to do next")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
