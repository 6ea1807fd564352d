#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Leakage of the ADC model of hwcomponents-adc.
#
# Guess: leakage is a property of the circuit, so that a converter that is slowed down a thousand
#   times leaks as much, or a little less where its transistors are smaller.
# Seen: leakage is 1/4 of the power of converting (0.25 of energy times throughput), at every
#   throughput and resolution: a thousand times less at a thousandth of the throughput. A
#   conversion costs the same energy until the throughput is high.
# Why it matters: a converter that waits most of the time is charged by what it was built for, and
#   the study of an idle or slow array shows no leakage. Resolutions below 4 bits are refused.
# Versions: hwcomponents-adc 1.0.21, hwcomponents 1.0.114; Python 3.12 or later.
set -eu
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 12))' ||
    { echo "set PYTHON to Python 3.12 or later" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check \
    hwcomponents-adc==1.0.21 hwcomponents==1.0.114

"$work/venv/bin/python" -W ignore - <<'P'
from hwcomponents_adc import ADC

for bits, throughput in ((8, 1e5), (8, 1e8), (8, 1e10), (12, 1e5), (12, 1e8)):
    adc = ADC(n_bits=bits, tech_node=32e-9, throughput=throughput)
    energy = adc.convert().energy
    share = adc.leak_power / (energy * throughput)
    print(
        f"{bits:2} bits, {throughput:.0e} samples/s: {energy * 1e12:6.2f} pJ each, "
        f"leakage {adc.leak_power:.1e} W, {share:.3f} of the power of converting"
    )
    assert 0.249 < share < 0.251, "changed"
P
