# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast veo is on this machine: ``python -m veo.bench``.

Where ``OFFCHIP_PY_VEO`` names the folder of an installed py-veo, that takes turns with this one.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from offchip.baselines import NoBaseline, c_library, missing_compiler
from offchip.measurements import PEER, Baseline, Effort, Measurement, Missing, Series, compare, main
from offchip.peer_process import PeerFailed, PeerProcess
from veo import VeoProc, library_info, ve_clang
from veo.vebuild import VeBuild, VeoBuildError

__all__ = ["SERIES"]

SIZES = (4 << 10, 64 << 10, 1 << 20, 16 << 20)
CALLS = 2000
SOURCE = "long next(long x) { return x + 1; }"
FUNCTION = "the same calls in C, on the same library"
VARIABLE = "OFFCHIP_PY_VEO"
PY_VEO = "py-veo, on the same library"
PY_VEO_PROGRAM = """
import sys, veo
answers, sys.stdout = sys.stdout, sys.stderr
library = veo.VeoProc(0).load_library(sys.argv[1].encode())
context = library.proc.open_context()
following = library.next
following.args_type("long")
following.ret_type("long")
assert following(context, 1).wait_result() == 2
for line in sys.stdin:
    for _ in range(int(line)):
        following(context, 1).wait_result()
    print("done", file=answers, flush=True)
"""

# Calls as a C program makes them, and two threads that answer each other.
CALLER = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct veo_args *veo_args_alloc(void);
int veo_args_set_i64(struct veo_args *, int, int64_t);
uint64_t veo_call_async(void *, uint64_t, struct veo_args *);
int veo_call_wait_result(void *, uint64_t, uint64_t *);
void veo_args_free(struct veo_args *);

uint64_t call(void *context, uint64_t function, long times)
{
    uint64_t result = 0;
    for (long i = 0; i < times; i++) {
        struct veo_args *args = veo_args_alloc();
        veo_args_set_i64(args, 0, 1);
        veo_call_wait_result(context, veo_call_async(context, function, args), &result);
        veo_args_free(args);
    }
    return result;
}

static _Alignas(64) atomic_long ping;
static _Alignas(64) atomic_long pong;

static void *answer(void *times)
{
    for (long i = 1; i <= (long)times; i++) {
        while (atomic_load(&ping) < i)
            ;
        atomic_store(&pong, i);
    }
    return 0;
}

int take_turns(long times)
{
    pthread_t other;
    atomic_store(&ping, 0);
    atomic_store(&pong, 0);
    if (pthread_create(&other, 0, answer, (void *)times) != 0)
        return -1;
    for (long i = 1; i <= times; i++) {
        atomic_store(&ping, i);
        while (atomic_load(&pong) < i)
            ;
    }
    return pthread_join(other, 0);
}
"""

LENGTH = 100_000
KERNELS = """
#ifdef __ve__
#include <velintrin.h>

void axpy(double a, double *x, double *y, long n)
{
    for (long i = 0; i < n; i += 256) {
        int vl = n - i < 256 ? n - i : 256;
        __vr vx = _vel_vld_vssl(8, x + i, vl), vy = _vel_vld_vssl(8, y + i, vl);
        _vel_vst_vssl(_vel_vfmadd_vvsvl(vy, a, vx, vl), 8, y + i, vl);
    }
}
#else
void axpy(double a, double *x, double *y, long n)
{
    for (long i = 0; i < n; i++)
        y[i] += a * x[i];
}
#endif

unsigned long mix(unsigned long x, long times)
{
    for (long i = 0; i < times; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}
"""
MIX_TIMES = 20_000


def _build(folder: str, source: str, *, flags: str, target: str = "auto") -> str:
    build = VeBuild(check=True, target=target)
    build.set_build_dir(folder)
    build.set_c_src("bench", source, flags=flags)
    with contextlib.redirect_stdout(io.StringIO()):  # VeBuild names what it compiles
        return build.build_so(check=True)


def _calls(effort: Effort) -> Iterator[Measurement | Missing]:
    """Call a function that does nothing, beside the same in C and a turn of two threads."""
    with contextlib.ExitStack() as stack:
        try:
            path = _build(stack.enter_context(_folder()), SOURCE, flags="-O2 -g")
        except VeoBuildError as error:
            yield missing_compiler("call and wait", FUNCTION, error)
            return
        proc = stack.enter_context(VeoProc(0))
        library = proc.load_library(path)
        context = proc.open_context()
        try:
            soft = str(library_info()["path"])
            flags = [soft, f"-Wl,-rpath,{soft.rpartition('/')[0]}", "-pthread"]
            peer = stack.enter_context(c_library(CALLER, flags))
        except NoBaseline as error:
            yield missing_compiler("call and wait", FUNCTION, error)
            return

        peer.call.argtypes = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_long)
        times = max(1, CALLS // effort.divisor)
        following = library.next  # held, as the C program holds its address
        thread, function = context._thr_ctxt, int(following.addr)
        if peer.call(thread, function, 1) != 2:
            raise RuntimeError("a call from C gave a wrong result")
        beside = []
        try:
            other = stack.enter_context(_py_veo(stack.enter_context(_folder()), path))
            other.run("1")
            run = partial(other.run, str(times))
            beside = [Baseline(PY_VEO, run, PEER, times, 1)]
        except (OSError, PeerFailed) as error:
            yield Missing("call and wait", PY_VEO, f"{VARIABLE}: {error}")
        yield from compare(
            "call and wait",
            lambda: following(context, 1).wait_result(),
            (
                *beside,
                Baseline(FUNCTION, lambda: peer.call(thread, function, times), PEER, times, 1),
                Baseline(
                    "two threads that answer each other",
                    lambda: peer.take_turns(ctypes.c_long(times)),
                    times=times,
                    repeat=1,
                ),
            ),
            repeat=CALLS,
            effort=effort,
        )


def _py_veo(folder: str, kernels: str) -> PeerProcess:
    """Start py-veo, whose wheel brings a libveo, on a copy with ours in its place."""
    named = os.environ.get(VARIABLE, "")
    if not named:
        raise PeerFailed("set it to FOLDER of pip install --no-deps --target FOLDER py-veo")
    shutil.copytree(named, folder, dirs_exist_ok=True)
    library = Path(str(library_info()["path"]))
    for bundled in Path(folder).glob("py_veo.libs/libveo-*"):
        bundled.unlink()
        shutil.copy(library, bundled)
    variables = {"PYTHONPATH": folder, "VEORUN_BIN": str(library.parents[1] / "bin" / "veorun")}
    return PeerProcess(sys.executable, PY_VEO_PROGRAM, kernels, variables=variables)


def _copies(effort: Effort) -> Iterator[Measurement]:
    """Copy to and from the VE's memory, beside a copy in this process."""
    with VeoProc(0) as proc:
        for size in SIZES:
            ours, other = np.ones(size, np.uint8), np.zeros(size, np.uint8)
            address = proc.alloc_mem(size)
            for name, work in (
                ("write_mem", partial(proc.write_mem, address, ours, size)),
                ("read_mem", partial(proc.read_mem, ours, address, size)),
            ):
                yield from compare(
                    name,
                    work,
                    [Baseline("memcpy", partial(np.copyto, other, ours))],
                    x=size,
                    x_unit="B",
                    repeat=max(1, (8 << 20) // size),
                    effort=effort,
                )
            proc.free_mem(address)


def _kernels(effort: Effort) -> Iterator[Measurement | Missing]:
    """Execute Vector Engine code, beside the same C for this processor."""
    names = (f"VE code: y += a x, {LENGTH:,} doubles", f"VE code: {MIX_TIMES:,} xorshifts")
    against = "native code by gcc -O2"
    if library_info()["kind"] == "soft" and not ve_clang.is_available():
        yield Missing("VE code", against, "pip install 'offchip[toolchain]'")
        return
    with contextlib.ExitStack() as stack:
        path = _build(stack.enter_context(_folder()), KERNELS, flags="-O2", target="ve")
        try:
            native = stack.enter_context(c_library(KERNELS))
        except NoBaseline as error:
            yield missing_compiler("VE code", against, error)
            return
        proc = stack.enter_context(VeoProc(0))
        library, context = proc.load_library(path), proc.open_context()
        axpy, mix = library.axpy, library.mix
        axpy.args_type("double", "void *", "void *", "long")
        axpy.ret_type("void")
        mix.args_type("unsigned long", "long")
        mix.ret_type("unsigned long")
        native.axpy.argtypes = (ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long)
        native.axpy.restype = None
        native.mix.argtypes = (ctypes.c_ulong, ctypes.c_long)
        native.mix.restype = ctypes.c_ulong

        x, y = np.ones(LENGTH), np.zeros(LENGTH)
        there = [proc.alloc_mem(x.nbytes) for _ in range(2)]
        proc.write_mem(there[0], x, x.nbytes)
        proc.write_mem(there[1], y, y.nbytes)
        if mix(context, 1, MIX_TIMES).wait_result() != native.mix(1, MIX_TIMES):
            raise RuntimeError("VE code gave another result than native code")
        yield from compare(
            names[0],
            lambda: axpy(context, 1e-9, *there, LENGTH).wait_result(),
            [Baseline(against, lambda: native.axpy(1e-9, x.ctypes.data, y.ctypes.data, LENGTH))],
            repeat=100,
            effort=effort,
        )
        yield from compare(
            names[1],
            lambda: mix(context, 1, MIX_TIMES).wait_result(),
            [Baseline(against, lambda: native.mix(1, MIX_TIMES))],
            repeat=20,
            effort=effort,
        )


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="offchip-bench-")


SERIES: tuple[Series, ...] = (_calls, _copies, _kernels)

if __name__ == "__main__":
    sys.exit(main("veo", SERIES))
