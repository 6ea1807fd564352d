# SPDX-License-Identifier: BSD-3-Clause
"""Corner cases, with the numbers that the original gives for them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from accelforge._model import ProblemError, evaluate
from tests.accelforge.package import problems

EVERYTHING = ["A", "B", "Z"]
INNER = [
    {"temporal": "m", "tile": 1},
    {"temporal": "k", "tile": 1},
    {"compute": "MAC", "einsum": "Z"},
]


def run(problem: dict[str, Any]) -> dict[tuple[str | None, ...], float]:
    result = evaluate(problem)
    assert result.valid, result.reason
    return result.as_dict()


def spatial(problem: dict[str, Any], level: int, **fields: Any) -> dict[str, Any]:
    """Give a level a fan-out in dimension X."""
    entry = [{"name": "X", **fields}]
    return problems.replaced(problem, ("einsums", 0, "levels", level, "spatial"), entry)


def ragged_array() -> dict[str, Any]:
    """5 rows on 2 MACs of 3 rows each."""
    problem = problems.matvec(
        [
            {"hold": "MM", "tensors": EVERYTHING},
            {"spatial": "m", "tile": 3, "component": "MAC", "dim": "X"},
            *INNER,
        ],
        m=5,
    )
    return spatial(problem, 2, fanout=2)


def test_a_ragged_fan_out_takes_the_time_of_the_full_tile() -> None:
    found = run(ragged_array())
    assert found["latency", "Z", "MAC"] == pytest.approx(3 * 2)
    assert found["action", "Z", "MAC", None, "compute"] == pytest.approx(10)
    assert found["usage_spatial", "Z", "MAC", "X"] == pytest.approx(5 / 6)


def reads_of_ragged_loops(*tiles: int) -> float:
    """Reads of B, which has 6 values, with loops over tiles of 5 rows of A."""
    loops = [{"temporal": "m", "tile": tile} for tile in tiles]
    found = run(problems.matvec([{"hold": "MM", "tensors": EVERYTHING}, *loops, *INNER], m=5))
    return found["action", "Z", "MM", "B", "read"]


def test_a_loop_of_one_iteration_around_ragged_tiles_changes_nothing() -> None:
    alone = reads_of_ragged_loops(3)
    assert alone == pytest.approx(6 * math.ceil(5 / 3))
    assert reads_of_ragged_loops(5, 3) == reads_of_ragged_loops(5, 5, 3) == alone
    # Once a loop has cut the rows, fractions count: ceil(5 / 4) * 4 / 3.
    assert reads_of_ragged_loops(4, 3) == pytest.approx(6 * 2 * 4 / 3)


def test_a_fan_out_that_reuses_nothing_is_fed_one_by_one() -> None:
    reusing = run(ragged_array())
    separate = run(spatial(ragged_array(), 2, fanout=2, may_reuse=[]))
    # B is the same in both instances: read once, or by each of ceil(5 / 3).
    assert separate["action", "Z", "MM", "B", "read"] == pytest.approx(
        2 * reusing["action", "Z", "MM", "B", "read"]
    )
    assert separate["action", "Z", "MM", "A", "read"] == pytest.approx(10)


@pytest.mark.parametrize(("stride", "reads"), [(1, 16), (2, 20)])
def test_halos_are_fetched_again(stride: int, reads: int) -> None:
    found = run(problems.convolution(stride=stride))
    assert found["action", "O", "MM", "I", "read"] == reads


def test_partial_sums_are_written_and_read_back() -> None:
    found = run(problems.convolution(r_outermost=True))
    assert found["action", "O", "MM", "O", "write"] == 24
    assert found["action", "O", "MM", "O", "read"] == 16


def test_a_variable_in_a_sum_counts_fractions_for_all_tensors() -> None:
    found = run(problems.convolution(tile=3))
    assert found["action", "O", "MM", "W", "read"] == pytest.approx(3 * 8 / 3)


def toll(direction: str) -> dict[str, Any]:
    """A matvec of 4 x 2 with k outermost, and a toll instead of the buffer."""
    problem = problems.matvec(
        [
            {"hold": "MM", "tensors": EVERYTHING},
            {"temporal": "k", "tile": 1},
            {"hold": "GB", "tensors": EVERYTHING},
            {"temporal": "m", "tile": 1},
            {"compute": "MAC", "einsum": "Z"},
        ]
    )
    level = problem["einsums"][0]["levels"][1]
    level["kind"] = "toll"
    for costs in level["tensors"].values():
        costs["direction"] = direction
    return problem


@pytest.mark.parametrize(
    ("direction", "charged"),
    [
        ("down", {"A": 8, "B": 8, "Z": 4}),
        ("up", {"A": 0, "B": 0, "Z": 8}),
        ("up_and_down", {"A": 8, "B": 8, "Z": 12}),
    ],
)
def test_a_toll_charges_its_directions(direction: str, charged: dict[str, int]) -> None:
    found = run(toll(direction))
    for tensor, reads in charged.items():
        assert found["action", "Z", "GB", tensor, "read"] == reads
        assert found["action", "Z", "GB", tensor, "write"] == 0


def test_first_partial_sums_are_read_if_asked_for() -> None:
    nodes = [{"hold": "MM", "tensors": EVERYTHING}, {"hold": "GB", "tensors": EVERYTHING}, *INNER]
    problem = problems.matvec(nodes, m=8, k=4)
    counts = []
    for skips in (True, False):
        changed = problems.replaced(
            problem, ("einsums", 0, "levels", 2, "skip_initial_output_write"), skips
        )
        counts.append(run(changed)["action", "Z", "GB", "Z", "read"])
    # 8 of 32 reads are skipped; 8 values go back to MM.
    assert counts == [32 - 8 + 8, 32 + 8]


def test_gates_divide_by_the_fan_out_twice() -> None:
    found = run(problems.gated())
    # 2 of 4 instances: a share of 0.5 / 4 of 4 W.
    assert found["energy", "Z", "MAC", None, "leak"] == pytest.approx(
        4 * 0.5 / 4 * found["total", "latency"]
    )


def test_bits_of_a_component_hold_there_only() -> None:
    nodes = [{"hold": "MM", "tensors": EVERYTHING}, {"hold": "GB", "tensors": EVERYTHING}, *INNER]
    problem = problems.matvec(nodes, m=4, k=2, bits=8)
    costs = {"bits_per_value": 4, "read_values_per_action": 0.25, "write_values_per_action": 0.25}
    found = run(problems.replaced(problem, ("einsums", 0, "levels", 0, "tensors", "A"), costs))
    assert found["action", "Z", "MM", "A", "read"] == 32
    assert found["action", "Z", "GB", "A", "write"] == 64


def test_tensors_may_be_missing_from_a_level() -> None:
    nodes = [{"hold": "MM", "tensors": EVERYTHING}, {"hold": "GB", "tensors": ["Z", "Q"]}, *INNER]
    found = run(problems.matvec(nodes))
    assert found["action", "Z", "MM", "A", "read"] == 8
    assert ("action", "Z", "GB", "A", "read") not in found


def test_traffic_of_copies_goes_between_the_outermost_holders() -> None:
    found = run(problems.copied("MM", "GB"))
    assert found["action", "B", "MM", "A", "read"] == 8
    assert found["action", "B", "GB", "A", "write"] == 8
    assert found["action", "B", "MM", "A", "write"] == 0
    assert found["action", "B", "MAC", None, "compute"] == 0


def test_a_copy_within_a_memory_is_free() -> None:
    found = run(problems.copied("MM", "MM"))
    assert found["total", "energy"] == 0
    assert found["total", "latency"] == 0


def test_instances_multiply_actions_and_time() -> None:
    once = run(problems.pe_array_gemm())
    problem = problems.replaced(problems.pe_array_gemm(), ("n_instances",), 3)
    problem["einsums"][0]["n_instances"] = 2
    many = run(problem)
    for column in once:
        factor = 6 if column[0] in ("total", "action", "energy", "latency", "latency_einsum") else 1
        if column == ("total", "energy_delay_product"):
            factor = 36
        assert many[column] == pytest.approx(factor * once[column])


def test_persistent_tensors_are_held_for_all_instances() -> None:
    nodes = [
        {"hold": "MM", "tensors": ["A", "Z"]},
        {"hold": "GB", "tensors": ["B"], "persistent": True},
        *INNER,
    ]
    problem = problems.replaced(problems.matvec(nodes), ("einsums", 0, "levels", 1, "size"), 100)
    assert run(problem)["reservation", "GB"] == pytest.approx(2 / 100)
    assert run({**problem, "n_instances": 5})["reservation", "GB"] == pytest.approx(10 / 100)


# ---------------------------------------------------------------- fused Einsums


def test_einsums_that_are_not_fused_take_turns() -> None:
    nodes = [
        {"hold": "MM", "tensors": ["T0", "T1", "T2", "T3", "W0", "W1", "W2"]},
        {
            "sequential": [
                [
                    {"hold": "GB", "tensors": [f"W{i}"]},
                    *({"temporal": v, "tile": 1} for v in ("m", f"n{i}", f"n{i + 1}")),
                    {"compute": "MAC", "einsum": f"E{i}"},
                ]
                for i in range(3)
            ]
        },
    ]
    found = run(problems.chain(3, nodes, gb=100))
    assert found["reservation", "GB"] == pytest.approx(16 / 100)


def test_fused_einsums_hold_what_they_share_once() -> None:
    found = run(problems.fused_chain(3, gb=100))
    # The middle Einsum holds T1, T2 (2 x 4 each) and W1.
    assert found["reservation", "GB"] == pytest.approx((8 + 8 + 16) / 100)
    # Inner tensors never reach the main memory.
    assert ("action", "E1", "MM", "T1", "read") not in found


def test_what_fused_einsums_hold_together_must_fit() -> None:
    # W0 is above the shared loop: it stays while E1 holds T1, W1 and one value of T2.
    problem = problems.fused_chain(2, gb=16 + 8 + 16 + 1 - 1)
    problem["mapping"].insert(1, {"hold": "GB", "tensors": ["W0"]})
    branch = problem["mapping"][-1]["sequential"][0]
    branch[0] = {"hold": "GB", "tensors": ["T0"]}
    result = evaluate(problem)
    assert not result.valid
    assert result.failure is not None
    assert result.failure.status == "joint_capacity_exceeded"
    assert "GB" in result.reason


def test_shared_tensors_must_be_held_alike() -> None:
    problem = problems.fused_chain(2)
    for i, memory in ((0, "GB"), (1, "MM")):
        branch = problem["mapping"][-1]["sequential"][i]
        branch.insert(0, {"hold": memory, "tensors": ["T1"]})
    del problem["mapping"][2]
    with pytest.raises(ProblemError, match="share a tensor"):
        evaluate(problem)


# ---------------------------------------------------------------- batches


def test_rows_of_a_batch_are_single_evaluations() -> None:
    from accelforge._model import Model

    model = Model(problems.pe_array_gemm())
    tiles = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0]
    sizes = [1e6, 1e6, 1e6, 100.0, 1e6, 1e6, 1e6]
    batch = model.evaluate_batch({"mapping[1].tile": tiles, "glb_bits": sizes}, threads=2)
    for row, (tile, size) in enumerate(zip(tiles, sizes, strict=True)):
        if tile == 0:
            assert batch.failure(row).status == "bad_number"  # type: ignore[union-attr]
            continue
        single = model.evaluate({"mapping[1].tile": tile}, glb_bits=size)
        assert single.valid == batch.valid[row]
        assert single.failure == batch.failure(row)
        assert list(single.values) == pytest.approx(list(batch.values[row]), nan_ok=True, abs=0)
    energy = batch.column("total", "energy")
    assert len(energy) == len(batch) == 7


def test_a_batch_may_select_columns() -> None:
    from accelforge._model import Model

    model = Model(problems.pe_array_gemm())
    columns = [("total", "latency"), ("action", "Z", "GLB", "A", "read")]
    batch = model.evaluate_batch({"mapping[1].tile": [16, 32]}, columns=columns)
    assert batch.columns == columns
    assert batch.values[0].tolist() == pytest.approx([2.8672e-5, 24576])
    assert model.evaluate_batch({}).values.shape == (1, len(model.columns))
    assert len(model.evaluate_batch({"mapping[1].tile": []})) == 0


@pytest.mark.parametrize(
    ("series", "error"),
    [
        ({"mapping[1].tile": [1, 2], "glb_bits": [1]}, ValueError),
        ({"mapping[1].colour": [1]}, ProblemError),
        ({"einsums[0].tensors[0].projection[0].terms.m": [1]}, ProblemError),
        ({"mapping[1].tile": [[1]]}, ValueError),
        ({"mapping[1].tile": ["x"]}, ValueError),
    ],
)
def test_bad_series_are_refused(series: dict[str, Any], error: type[Exception]) -> None:
    from accelforge._model import Model

    with pytest.raises(error):
        Model(problems.pe_array_gemm()).evaluate_batch(series)


def test_initial_tiles_that_do_not_count_are_ignored() -> None:
    problem = problems.convolution()
    plain = run(problem)
    for loop in (1, 3, 4):
        problem["mapping"][loop]["initial"] = 1
    assert run(problem) == plain
    fused = problems.fused_chain(2)
    fused["mapping"][1]["initial"] = 1
    assert run(fused) == run(problems.fused_chain(2))


def test_initial_tiles_of_sliding_windows_are_refused() -> None:
    problem = problems.fused_chain(2)
    # T1 is indexed by m + n0 in the second Einsum.
    problem["einsums"][1]["tensors"][0]["projection"] = [{"terms": {"m": 1, "n1": 1}}]
    problem["einsums"][0]["tensors"][2]["projection"] = [{"terms": {"m": 1, "n1": 1}}]
    run(problem)
    problem["mapping"][1]["initial"] = 1
    with pytest.raises(ProblemError, match="initial tile"):
        evaluate(problem)


@pytest.mark.parametrize(("m", "k"), [(2, 18), (3, 4), (7, 8)])
def test_a_memory_may_be_exactly_full(m: int, k: int) -> None:
    """Shares that add up to one may be above it by rounding: 36/56 + 18/56 + 2/56 is."""
    mapping = [
        {"hold": "MM", "tensors": EVERYTHING},
        {"hold": "GB", "tensors": EVERYTHING},
        *reversed(INNER[:2]),
        INNER[2],
    ]
    problem = problems.matvec(mapping, m=m, k=k)
    full = m * k + k + m
    for size, fits in ((full, True), (full - 1, False)):
        sized = problems.replaced(problem, ("einsums", 0, "levels", 1, "size"), size)
        assert evaluate(sized).valid == fits, (m, k, size)
