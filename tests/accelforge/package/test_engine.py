# SPDX-License-Identifier: BSD-3-Clause
"""One Einsum: counts, energies and latencies against numbers of the original, and corner cases."""

from __future__ import annotations

from typing import Any

import pytest

from accelforge._model import Result, evaluate
from tests.accelforge.package import problems

# accelforge 1.0.467 for the specification that problems.pe_array_gemm() states: reads and writes.
PE_ARRAY_ACTIONS = {
    ("Reg", "A"): (98304, 98304),
    ("Reg", "B"): (98304, 24576),
    ("Reg", "Z"): (102400, 102400),
    ("NoC", "A"): (98304, 0),
    ("NoC", "B"): (6144, 0),
    ("NoC", "Z"): (10240, 0),
    ("GLB", "A"): (24576, 768),
    ("GLB", "B"): (1536, 1536),
    ("GLB", "Z"): (2560, 2560),
    ("DRAM", "A"): (384, 0),
    ("DRAM", "B"): (768, 0),
    ("DRAM", "Z"): (512, 768),
}
PE_ARRAY_LATENCIES = {
    "DRAM": 2.431999973850907e-06,
    "GLB": 2.8672000553342514e-05,
    "NoC": 0.0,
    "Reg": 0.0,
    "MAC": 6.1440000536094885e-06,
}
PE_ARRAY_LEAKS = {
    "DRAM": 2.8671999530160974e-07,
    "GLB": 2.8671999885432342e-08,
    "NoC": 0.0,
    "Reg": 4.587520086030139e-10,
    "MAC": 4.587520086030139e-10,
}


def run(problem: dict[str, Any]) -> dict[tuple[str | None, ...], float]:
    result = evaluate(problem)
    assert result.valid, result.reason
    return result.as_dict()


def actions(problem: dict[str, Any], component: str) -> dict[str | None, tuple[float, float]]:
    """Reads and writes of each tensor."""
    found = run(problem)
    tensors = [key[3] for key in found if key[0] == "action" and key[2:5:2] == (component, "read")]
    return {
        tensor: tuple(found["action", "Z", component, tensor, name] for name in ("read", "write"))
        for tensor in tensors
    }


@pytest.fixture(scope="module")
def pe_array() -> Result:
    return evaluate(problems.pe_array_gemm())


def test_actions_of_the_original(pe_array: Result) -> None:
    found = pe_array.as_dict()
    for (component, tensor), counts in PE_ARRAY_ACTIONS.items():
        for action, count in zip(("read", "write"), counts, strict=True):
            assert found["action", "Z", component, tensor, action] == count
    assert found["action", "Z", "MAC", None, "compute"] == 98304


def test_energies_of_the_original(pe_array: Result) -> None:
    found = pe_array.as_dict()
    assert found["total", "energy"] == pytest.approx(1.1362262787287554e-06, rel=1e-6)
    for component, leak in PE_ARRAY_LEAKS.items():
        assert found["energy", "Z", component, None, "leak"] == pytest.approx(leak, rel=1e-6)
    assert found["energy", "Z", "DRAM", "Z", "write"] == pytest.approx(9.216e-08, rel=1e-6)
    assert found["energy", "Z", "GLB", "A", "read"] == pytest.approx(2.4576e-07, rel=1e-6)
    assert found["total", "dynamic_energy"] + found["total", "leak_energy"] == pytest.approx(
        found["total", "energy"]
    )


def test_latencies_of_the_original(pe_array: Result) -> None:
    found = pe_array.as_dict()
    for component, latency in PE_ARRAY_LATENCIES.items():
        assert found["latency", "Z", component] == pytest.approx(latency, rel=1e-6)
    assert found["latency_einsum", "Z"] == found["total", "latency"] == 2.8672e-05


def test_area_is_that_of_all_instances(pe_array: Result) -> None:
    found = pe_array.as_dict()
    assert found["area", "Reg"] == pytest.approx(16e-9)
    assert found["leak_power", "Reg"] == pytest.approx(16e-6)


# ---------------------------------------------------------------- tiles


def ragged(tile: int, m: int = 7) -> dict[str, Any]:
    nodes = [
        {"hold": "MM", "tensors": ["A", "B", "Z"]},
        {"temporal": "m", "tile": tile},
        {"hold": "GB", "tensors": ["A", "B", "Z"]},
        {"temporal": "m", "tile": 1},
        {"temporal": "k", "tile": 1},
        {"compute": "MAC", "einsum": "Z"},
    ]
    return problems.matvec(nodes, m=m, k=5)


def test_ragged_tiles_fetch_what_there_is_and_refetch_the_rest_for_each_tile() -> None:
    counts = actions(ragged(3), "MM")
    assert counts["A"] == (pytest.approx(35), 0)
    assert counts["B"] == (15, 0)


def test_a_tile_beyond_the_bound_counts_less_than_one_iteration() -> None:
    counts = actions(ragged(8), "MM")
    assert counts["A"] == (pytest.approx(35), 0)
    assert counts["B"] == (5, 0)


def test_occupancy_is_that_of_the_full_tile() -> None:
    found = run(problems.replaced(ragged(3), ("einsums", 0, "levels", 1, "size"), 100))
    # The reservation of A sinks into the loop over m, that of Z too: they are the last ones.
    assert found["usage_memory", "Z", "GB", "B"] == pytest.approx(5 / 100)
    assert found["usage_memory", "Z", "GB", "A"] == pytest.approx(15 / 100)


@pytest.mark.parametrize(
    ("order", "used"),
    [
        (["A", "B", "Z"], {"A": 8, "B": 2, "Z": 1}),
        # A sinks through both loops, which index it; Z stands above the storage node of A.
        (["B", "Z", "A"], {"A": 1, "B": 2, "Z": 4}),
    ],
    ids=["Z last", "A last"],
)
def test_only_the_last_name_sinks(order: list[str], used: dict[str, int]) -> None:
    problem = problems.matvec(
        [
            {"hold": "MM", "tensors": ["A", "B", "Z"]},
            {"hold": "GB", "tensors": order},
            {"temporal": "m", "tile": 1},
            {"temporal": "k", "tile": 1},
            {"compute": "MAC", "einsum": "Z"},
        ]
    )
    found = run(problems.replaced(problem, ("einsums", 0, "levels", 1, "size"), 100))
    for tensor, bits in used.items():
        assert found["usage_memory", "Z", "GB", tensor] * 100 == pytest.approx(bits)
