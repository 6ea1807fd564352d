# SPDX-License-Identifier: BSD-3-Clause
"""Vectors that are needed after calls, and more of them than there are registers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import veo
from veo.ve_clang import clang_command
from veo.ve_vectors import save_vectors

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

VEORUN = Path(veo.__file__).parent / "bin" / "veorun"

# Swapped in a loop, changed in some cases of a switch, given and returned, masked, reduced.
PROGRAM = """
#include <stdio.h>
#include <velintrin.h>
#define N __attribute__((noinline))
static double x[256], calls;
N void note(double s) { printf("%g\\n", s); }
N __vr twice(__vr a) { calls++; note(-1); return _vel_vfaddd_vvvl(a, a, 256); }
N __vr later(int n, __vr a, __vr b)
{
    for (int i = 0; i < n; i++) {
        __vr t = a;
        switch (i) {
        case 0: a = twice(b); b = t; break;
        case 1: note(7); a = b; b = t; break;
        case 2: break;
        case 3: a = _vel_vfsubd_vvvl(b, a, 256); note(3); break;
        default: b = twice(b);
        }
        __vr sum = _vel_vfsumd_vvl(a, 256);
        note(i);
        note(_vel_lvsd_svs(sum, 0));
        __vm256 large = _vel_vfmkdgt_mvl(a, 256);
        calls++;
        note(_vel_lvsd_svs(_vel_vfsumd_vvl(b, 256), 0));
        a = _vel_vfaddd_vvvmvl(a, t, large, a, 256);
    }
    return n > 3 ? a : b;
}
int main(void)
{
    for (int i = 0; i < 256; i++) x[i] = i - 20;
    __vr a = _vel_vld_vssl(8, x, 256);
    for (int n = 3; n < 6; n++) {
        _vel_vst_vssl(later(n, a, _vel_vbrdd_vsl(2, 256)), 8, x, 256);
        double sum = 0;
        for (int i = 0; i < 256; i++) sum = sum * 0.5 + x[i];
        note(sum);
    }
    note(calls);
}
"""


def model() -> list[float]:
    """Return what the program prints."""
    out: list[float] = []
    calls = 0

    def twice(a: list[float]) -> list[float]:
        nonlocal calls
        calls += 1
        out.append(-1)
        return [2 * e for e in a]

    start: list[float] = [i - 20 for i in range(256)]
    for n in range(3, 6):
        a, b = start, [2.0] * 256
        for i in range(n):
            t = a
            if i == 0:
                a, b = twice(b), t
            elif i == 1:
                out.append(7)
                a, b = b, t
            elif i == 3:
                a = [one - other for one, other in zip(b, a, strict=True)]
                out.append(3)
            elif i > 3:
                b = twice(b)
            out += [i, sum(a), sum(b)]
            calls += 1
            a = [one + other if one > 0 else one for one, other in zip(a, t, strict=True)]
        total = 0.0
        for element in a if n > 3 else b:
            total = total * 0.5 + element
        out.append(total)
    return [*out, calls]


def compile_and_run(source: str, folder: Path, level: int) -> list[float]:
    (folder / "p.c").write_text(source)
    command = [*clang_command("C"), f"-O{level}", "-c", "p.c", "-o", "p.o"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run([VEORUN, "p.o"], cwd=folder, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


@pytest.mark.parametrize("level", [0, 2])
def test_vectors_are_kept_while_other_functions_run(tmp_path: Path, level: int) -> None:
    assert compile_and_run(PROGRAM, tmp_path, level) == pytest.approx(model(), rel=1e-5)


def test_there_may_be_more_vectors_than_registers(tmp_path: Path) -> None:
    count = 70
    loads = "".join(f"__vr v{i} = _vel_vld_vssl(8, x[{i}], 256);\n" for i in range(count))
    stores = "".join(f"_vel_vst_vssl(v{i}, 8, x[{count - 1 - i}], 256);\n" for i in range(count))
    source = f"""
        #include <stdio.h>
        #include <velintrin.h>
        static double x[{count}][256];
        int main(void)
        {{
            for (int i = 0; i < {count} * 256; i++) x[0][i] = i;
            {loads} {stores}
            for (int i = 0; i < {count}; i++) printf("%g %g\\n", x[i][0], x[i][255]);
        }}"""
    expected = [e * 256.0 + at for e in reversed(range(count)) for at in (0, 255)]
    assert compile_and_run(source, tmp_path, 2) == expected


def test_what_is_not_needed_after_a_call_stays_in_registers(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(
        """
        #include <velintrin.h>
        void other(void);
        void k(double *x, long n)
        {
            other();
            __vr sum = _vel_vbrdd_vsl(0, 256);
            for (long i = 0; i < n; i++) sum = _vel_vfaddd_vvvl(sum, _vel_vld_vssl(8, x, 256), 256);
            _vel_vst_vssl(sum, 8, x, 256);
            other();
        }"""
    )
    command = [*clang_command("C"), "-O2", "-S", "-emit-llvm", "p.c", "-o", "p.ll"]
    subprocess.run(command, cwd=tmp_path, check=True)
    text = (tmp_path / "p.ll").read_text()
    assert "phi <256 x double>" in text
    assert "volatile" not in save_vectors(text)
    assert "volatile" in save_vectors(text, all_of_them=True)
