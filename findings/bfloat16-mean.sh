#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Means and nan functions over bfloat16 and float8.
#
# Guess: np.mean() of ones is 1, as NumPy adds float16 in float32; np.nansum() leaves NaN out, as
#   np.nanmax() does.
# Seen: the types of ml_dtypes are not floating-point types to NumPy. mean() adds in the type
#   itself: 1000 ones of bfloat16 have the mean 0.256, 100 ones of float8_e4m3fn 0.16. nansum() and
#   nanmean() return NaN; nanmax() is right.
# Why it matters: a mean of weights or losses is wrong without a warning. Pass dtype=np.float32.
# Versions: ml_dtypes 0.6.0, numpy 2.4.6.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ml_dtypes==0.6.0 numpy==2.4.6

"$work/venv/bin/python" -W ignore - <<'P'
import ml_dtypes
import numpy as np

for dtype, count, low in (
    (np.float16, 1000, 1), (ml_dtypes.bfloat16, 1000, 0.25), (ml_dtypes.float8_e4m3fn, 100, 0.15)
):
    ones, hole = np.ones(count, dtype), np.array([1, np.nan, 2], dtype)
    mean, wide = float(np.mean(ones)), float(np.mean(ones, dtype=np.float32))
    some = [float(function(hole)) for function in (np.nansum, np.nanmean, np.nanmax)]
    print(f"{np.dtype(dtype).name}: mean of {count} ones {mean:.3f}, with dtype=float32 {wide}")
    print(f"    nansum, nanmean, nanmax of [1, nan, 2]: {some}")
    assert low <= mean <= low + 0.02 and wide == 1 and some[2] == 2, "changed"
    assert (some[:2] == [3, 1.5]) if dtype is np.float16 else np.isnan(some[:2]).all(), "changed"
P
