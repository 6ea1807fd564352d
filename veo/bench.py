# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast veo is on this machine: ``python -m veo.bench``."""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Iterator
from functools import partial

import numpy as np

from offchip.measurements import Measurement, Series, compare, main
from veo import VeoProc
from veo.vebuild import VeBuild

__all__ = ["SERIES"]

SIZES = (4 << 10, 64 << 10, 1 << 20, 16 << 20)
SOURCE = "long next(long x) { return x + 1; }"


def _calls() -> Iterator[Measurement]:
    """Call a function that does nothing, beside a local one through ctypes."""
    import ctypes

    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        build = VeBuild(check=True)
        build.set_build_dir(folder)
        build.set_c_src("bench", SOURCE, flags="-O2 -g")
        with contextlib.redirect_stdout(io.StringIO()):  # VeBuild names what it compiles
            path = build.build_so(check=True)
        with VeoProc(0) as proc:
            library = proc.load_library(path)
            context = proc.open_context()
            local = ctypes.CDLL(None).labs
            yield compare(
                "call and wait",
                lambda: library.next(context, 1).wait_result(),
                lambda: local(1),
                against="a function of this process through ctypes",
                repeat=2000,
            )


def _copies() -> Iterator[Measurement]:
    """Copy to and from the VE's memory, beside a copy in this process."""
    with VeoProc(0) as proc:
        for size in SIZES:
            ours, other = np.ones(size, np.uint8), np.zeros(size, np.uint8)
            address = proc.alloc_mem(size)
            repeat = max(1, (8 << 20) // size)
            for name, work in (
                ("write_mem", partial(proc.write_mem, address, ours, size)),
                ("read_mem", partial(proc.read_mem, ours, address, size)),
            ):
                yield compare(
                    name,
                    work,
                    partial(np.copyto, other, ours),
                    against="numpy.copyto",
                    x=size,
                    x_unit="B",
                    repeat=repeat,
                )
            proc.free_mem(address)


SERIES: tuple[Series, ...] = (_calls, _copies)

if __name__ == "__main__":
    sys.exit(main("veo", SERIES))
