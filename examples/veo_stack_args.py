# SPDX-License-Identifier: BSD-3-Clause
"""Pass NumPy arrays and structures for the time of one call, without allocating VE memory.

OnStack copies a buffer to the VE before the call (IN), back after it (OUT), or both (INOUT).
"""

import struct
import tempfile

import numpy as np

import veo
from veo import INTENT_IN, INTENT_INOUT, INTENT_OUT, OnStack

KERNEL = """
struct summary { double mean; long count; };

double prefix_sums(const double *x, double *sums, long n)
{
    double total = 0;
    for (long i = 0; i < n; i++)
        sums[i] = total += x[i];
    return total;
}

void add(struct summary *s, const double *x, long n)
{
    for (long i = 0; i < n; i++)
        s->mean += (x[i] - s->mean) / (double)++s->count;
}
"""

with tempfile.TemporaryDirectory() as folder:
    build = veo.VeBuild(check=True)
    build.set_build_dir(folder)
    build.set_c_src("stack", KERNEL)
    proc = veo.VeoProc(0)
    lib = proc.load_library(build.build_so())
    lib.prefix_sums.args_type("double *", "double *", "long")
    lib.prefix_sums.ret_type("double")
    lib.add.args_type("struct summary *", "double *", "long")
    lib.add.ret_type("void")
    ctx = proc.open_context()

    x = np.arange(1.0, 11.0)
    sums = np.empty_like(x)
    total = lib.prefix_sums(
        ctx, OnStack(x, inout=INTENT_IN), OnStack(sums, inout=INTENT_OUT), len(x)
    ).wait_result()
    print("prefix sums:", sums, "total:", total)
    assert total == 55.0
    assert np.array_equal(sums, np.cumsum(x))

    summary = bytearray(struct.pack("dq", 0.0, 0))
    for part in (x[:5], x[5:]):
        lib.add(ctx, OnStack(summary, inout=INTENT_INOUT), OnStack(part), len(part)).wait_result()
    mean, count = struct.unpack("dq", summary)
    print(f"mean of {count} values: {mean}")
    assert (round(mean, 12), count) == (5.5, 10)
    proc.proc_destroy()
