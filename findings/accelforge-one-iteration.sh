#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Loops of one iteration in AccelForge.
#
# Guess: a loop over all of a rank, so of one iteration, changes no count of a mapping.
# Seen: it does where the tiles of the next loop do not divide the rank. 64 rows in tiles of 3 are
#   22 passes for tensors without rows; inside a loop over all 64 they are 21.33 passes, as only the
#   outermost loop rounds up. The mapper makes such mappings, compares them by the fraction,
#   takes the loop out and reports the whole number, so that of two equal mappings one is worse.
# Why it matters: with explore_imperfect_spatial_loops a layer can take a few percent more
#   time than it must, and generated mappings look better than the same written by hand.
# Versions: accelforge 1.0.467; Python 3.12 or later.
set -eu
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 12))' ||
    { echo "set PYTHON to Python 3.12 or later" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check accelforge==1.0.467
cd "$work"

cat > rows.yaml <<'Y'
arch:
  nodes:
  - !Memory
    {name: DRAM, size: inf, leak_power: 0, area: 0, tensors: {keep: All}, actions: [
      {name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute
    {name: MAC, leak_power: 0, area: 0, actions: [{name: compute, energy: 1, throughput: 1}]}
workload:
  rank_sizes: {ROW: 64, COLUMN: 4}
  bits_per_value: {All: 1}
  einsums:
  - name: Product
    tensor_accesses:
    - {name: Rows, projection: [row]}
    - {name: Columns, projection: [column]}
    - {name: Table, projection: [row, column], output: True}
mapping:
  nodes:
  - !Storage {tensors: [Rows, Columns, Table], component: DRAM}
  - !Temporal {rank_variable: row, tile_shape: {{OUTER}}}
  - !Temporal {rank_variable: row, tile_shape: 3}
  - !Temporal {rank_variable: column, tile_shape: 1}
  - !Temporal {rank_variable: row, tile_shape: 1}
  - !Compute {einsum: Product, component: MAC}
Y
"$work/venv/bin/python" -W ignore - > log <<'P'
import accelforge as af

for outer in (3, 64):
    spec = af.Spec.from_yaml("rows.yaml", jinja_parse_data={"OUTER": outer})
    actions = spec.evaluate_mapping().actions(per_component=True)
    print(f"tiles of {outer}, then of 3: {float(actions['DRAM', 'read']):.2f} reads")
P
cat log
printf '%s\n' 'tiles of 3, then of 3: 520.00 reads' 'tiles of 64, then of 3: 512.00 reads' |
    cmp -s log - || { echo changed >&2; exit 1; }
