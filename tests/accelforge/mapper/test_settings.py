# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the mapper give latencies and energies that AccelForge gives, too."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

import accelforge as af

Front = list[tuple[float, float]]
INF = float("inf")
OUTSIDE = {"keep": "~Intermediates", "may_keep": "All"}


def memory(name: str, size: float, energy: float, rate: float, **tensors: Any) -> af.arch.Memory:
    actions = [{"name": n, "energy": energy, "throughput": rate} for n in ("read", "write")]
    return af.arch.Memory(
        name=name, size=size, tensors=tensors, actions=actions, leak_power=0, area=0
    )


def mac(name: str = "MAC", energy: float = 1) -> af.arch.Compute:
    actions = [{"name": "compute", "energy": energy, "throughput": 1}]
    return af.arch.Compute(name=name, actions=actions, leak_power=0, area=0)


def main(**tensors: Any) -> af.arch.Memory:
    return memory("Main", INF, 10, 1, **(tensors or OUTSIDE))


def buffer(size: float, energy: float = 1, **tensors: Any) -> af.arch.Memory:
    return memory("Buf", size, energy, 2, **(tensors or {"keep": "~Main", "may_keep": "All"}))


def registers(size: float, **tensors: Any) -> af.arch.Memory:
    return memory("Reg", size, 1, 2, **(tensors or {"may_keep": "All"}))


def fan_out(**fields: Any) -> af.arch.Container:
    return af.arch.Container(name="PE", spatial=[{"name": "X", "fanout": 4, **fields}])


def matmuls(m: int, *sizes: int, persistent: bool = False) -> af.Workload:
    """Return a chain of matrix products."""
    return af.Workload(
        iteration_space_shape={
            "m": f"0 <= m < {m}",
            **{f"n{i}": f"0 <= n{i} < {size}" for i, size in enumerate(sizes)},
        },
        bits_per_value={"All": 8},
        einsums=[
            {
                "name": f"E{i}",
                "tensor_accesses": [
                    {"name": f"T{i}", "projection": ["m", f"n{i}"]},
                    {
                        "name": f"W{i}",
                        "projection": [f"n{i}", f"n{i + 1}"],
                        "persistent": persistent,
                    },
                    {"name": f"T{i + 1}", "projection": ["m", f"n{i + 1}"], "output": True},
                ],
            }
            for i in range(len(sizes) - 1)
        ],
    )


def copied() -> af.Workload:
    """Return a matrix product of a copy."""
    shape = {"m": "0 <= m < 8", "n0": "0 <= n0 < 4", "n1": "0 <= n1 < 4"}
    copy = {
        "name": "C",
        "tensor_accesses": [
            {"name": "I", "projection": ["m", "n0"]},
            {"name": "T0", "projection": ["m", "n0"], "output": True},
        ],
        "is_copy_operation": True,
    }
    product = {
        "name": "E0",
        "tensor_accesses": [
            {"name": "T0", "projection": ["m", "n0"]},
            {"name": "W0", "projection": ["n0", "n1"]},
            {"name": "T1", "projection": ["m", "n1"], "output": True},
        ],
    }
    return af.Workload(
        iteration_space_shape=shape, bits_per_value={"All": 8}, einsums=[copy, product]
    )


def found(nodes: list[Any], workload: af.Workload, metrics: af.Metrics, **settings: Any) -> Front:
    """Map, and return latency and energy."""
    given = af.Spec(arch=af.Arch(nodes=nodes), workload=workload)
    given.mapper.metrics = metrics
    for name, value in settings.items():
        setattr(given.mapper, name, value)
    table = given.map_workload_to_arch(print_progress=False)._table()
    return sorted(zip(table["Total<SEP>latency"], table["Total<SEP>energy"], strict=True))


def fork(*nodes: Any) -> list[Any]:
    return [main(), buffer(256), af.arch.Fork(nodes=list(nodes)), mac("M2")]


IMPERFECT_LOOPS = {"explore_imperfect_temporal_loops": True}
IMPERFECT_SPATIAL = {"explore_imperfect_spatial_loops": True}
ANY_ORDER = {"force_memory_hierarchy_order": False}
BOUND = {"expression": "~m", "operator": "==", "value": 1}
CASES: dict[str, tuple[list[Any], af.Workload, dict[str, Any], Front]] = {
    "no setting": (
        [main(), buffer(256), mac()],
        matmuls(4, 4, 4, 4),
        {},
        [(1536, 16000), (1856, 12800), (2176, 9600)],
    ),
    "bounds of loops of two Einsums": (
        [main(), buffer(256), fan_out(loop_bounds=[BOUND]), mac()],
        matmuls(8, 4, 4, 4),
        {},
        [(2752, 24960), (2816, 23040), (3072, 16640)],
    ),
    "no reuse across a fan-out": (
        [main(), buffer(256), fan_out(may_reuse="Nothing"), mac()],
        matmuls(8, 8, 8),
        {},
        [(5632, 62976), (8704, 48640), (8960, 44032)],
    ),
    "one tensor is reused across a fan-out": (
        [main(), buffer(256), fan_out(reuse="W0"), mac()],
        matmuls(8, 8, 8),
        {},
        [(5120, 61440), (6400, 44032), (6656, 39424)],
    ),
    "imperfect temporal loops": (
        [main(), buffer(120), mac()],
        matmuls(7, 5, 7),
        IMPERFECT_LOOPS,
        [(3080, 32725), (4760, 27685)],
    ),
    "imperfect temporal loops of two Einsums": (
        [main(), buffer(90), mac()],
        matmuls(5, 3, 3, 3),
        IMPERFECT_LOOPS,
        [(1080, 11850), (1416, 11778), (1728, 10266)],
    ),
    "imperfect spatial loops": (
        [main(), buffer(256), fan_out(), mac()],
        matmuls(7, 7, 5),
        IMPERFECT_SPATIAL,
        [(2240, 22085), (2296, 19957), (3080, 19845), (3136, 18837)],
    ),
    "coarse tiles": (
        [main(), buffer(100), mac()],
        matmuls(8, 12, 8),
        {"tiling_coarseness": 2},
        [(9600, 94208), (14592, 81152)],
    ),
    "coarser tiles": (
        [main(), buffer(100), mac()],
        matmuls(8, 12, 8),
        {"tiling_coarseness": 3},
        [(9600, 94208)],
    ),
    "coarse imperfect tiles": (
        [main(), buffer(100), mac()],
        matmuls(7, 9, 7),
        {"tiling_coarseness": 1.5, **IMPERFECT_LOOPS},
        [(5544, 55769), (9072, 52745)],
    ),
    "a copy": (
        [main(), buffer(100), mac()],
        copied(),
        {},
        [(1600, 17408), (2368, 13824)],
    ),
    "a copy, and a fan-out that must be used": (
        [main(), buffer(256), fan_out(min_usage=1), mac()],
        copied(),
        {},
        [(1088, 11264), (1216, 8960)],
    ),
    "persistent tensors without room": (
        [main(keep="T0|T2", may_keep="W0|W1"), buffer(200), mac()],
        matmuls(4, 4, 4, 4, persistent=True),
        {},
        [(1472, 14592), (1792, 11392), (2176, 9600)],
    ),
    "persistent tensors with room": (
        [main(keep="T0|T2", may_keep="W0|W1"), buffer(300), mac()],
        matmuls(4, 4, 4, 4, persistent=True),
        {},
        [(1472, 14592), (1728, 9984), (2048, 6784)],
    ),
    "persistent tensors that must be kept below": (
        [main(keep="T0|T2"), buffer(384), mac()],
        matmuls(4, 4, 4, 4, persistent=True),
        {},
        [(1600, 16640), (1728, 9984), (2048, 6784)],
    ),
    "loops in one order": (
        [main(), buffer(60), mac()],
        matmuls(8, 8, 8),
        {"explore_loop_orders": False},
        [(6656, 70144), (10240, 67072)],
    ),
    "two fused loops of a variable": (
        [main(), buffer(100, 3), registers(24), mac()],
        matmuls(4, 4, 4, 4),
        {"max_fused_loops_per_rank_variable": 2},
        [(1280, 18560), (1344, 16768), (1600, 15232)],
    ),
    "any order of memories": (
        [main(), buffer(100, 3, keep="All"), registers(24, keep="All"), mac()],
        matmuls(4, 4, 4),
        ANY_ORDER,
        [(1536, 16576), (1664, 14272)],
    ),
    "any order of some memories": (
        [
            main(),
            buffer(40, 3, may_keep="All", force_memory_hierarchy_order=False),
            registers(16, may_keep="All", force_memory_hierarchy_order=False),
            mac(),
        ],
        matmuls(4, 8, 8),
        {},
        [(2816, 43264), (3072, 42496)],
    ),
    "a fork": (
        fork(mac("M1", 0.5)),
        matmuls(8, 4, 4),
        {},
        [(1600, 17344), (2240, 10944)],
    ),
    "a fork with a fan-out": (
        fork(fan_out(), mac("M1", 5)),
        matmuls(4, 4, 4, 4),
        {},
        [(1024, 10368), (1088, 9216), (1280, 8320)],
    ),
    "a fork with a memory": (
        fork(memory("Reg", 24, 0.1, 2, keep="All"), mac("M1", 5)),
        matmuls(4, 4, 4, 4),
        {},
        [(1536, 16000), (1856, 12800), (2176, 9600), (2624, 9139.2), (3264, 9100.8)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_front_is_that_of_the_original(name: str) -> None:
    nodes, workload, settings, expected = CASES[name]
    front = found(nodes, workload, af.Metrics.ENERGY | af.Metrics.LATENCY, **settings)
    assert len(front) == len(expected)
    for mine, theirs in zip(front, expected, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "energy"),
    [
        ({"objective_tolerance": 0.1}, 24832),
        ({"objective_tolerance": 1}, 32000),
        ({"resource_usage_tolerance": 0.1}, 24832),
        ({"resource_usage_tolerance": 0.5}, 24832),
    ],
)
def test_tolerances(settings: dict[str, float], energy: float) -> None:
    front = found([main(), buffer(100), mac()], matmuls(8, 4, 4, 4), af.Metrics.ENERGY, **settings)
    assert min(row[1] for row in front) == pytest.approx(energy)
