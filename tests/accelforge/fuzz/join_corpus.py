# SPDX-License-Identifier: BSD-3-Clause
"""Makes the groups that fuzzing of the join starts from.

``python -m tests.accelforge.fuzz.join_corpus FOLDER``
"""

from __future__ import annotations

import random
import struct
from pathlib import Path

from accelforge._joining import flatten
from tests.accelforge.mapper.random_pmappings import make_groups, workload
from tests.support.corpora import main, write_inputs

# The tables in the order of FUSE_TABLES, with the numbers per record.
TABLES = {
    **{"einsums": 4, "accesses": 2, "groups": 5, "loops": 2, "holders": 3, "reservations": 2},
    **{"stops": 1, "ranks": 1},
}
NUMBERS = ("bounds", "objectives", "tiles", "values")

CHAIN = [
    {"A": "m k", "W": "k n", "B": "m n"},
    {"B": "m n", "V": "n q", "C": "m q"},
    {"C": "m q", "V": "s q", "D": "m s"},
]
COPY = [{"J": "m n", "B": "m n"}, {"B": "m n", "V": "n q", "C": "m q"}]
SIZES = {"m": 4, "k": 2, "n": 4, "q": 2, "s": 4}


def encode(einsums: list[dict[str, str]], copies: list[int], flags: int, seed: int) -> bytes:
    """Write the tables of random groups as the target reads them."""
    problem = workload(einsums, SIZES, gb=300.0, copies=copies)
    groups = make_groups(problem, random.Random(seed), tries=60, spatial=seed % 2 == 1)
    tables = flatten(groups, problem, ["energy", "latency"])
    counts = [len(tables.records[name]) // width for name, width in TABLES.items()]
    counts += [len(tables.numbers[name]) for name in NUMBERS]
    counts += [2, len(tables.tensors), len(tables.memories), flags]
    data = struct.pack(f"<{len(counts)}I", *counts)
    data += b"".join(tables.records[name].tobytes() for name in TABLES)
    return data + b"".join(tables.numbers[name].tobytes() for name in NUMBERS)


def make_corpus(folder: Path) -> list[Path]:
    """Write the inputs."""
    made = {
        f"{name} {flags}": encode(einsums, copies, flags, flags)
        for name, einsums, copies in (
            ("chain", CHAIN, []),
            ("pair", CHAIN[:2], []),
            ("copy", COPY, [0]),
        )
        for flags in (0, 1, 0x303, 0x31C)
    }
    return write_inputs(folder, made)


if __name__ == "__main__":
    main(make_corpus)
