#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# NaN and large values in narrow types.
#
# Guess: what a type cannot hold is refused or becomes something that shows, by one rule.
# Seen: 1e6 becomes inf in float8_e5m2, NaN in float8_e4m3fn and the largest number in float6 and
#   float4; NaN becomes -0 in these two, without a warning.
# Why it matters: after quantising to float4 a diverged tensor looks like zeros. Look for NaN
#   before.
# Versions: ml_dtypes 0.6.0, numpy 2.4.6.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ml_dtypes==0.6.0 numpy==2.4.6

"$work/venv/bin/python" -W error - <<'P'
import ml_dtypes
import numpy as np

WANTED = {
    "float8_e5m2": "nan inf -inf inf",
    "float8_e4m3fn": "nan nan nan nan",
    "float6_e3m2fn": "-0.0 28.0 -28.0 28.0",
    "float6_e2m3fn": "-0.0 7.5 -7.5 7.5",
    "float4_e2m1fn": "-0.0 6.0 -6.0 6.0",
}
values = np.array([np.nan, np.inf, -np.inf, 1e6], np.float32)
for name, wanted in WANTED.items():
    seen = " ".join(str(float(x)) for x in values.astype(getattr(ml_dtypes, name)))
    print(f"{name}: nan, inf, -inf, 1e6 become {seen}")
    assert seen == wanted, "changed"
P
