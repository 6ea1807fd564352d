#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Throughput of the DRAM models of hwcomponents-cacti.
#
# Guess: throughput times width is near the peak bandwidth of that kind of memory.
# Seen: for HBM2 it is. DDR3, LPDDR and LPDDR4 have 1/61 of it, HBM3 and HBM4 8.6 times as much:
#   0.4 GB/s for 64 bits of LPDDR4 instead of 25.6, 14 TB/s for 2048 bits of HBM3 instead of 1.6.
# Why it matters: AccelForge takes throughput from these models where a file gives a class only.
#   With LPDDR4 all workloads seem bound by memory, with HBM3 none. State `throughput` yourself.
# Versions: hwcomponents-cacti 1.0.40, hwcomponents 1.0.114; Python 3.12 or later. CACTI itself
#   does not run. Peak rates are those of DDR3-2133, LPDDR-400, LPDDR4-3200 and 2.4, 6.4, 8 Gb/s of
#   HBM.
set -eu
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 12))' ||
    { echo "set PYTHON to Python 3.12 or later" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check \
    hwcomponents-cacti==1.0.40 hwcomponents==1.0.114

"$work/venv/bin/python" - <<'P'
import hwcomponents_cacti as models

# Name: width, Gb/s of a pin, expected ratio.
MEMORIES = {
    "DDR3": (64, 2.133, 1 / 61),
    "LPDDR": (64, 0.4, 1 / 61),
    "LPDDR4": (64, 3.2, 1 / 61),
    "HBM2": (2048, 2.4, 1.07),
    "HBM3": (2048, 6.4, 8.6),
    "HBM4": (4096, 8.0, 8.6),
}
for name, (width, rate, wanted) in MEMORIES.items():
    seen = getattr(models, name)(width=width).read().throughput * width / 8e9
    ratio = seen / (rate * width / 8)
    print(f"{name:7} {width:4} bits: {seen:9.2f} GB/s, {ratio:.4f} of {rate * width / 8:.1f}")
    assert abs(ratio / wanted - 1) < 0.03, "changed"
P
