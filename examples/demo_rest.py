# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration's parts that need all packages: each returns or adds what is wrong."""

from __future__ import annotations

import os
import tempfile
import zlib
from functools import partial
from pathlib import Path

import accelforge_matmuls
import accl_allreduce
import demo_vector_engine
import dpu_checksum
from demo_page import ENERGY, Page, draw_calls, profile_kernel, shown_path, timed

import accelforge
import accl
import dpu
from accelforge import kernels
from dpu.toolchain import ToolchainError, find_toolchain
from offchip.trace import merge, trace

__all__ = ["run"]

HERE = Path(__file__).parent


def checksum(failures: list[str]) -> None:
    """Have 64 DPUs checksum 4 MiB of text, by a kernel in C where there is a compiler."""
    info = dpu.library_info()
    text = dpu_checksum.read_text(dpu_checksum.NR_DPUS * dpu_checksum.BLOCK)
    program, language = dpu_checksum.build()
    run = partial(dpu_checksum.checksum, program, text)
    seconds, (got, modelled, instructions) = timed(run, 1)
    kind = "the soft twin: DPUs are simulated" if info["kind"] == "soft" else "UPMEM's"
    print(f"  DPU library    {shown_path(info)}")
    print(f"  which is       {kind}")
    print(f"  kernel in      {language.partition(' (')[0]}")
    print(f"  took           {seconds * 1e3:.0f} ms here, {modelled * 1e3:.2f} ms modelled")
    print(f"  speed          {instructions / seconds / 1e6:.0f} million instructions/s")
    print(f"  adler32        {got:#010x}")
    if got != zlib.adler32(text):
        failures.append("the checksum differs from zlib's")


def count_together(failures: list[str]) -> None:
    """Have 4 ranks count pairs of bytes, and add them up with allreduce."""
    info = accl.library_info()
    ranks = 4
    seconds, (status, printed) = timed(lambda: accl_allreduce.start(ranks), 1)
    kind = "the soft engine" if info["kind"] == "soft" else "the vendor's driver"
    print(f"  ACCL library   {shown_path(info)}")
    print(f"  which is       {kind}")
    print(f"  took           {seconds:.2f} s with the start of {ranks} processes")
    for line in printed.splitlines():
        print(f"  {line}")
    if status != 0 or "OK: the same as on one rank" not in printed:
        failures.append("the ranks did not count what one rank counts")


def compare(failures: list[str]) -> None:
    """Predict a matrix-vector product on a DPU, and run it, where there is a compiler for it."""
    print("  a matrix-vector product on a DPU, predicted and measured")
    try:
        find_toolchain()
    except ToolchainError as error:
        print(f"  skipped        {error}")
        return
    seconds, results = timed(partial(accelforge.measure, kernels.dpu_gemv()), 1)
    for line in str(results).splitlines():
        print(f"  {line}")
    print(f"  took           {seconds * 1e3:.0f} ms")
    if not (results.worst or 0) <= 0.2:
        failures.append(f"the prediction is off by {results.worst:.0%}")


def profile(page: Page) -> None:
    """Profile a kernel on a DPU, where there is a compiler for it."""
    try:
        find_toolchain()
    except ToolchainError as error:
        print(f"  skipped        {error}")
        return
    found = profile_kernel(HERE / "dpu_reduction.py", 3, page.folder)
    print(found["text"].partition("\nfunctions")[0])
    page.pictures(
        [
            (found["tasklets"], "What the time of each of the 16 threads went to"),
            (found["picture"], "The same, cycle by cycle"),
        ]
    )
    page.html('<p><a href="profile.html">The whole profile</a>, with the source lines.</p>')


def draw_costs(page: Page) -> None:
    """Draw what the energy of the two matrix products is spent on, where matplotlib is."""
    try:
        from accelforge.plotting.mappings import plot_energy_breakdown

        results = [
            accelforge_matmuls.evaluate(one, 2, 2**20) for one in accelforge_matmuls.MAPPINGS
        ]
        figure, _ = plot_energy_breakdown(results, ["component"], labels=["unfused", "fused"])
    except ImportError as error:
        print(f"  no picture     {error}")
        return
    figure.savefig(page.folder / "energy.svg")
    page.pictures([("energy.svg", ENERGY)])


def run(page: Page) -> list[str]:
    """Run the parts; return what is wrong."""
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="offchip-demo-trace-") as traces:
        os.environ["OFFCHIP_TRACE"] = f"{traces}/%p.json"  # of the ranks
        with trace(Path(traces, "demo.json")):
            with page.section("Edges of a picture, on a Vector Engine"):
                failures += demo_vector_engine.run(page)
            with page.section("A checksum on 64 DPUs"):
                checksum(failures)
            with page.section("A sum over four ranks"):
                count_together(failures)
        del os.environ["OFFCHIP_TRACE"]
        timeline = page.folder / "timeline.json"
        merge(sorted(Path(traces).glob("*.json")), timeline)
    page.pictures([(draw_calls(timeline), "Calls of veo, dpu and accl until here, on one clock")])
    page.html('<p><a href="timeline.json">The timeline</a> opens in https://ui.perfetto.dev.</p>')
    with page.section("A profile of a kernel on a DPU"):
        profile(page)
    draw_costs(page)
    with page.section("What a kernel does cost"):
        compare(failures)
    return failures
