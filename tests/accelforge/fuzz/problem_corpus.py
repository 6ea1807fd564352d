# SPDX-License-Identifier: BSD-3-Clause
"""Makes the problems that fuzzing of the accelforge engine starts from.

``python -m tests.accelforge.fuzz.problem_corpus FOLDER``
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from accelforge._problem import flatten
from tests.accelforge.package import problems
from tests.support.corpora import main, write_inputs

# The tables in the order of FORGE_TABLES, with the numbers per record.
TABLES = {
    **{"components": 3, "einsums": 12, "variables": 1, "tensors": 4, "ranks": 3, "terms": 2},
    **{"levels": 16, "dimensions": 4, "actions": 2, "holdings": 6, "tokens": 2, "leaks": 5},
    **{"gates": 2, "steps": 10},
}


def encode(problem: dict[str, Any]) -> bytes:
    """Write the tables of a problem as the target reads them."""
    tables = flatten(problem)
    counts = [len(tables.records[name]) // width for name, width in TABLES.items()]
    counts += [len(tables.records["indices"]), len(tables.values)]
    counts += [len(tables.tensor_names), tables.n_instances]
    data = struct.pack(f"<{len(counts)}I", *counts)
    data += b"".join(tables.records[name].tobytes() for name in TABLES)
    data += tables.records["indices"].tobytes()
    return data + tables.values.tobytes() + bytes(tables.numbers)


def make_corpus(folder: Path) -> list[Path]:
    """Write the inputs."""
    made = {
        "array": problems.pe_array_gemm(),
        "convolution": problems.convolution(),
        "fused": problems.fused_chain(3),
        "copy": problems.copied(),
        "gated": problems.gated(),
    }
    return write_inputs(folder, {name: encode(problem) for name, problem in made.items()})


if __name__ == "__main__":
    main(make_corpus)
