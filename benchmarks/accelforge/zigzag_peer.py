# SPDX-License-Identifier: BSD-3-Clause
"""Count accesses of one layer with ZigZag; see counts.py.

``PYTHON zigzag_peer.py`` gets a case as JSON, and prints how many elements of each operand each
memory reads and writes.
"""

import json
import logging
import sys
import tempfile
from pathlib import Path

import yaml

ALLOCATIONS = {"I1": ["fh", "tl"], "I2": ["fh", "tl"], "O": ["fh", "tl", "fl", "th"]}


def memory(size, operands, served):
    """Describe a memory; an access moves one element of 8 bits."""
    ports = [
        {
            "name": "r_port_1",
            "type": "read",
            "bandwidth_min": 8,
            "bandwidth_max": 8,
            "allocation": [f"{o}, {d}" for o in operands for d in ALLOCATIONS[o] if d[0] == "t"],
        },
        {
            "name": "w_port_1",
            "type": "write",
            "bandwidth_min": 8,
            "bandwidth_max": 8,
            "allocation": [f"{o}, {d}" for o in operands for d in ALLOCATIONS[o] if d[0] == "f"],
        },
    ]
    return {
        "size": size, "r_cost": 1, "w_cost": 1, "area": 0, "latency": 1,
        "operands": operands, "ports": ports, "served_dimensions": served,
    }  # fmt: skip


def main():
    case = json.load(sys.stdin)
    everything = ["I1", "I2", "O"]
    hardware = {
        "name": "units",
        "memories": {
            "Register": memory(8, ["O"], ["D1"] if case["spatial"] == "C" else []),
            "Buffer": memory(case["buffer"], everything, ["D1"]),
            "DRAM": memory(10**12, everything, ["D1"]),
        },
        "operational_array": {
            "unit_energy": 1, "unit_area": 1, "dimensions": ["D1"], "sizes": [case["units"]],
        },
    }  # fmt: skip
    layer = {
        "id": 0, "name": "layer", "operator_type": "Gemm",
        "equation": "O[b][k]+=W[c][k]*I[b][c]",
        "loop_dims": ["B", "K", "C"], "loop_sizes": [case["sizes"][d] for d in "BKC"],
        "operand_precision": {"W": 8, "I": 8, "O": 8, "O_final": 8},
        "operand_source": {"W": 0, "I": 0},
    }  # fmt: skip
    mapping = {
        "name": "default",
        "spatial_mapping": {"D1": [f"{case['spatial']}, {case['units']}"]},
        "temporal_ordering": case["loops"],
        "memory_operand_links": {"O": "O", "W": "I2", "I": "I1"},
    }
    from zigzag.api import get_hardware_performance_zigzag

    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, data in (("hardware", hardware), ("layer", [layer]), ("mapping", [mapping])):
            paths[name] = Path(folder) / f"{name}.yaml"
            paths[name].write_text(yaml.safe_dump(data, sort_keys=False))
        *_, found = get_hardware_performance_zigzag(
            str(paths["layer"]), str(paths["hardware"]), str(paths["mapping"]),
            opt="energy", dump_folder=folder, loma_show_progress_bar=False,
        )  # fmt: skip
    evaluation = found[0][1][0][0]
    counts = {}
    for operand, levels in evaluation.memory_word_access.items():
        names = ["Register", "Buffer", "DRAM"][-len(levels) :]
        for name, moves in zip(names, levels, strict=True):
            reads, writes = 0, 0
            for direction, number in moves.data.items():
                if direction.name.startswith("RD"):
                    reads += number
                else:
                    writes += number
            counts[f"{name} {operand.name}"] = [reads, writes]
    print(json.dumps(counts))


main()
