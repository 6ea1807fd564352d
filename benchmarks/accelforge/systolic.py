# SPDX-License-Identifier: BSD-3-Clause
"""Compare counts of accesses with those of SCALE-Sim, for a systolic array and its three dataflows.

``--peer PYTHON`` names a Python that has scalesim 3.0.0, which simulates a run cycle by cycle. What
an array of SIDE by SIDE cells reads from its buffers for a matrix product is compared, and what it
writes to them. With outputs that stay, SCALE-Sim writes some more to its buffer than to DRAM.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import accelforge as af

SIZES = {"M": 16, "N": 32, "K": 24}
SIDE = 8
# The tensor that cells keep, the variables of columns and rows, and the variable that streams.
DATAFLOWS = {"ws": ("W", "n", "k", "m"), "os": ("O", "m", "n", "k"), "is": ("I", "m", "k", "n")}
COUNTS = ("SRAM IFMAP Reads", "SRAM Filter Reads", "SRAM OFMAP Writes")


def specification(kept: str, column: str, row: str, streamed: str) -> str:
    """Write a buffer, an array with a register in each cell, a product and its mapping."""
    actions = (
        "[{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]"
    )
    costs = f"area: 0, leak_power: 0, actions: {actions}"
    return f"""
arch:
  nodes:
  - !Memory {{name: Buffer, size: inf, {costs}}}
  - !Container {{name: Array, spatial: [{{name: X, fanout: {SIDE}}}, {{name: Y, fanout: {SIDE}}}]}}
  - !Memory {{name: Register, size: 8, {costs}}}
  - !Compute
    {{name: MAC, area: 0, leak_power: 0, actions: [{{name: compute, energy: 1, throughput: 1}}]}}
workload:
  rank_sizes: {json.dumps(SIZES)}
  bits_per_value: {{All: 8}}
  einsums: ["O[m, n] = I[m, k] * W[k, n]"]
mapping:
  nodes:
  - !Storage {{component: Buffer, tensors: [I, W, O]}}
  - !Temporal {{rank_variable: {row}, tile_shape: {SIDE}}}
  - !Temporal {{rank_variable: {column}, tile_shape: {SIDE}}}
  - !Spatial {{rank_variable: {column}, tile_shape: 1, name: X, component: Array}}
  - !Spatial {{rank_variable: {row}, tile_shape: 1, name: Y, component: Array}}
  - !Storage {{component: Register, tensors: [{kept}]}}
  - !Temporal {{rank_variable: {streamed}, tile_shape: 1}}
  - !Compute {{component: MAC, einsum: O}}
"""


def our_counts(dataflow: str) -> list[int]:
    """Count with our model."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "array.yaml"
        file.write_text(specification(*DATAFLOWS[dataflow]))
        found = af.Spec.from_yaml(file).evaluate_mapping().actions(per_tensor=True)
    wanted = (("I", "read"), ("W", "read"), ("O", "write"))
    return [int(found["Buffer", tensor, action] / 8) for tensor, action in wanted]


def their_counts(python: str, dataflow: str) -> list[int]:
    """Count with SCALE-Sim."""
    script = Path(__file__).with_name("scalesim_peer.py")
    case = json.dumps({"side": SIDE, "dataflow": dataflow, "sizes": SIZES})
    done = subprocess.run(
        [python, "-W", "ignore", str(script)],
        input=case,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return [found[name] for name in COUNTS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", required=True, metavar="PYTHON", help="a Python with scalesim")
    options = parser.parse_args()
    print("elements that the array reads of I and W, and writes of O: ours, SCALE-Sim")
    for dataflow in DATAFLOWS:
        ours, theirs = our_counts(dataflow), their_counts(options.peer, dataflow)
        print(dataflow, *ours, "|", *theirs)
        if ours[:2] != theirs[:2] or (dataflow != "os" and ours != theirs):
            raise SystemExit("counts differ")


if __name__ == "__main__":
    main()
