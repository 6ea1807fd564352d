# SPDX-License-Identifier: BSD-3-Clause
"""Makes the mapspaces that fuzzing of the accelforge search starts from.

``python -m tests.accelforge.fuzz.space_corpus FOLDER``
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from accelforge._problem.mapspace import flatten_mapspace
from tests.accelforge.fuzz.problem_corpus import TABLES
from tests.accelforge.mapper import mapspaces
from tests.support.corpora import main, write_inputs

# The tables in the order of FORGE_SPACE_TABLES, with the numbers per record.
SPACE_TABLES = {
    **{"placements": 12, "keepers": 5, "orders": 3, "residents": 3, "comparisons": 6},
    "usages": 3,
}


def encode(mapspace: dict[str, Any]) -> bytes:
    """Write the tables of a mapspace as the target reads them."""
    space = flatten_mapspace(mapspace)
    tables = space.tables
    counts = [len(tables.records[name]) // width for name, width in TABLES.items()]
    counts += [len(tables.records["indices"]), len(tables.values)]
    counts += [len(tables.tensor_names), tables.n_instances]
    counts += [len(space.records[name]) // width for name, width in SPACE_TABLES.items()]
    counts += [len(space.sets), len(space.numbers), space.shared, space.intermediate]
    data = struct.pack(f"<{len(counts)}I", *counts)
    data += b"".join(tables.records[name].tobytes() for name in TABLES)
    data += tables.records["indices"].tobytes()
    data += b"".join(space.records[name].tobytes() for name in SPACE_TABLES)
    data += space.sets.tobytes() + space.numbers.tobytes() + space.settings.tobytes()
    return data + tables.values.tobytes() + bytes(tables.numbers)


def make_corpus(folder: Path) -> list[Path]:
    """Write the inputs."""
    bounds = {"variables": ["m"], "operator": "<=", "value": 2}
    spatial = [{"component": "PE", "dim": "X", "min_usage": 1.0, "loop_bounds": [bounds]}]
    gemm = mapspaces.gemm({"m": 2, "n": 2, "k": 2})
    places = [{**place, "spatial": spatial} for place in gemm["placements"][:2]]
    made = {
        "matvec": mapspaces.matvec(),
        "ragged": mapspaces.matvec(mapper={"explore_imperfect_temporal_loops": True}),
        "convolution": mapspaces.convolution(),
        "shared": mapspaces.matvec(shared=["Z"], mapper={"max_fused_loops": 1}),
        "gemm": {**gemm, "placements": places},
    }
    return write_inputs(folder, {name: encode(space) for name, space in made.items()})


if __name__ == "__main__":
    main(make_corpus)
