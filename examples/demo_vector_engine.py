# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration's part on a Vector Engine: edges of a picture, products of matrices, calls.

The kernels in demo_kernels.c are compiled now, by NEC's compiler for a VE and by the host's for
the soft twin, and run in two contexts at a time. NumPy checks them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import veo_ve_code
from demo_page import Page, shown_path, timed
from png_image import write_png

import veo
from veo.ve_clang import is_available

__all__ = ["run"]

WIDTH = HEIGHT = 2048
MATRIX = 512
HERE = Path(__file__).parent
HOST_FLAGS = "-O3 -march=native -fno-math-errno"


def make_scene() -> np.ndarray:
    """Draw the input: hills under a sky with a sun, a chequered floor, and camera noise."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    image = 200 - 90 * y / HEIGHT
    image[(x - 1500) ** 2 + (y - 400) ** 2 < 180**2] = 250
    for base, height, length, shade in ((900, 140, 310, 120), (1050, 90, 170, 85)):
        ridge = base - height * np.abs(np.sin(x / length + base)) ** 1.5
        image = np.where(y > ridge, shade + 20 * (y - ridge) / HEIGHT, image)
    depth = np.maximum(y - 1250, 1)
    square = np.floor((x - WIDTH / 2) * 6 / depth) + np.floor(4000 / depth)
    image = np.where(y > 1250, 60 + 110 * (square % 2), image)
    image += np.random.default_rng(1).normal(0, 2, image.shape)
    return np.ascontiguousarray(np.clip(image, 0, 255), dtype=np.float32)


def blur_numpy(image: np.ndarray) -> np.ndarray:
    """Blur as the kernel does."""
    p = np.pad(image, ((2, 2), (0, 0)), mode="edge")
    c = p[:-4] + p[4:] + 4 * (p[1:-3] + p[3:-1]) + 6 * p[2:-2]
    p = np.pad(c, ((0, 0), (2, 2)), mode="edge")
    return (p[:, :-4] + p[:, 4:] + 4 * (p[:, 1:-3] + p[:, 3:-1]) + 6 * p[:, 2:-2]) / np.float32(256)


def sobel_numpy(p: np.ndarray) -> np.ndarray:
    """Find gradients as the kernel does."""
    dx = p[:, 2:] - p[:, :-2]
    dy = p[2:] - p[:-2]
    gx = dx[:-2] + 2 * dx[1:-1] + dx[2:]
    gy = dy[:, :-2] + 2 * dy[:, 1:-1] + dy[:, 2:]
    return np.pad(np.sqrt(gx * gx + gy * gy), 1)


class Report:
    """The table of timings and the verdict."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        print(f"\n  {'step':<34}{'VE':>10}{'':>16}{'NumPy':>12}")

    def row(self, what: str, seconds: float, rate: str = "", numpy_s: float | None = None) -> None:
        """Print a line of the table."""
        compared = f"{numpy_s * 1e3:9.2f} ms" if numpy_s is not None else ""
        print(f"  {what:<34}{seconds * 1e3:7.2f} ms{rate:>16}{compared:>12}")

    def check(self, what: str, got: np.ndarray, want: np.ndarray, tolerance: float) -> None:
        """Note whether two arrays agree."""
        worst = float(np.max(np.abs(got - want)))
        # Not "worst > tolerance": that would let a NaN pass.
        if not worst <= tolerance:
            self.failures.append(f"{what} differs from NumPy by {worst:g} (limit {tolerance:g})")


def build_kernels(folder: str) -> tuple[str, veo.VeBuild]:
    build = veo.VeBuild(check=True)
    build.set_build_dir(folder)
    host = build.toolchain.target == "host"
    source = (HERE / "demo_kernels.c").read_text()
    build.set_c_src("demo_kernels", source, flags=HOST_FLAGS if host else None)
    return build.build_so(libs=["-lm"]), build


def declare(lib: veo.VeoLibrary) -> None:
    """Say what the kernels take and return."""
    rows = ("float *", "float *", "long", "long", "long", "long")
    lib.blur.args_type(*rows)
    lib.blur.ret_type("int")
    lib.sobel.args_type(*rows)
    lib.sobel.ret_type("float")
    lib.dgemm.args_type("double", "double *", "double *", "double *", "long", "long", "long")
    lib.dgemm.ret_type("void")
    lib.next.args_type("long")
    lib.next.ret_type("long")


def in_parallel(function: veo.VeoFunction, contexts: list, rows: int, *args: Any) -> list:
    """Share the rows out among the contexts and wait for all."""
    bounds = [rows * i // len(contexts) for i in range(len(contexts) + 1)]
    requests = [
        function(ctx, *args, first, last)
        for ctx, first, last in zip(contexts, bounds[:-1], bounds[1:], strict=True)
    ]
    return [request.wait_result() for request in requests]


def edges(proc: veo.VeoProc, lib: veo.VeoLibrary, contexts: list, report: Report) -> list:
    """Run the image through blur and Sobel; return input and output."""
    image = make_scene()
    size = image.nbytes
    source, blurred, gradient = (proc.alloc_mem(size) for _ in range(3))
    result = np.empty_like(image)
    rate = lambda seconds: f"{size / seconds / 1e9:.1f} GB/s"  # noqa: E731

    seconds, _ = timed(lambda: proc.write_mem(source, image, size), 1)
    report.row("upload 16 MiB, first touch", seconds, rate(seconds))
    seconds, _ = timed(lambda: proc.write_mem(source, image, size))
    report.row("upload 16 MiB", seconds, rate(seconds))

    size_args = (WIDTH, HEIGHT)
    numpy_s, want_blurred = timed(lambda: blur_numpy(image), 1)
    for used in (contexts[:1], contexts):
        seconds, done = timed(
            lambda used=used: in_parallel(lib.blur, used, HEIGHT, source, blurred, *size_args)
        )
        report.row(f"Gaussian blur, {len(used)} context(s)", seconds, "", numpy_s)
    if any(done):
        report.failures.append("the blur kernel found no memory")

    numpy_s, want = timed(lambda: sobel_numpy(want_blurred), 1)
    for used in (contexts[:1], contexts):
        seconds, largest = timed(
            lambda used=used: in_parallel(lib.sobel, used, HEIGHT, blurred, gradient, *size_args)
        )
        report.row(f"Sobel gradient, {len(used)} context(s)", seconds, "", numpy_s)

    proc.read_mem(result, gradient, size)
    seconds, _ = timed(lambda: proc.read_mem(result, gradient, size))
    report.row("download 16 MiB", seconds, rate(seconds))
    report.check("the gradient", result, want, 1e-2)
    report.check("its largest value", np.float32(max(largest)), want.max(), 1e-2)
    for address in (source, blurred, gradient):
        proc.free_mem(address)
    return [image, np.minimum(result * (255 / 300), 255)]


def multiply(proc: veo.VeoProc, lib: veo.VeoLibrary, contexts: list, report: Report) -> None:
    """Multiply two matrices."""
    rng = np.random.default_rng(2)
    a, b, c = rng.random((MATRIX, MATRIX)), rng.random((MATRIX, MATRIX)), np.empty((MATRIX, MATRIX))
    on_ve = [proc.alloc_mem(c.nbytes) for _ in range(3)]
    proc.write_mem(on_ve[0], a, a.nbytes)
    proc.write_mem(on_ve[1], b, b.nbytes)
    numpy_s, want = timed(lambda: 0.5 * (a @ b))
    for used in (contexts[:1], contexts):
        seconds, _ = timed(
            lambda used=used: in_parallel(lib.dgemm, used, MATRIX, 0.5, *on_ve, MATRIX)
        )
        rate = f"{2 * MATRIX**3 / seconds / 1e9:.1f} GF/s"
        report.row(f"dgemm {MATRIX}, {len(used)} context(s)", seconds, rate, numpy_s)
    proc.read_mem(c, on_ve[2], c.nbytes)
    report.check("the matrix product", c, want, 1e-9)
    for address in on_ve:
        proc.free_mem(address)


def calls(lib: veo.VeoLibrary, ctx: veo.VeoCtxt, report: Report) -> None:
    """Time the smallest call, one by one and queued."""
    count = 2_000

    def one_by_one() -> int:
        x = 0
        for _ in range(count):
            x = lib.next(ctx, x).wait_result()
        return x

    def queued() -> int:
        return sum([r.wait_result() for r in [lib.next(ctx, 0) for _ in range(count)]])

    for what, work in (("calls one by one", one_by_one), ("calls queued", queued)):
        seconds, total = timed(work, 2)
        report.row(f"{count} {what}", seconds, f"{count / seconds / 1e3:.0f} k/s")
        if total != count:
            report.failures.append(f"{what} gave {total}, not {count}")


def vector_engine(page: Page) -> list[str]:
    """Run the part on the Vector Engine, and write its pictures; return what is wrong."""
    info = veo.library_info()
    kind = "the soft twin: kernels run on this host" if info["kind"] == "soft" else "NEC's"
    print(f"  VEO library    {shown_path(info)}\n  which is       {kind}")
    with tempfile.TemporaryDirectory(prefix="offchip-demo-") as folder:
        compile_s, (path, build) = timed(lambda: build_kernels(folder), 1)
        print(f"  kernels        for the {build.toolchain.target}")
        start_s, proc = timed(lambda: veo.VeoProc(0), 1)
        report = Report()
        report.row("compile demo_kernels.c", compile_s)
        report.row("start the VE process", start_s)
        lib = proc.load_library(path)
        declare(lib)
        contexts = [proc.open_context(), proc.open_context()]
        before, after = edges(proc, lib, contexts, report)
        multiply(proc, lib, contexts, report)
        calls(lib, contexts[0], report)
        proc.proc_destroy()
    for name, picture in (("before", before), ("after", after)):
        write_png(page.folder / f"{name}.png", picture.astype(np.uint8))
    page.pictures([("before.png", "the input"), ("after.png", "its edges, found by the VE")])
    return report.failures


def ve_code(failures: list[str]) -> None:
    """Run one kernel as code for the VE, where its compiler is installed."""
    print("\n  a kernel with vector intrinsics, as Vector Engine code")
    if veo.library_info()["kind"] != "soft" or not is_available():
        print("  skipped        it needs the soft libveo, and the ziglang wheel to compile")
        return
    seconds, difference = timed(lambda: veo_ve_code.run_axpy(100_000), repeat=1)
    print(f"  took           {seconds * 1e3:.0f} ms with its compiler")
    if difference:
        failures.append(f"axpy as VE code differs by {difference}")


def run(page: Page) -> list[str]:
    """Run the part; return what is wrong."""
    failures = vector_engine(page)
    ve_code(failures)
    return failures
