#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Latency of routers and buses in hwcomponents-library.
#
# Guess: a hop through a router takes about a nanosecond, as its ADC and its multiplier do.
# Seen: 1.1e-16 s through IsaacRouter and 5.4e-14 s through IsaacEDRAMBus at 32 nm, where the ADC
#   takes 8.3e-10 s and an 8-bit multiplier 8e-10 s. Light goes 32 nm in 1.1e-16 s.
# Why it matters: a mapping that moves everything between tiles looks as quick as one that moves
#   nothing; only energy tells them apart. Give the latency of networks yourself.
# Versions: hwcomponents-library 1.0.58 (which imports hwcomponents-neurosim 1.0.43 and does not name
#   it), hwcomponents 1.0.114; Python 3.12 or later.
set -eu
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 12))' ||
    { echo "set PYTHON to Python 3.12 or later" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check \
    hwcomponents-library==1.0.58 hwcomponents-neurosim==1.0.43 hwcomponents==1.0.114

"$work/venv/bin/python" -W ignore - <<'P'
import hwcomponents_library as library

node = 32e-9
seen = {
    "router": library.IsaacRouter(tech_node=node).transfer().latency,
    "eDRAM bus": library.IsaacEDRAMBus(tech_node=node).transfer().latency,
    "ADC": library.IsaacADC(tech_node=node).convert().latency,
    "multiplier": library.AladdinMultiplier(tech_node=node, width=8).multiply().latency,
}
for name, latency in seen.items():
    print(f"{name:10} {latency:.1e} s")
assert 1e-16 < seen["router"] < 1.2e-16 and 5e-14 < seen["eDRAM bus"] < 6e-14, "changed"
assert all(5e-10 < seen[name] < 1e-9 for name in ("ADC", "multiplier")), "changed"
P
