# SPDX-License-Identifier: BSD-3-Clause
"""Problems for the tests of the engine."""

from __future__ import annotations

import copy
from typing import Any

__all__ = [
    *("chain", "convolution", "copied", "fused_chain", "gated", "matvec", "pe_array_gemm"),
    "replaced",
]

Problem = dict[str, Any]


def replaced(problem: Problem, path: tuple[str | int, ...], value: object) -> Problem:
    """Copy a problem with one part replaced."""
    changed = copy.deepcopy(problem)
    target: Any = changed
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return changed


def memory(name: str, size: float | str, tensors: dict[str, float], **more: Any) -> Problem:
    """A memory with an energy of 1 J for reads and 2 J for writes, one bit per action."""
    return {
        "component": name,
        "kind": "memory",
        "size": size,
        "actions": [
            {"name": "read", "energy": 1.0, "throughput": 1.0},
            {"name": "write", "energy": 2.0, "throughput": 1.0},
        ],
        "tensors": {
            tensor: {
                "bits_per_value": bits,
                "read_values_per_action": 1 / bits,
                "write_values_per_action": 1 / bits,
            }
            for tensor, bits in tensors.items()
        },
        **more,
    }


def compute(name: str = "MAC", **more: Any) -> Problem:
    """A compute with an energy of 1 J and one operation per second."""
    actions = [{"name": "compute", "energy": 1.0, "throughput": 1.0}]
    return {"component": name, "kind": "compute", "actions": actions, **more}


def matvec(mapping: list[Problem], *, m: int = 4, k: int = 2, bits: float = 1.0) -> Problem:
    """Z[m] = A[m, k] * B[k] on a main memory, a buffer GB and a MAC."""
    tensors = {"A": bits, "B": bits, "Z": bits}
    return {
        "format": "accelforge-problem",
        "version": 1,
        "einsums": [
            {
                "name": "Z",
                "variables": {"m": m, "k": k},
                "tensors": [
                    {"name": "A", "projection": ["m", "k"]},
                    {"name": "B", "projection": ["k"]},
                    {"name": "Z", "projection": ["m"], "output": True},
                ],
                "levels": [memory("MM", "inf", tensors), memory("GB", "inf", tensors), compute()],
            }
        ],
        "mapping": mapping,
    }


def chain(count: int, mapping: list[Problem], *, size: int = 4, gb: float | str = "inf") -> Problem:
    """T<i+1>[m, n<i+1>] = T<i>[m, n<i>] * W<i>[n<i>, n<i+1>], each Einsum named E<i>."""
    einsums = []
    for i in range(count):
        names = {f"T{i}": 1.0, f"W{i}": 1.0, f"T{i + 1}": 1.0}
        before, after = f"n{i}", f"n{i + 1}"
        einsums.append(
            {
                "name": f"E{i}",
                "variables": {"m": size, before: size, after: size},
                "tensors": [
                    {"name": f"T{i}", "projection": ["m", before]},
                    {"name": f"W{i}", "projection": [before, after]},
                    {"name": f"T{i + 1}", "projection": ["m", after], "output": True},
                ],
                "levels": [memory("MM", "inf", names), memory("GB", gb, names), compute()],
            }
        )
    return {
        "format": "accelforge-problem",
        "version": 1,
        "einsums": einsums,
        "mapping": mapping,
    }


def fused_chain(count: int, *, size: int = 4, tile: int = 2, gb: float | str = "inf") -> Problem:
    """A chain whose inner tensors are in GB, below a loop over m that all Einsums share."""
    inner = [f"T{i}" for i in range(1, count)]
    outer = ["T0", f"T{count}", *(f"W{i}" for i in range(count))]
    branches = []
    for i in range(count):
        own = [name for name in (f"T{i}", f"W{i}", f"T{i + 1}") if name in outer]
        loops = [{"temporal": variable, "tile": 1} for variable in ("m", f"n{i}", f"n{i + 1}")]
        leaf = {"compute": "MAC", "einsum": f"E{i}"}
        branches.append([{"hold": "GB", "tensors": own}, *loops, leaf])
    mapping = [
        {"hold": "MM", "tensors": outer},
        {"temporal": "m", "tile": tile},
        {"hold": "GB", "tensors": inner},
        {"sequential": branches},
    ]
    return chain(count, mapping, size=size, gb=gb)


def convolution(*, stride: int = 1, tile: int = 2, r_outermost: bool = False) -> Problem:
    """O[p] = I[stride * p + r] * W[r] with p < 8 and r < 3."""
    tensors = {"I": 1.0, "W": 1.0, "O": 1.0}
    outer: list[Problem] = [{"temporal": "p", "tile": tile}]
    if r_outermost:
        outer = [{"temporal": "r", "tile": 1}]
    inner = [{"temporal": variable, "tile": 1} for variable in ("p", "r")]
    return {
        "format": "accelforge-problem",
        "version": 1,
        "einsums": [
            {
                "name": "O",
                "variables": {"p": 8, "r": 3},
                "tensors": [
                    {"name": "I", "projection": [{"terms": {"p": stride, "r": 1}}]},
                    {"name": "W", "projection": ["r"]},
                    {"name": "O", "projection": ["p"], "output": True},
                ],
                "levels": [memory("MM", "inf", tensors), memory("GB", "inf", tensors), compute()],
            }
        ],
        "mapping": [
            {"hold": "MM", "tensors": ["I", "W", "O"]},
            *outer,
            {"hold": "GB", "tensors": ["I", "W", "O"]},
            *inner,
            {"compute": "MAC", "einsum": "O"},
        ],
    }


def copied(source: str = "MM", target: str = "GB") -> Problem:
    """B[m] = A[m], a copy of 8 values from one memory to another."""
    tensors = {"A": 1.0, "B": 1.0}
    return {
        "format": "accelforge-problem",
        "version": 1,
        "einsums": [
            {
                "name": "B",
                "is_copy_operation": True,
                "variables": {"m": 8},
                "tensors": [
                    {"name": "A", "projection": ["m"]},
                    {"name": "B", "projection": ["m"], "output": True},
                ],
                "levels": [memory("MM", "inf", tensors), memory("GB", "inf", tensors), compute()],
            }
        ],
        "mapping": [
            {"hold": source, "tensors": ["A"]},
            {"hold": target, "tensors": ["B"]},
            {"temporal": "m", "tile": 1},
            {"compute": "MAC", "einsum": "B"},
        ],
    }


def gated() -> Problem:
    """A matvec on 2 of 4 MACs, whose leakage is gated by the fan-out."""
    problem = matvec(
        [
            {"hold": "MM", "tensors": ["A", "B", "Z"]},
            {"spatial": "m", "tile": 2, "component": "MAC", "dim": "X"},
            {"temporal": "m", "tile": 1},
            {"temporal": "k", "tile": 1},
            {"compute": "MAC", "einsum": "Z"},
        ]
    )
    problem["components"] = [{"name": "MAC", "leak_power": 1.0, "instances": 4}]
    einsum = problem["einsums"][0]
    einsum["levels"][2]["spatial"] = [{"name": "X", "fanout": 4}]
    einsum["leaks"] = [{"component": "MAC", "gated_by": [["MAC", "X"]]}]
    return problem


def pe_array_gemm() -> Problem:
    """Z[m, n] = A[m, k] * B[k, n] of 64 x 32 x 48 bytes on a 4 x 4 array of PEs.

    A toll (the network) stands between the global buffer and the PEs; dimension Y of the array
    reuses nothing.
    """
    pj = 1e-12

    def costs(bits_per_action: float) -> Problem:
        values = bits_per_action / 8
        return {
            tensor: {
                "bits_per_value": 8,
                "read_values_per_action": values,
                "write_values_per_action": values,
            }
            for tensor in "ABZ"
        }

    def actions(read: float, write: float, throughput: float | str) -> list[Problem]:
        return [
            {"name": "read", "energy": read * pj, "throughput": throughput},
            {"name": "write", "energy": write * pj, "throughput": throughput},
        ]

    slowest = [
        *(["calls", "read"], ["throughput", "read"], "/"),
        *(["calls", "write"], ["throughput", "write"], "/", "max"),
    ]
    array = [
        {"name": "X", "fanout": 4},
        {"name": "Y", "fanout": 4, "may_reuse": []},
    ]
    levels = [
        {
            **{"component": "DRAM", "kind": "memory", "size": "inf"},
            **{"actions": actions(100, 120, 1e9), "tensors": costs(64)},
        },
        {
            **{"component": "GLB", "kind": "memory", "size": 64 * 1024 * 8},
            **{"actions": actions(10, 12, 1e9), "tensors": costs(32), "total_latency": slowest},
        },
        {
            **{"component": "NoC", "kind": "toll", "tensors": costs(8)},
            "actions": actions(1, 0, "inf")[:1],
        },
        {"component": "PE", "kind": "container", "spatial": array},
        {
            **{"component": "Reg", "kind": "memory", "size": 256 * 8},
            **{"actions": actions(0.1, 0.1, "inf"), "tensors": costs(8)},
        },
        {
            **{"component": "MAC", "kind": "compute"},
            "actions": [{"name": "compute", "energy": 0.5 * pj, "throughput": 1e9}],
        },
    ]
    everything = ["A", "B", "Z"]
    return {
        "format": "accelforge-problem",
        "version": 1,
        "components": [
            {"name": "DRAM", "leak_power": 0.01},
            {"name": "GLB", "leak_power": 0.001, "area": 1e-6},
            {"name": "NoC", "area": 1e-7},
            {"name": "Reg", "leak_power": 1e-6, "area": 1e-9, "instances": 16},
            {"name": "MAC", "leak_power": 1e-6, "area": 1e-9, "instances": 16},
        ],
        "einsums": [
            {
                "name": "Z",
                "variables": {"m": 64, "n": 32, "k": 48},
                "tensors": [
                    {"name": "A", "projection": ["m", "k"]},
                    {"name": "B", "projection": ["k", "n"]},
                    {"name": "Z", "projection": ["m", "n"], "output": True},
                ],
                "levels": levels,
            }
        ],
        "mapping": [
            {"hold": "DRAM", "tensors": everything},
            {"temporal": "m", "tile": 16},
            {"temporal": "k", "tile": 16},
            {"hold": "GLB", "tensors": everything},
            {"hold": "NoC", "tensors": everything},
            {"temporal": "n", "tile": 4},
            {"spatial": "m", "tile": 4, "component": "PE", "dim": "X"},
            {"spatial": "n", "tile": 1, "component": "PE", "dim": "Y"},
            {"hold": "Reg", "tensors": everything},
            {"temporal": "k", "tile": 1},
            {"temporal": "m", "tile": 1},
            {"compute": "MAC", "einsum": "Z"},
        ],
        "parameters": {"glb_bits": ["einsums[0].levels[1].size"]},
    }
