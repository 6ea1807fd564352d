# SPDX-License-Identifier: BSD-3-Clause
"""Mapspaces for the tests of the search."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

from tests.accelforge.package.problems import compute, memory

__all__ = ["Mapspace", "gemm", "matvec", "placements"]

Mapspace = dict[str, Any]


def subsets(names: list[str]) -> list[tuple[str, ...]]:
    """List all subsets."""
    return list(chain.from_iterable(combinations(names, n) for n in range(len(names) + 1)))


def placements(levels: list[tuple[str, list[str], list[str]]]) -> list[dict[str, Any]]:
    """List what components may hold: (name, must keep, may keep) from the top."""
    found: list[list[dict[str, Any]]] = [[]]
    for name, must, may in levels:
        grown = []
        for above in found:
            seen = {holder["tensor"] for holder in above}
            for chosen in subsets(may):
                tensors = sorted({*must, *chosen})
                grown.append(
                    above
                    + [
                        {
                            "component": name,
                            "tensor": tensor,
                            "backing": tensor not in seen,
                            "persistent": False,
                            "must_keep": tensor in must,
                        }
                        for tensor in tensors
                    ]
                )
        found = grown
    return [{"holders": holders} for holders in found]


def space(problem: dict[str, Any], places: list[dict[str, Any]], **more: Any) -> Mapspace:
    """Put a mapspace together."""
    return {
        "problem": problem,
        "metrics": ["energy", "latency"],
        "shared": [],
        "intermediate": [],
        "placements": places,
        "unforced": [],
        "mapper": {},
        **more,
    }


def problem_of(
    variables: dict[str, int], tensors: list[dict[str, Any]], levels: list[dict[str, Any]]
) -> dict[str, Any]:
    """Make a problem of one Einsum without a mapping."""
    return {
        "format": "accelforge-problem",
        "version": 1,
        "components": [],
        "einsums": [{"name": "E", "variables": variables, "tensors": tensors, "levels": levels}],
        "mapping": [],
    }


def matvec(m: int = 4, k: int = 4, size: float = 8, **more: Any) -> Mapspace:
    """Z[m] = A[m, k] * B[k]; DRAM keeps all, a buffer what it likes."""
    bits = {"A": 1.0, "B": 1.0, "Z": 2.0}
    tensors = [
        {"name": "A", "projection": ["m", "k"]},
        {"name": "B", "projection": ["k"]},
        {"name": "Z", "projection": ["m"], "output": True},
    ]
    dram = memory("DRAM", "inf", bits)
    dram["actions"][0].update(energy=9.0, throughput=0.7)
    levels = [dram, memory("GB", size, bits), compute()]
    names = sorted(bits)
    return space(
        problem_of({"m": m, "k": k}, tensors, levels),
        placements([("DRAM", names, []), ("GB", [], names)]),
        **more,
    )


def gemm(sizes: dict[str, int], glb: float = 64, registers: float = 8, **more: Any) -> Mapspace:
    """Z[m, n] = A[m, k] * B[k, n] on DRAM, a buffer, a fan-out of 2 x 2 with a toll, registers."""
    bits = {"A": 1.0, "B": 2.0, "Z": 1.0}
    tensors = [
        {"name": "A", "projection": ["m", "k"]},
        {"name": "B", "projection": ["k", "n"]},
        {"name": "Z", "projection": ["m", "n"], "output": True},
    ]
    dram = memory("DRAM", "inf", bits)
    dram["actions"][0].update(energy=20.0, throughput=0.5)
    buffer = memory("GB", glb, bits)
    buffer["actions"][1]["throughput"] = 2.0
    buffer["total_latency"] = [
        *(["calls", "read"], ["throughput", "read"], "/"),
        *(["calls", "write"], ["throughput", "write"], "/", "max"),
    ]
    toll = {
        "component": "NoC",
        "kind": "toll",
        "actions": [{"name": "read", "energy": 0.5, "throughput": "inf"}],
        "tensors": {name: {"bits_per_value": 1} for name in bits},
    }
    fan_out = {
        "component": "PE",
        "kind": "container",
        "spatial": [
            {"name": "X", "fanout": 2},
            {"name": "Y", "fanout": 2, "may_reuse": []},
        ],
    }
    levels = [dram, buffer, toll, fan_out, memory("Reg", registers, bits), compute()]
    names = sorted(bits)
    return space(
        problem_of(sizes, tensors, levels),
        placements(
            [("DRAM", names, []), ("GB", [], names), ("NoC", names, []), ("Reg", names, [])]
        ),
        **more,
    )


def convolution(p: int = 4, r: int = 2, c: int = 2, size: float = 20, **more: Any) -> Mapspace:
    """O[p] = I[c, p + r] * F[c, r]: partly relevant variables."""
    bits = {"I": 1.0, "F": 1.0, "O": 1.0}
    window = {"terms": {"p": 1, "r": 1}}
    tensors = [
        {"name": "I", "projection": ["c", window]},
        {"name": "F", "projection": ["c", "r"]},
        {"name": "O", "projection": ["p"], "output": True},
    ]
    dram = memory("DRAM", "inf", bits)
    dram["actions"][0]["energy"] = 5.0
    levels = [
        dram,
        memory("GB", size, bits),
        memory("Reg", 4, bits, spatial=[{"name": "X", "fanout": 2}]),
        compute(),
    ]
    names = sorted(bits)
    return space(
        problem_of({"p": p, "r": r, "c": c}, tensors, levels),
        placements([("DRAM", names, []), ("GB", [], names), ("Reg", ["F"], ["I"])]),
        **more,
    )
