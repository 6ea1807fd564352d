# SPDX-License-Identifier: BSD-3-Clause
"""Check that veo works on this machine: ``python -m veo.selftest``.

On hardware the same is done on Vector Engine 0, or the one that VE_NODE_NUMBER names.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from offchip.checks import Check, Skipped, main, require
from veo import OnStack, VeBuild, VeoProc, library_info
from veo.compilers import VeoBuildError
from veo.errors import VeoKernelException
from veo.kernels import chosen_node

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["checks"]

KERNEL = """
#include <stddef.h>

double weigh(const double *values, long count, double factor)
{
    double sum = 0;

    for (long i = 0; i < count; i++)
        sum += factor * values[i];
    return sum;
}

long next(long number)
{
    return number + 1;
}

int fall(void)
{
    return *(volatile int *)NULL;
}
"""

MEBIBYTE = 2**20
CALLS = 1000


@contextlib.contextmanager
def _process() -> Iterator[VeoProc]:
    proc = VeoProc(chosen_node())
    try:
        yield proc
    finally:
        proc.proc_destroy()


def _library() -> str:
    info = library_info()
    return f"{info['kind']}, {info['path']}"


def _start() -> str:
    with _process() as proc:
        proc.open_context()
    return "a process on the VE started and ended"


def _memory() -> str:
    data = np.random.default_rng(0).integers(0, 256, 16 * MEBIBYTE, np.uint8)
    back = np.zeros_like(data)
    with _process() as proc:
        address = proc.alloc_mem(data.nbytes)
        proc.write_mem(address, data, data.nbytes)
        start = time.perf_counter()
        proc.read_mem(back, address, back.nbytes)
        seconds = time.perf_counter() - start
        proc.free_mem(address)
    require(np.array_equal(data, back), "what was read is not what was written")
    return f"16 MiB written and read back, {data.nbytes / seconds / 1e9:.1f} GB/s"


def _build(folder: str) -> str:
    """Compile the kernels."""
    build = VeBuild(check=True)
    build.set_build_dir(folder)
    build.set_c_src("selftest", KERNEL)
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # VeBuild names what it compiles
            path = build.build_so(check=True)
    except VeoBuildError as error:
        raise Skipped(f"no kernel can be compiled: {error}") from error
    return path


def _kernel(folder: str) -> str:
    path = _build(folder)
    values = np.arange(1000.0)
    with _process() as proc:
        kernel = proc.load_library(path).weigh
        kernel.args_type("void *", "long", "double")
        kernel.ret_type("double")
        context = proc.open_context()
        got = kernel(context, OnStack(values), values.size, 0.5).wait_result()
    want = float(0.5 * values.sum())
    require(got == want, f"the sum is {got}, it should be {want}")
    return "compiled, loaded, called with an array: right"


def _calls(folder: str) -> str:
    path = _build(folder)
    with _process() as proc:
        function = proc.load_library(path).next
        function.args_type("long")
        function.ret_type("long")
        context = proc.open_context()
        start = time.perf_counter()
        requests = [function(context, number) for number in range(CALLS)]
        results = [request.wait_result() for request in requests]
        queued = time.perf_counter() - start
        start = time.perf_counter()
        for number in range(CALLS):
            function(context, number).wait_result()
        alone = time.perf_counter() - start
    require(results == list(range(1, CALLS + 1)), "asynchronous calls returned wrong results")
    return (
        f"{CALLS} queued: {queued / CALLS * 1e6:.2f} us each; one after the other: "
        f"{alone / CALLS * 1e6:.2f} us"
    )


def _crash(folder: str) -> str:
    path = _build(folder)
    with _process() as proc:
        fall = proc.load_library(path).fall
        fall.ret_type("int")
        context = proc.open_context()
        try:
            fall(context).wait_result()
        except VeoKernelException:
            return "reported as an exception; this process lives"
    raise AssertionError("a kernel that dereferences NULL raised no VeoKernelException")


def checks(folder: str) -> dict[str, Check]:
    """Return the checks by what they check.

    Parameters
    ----------
    folder : str
        Where kernels are compiled.
    """
    return {
        "the library is found": _library,
        "a process starts and ends": _start,
        "memory is written and read": _memory,
        "a kernel is compiled and called": partial(_kernel, folder),
        "calls, queued and one by one": partial(_calls, folder),
        "a kernel that crashes": partial(_crash, folder),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as _folder:
        _status = main("veo", checks(_folder))
    sys.exit(_status)
