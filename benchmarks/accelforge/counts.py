# SPDX-License-Identifier: BSD-3-Clause
"""Compare counts of accesses with those of ZigZag, for one matrix product and several mappings.

``--peer PYTHON`` names a Python that has zigzag-dse, whose model is not AccelForge's. The
architecture is DRAM, a buffer, and four units, each with a register for an output; or one register
behind an adder tree.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import accelforge as af

SIZES = {"B": 16, "K": 32, "C": 64}
OPERANDS = {"I": "BC", "W": "CK", "O": "BK"}
UNITS = 4
# Loops from the innermost one: of the tile in the buffer, and outside of it.
Loops = list[tuple[str, int]]
CASES: dict[str, tuple[str, Loops, Loops]] = {
    "outputs stay in the buffer": ("K", [("C", 4), ("K", 8), ("B", 4)], [("C", 16), ("B", 4)]),
    "weights stay in the buffer": ("K", [("C", 4), ("K", 8), ("B", 4)], [("B", 4), ("C", 16)]),
    "inputs stay in the buffer": ("K", [("C", 64), ("K", 2), ("B", 4)], [("K", 4), ("B", 4)]),
    "adder tree": ("C", [("C", 4), ("K", 8), ("B", 4)], [("K", 4), ("C", 4), ("B", 4)]),
}


def tile_of(spatial: str, inner: Loops) -> dict[str, int]:
    """Return the extents of the tile in the buffer."""
    tile = dict.fromkeys(SIZES, 1)
    tile[spatial] = UNITS
    for name, count in inner:
        tile[name] *= count
    return tile


def bits_of(tile: dict[str, int]) -> int:
    """Return the bits of a tile of all operands."""
    return 8 * sum(tile[a] * tile[b] for a, b in OPERANDS.values())


def mapping_of(spatial: str, inner: Loops, outer: Loops) -> list[str]:
    """Write the nodes of a mapping; a tile stays where it is in loops that do not index it."""
    loops = [*reversed(outer), *reversed(inner)]
    register = len(loops)
    while register and loops[register - 1][0] == "C":
        register -= 1
    places: dict[int, list[str]] = {}
    for operand, indices in OPERANDS.items():
        place = len(outer)
        while place and loops[place - 1][0] not in indices:
            place -= 1
        places.setdefault(place, []).append(operand)
    nodes = ["!Storage {component: DRAM, tensors: [I, W, O]}"]
    tile = dict(SIZES)
    for i in range(len(loops) + 1):
        if i in places:
            nodes.append(f"!Storage {{component: Buffer, tensors: [{', '.join(places[i])}]}}")
        if i == register:
            row = f"rank_variable: {spatial.lower()}, name: X, component: Row"
            unit = "!Storage {component: Register, tensors: [O]}"
            if spatial == "K":
                tile["K"] //= UNITS
                nodes += [f"!Spatial {{{row}, tile_shape: {tile['K']}}}", unit]
            else:
                nodes += [unit]
        if i < len(loops):
            name, count = loops[i]
            tile[name] //= count
            nodes.append(f"!Temporal {{rank_variable: {name.lower()}, tile_shape: {tile[name]}}}")
    if spatial == "C":
        nodes.append(f"!Spatial {{{row}, tile_shape: 1}}")
    return [*nodes, "!Compute {component: MAC, einsum: O}"]


def our_counts(spatial: str, inner: Loops, outer: Loops) -> dict[str, list[float]]:
    """Count with our model."""
    actions = (
        "actions: [{name: read, energy: 1, throughput: inf}, "
        "{name: write, energy: 1, throughput: inf}]"
    )
    nodes = {
        "DRAM": "!Memory {name: DRAM, size: inf, ",
        "Buffer": f"!Memory {{name: Buffer, size: {bits_of(tile_of(spatial, inner))}, ",
        "Row": f"!Container {{name: Row, spatial: [{{name: X, fanout: {UNITS}}}]}}",
        "Register": "!Memory {name: Register, size: 8, ",
    }
    order = ["DRAM", "Buffer", "Row", "Register"]
    if spatial == "C":
        order = ["DRAM", "Buffer", "Register", "Row"]
    lines = ["arch:", "  nodes:"]
    for name in order:
        more = "" if name == "Row" else f"area: 0, leak_power: 0, {actions}}}"
        lines.append(f"  - {nodes[name]}{more}")
    lines += [
        "  - !Compute {name: MAC, area: 0, leak_power: 0,"
        " actions: [{name: compute, energy: 1, throughput: 1}]}",
        "workload:",
        f"  rank_sizes: {json.dumps(SIZES)}",
        "  bits_per_value: {All: 8}",
        '  einsums: ["O[b, k] = I[b, c] * W[c, k]"]',
        "mapping:",
        "  nodes:",
        *(f"  - {node}" for node in mapping_of(spatial, inner, outer)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "layer.yaml"
        file.write_text("\n".join(lines))
        found = af.Spec.from_yaml(file).evaluate_mapping().actions(per_tensor=True)
    counts: dict[str, list[float]] = {}
    for (component, tensor, action), number in found.items():
        if action != "compute":
            row = counts.setdefault(f"{component} {tensor}", [0.0, 0.0])
            row[action == "write"] += number / 8
    return counts


def their_counts(python: str, spatial: str, inner: Loops, outer: Loops) -> dict[str, list[float]]:
    """Count with ZigZag."""
    case = {
        "sizes": SIZES,
        "units": UNITS,
        "spatial": spatial,
        "buffer": bits_of(tile_of(spatial, inner)),
        "loops": [*inner, *outer],
    }
    script = Path(__file__).with_name("zigzag_peer.py")
    done = subprocess.run(
        [python, str(script)], input=json.dumps(case), capture_output=True, text=True, check=True
    )
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", required=True, metavar="PYTHON", help="a Python with zigzag-dse")
    options = parser.parse_args()
    outputs = SIZES["B"] * SIZES["K"]
    print(f"elements that are read, written; the layer has {outputs} outputs")
    for name, case in CASES.items():
        ours, theirs = our_counts(*case), their_counts(options.peer, *case)
        print(f"\n{name}\n{'':12} {'ours':>15} {'ZigZag':>15}  difference in outputs")
        for place in sorted(ours):
            have, want = ours[place], theirs[place]
            less: list[Any] = [(b - a) / outputs for a, b in zip(have, want, strict=True)]
            texts = [f"{x[0]:7.0f} {x[1]:7.0f}" for x in (have, want)]
            print(f"{place:12} {' '.join(texts)}  {less[0]:g}, {less[1]:g}")
            if not set(less) <= ({0, 1} if place.endswith("O") else {0}):
                raise SystemExit("that is not the first partial sums, which only ZigZag moves")


if __name__ == "__main__":
    main()
