#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Technology nodes of the SRAM model of hwcomponents-cacti.
#
# Guess: energy per read falls with the node, and so does leakage.
# Seen, for 64 Kibit, 64 bits wide: a read costs 4.5 pJ at 180 nm, 20.8 at 90 nm, 6.1 at 45 nm:
#   nodes above 90 nm are scaled from 22 nm. 90 * 1e-9, one rounding above 90e-9, counts as above.
#   Leakage at 22 nm is 3.6 times that at 32 nm. A word of twice the width costs 16 % more, not
#   twice.
# Why it matters: a sweep over nodes prefers 180 nm to 90 nm, and depends on how nodes are
#   computed. Compare nodes from 90 nm down only, written as literals.
# Versions: hwcomponents-cacti 1.0.40, hwcomponents 1.0.114; Python 3.12 or later, g++ and make:
#   the wheel's CACTI is compiled again, as cacti-wheel-program.sh explains.
set -eu
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 12))' ||
    { echo "set PYTHON to Python 3.12 or later" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check \
    hwcomponents-cacti==1.0.40 hwcomponents==1.0.114
cacti=$(echo "$work"/venv/lib/python3*/site-packages/hwcomponents_cacti/cacti)
rm -rf "$cacti/obj_opt" "$cacti/obj_dbg" "$cacti/cacti"
make -C "$cacti" opt > "$work/log" 2>&1 || { tail "$work/log" >&2; exit 2; }

"$work/venv/bin/python" - <<'P'
from hwcomponents_cacti import SRAM


def sram(node, width=64):
    return SRAM(tech_node=node, width=width, size=65536)


nodes = (180e-9, 90 * 1e-9, 90e-9, 45e-9, 32e-9, 22e-9)
read = {node: sram(node).read().energy * 1e12 for node in nodes}
leak = {node: sram(node).leak_power * 1e6 for node in nodes}
for node in nodes:
    print(f"{node * 1e9!r:18} nm: read {read[node]:6.2f} pJ, leakage {leak[node]:5.2f} uW")
wide = read[32e-9] / (sram(32e-9, 32).read().energy * 1e12)
print(f"64 bits against 32 at 32 nm: {wide:.2f} times the energy")
assert 4 < read[90e-9] / read[180e-9] < 5 and 6 < read[90e-9] / read[90 * 1e-9] < 7, "changed"
assert 3.2 < leak[22e-9] / leak[32e-9] < 4 and 1.1 < wide < 1.25, "changed"
P
