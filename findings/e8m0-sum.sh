#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Sums of powers of two in float8_e8m0fnu, the type of block scales.
#
# Guess: the sum of four ones is 4, which the type has; np.zeros() and zero converted are the same.
# Seen: the sum is NaN. The type has no zero: a sum begins with a zero, which becomes NaN, as does
#   a converted 0.0 and every negative number. np.zeros() has zero bytes, which mean 2**-127.
# Why it matters: sums and means of block scales are NaN without a warning, and a buffer of zeros
#   is not zero. Convert to float32 first.
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

for dtype in (ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu):
    ones = np.ones(4, dtype)
    total, added = float(ones.sum()), float(ones[0] + ones[1] + ones[2] + ones[3])
    zeros, converted = float(np.zeros(1, dtype)[0]), float(np.float32(0).astype(dtype))
    print(f"{np.dtype(dtype).name}: sum of four ones {total}, one by one {added}")
    print(f"    np.zeros() {zeros}, 0.0 converted {converted}")
    if dtype is ml_dtypes.float8_e8m0fnu:
        assert np.isnan(total) and np.isnan(converted) and zeros == 2.0**-127, "changed"
    else:
        assert (total, zeros, converted) == (4, 0, 0), "changed"
    assert added == 4, "changed"
P
