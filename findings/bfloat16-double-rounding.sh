#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# float64 to bfloat16 and to float8.
#
# Guess: a conversion rounds once, to the nearest, as float64 to float16 does.
# Seen: the types of ml_dtypes round to float32 first and then again. 1 + 2**-8 + 2**-40 is above
#   the middle of 1 and the next bfloat16, and becomes 1; integers too (2**24 + 2**16 + 1).
# Why it matters: a reference that was computed in float64 differs in the last bit from hardware and
#   libraries that round once, rarely, so that tests fail now and then.
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

for dtype, digits in (
    (np.float16, 10), (ml_dtypes.bfloat16, 7), (ml_dtypes.float8_e4m3fn, 3),
    (ml_dtypes.float8_e5m2, 2)
):
    middle = 1 + 2.0 ** -(digits + 1)
    above = middle + 2.0**-40
    seen = float(np.float64(above).astype(dtype))
    nearest = 1 + 2.0**-digits
    print(f"{np.dtype(dtype).name}: {above!r} becomes {seen}, the nearest is {nearest}")
    assert seen == (nearest if dtype is np.float16 else 1), "changed"
whole = 2**24 + 2**16 + 1
seen = int(np.array(whole).astype(ml_dtypes.bfloat16))
print(f"bfloat16: {whole} becomes {seen}, the nearest is {2**24 + 2**17}")
assert seen == 2**24, "changed"
P
