#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Sorting bfloat16 and float8 with NaN.
#
# Guess: np.sort() puts NaN last, as for NumPy's own floating-point types.
# Seen: a NaN stops the sorting around it: [3, nan, 1, 2] stays as it is, without a warning.
#   np.argsort() is affected as well. float16 is sorted correctly.
# Why it matters: top-k, pruning and percentiles of such arrays pick arbitrary elements after one
#   overflow of float8_e4m3fn. Sort x.astype(np.float32).
# Versions: ml_dtypes 0.6.0, numpy 2.4.6.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ml_dtypes==0.6.0 numpy==2.4.6

"$work/venv/bin/python" - <<'P'
import ml_dtypes
import numpy as np

values = [3, np.nan, 1, 2]
for dtype in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
    array = np.array(values, dtype)
    result, least = np.sort(array).astype(float).tolist(), values[np.argsort(array)[0]]
    print(f"{np.dtype(dtype).name}: sorted {result}, least by argsort {least}")
    sorts = dtype is np.float16
    assert (result[:3] == [1, 2, 3]) == sorts and (least == 1) == sorts, "changed"
    assert np.sort(np.array([3, 1, 2], dtype)).tolist() == [1, 2, 3], "changed without NaN"
P
