# SPDX-License-Identifier: BSD-3-Clause
"""Link kernels into the VE process itself, for code that cannot be in a shared library.

An init hook declares the functions for every process, as packages of VE functions do.
"""

import tempfile

import numpy as np

import veo

KERNEL = """
float dot(const float *x, const float *y, long n)
{
    float s = 0;
    for (long i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}
"""


def declare(proc: veo.VeoProc) -> None:
    """Tell a new process what the functions linked into it take and return."""
    dot = proc.static_library().find_function("dot")
    dot.args_type("float *", "float *", "long")
    dot.ret_type("float")


with tempfile.TemporaryDirectory() as folder:
    build = veo.VeBuild(check=True)
    build.set_build_dir(folder)
    build.set_c_src("kernels", KERNEL)
    worker = build.build_veorun()

    veo.set_proc_init_hook(declare)
    proc = veo.VeoProc(0, worker.encode())
    veo.del_proc_init_hook(declare)
    x = np.linspace(0, 1, 1001, dtype=np.float32)
    result = (
        proc.lib["__static__"]
        .func["dot"](proc.open_context(), veo.OnStack(x), veo.OnStack(x), len(x))
        .wait_result()
    )
    print(f"dot product: {result:.3f}, NumPy says {x @ x:.3f}")
    assert abs(result - x @ x) < 1e-2
    proc.proc_destroy()
