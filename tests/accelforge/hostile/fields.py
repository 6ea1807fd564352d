# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501 - a file in one line is easier to read than one in three.
"""Specifications whose fields are made to harm, by name."""

from __future__ import annotations

from tests.accelforge.hostile.files import Texts

__all__ = ["FIELDS"]

FIELDS: Texts = {
    "many-long-expressions": lambda: (
        "variables:\n" + "\n".join(f"  v{i}: [0{',1' * 1000}][{i}]" for i in range(3_000))
    ),
    "chained-variables": lambda: (
        "variables:\n  v0: 1\n" + "\n".join(f"  v{i}: v{i - 1} + 1" for i in range(1, 20_000))
    ),
    "chained-variables-backwards": lambda: (
        "variables:\n"
        + "\n".join(f"  v{i}: v{i - 1} + 1" for i in range(20_000, 0, -1))
        + "\n  v0: 1"
    ),
    "variables-in-a-circle": lambda: (
        "variables:\n" + "\n".join(f"  v{i}: v{(i + 1) % 20_000} + 1" for i in range(20_000))
    ),
    "variables-that-double": lambda: (
        "variables:\n  v0: '[1]'\n  v1: '[1, 2]'\n"
        + "\n".join(f"  v{i}: v{i - 1} + v{i - 1}" for i in range(2, 60))
    ),
    "variables-that-nest": lambda: (
        "variables:\n  v1: list(range(2))\n"
        + "\n".join(f"  v{i}: '[v{i - 1}, v{i - 1}]'" for i in range(2, 60))
    ),
    "many-variables": lambda: "variables:\n" + "\n".join(f"  v{i}: {i}" for i in range(200_000)),
    "many-heavy-variables": lambda: (
        "variables:\n" + "\n".join(f"  v{i}: sum(range({500_000 + i}))" for i in range(1_000))
    ),
    "many-einsums": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  rank_sizes: {M: 8}\n  einsums:\n"
        + "\n".join(f"  - Z{i}[m] = A{i}[m]" for i in range(50_000))
    ),
    "einsums-that-read-all": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  rank_sizes: {M: 8}\n  einsums:\n"
        + "\n".join(
            f"  - Z{i}[m] = " + " * ".join(f"A{j}[m]" for j in range(100)) for i in range(500)
        )
    ),
    "a-long-einsum": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  rank_sizes: {M: 8}\n  einsums:\n  - Z[m] = "
        + " * ".join(f"A{j}[m]" for j in range(100_000))
    ),
    "an-open-einsum": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  einsums:\n  - Z[" + "m, " * 500_000
    ),
    "an-einsum-of-spaces": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  einsums:\n  - 'Z[m] = A" + " " * 500_000 + "'"
    ),
    "a-projection-of-spaces": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  einsums:\n  - 'Z[m] = A[M:" + " " * 100_000 + "m'"
    ),
    "many-ranks": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  einsums:\n  - Z["
        + ", ".join(f"m{i}" for i in range(20_000))
        + "] = A[m0]\n"
    ),
    "many-rank-sizes": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  rank_sizes:\n"
        + "\n".join(f"    M{i}: {i + 1}" for i in range(100_000))
    ),
    "many-conditions": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  rank_sizes: {M: 8}\n  iteration_space_shape:\n"
        + "\n".join(f"    m{i}: 0 <= m{i} < m{i + 1}" for i in range(3_000))
        + "\n  einsums:\n  - Z[m0] = A[m0]"
    ),
    "a-long-condition": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  rank_sizes: {M: 8}\n  iteration_space_shape:\n    m: 0 <= m"
        + " + m" * 100_000
        + "\n  einsums:\n  - Z[m] = A[m]"
    ),
    "conditions-that-cut": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  rank_sizes: {M: 2000, N: 2000}\n"
        "  einsums:\n  - {name: Z, tensor_accesses: [{name: Z, projection: [m, n], output: true}],"
        " iteration_space_shape: ['m <= n']}"
    ),
    "an-index-with-gaps": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  rank_sizes: {M: 2000, N: 2000}\n"
        "  einsums:\n  - 'Z[M: 2*m, N: 2*n] = A[X: 7*m + 30000*n] * B[M: m, N: n]'"
    ),
    "a-size-of-two-to-62": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  rank_sizes: {M: 2**62}\n  einsums:\n  - Z[m] = A[m]"
    ),
    "a-size-of-nines": lambda: (
        "workload:\n  bits_per_value: {All: 8}\n  rank_sizes: {M: "
        + "9" * 900
        + "}\n  einsums:\n  - Z[m] = A[m]"
    ),
    "many-nodes": lambda: (
        "arch:\n  nodes:\n"
        + "\n".join(f"  - !Memory {{name: X{i}, size: 3}}" for i in range(50_000))
    ),
    "nodes-of-one-name": lambda: "arch:\n  nodes:\n" + "  - !Memory {name: X, size: 3}\n" * 20_000,
    "nested-nodes": lambda: "arch:\n  nodes: " + "[!Hierarchical {nodes: " * 45 + "[]" + "}]" * 45,
    "nested-mapping": lambda: (
        "mapping:\n  nodes: " + "[!Sequential {nodes: " * 45 + "[]" + "}]" * 45
    ),
    "long-set-expressions": lambda: (
        "workload:\n  rank_sizes: {M: 8}\n  einsums:\n"
        + "\n".join(f"  - Z{i}[m] = A{i}[m]" for i in range(300))
        + "\n  bits_per_value: {'"
        + " | ".join(f"~Z{i % 300}" for i in range(2_000))
        + "': 8}"
    ),
    "many-set-keys": lambda: (
        "workload:\n  rank_sizes: {M: 8}\n  einsums:\n  - Z[m] = A[m]\n"
        "  bits_per_value: {All: 8, "
        + ", ".join(f"(Nothing, {i})[0]: 8" for i in range(20_000))
        + "}"
    ),
    "many-renames": lambda: (
        "renames:\n  einsums:\n"
        + "\n".join(f"  - {{name: E{i}, tensor_accesses: {{x: All}}}}" for i in range(20_000))
    ),
    "a-python-file": lambda: (
        "config: {expression_custom_functions: [bomb.py]}\nvariables: {x: 1 + 1}"
    ),
    "a-plot-of-one-key": lambda: (
        "arch:\n  nodes:\n  - !Memory {name: X, size: 3, "
        + ", ".join(f"k{i}: 1" for i in range(10_000))
        + "}"
    ),
}
