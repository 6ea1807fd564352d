# SPDX-License-Identifier: BSD-3-Clause
"""The words and numbers of the format, as the engine has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NONE = 0xFFFFFFFF

# A path is linked to its parent, so that making one costs little.
Path = tuple[Any, "str | int"] | None
Record = Mapping[str, Any]

# enum forge_number
BOUND, POSITIVE, AMOUNT, CAPACITY, RATE, ANY = range(6)

LEVEL_KINDS = {"memory": 0, "toll": 1, "compute": 2, "container": 3}
HOLD, TEMPORAL, SPATIAL, LEAF = range(4)
PROPERTIES = {"calls": 1, "throughput": 2, "energy": 3}
WORDS = {
    **{"+": 4, "-": 5, "*": 6, "/": 7, "min": 8, "max": 9, "pow": 10, "floordiv": 11, "mod": 12},
    **{"neg": 13, "ceil": 14, "floor": 15, "sqrt": 16, "exp": 17, "log": 18, "abs": 19},
}
DIRECTIONS = {"up": (1, 0), "down": (0, 1), "up_and_down": (1, 1)}

# The fields of each record; a test compares them with what the design page lists.
FIELDS = {
    "problem": "format version n_instances components einsums mapping parameters",
    "component": "name area leak_power instances",
    "einsum": "name n_instances is_copy_operation variables tensors levels leaks",
    "tensor": "name output projection",
    "rank": "terms constant",
    "level": "component kind spatial size skip_initial_output_write actions_scale actions "
    "total_latency tensors",
    "holding": "bits_per_value read_values_per_action write_values_per_action direction",
    "dimension": "name fanout may_reuse usage_scale",
    "action": "name energy throughput",
    "leak": "component power share gated_by",
    "hold": "hold tensors persistent einsums",
    "temporal": "temporal tile initial",
    "spatial": "spatial tile initial component dim",
    "compute": "compute einsum",
    "sequential": "sequential",
    "pipeline": "pipeline",
}
ALLOWED = {kind: frozenset(names.split()) for kind, names in FIELDS.items()}
DEEPEST_NESTING = 100
