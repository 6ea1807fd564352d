# SPDX-License-Identifier: BSD-3-Clause
"""Run a kernel with vector intrinsics as Vector Engine code, without a Vector Engine.

The clang of the ziglang wheel compiles it; the soft libveo executes its instructions.
"""

import tempfile

import numpy as np

import veo

KERNEL = """
#include <stdio.h>
#include <velintrin.h>

void axpy(double a, const double *x, double *y, long n)
{
    for (long i = 0; i < n; i += 256) {
        int vl = n - i < 256 ? n - i : 256;
        __vr product = _vel_vfmuld_vsvl(a, _vel_vld_vssl(8, x + i, vl), vl);
        __vr sum = _vel_vfaddd_vvvl(product, _vel_vld_vssl(8, y + i, vl), vl);
        _vel_vst_vssl(sum, 8, y + i, vl);
    }
    printf("%ld elements, 256 at a time\\n", n);
}
"""


def run_axpy(n: int) -> float:
    """Compute ``a * x + y`` as VE code; give the largest difference to NumPy's."""
    x, y = np.arange(n, dtype=np.float64), np.linspace(0, 1, n)
    want = 2.5 * x + y
    with tempfile.TemporaryDirectory() as folder, veo.VeoProc(0) as proc:
        build = veo.VeBuild(target="ve")
        build.set_build_dir(folder)
        build.set_c_src("axpy", KERNEL)
        lib = proc.load_library(build.build_so(check=True))
        with proc.open_context() as ctx:
            lib.axpy(ctx, 2.5, veo.OnStack(x), veo.OnStack(y, inout=True), n).wait_result()
    return float(np.abs(y - want).max())


if __name__ == "__main__":
    print("largest difference:", run_axpy(1000))
