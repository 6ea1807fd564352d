# SPDX-License-Identifier: BSD-3-Clause
"""The unmodified py-veo 1.5.0 from PyPI on our libveo, and its vendor library as a candidate.

The wheel is fetched with pip, or taken from OFFCHIP_PYVEO_WHEEL; without it these are skipped.
Its binding hands every argument over as a bit pattern, so float and double come out right only
if the library finds the kernels' types in their debug info.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builds import clean_environment

KERNELS = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int ints(int a, unsigned b, long c, unsigned long d) { return a + (int)b + (int)c + (int)d; }
int ten(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j)
{ return a + 2*b + 3*c + 4*d + 5*e + 6*f + 7*g + 8*h + 9*i + 10*j; }
double reals(double x, float y) { printf("reals %g %g\n", x, y); return x * y; }
float single(float x, int n, double y) { return x * n + (float)y; }
double average(const double *x, long n)
{ double s = 0; for (long i = 0; i < n; i++) s += x[i]; return s / n; }
uint64_t length(const char *text) { uint64_t n = 0; while (text[n]) n++; return n; }
struct triple { int a; double b; long c; };
long sum_struct(const struct triple *t) { return t->a + (long)t->b + t->c; }
int add_two(const double *a, double *b, int n)
{ int s = 0; for (int i = 0; i < n; i++) { b[i] = a[i] + 2; s += (int)a[i]; } return s; }
void *where(void) { static char text[] = "in the kernel"; return text; }
int crash(int *p) { return *p; }
long table[4] = {10, 20, 30, 40};
"""

PROGRAM = r"""
import struct, sys
import numpy as np
import veo
from veo import *

seen = []
set_proc_init_hook(lambda p: seen.append(p.load_library(sys.argv[1].encode())))
p = VeoProc(0)
lib = seen[0]
ctx = p.open_context()

lib.ints.args_type("int", "unsigned int", "long", "unsigned long")
assert lib.ints(ctx, -1, 2, -3, 4).wait_result() == 2
lib.ten.args_type(*["int"] * 10)
assert lib.ten(ctx, *range(10)).wait_result() == sum((i + 1) * i for i in range(10))

lib.reals.args_type("double", "float")
lib.reals.ret_type("double")
assert lib.reals(ctx, 1.25, 2.5).wait_result() == 3.125
assert lib.reals(ctx, -1.25, 2.5).wait_result() == -3.125
lib.single.args_type("float", "int", "double")
lib.single.ret_type("float")
assert lib.single(ctx, 1.5, 3, 0.25).wait_result() == 4.75

data = np.arange(131072, dtype=np.double)
lib.average.args_type("double *", "long")
lib.average.ret_type("double")
assert lib.average(ctx, OnStack(data), len(data)).wait_result() == data.mean()

text = b"a text for the kernel\0"
at = p.alloc_mem(len(text))
p.write_mem(at, text, len(text))
lib.length.args_type("char *")
lib.length.ret_type("uint64_t")
assert lib.length(ctx, at).wait_result() == len(text) - 1
back = bytearray(len(text))
p.read_mem(back, at, len(text))
assert back == text
p.free_mem(at)

lib.sum_struct.args_type("void *")
lib.sum_struct.ret_type("long")
assert lib.sum_struct(ctx, OnStack(struct.pack("idl", 5, 10.5, 15))).wait_result() == 30

a = np.arange(6, dtype=np.double)
b = np.zeros(6)
lib.add_two.args_type("double *", "double *", "int")
request = lib.add_two(ctx, OnStack(a, inout=INTENT_IN), OnStack(b, inout=INTENT_OUT), 6)
assert request.wait_result() == 15
assert (b == a + 2).all()

lib.where.args_type("void")
lib.where.ret_type("void *")
text = bytearray(13)
p.read_mem(text, lib.where(ctx).wait_result(), 13)
assert text == b"in the kernel"
table = np.zeros(4, dtype=np.int64)
p.read_mem(table, lib.get_symbol("table"), table.nbytes)
assert list(table) == [10, 20, 30, 40]

array = np.random.rand(50000)
copy = np.zeros_like(array)
at = p.alloc_mem(array.nbytes)
ctx.async_write_mem(at, array, array.nbytes)
ctx.async_read_mem(copy, at, array.nbytes).wait_result()
assert (array == copy).all()

tagged = p.alloc_hmem(64)
assert VEO_HMEM.is_ve_addr(tagged) and VEO_HMEM.get_proc_identifier_from_hmem(tagged) == 0
VEO_HMEM.hmemcpy(tagged, array.ctypes.data, 64)
p.free_hmem(tagged)

other = p.open_context()
assert lib.ints(other, 1, 1, 1, 1).wait_result() == 4

lib.crash.args_type("int *")
try:
    lib.crash(ctx, 16).wait_result()
    raise SystemExit("no exception")
except ArithmeticError:
    pass
print("api", veo._veo._veo_version)
print("all well")
"""


# Libraries in the wheel were not built for a sanitizer.
pytestmark = pytest.mark.nosanitize


@pytest.fixture(scope="session")
def wheel_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked."""
    folder = tmp_path_factory.mktemp("pyveo")
    if sys.version_info[:2] != (3, 11):
        pytest.skip("the wheel of py-veo 1.5.0 is for Python 3.11 only")
    given = os.environ.get("OFFCHIP_PYVEO_WHEEL")
    if given:
        wheel = Path(given)
    else:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
        command += ["--disable-pip-version-check", "-d", str(folder), "py-veo==1.5.0"]
        environment = clean_environment()
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=60, env=environment
            )
        except subprocess.TimeoutExpired:
            pytest.skip("py-veo 1.5.0 cannot be had: pip did not answer within 60 s")
        if done.returncode != 0:
            pytest.skip(f"py-veo 1.5.0 cannot be had: {done.stderr.strip()[-200:]}")
        wheel = next(folder.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.fixture(scope="session")
def vendor_library(wheel_folder: Path) -> Path:
    return next((wheel_folder / "py_veo.libs").glob("libveo*.so*"))


@pytest.fixture
def wheel_on_ours(wheel_folder: Path, vendor_library: Path, tmp_path: Path) -> Path:
    """A copy of the wheel in which the bundled libveo is a link to ours."""
    import veo

    site = tmp_path / "site"
    shutil.copytree(wheel_folder, site)
    replaced = site / "py_veo.libs" / vendor_library.name
    replaced.unlink()
    replaced.symlink_to(Path(veo.__file__).parent / "lib/libveo.so.1")
    return site


def test_the_unmodified_wheel_runs_on_our_library(
    wheel_on_ours: Path,
    compile_c: Callable[..., Path],
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    kernels = compile_c(KERNELS, "kernels.so", flags=["-g", "-Wno-format"])
    ours = {"PYTHONPATH": str(wheel_on_ours), "PYTHONWARNINGS": "ignore"}
    done = run_python(PROGRAM, str(kernels), env=ours)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all well" in done.stdout and "reals 1.25 2.5" in done.stdout
    assert "WARNING" not in done.stderr


@pytest.fixture
def beside(vendor_library: Path, tmp_path: Path) -> Path:
    """A folder for sys.path with the wheel's library and without its package ``veo``."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "py_veo.libs").symlink_to(vendor_library.parent)
    return tmp_path / "packages"


def test_the_vendors_library_is_refused_for_want_of_a_device(
    beside: Path,
    vendor_library: Path,
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    """It is found beside the installed packages, probed, and passed over."""
    text = (
        "import json, veo\n"
        "info = veo.library_info()\n"
        "assert info['kind'] == 'soft', info\n"
        "print(json.dumps(info['refused']))\n"
        "with veo.VeoProc(0) as proc:\n"
        "    assert proc.nodeid == 0\n"
    )
    done = run_python(text, env={"PYTHONPATH": str(beside)})
    assert done.returncode == 0, done.stderr
    refused = {Path(entry["path"]).name: entry["reason"] for entry in json.loads(done.stdout)}
    assert "no Vector Engine" in refused[vendor_library.name], refused


def test_asking_for_the_vendors_library_says_why_it_cannot_be(
    beside: Path,
    vendor_library: Path,
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    asked = {"PYTHONPATH": str(beside), "VEO_LIBRARY": "vendor"}
    done = run_python("import veo\nveo.VeoProc(0)\n", env=asked)
    assert done.returncode != 0
    assert "no Vector Engine" in done.stderr and vendor_library.name in done.stderr


def test_a_path_to_a_library_without_a_device_is_tried_and_the_error_says_what_is_wrong(
    vendor_library: Path, run_python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = run_python("import veo\nveo.VeoProc(0)\n", env={"VEO_LIBRARY": str(vendor_library)})
    assert done.returncode != 0
    assert "no Vector Engine" in done.stderr and "VEO_LIBRARY" in done.stderr
