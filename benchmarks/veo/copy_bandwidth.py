# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast memory is copied to and from the VE, next to memcpy() and process_vm_readv()."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

import veo
from benchmarks.common.copy_offsets import report_offsets, run_offsets
from benchmarks.harness import Report, Sample, alternate, arguments, compile_c, size_name

MIB = 1 << 20
SIZES = [1, 64, 1 << 10, 4 << 10, 64 << 10, 256 << 10, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB]
QUICK_SIZES = [1, 4 << 10, 64 << 10, MIB, 16 * MIB]
# Of memcpy()'s speed at its best offsets; and what a copy of less than 64 KiB may take longer.
OFFSETS_RATIO, OFFSETS_ALLOWANCE_NS = 0.85, 150
# Bytes copied between two looks at the clock, so that small copies are not hidden by it.
VOLUME = 8 * MIB


class Bench:
    """A run: VE process, buffers and C loops.

    Parameters
    ----------
    folder : Path
        Where to compile.
    quick : bool
        Fewer rounds, and no size above 16 MiB.
    """

    def __init__(self, folder: Path, quick: bool) -> None:
        self.sizes = QUICK_SIZES if quick else SIZES
        self.rounds = 5 if quick else 11
        largest = max(self.sizes)
        self.report = Report(
            "veo_copy_bandwidth", "how fast is memory copied to and from the VE process?"
        )
        self.loops = ctypes.CDLL(str(compile_c("veo/copy_loops.c", folder, shared=True)))
        pointer, size_t = ctypes.c_void_p, ctypes.c_size_t
        self.loops.loop_memcpy.argtypes = [pointer, pointer, size_t, ctypes.c_long]
        for loop in (self.loops.loop_read, self.loops.loop_write):
            loop.argtypes = [ctypes.c_int, pointer, pointer, size_t, ctypes.c_long]
        for loop in (self.loops.loop_memcpy, self.loops.loop_read, self.loops.loop_write):
            loop.restype = ctypes.c_double
        self.loops.start_child.argtypes = [size_t, ctypes.POINTER(pointer)]
        self.loops.stop_child.argtypes = [ctypes.c_int, pointer, size_t]
        rng = np.random.default_rng(3)
        # Ones that are written to, so that all pages are there before anything is timed.
        self.host = rng.integers(0, 256, largest, dtype=np.uint8)
        self.other = np.ones(largest, np.uint8)
        self.proc = veo.VeoProc(0)
        self.lib = self.proc.load_library(str(compile_c("veo/copy_kernels.c", folder, shared=True)))
        self.ctx = self.proc.open_context()
        self.lib.grab.args_type("long")
        self.lib.grab.ret_type("void *")
        self.lib.release.args_type("void *")
        self.lib.release.ret_type("void")

    def close(self) -> None:
        """End the VE process."""
        self.proc.proc_destroy()

    # --- one measurement ----------------------------------------------------------------------

    def repeat(self, copy: Callable[[], object], size: int) -> Callable[[], float]:
        """Make a function that gives the nanoseconds of a copy."""
        count = self.count(size)

        def measure() -> float:
            start = time.perf_counter_ns()
            for _ in range(count):
                copy()
            return (time.perf_counter_ns() - start) / count

        return measure

    @staticmethod
    def count(size: int) -> int:
        """Return how often to copy for one measurement."""
        return max(1, min(2000, VOLUME // size))

    def add(
        self, series: str, size: int, ours: Sample, baseline: Sample | None, target: float | None
    ) -> None:
        """Report GB/s, and below 64 KiB the time too, which says more there."""

        def rate(ns: float) -> float:
            return size / ns

        extra = {"us": ours.median / 1e3} if size < 64 << 10 else {}
        if extra and baseline:
            extra["baseline_us"] = baseline.median / 1e3
        self.report.add(
            series,
            ours.map(rate),
            "GB/s",
            x=size,
            label=f"{series}, {size_name(size)}",
            baseline=baseline.map(rate) if baseline else None,
            ratio_at_least=target,
            **extra,
        )

    # --- sections -----------------------------------------------------------------------------

    def heap(self) -> None:
        """Compare memory of alloc_mem() with memcpy."""
        self.report.section("memory from alloc_mem()", "memcpy(), both sides touched")
        address = self.proc.alloc_mem(max(self.sizes))
        self.proc.write_mem(address, self.host, max(self.sizes))
        self.sweep("heap", address, self.memcpy)
        self.asynchronous("heap", address)
        self.proc.free_mem(address)

    def offsets(self, folder: Path, quick: bool) -> None:
        """Copy with both sides at several offsets in a page, from C."""
        self.report.section(
            "alloc_mem(), page offsets of both sides, from C", "memcpy() at its best offsets"
        )
        package = Path(veo.__file__).parent
        library = package / "lib" / "libveo.so.1"
        flags = [f"-I{package / 'include'}", str(library), f"-Wl,-rpath,{library.parent}"]
        program = compile_c("veo/offsets.c", folder, flags=flags)
        for size in self.sizes:
            rounds = 3 if quick or size > MIB else 9
            report_offsets(
                self.report,
                run_offsets(program, rounds, size),
                ratio=OFFSETS_RATIO,
                allowance_ns=OFFSETS_ALLOWANCE_NS,
            )

    def elsewhere(self) -> None:
        """Compare a variable and a malloc() of the kernel with process_vm_readv()."""
        largest = max(self.sizes)
        remote = ctypes.c_void_p()
        pid = self.loops.start_child(largest, ctypes.byref(remote))
        if pid < 0 or self.loops.loop_read(pid, self.other.ctypes.data, remote, 1, 1) < 0:
            self.report.skip("process_vm_readv", "this system does not let us read a child")
            return

        def vm(write: bool, size: int) -> Callable[[], float]:
            loop = self.loops.loop_write if write else self.loops.loop_read
            return lambda: loop(pid, self.other.ctypes.data, remote, size, self.count(size))

        try:
            for name, address in (
                ("variable", self.lib.get_symbol("table")),
                ("kernel's malloc", self.lib.grab(self.ctx, largest).wait_result()),
            ):
                self.report.section(f"memory: {name}", "process_vm_readv() / writev() in C")
                self.proc.write_mem(address, self.host, largest)
                self.sweep(name, address, vm)
            self.lib.release(self.ctx, address).wait_result()
        finally:
            self.loops.stop_child(pid, remote, largest)

    def memcpy(self, write: bool, size: int) -> Callable[[], float]:
        """Make the memcpy() baseline, in the direction of the transfer."""
        here, there = self.host.ctypes.data, self.other.ctypes.data
        dst, src = (there, here) if write else (here, there)
        if not write:
            self.other[:size] = self.host[:size]
        return lambda: self.loops.loop_memcpy(dst, src, size, self.count(size))

    def sweep(
        self, name: str, address: int, baseline: Callable[[bool, int], Callable[[], float]]
    ) -> None:
        """Go through the sizes, writing and reading, in turns with the baseline."""
        back = np.zeros_like(self.host)
        for size in self.sizes:
            target = 0.8 if size >= MIB else None
            write = self.repeat(
                lambda size=size: self.proc.write_mem(address, self.host, size), size
            )
            ours, plain = alternate(write, baseline(True, size), self.rounds)
            self.add(f"{name} write", size, ours, plain, target)
            read = self.repeat(lambda size=size: self.proc.read_mem(back, address, size), size)
            ours, plain = alternate(read, baseline(False, size), self.rounds)
            self.add(f"{name} read", size, ours, plain, target)
            if not np.array_equal(back[:size], self.host[:size]):
                raise AssertionError(f"{name}: {size} bytes came back changed")
            back[:size] = 0

    def asynchronous(self, name: str, address: int) -> None:
        """Compare queued transfers with memcpy."""
        self.report.section(f"asynchronous transfers, {name}", "memcpy(), both sides touched")
        back = np.zeros_like(self.host)
        for size in self.sizes:
            for write in (True, False):
                submit = self.ctx.async_write_mem if write else self.ctx.async_read_mem
                ends = (address, self.host) if write else (back, address)
                count = min(64, self.count(size))

                def queued(submit=submit, ends=ends, size=size, count=count) -> float:  # type: ignore[no-untyped-def]
                    start = time.perf_counter_ns()
                    requests = [submit(*ends, size) for _ in range(count)]
                    for request in requests:
                        request.wait_result()
                    return (time.perf_counter_ns() - start) / count

                ours, plain = alternate(queued, self.memcpy(write, size), self.rounds)
                self.add(f"async {'write' if write else 'read'}", size, ours, plain, None)
            if not np.array_equal(back[:size], self.host[:size]):
                raise AssertionError(f"asynchronous: {size} bytes came back changed")
            back[:size] = 0

    def nothing_queued(self) -> None:
        """Report what one transfer takes, and two in flight, with nothing else queued."""
        self.report.section("queued with nothing before it", "memcpy() of as many bytes")
        size_max = 4 * MIB
        address = self.proc.alloc_mem(2 * size_max)
        there = [address, address + size_max]
        self.proc.write_mem(address, np.ones(2 * size_max, np.uint8), 2 * size_max)
        here = [self.host[i * size_max : (i + 1) * size_max] for i in range(2)]
        for size in (4 << 10, 64 << 10, 512 << 10, MIB, size_max):
            for write, flights in itertools.product((True, False), (1, 2)):
                ours, plain = [], []
                for _ in range((60 if size < MIB else 10) * self.rounds):
                    ours.append(self.in_flight(write, flights, there, here, size))
                    plain.append(
                        sum(
                            self.loops.loop_memcpy(
                                self.other.ctypes.data + i * size_max,
                                here[i].ctypes.data,
                                size,
                                1,
                            )
                            for i in range(flights)
                        )
                    )
                sample = Sample.of(ours).map(lambda ns: ns / 1e3)
                baseline = Sample.of(plain).map(lambda ns: ns / 1e3)
                target = 1.3 * baseline.median + flights
                p90 = sorted(ours)[len(ours) * 9 // 10] / 1e3
                name = f"{'write' if write else 'read'}, {flights} in flight"
                self.report.add(
                    name,
                    sample,
                    "us",
                    x=size,
                    label=f"{name}, {size_name(size)}",
                    baseline=baseline,
                    at_most=round(target, 2),
                    p90=p90,
                    p90_over_target=p90 / target,
                )
        self.proc.free_mem(address)

    def in_flight(
        self, write: bool, flights: int, there: list[int], here: list[np.ndarray], size: int
    ) -> float:
        """Submit so many transfers and wait for them; nanoseconds."""
        start = time.perf_counter_ns()
        if write:
            requests = [self.ctx.async_write_mem(there[i], here[i], size) for i in range(flights)]
        else:
            requests = [self.ctx.async_read_mem(here[i], there[i], size) for i in range(flights)]
        for request in requests:
            request.wait_result()
        return time.perf_counter_ns() - start

    def first_touch(self) -> None:
        """Report the first write to VE memory, and to the host's: pages are made then."""
        self.report.section("first touch of new memory", "memcpy() into new host memory")
        for size in [size for size in self.sizes if MIB <= size <= 64 * MIB]:

            def on_ve(size: int = size) -> float:
                # A process of its own: freed memory is given out again, with its pages.
                proc = veo.VeoProc(0)
                address = proc.alloc_mem(size)
                start = time.perf_counter_ns()
                proc.write_mem(address, self.host, size)
                elapsed = time.perf_counter_ns() - start
                proc.proc_destroy()
                return elapsed

            def on_host(size: int = size) -> float:
                # Not from an allocator, which would give out touched memory again.
                with mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as new:
                    address = ctypes.addressof(ctypes.c_char.from_buffer(new))
                    return self.loops.loop_memcpy(address, self.host.ctypes.data, size, 1)

            ours, plain = alternate(on_ve, on_host, 3)
            self.add("first touch", size, ours, plain, None)


def main() -> int:
    options = arguments(__doc__ or "").parse_args()
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        bench = Bench(Path(folder), options.quick)
        try:
            bench.heap()
            bench.offsets(Path(folder), options.quick)
            bench.nothing_queued()
            bench.elsewhere()
            bench.first_touch()
        finally:
            bench.close()
        bench.report.finish(options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
