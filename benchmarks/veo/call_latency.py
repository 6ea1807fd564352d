# SPDX-License-Identifier: BSD-3-Clause
"""Measure what a call of a VE function costs, from Python and from C, and what it could cost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

import veo
from benchmarks.harness import (
    HERE,
    ROOT,
    Report,
    Sample,
    alternate,
    arguments,
    batches,
    compile_c,
    cpu_seconds,
    isolated_python,
    parse_values,
)

PY_VEO = "py-veo==1.5.0"


class Values(dict[str, list[float]]):
    """Measurements by name, gathered from what programs print."""

    def add(self, text: str) -> None:
        """Take up lines of a name and numbers."""
        for name, values in parse_values(text).items():
            self.setdefault(name, []).extend(values)


def microseconds(values: list[float] | Sample) -> Sample:
    sample = values if isinstance(values, Sample) else Sample.of(values)
    return sample.map(lambda ns: ns / 1e3)


def per_second(values: list[float]) -> Sample:
    return Sample.of(values).map(lambda ns: 1e3 / ns)


class Bench:
    """A run: its sizes, its folder, and what is measured with them."""

    def __init__(self, folder: Path, quick: bool) -> None:
        self.folder = folder
        self.batch, self.rounds, self.turns = (2000, 3, 2) if quick else (10_000, 7, 4)
        self.quick = quick
        self.package = Path(veo.__file__).parent
        self.soft = self.package / "lib" / "libveo.so.1"
        self.worker = self.package / "bin" / "veorun"
        headers = self.package / "include"
        self.include = headers if headers.is_dir() else ROOT / "include" / "veo"
        self.kernels = compile_c("veo/call_kernels.c", folder, shared=True)
        self.report = Report(
            "veo_call_latency", "what does a call cost, and what is the least it could cost?"
        )

    # --- measurements -------------------------------------------------------------------------

    def python(self, env: dict[str, str] | None = None, *words: str) -> str:
        """Run python_calls.py in a process of its own."""
        return isolated_python(
            str(HERE / "veo/python_calls.py"),
            str(self.kernels),
            str(self.batch),
            str(self.rounds),
            *words,
            env=env,
        )

    def compile_driver(self) -> Path:
        """Compile the C driver and link it to the soft library."""
        return compile_c(
            "veo/call_driver.c",
            self.folder,
            flags=[f"-I{self.include}", str(self.soft), f"-Wl,-rpath,{self.soft.parent}"],
        )

    def binding(self) -> Values:
        """Run the package on a library that answers at once."""
        base = compile_c("veo/null_libveo.c", self.folder, shared=True, flags=[f"-I{self.include}"])
        missing = sorted(_exported(self.soft) - _exported(base))
        source = self.folder / "null_full.c"
        aliases = "".join(f'__asm__(".globl {n}\\n.set {n}, veo_null");\n' for n in missing)
        source.write_text((HERE / "veo/null_libveo.c").read_text() + aliases)
        library = compile_c(str(source), self.folder, shared=True, flags=[f"-I{self.include}"])
        values = Values()
        for _ in range(self.turns):
            values.add(self.python({"VEO_LIBRARY": str(library)}, "unchecked"))
        return values

    def pipe(self) -> Sample:
        """Send an integer to a process and get it back, with multiprocessing."""
        context = get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_echo, args=(there,))
        process.start()
        there.close()

        def round_trips(n: int) -> None:
            for i in range(n):
                here.send(i)
                here.recv()

        sample = batches(round_trips, 200 if self.quick else 1000, self.rounds * self.turns)
        here.send(None)
        process.join(10)
        return sample

    def install_py_veo(self) -> dict[str, str]:
        """Get py-veo's wheel with our library in place of its own; return how to run it."""
        target = self.folder / "py-veo"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--no-compile", "--target", str(target), PY_VEO]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["no message"]
            raise RuntimeError(f"pip cannot get {PY_VEO}: {lines[-1]}")
        for bundled in (target / "py_veo.libs").glob("libveo-*.so.*"):
            bundled.unlink()
            shutil.copy(self.soft, bundled)
        return {"PYTHONPATH": str(target), "VEORUN_BIN": str(self.worker)}

    # --- sections -----------------------------------------------------------------------------

    def calls(self) -> None:
        """Report calls from Python and C beside the baselines."""
        report = self.report
        try:
            py_veo = self.install_py_veo()
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            report.skip("py-veo 1.5.0 wheel", str(error))
            py_veo = None
        driver = self.compile_driver()
        ping_pong = compile_c("veo/spin_pingpong.c", self.folder)
        # In turns and several times: where a virtual machine's cores are changes within seconds.
        plain, c_api, ours, foreign = Values(), Values(), Values(), Values()
        for _ in range(self.turns):
            plain.add(_run(ping_pong, self.batch * 10, self.rounds))
            c_api.add(_run(driver, self.kernels, self.batch, self.rounds))
            ours.add(self.python())
            if py_veo is not None:
                foreign.add(self.python(py_veo))
        spin = microseconds(plain["spin"])
        pipe = microseconds(self.pipe())

        report.section("round trips", "spin ping-pong in C")
        report.add("spin ping-pong, C, shared memory", spin, "us")
        report.add("multiprocessing.Pipe", pipe, "us", baseline=spin)
        report.add("C API: veo_call_sync", microseconds(c_api["sync"]), "us", baseline=spin)
        report.add("C API: async + wait", microseconds(c_api["one"]), "us", baseline=spin)
        one = microseconds(ours["one"])
        report.add("Python: call + wait, 1 argument", one, "us", baseline=spin, at_most=1.0)
        report.add("Python: call + wait, 6 arguments", microseconds(ours["six"]), "us",
                   baseline=spin)  # fmt: skip
        if foreign:
            report.section("the same calls by offchip", "py-veo 1.5.0 on the same library")
            for key, name in (("one", "1 argument"), ("six", "6 arguments"), ("peek", "peek")):
                theirs = microseconds(foreign[key])
                report.add(f"{name}, offchip", microseconds(ours[key]), "us", baseline=theirs)
        report.section("queued calls", "py-veo 1.5.0" if foreign else "")
        theirs_queued = per_second(foreign["queued"]) if foreign else None
        name = f"Python: {self.batch} submitted, then awaited"
        report.add(name, per_second(ours["queued"]), "M/s", baseline=theirs_queued, at_least=1.0)
        report.add("C API: the same", per_second(c_api["queued"]), "M/s")
        report.add(
            f"Python: call_many() of {self.batch}", per_second(ours["many"]), "M/s", at_least=10.0
        )
        report.add("C API: veosoft_call_many()", per_second(c_api["batch"]), "M/s", at_least=10.0)
        report.add("Python: peek of a finished call", microseconds(ours["peek"]), "us")

    def python_layer(self) -> None:
        """Report what the package itself costs."""
        self.report.section("the Python layer: calls of a library that answers at once")
        try:
            null = self.binding()
        except (RuntimeError, subprocess.CalledProcessError) as error:
            self.report.skip("Python layer", str(error))
            return
        for key, name, target in (
            ("one", "call + wait, 1 argument", 0.5),
            ("six", "call + wait, 6 arguments", 0.8),
        ):
            self.report.add(name, microseconds(null[key]), "us", at_most=target)
        self.report.add("peek", microseconds(null["peek"]), "us")

    def gaps(self) -> None:
        """Report latency and CPU time when calls are apart."""
        self.report.section("one call after a pause; CPU: share of a core, host and worker")
        proc = veo.VeoProc(0)
        lib = proc.load_library(str(self.kernels))
        ctx = proc.open_context()
        function = lib.next1
        function.args_type("long")
        function.ret_type("long")
        worker = _worker_pid()
        for gap in (0.0, 10e-6, 100e-6, 1e-3, 10e-3):
            count = int(min(5000, max(50, (0.3 if self.quick else 1.0) / max(gap, 1e-4))))
            latencies = []
            for _ in range(20):
                function(ctx, 1).wait_result()
            host, remote, begin = time.process_time(), cpu_seconds(worker), time.perf_counter()
            for i in range(count):
                _pause(gap)
                start = time.perf_counter_ns()
                result = function(ctx, i).wait_result()
                latencies.append(time.perf_counter_ns() - start)
                assert result == i + 1
            elapsed = time.perf_counter() - begin
            self.report.add(
                "call after a pause",
                microseconds([float(value) for value in latencies]),
                "us",
                x=gap,
                label=f"pause {gap * 1e6:g} us" + (" (spinning)" if 0 < gap < 1e-4 else ""),
                at_most=3.0 if gap <= 1e-4 else None,
                host_cpu=(time.process_time() - host) / elapsed,
                worker_cpu=(cpu_seconds(worker) - remote) / elapsed,
            )
        proc.proc_destroy()

    def starting(self) -> None:
        """Report import and process start."""
        self.report.section("starting")
        rounds = 5 if self.quick else 10

        def fresh(code: str) -> Callable[[], float]:
            def measure() -> float:
                start = time.perf_counter()
                isolated_python("-c", code)
                return (time.perf_counter() - start) * 1e3

            return measure

        with_veo, bare = alternate(fresh("import veo"), fresh("pass"), rounds)
        more = with_veo.map(lambda ms: ms - bare.median)
        self.report.add("import veo, beyond a bare interpreter", more, "ms", at_most=60.0,
                        interpreter=bare.median)  # fmt: skip

        def start(n: int) -> None:
            for _ in range(n):
                veo.VeoProc(0).proc_destroy()

        sample = batches(start, 1, rounds).map(lambda ns: ns / 1e6)
        self.report.add("VeoProc() and its end", sample, "ms", at_most=15.0)

    def cold_code(self) -> None:
        """Report how long a new process takes to the first result of a large VE library."""
        self.report.section("Vector Engine code: from load_library() to the first result")
        build = veo.VeBuild(target="ve")
        build.set_build_dir(str(self.folder))
        count = 1000 if self.quick else 4000
        build.set_c_src("cold", cold_source(count))
        try:
            library = build.build_so(check=True)
        except veo.VeoBuildError as error:
            self.report.skip("VE library", str(error))
            return
        times = []
        for _ in range(self.rounds):
            with veo.VeoProc(0) as proc, proc.open_context() as ctx:
                start = time.perf_counter_ns()
                first = proc.load_library(library).f7
                first.args_type("long", "long")
                first.ret_type("long")
                result = first(ctx, 1, 2).wait_result()
                times.append((time.perf_counter_ns() - start) / 1e6)
                assert result == 4 * 5 * 6 * 7 + 2
        size = os.path.getsize(library) / 1e6
        name = f"{count} functions, {size:.1f} MB with debug info"
        self.report.add(name, Sample.of(times), "ms", at_most=100.0)


def cold_source(count: int) -> str:
    """Return C of so many functions, of 600 bytes of VE code each."""
    lines = ["long table[64];"]
    for i in range(count):
        steps = " ".join(
            f"x = x * {3 + k} + table[(x ^ {i % 61 + k}) & 63]; if (x == {i + k}) x -= {i * k};"
            for k in range(1, 5)
        )
        lines.append(f"__attribute__((noinline)) long f{i}(long x, long y) {{ {steps}")
        # Each is called by others, so that there is something to link.
        lines.append(f"if (x < 0) x += f{i * 7919 % max(i, 1)}(x, y); return x + y; }}")
    return "\n".join(lines)


def _run(program: Path, *words: object) -> str:
    command = [str(program), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _exported(library: Path) -> set[str]:
    done = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    names = (line.split()[-1].partition("@")[0] for line in done.stdout.splitlines())
    return {name for name in names if name.startswith(("veo_", "veosoft_"))}


def _echo(connection: Connection) -> None:
    while (value := connection.recv()) is not None:
        connection.send(value)


def _pause(seconds: float) -> None:
    if seconds >= 1e-4:
        time.sleep(seconds)
    elif seconds:
        # A sleep takes 50 us at least: shorter pauses are spent here.
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass


def _worker_pid() -> int:
    """Find the child process that runs kernels."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue  # ended meanwhile
        if int(rest.split()[1]) == os.getpid() and "veorun" in name:
            return int(path.parent.name)
    raise RuntimeError("no worker process among the children")


def main() -> int:
    options = arguments(__doc__ or "").parse_args()
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        bench = Bench(Path(folder), options.quick)
        bench.calls()
        bench.python_layer()
        bench.gaps()
        bench.starting()
        bench.cold_code()
        bench.report.finish(options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
