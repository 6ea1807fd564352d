# SPDX-License-Identifier: BSD-3-Clause
"""Input of the search of one Einsum."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

import accelforge as af
from accelforge._problem.mapspace import flatten_mapspace
from accelforge.mapper.FFM.canonical import with_plain_names
from accelforge.mapper.FFM.mapspace import list_mapspaces, objectives_of
from tests.accelforge.mapper.small import mac, memory, spec, toll


def held(placement: dict[str, Any]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for holder in placement["holders"]:
        result.setdefault(holder["component"], []).append(holder["tensor"])
    return result


def kept(given: af.Spec, einsum: int = 0) -> list[dict[str, list[str]]]:
    return [held(p) for p in list_mapspaces(given)[einsum].mapspace["placements"]]


# --- what is kept where ---------------------------------------------------------------------------


def test_may_keep_gives_every_subset() -> None:
    given = spec(memory("Main", keep="All"), memory("Buffer", may_keep="All"), mac())
    assert kept(given) == [
        {"Main": ["A", "Z"]},
        {"Main": ["A", "Z"], "Buffer": ["A"]},
        {"Main": ["A", "Z"], "Buffer": ["Z"]},
        {"Main": ["A", "Z"], "Buffer": ["A", "Z"]},
    ]


def test_keep_can_name_what_a_memory_above_holds() -> None:
    given = spec(memory("Main", keep="A", may_keep="Z"), memory("Buffer", keep="~Main"), mac())
    assert kept(given) == [{"Main": ["A"], "Buffer": ["Z"]}, {"Main": ["A", "Z"]}]


@pytest.mark.parametrize("name", ["Main.tensors", "Main.tensors()", "Main()", "Above"])
def test_other_names_of_what_is_held_above(name: str) -> None:
    given = spec(memory("Main", keep="A", may_keep="Z"), memory("Buffer", keep=f"~{name}"), mac())
    assert kept(given) == [{"Main": ["A"], "Buffer": ["Z"]}, {"Main": ["A", "Z"]}]


def test_a_component_that_is_not_enabled_holds_nothing() -> None:
    middle = memory("Middle", keep="All")
    middle.enabled = "len(All) == 3"
    given = spec(memory("Main", keep="All"), middle, memory("Buffer", keep="Middle"), mac())
    assert kept(given) == [{"Main": ["A", "Z"]}]


def test_enabled_can_depend_on_what_is_held_above() -> None:
    middle = memory("Middle", keep="All")
    middle.enabled = "len(Above) == 1"
    given = spec(
        memory("Main", keep="A", may_keep="Z"), middle, memory("Buffer", keep="~Above"), mac()
    )
    assert kept(given) == [{"Main": ["A"], "Middle": ["A", "Z"]}, {"Main": ["A", "Z"]}]


def test_back_is_only_the_outermost_holder() -> None:
    given = spec(
        memory("Main", keep="A", may_keep="Z"), memory("Buffer", keep="Nothing", back="Z"), mac()
    )
    assert kept(given) == [{"Main": ["A"], "Buffer": ["Z"]}]


def test_a_toll_holds_only_what_a_memory_above_holds() -> None:
    given = spec(
        memory("Main", keep="A"), toll("Link", keep="All"), memory("Buffer", keep="Z"), mac()
    )
    assert kept(given) == [{"Main": ["A"], "Link": ["A"], "Buffer": ["Z"]}]


def test_copies_are_kept_nowhere_twice() -> None:
    copy = {"einsum": "Z[m] = A[m]", "is_copy_operation": True}
    given = spec(
        memory("Main", keep="All"),
        memory("Buffer", may_keep="All"),
        mac(),
        einsums=[copy],
        rank_sizes={"M": 4},
    )
    assert kept(given) == [{"Main": ["A", "Z"]}]


def test_holders_say_what_they_are() -> None:
    given = spec(
        memory("Main", keep="A"),
        memory("Buffer", keep="Z", may_keep="A"),
        mac(),
        persistent_tensors="A | Z",
    )
    holders = list_mapspaces(given)[0].mapspace["placements"][1]["holders"]
    assert [tuple(holder.values()) for holder in holders] == [
        ("Main", "A", True, True, True),
        ("Buffer", "A", False, False, False),
        ("Buffer", "Z", True, True, True),
    ]


def test_placements_share_holders_which_changes_nothing() -> None:
    given = spec(memory("Main", keep="All"), *(memory(n, may_keep="All") for n in "PQR"), mac())
    mapspace = list_mapspaces(given)[0].mapspace
    apart = json.loads(json.dumps(mapspace))
    named, named_apart = with_plain_names(mapspace)[0], with_plain_names(apart)[0]
    for shared, single in ((mapspace, apart), (named, named_apart)):
        holders = [h for p in shared["placements"] for h in p["holders"]]
        assert len({id(h) for h in holders}) == len({json.dumps(h) for h in holders}) < 10
        assert shared == single
        flat, other = flatten_mapspace(shared), flatten_mapspace(single)
        assert {n: list(r) for n, r in flat.records.items()} == {
            n: list(r) for n, r in other.records.items()
        }


def test_a_tensor_that_nothing_holds_is_an_error() -> None:
    given = spec(memory("Main", may_keep="All"), mac())
    with pytest.raises(ValueError, match=r"Einsum Z .* missing tensors: no memory holds A, Z"):
        list_mapspaces(given)


def test_an_unknown_name_is_an_error_with_its_path() -> None:
    given = spec(memory("Main", keep="~Cache"), mac())
    with pytest.raises(af.EvaluationError, match=r"spec\.arch\.nodes\.Main\.tensors\.keep"):
        list_mapspaces(given)


# --- constraints ----------------------------------------------------------------------------------


def test_constraints_are_evaluated() -> None:
    given = spec(
        memory(
            "Main",
            keep="All",
            tile_shape=[{"expression": "~k", "operator": "product==", "value": "2 * 2"}],
        ),
        memory(
            "Buffer",
            keep="All",
            no_refetch_from_above="Above - Outputs",
            no_resend_to_below="Outputs",
            tensor_order_options=[["Inputs", "Outputs"], ["Nothing"]],
            force_memory_hierarchy_order=False,
        ),
        mac(),
    )
    space = list_mapspaces(given)[0].mapspace
    (placement,) = space["placements"]
    assert placement["tile_shape"] == [
        {"component": "Main", "variables": ["m"], "operator": "==", "value": 4}
    ]
    assert placement["no_refetch"] == {"Buffer": ["A"]}
    assert placement["no_resend"] == {"Buffer": ["Z"]}
    assert placement["orders"] == {"Buffer": [[["A"], ["Z"]]]}
    assert space["unforced"] == ["Buffer"]


def test_reuse_of_a_dimension_is_a_bound_of_one() -> None:
    dimension = {
        "name": "X",
        "fanout": 2,
        "reuse": "Z",
        "min_usage": 0.5,
        "loop_bounds": [{"expression": "k", "operator": "<=", "value": 2}],
    }
    given = spec(memory("Main", keep="All"), mac(spatial=[dimension]))
    assert list_mapspaces(given)[0].mapspace["placements"][0]["spatial"] == [
        {
            "component": "MAC",
            "dim": "X",
            "min_usage": 0.5,
            "loop_bounds": [
                {"variables": ["k"], "operator": "<=", "value": 2},
                {"variables": ["m"], "operator": "==", "value": 1},
            ],
        }
    ]


def bounded(expression: str, operator: str) -> list[dict[str, Any]]:
    """Return the conditions that an expression and an operator in quotes make."""
    bound = {"expression": expression, "operator": af.LiteralString(operator), "value": 2}
    dimension = {"name": af.LiteralString("X"), "fanout": 2, "loop_bounds": [bound]}
    space = list_mapspaces(spec(memory("Main", keep="All"), mac(spatial=[dimension])))[0]
    assert space.identity
    bounds: list[dict[str, Any]] = space.mapspace["placements"][0]["spatial"][0]["loop_bounds"]
    return bounds


def test_text_in_quotes_is_text() -> None:
    assert bounded("k", "<=") == [{"variables": ["k"], "operator": "<=", "value": 2}]


@pytest.mark.parametrize(("expression", "variables"), [("{K, M}", []), ("{m, K}", ["m"])])
def test_a_bound_that_cannot_be_evaluated_is_read_by_letters(
    expression: str, variables: list[str]
) -> None:
    with pytest.warns(UserWarning, match="loop_bounds of X.*as in AccelForge"):
        bounds = bounded(expression, "<=")
    assert bounds == [{"variables": variables, "operator": "<=", "value": 2}]


def test_a_bound_of_a_product_must_be_evaluated() -> None:
    with pytest.raises(af.EvaluationError, match="{K, M}.*cannot be evaluated"):
        bounded("{K, M}", "product<=")


def test_unfused_tensors_may_go_first() -> None:
    given = spec(memory("Main", keep="A", may_keep="Z"), memory("Buffer", keep="~Main | A"), mac())
    given.mapper.prioritize_reuse_of_unfused_tensors = True
    orders = [p["orders"] for p in list_mapspaces(given)[0].mapspace["placements"]]
    assert orders[0]["Buffer"] == [[["A"], ["Z"]]]


# --- Einsums, computes and settings ---------------------------------------------------------------


def chain(*nodes: Any) -> af.Spec:
    return spec(*nodes, einsums=["Y[m] = A[m, k]", "Z[m] = Y[m]"])


def test_tensors_of_several_einsums_are_shared() -> None:
    given = chain(memory("Main", keep="All"), mac())
    first, second = (space.mapspace for space in list_mapspaces(given))
    assert (first["shared"], first["intermediate"]) == (["Y"], ["Y"])
    assert [e["name"] for e in second["problem"]["einsums"]] == ["Z"]


def test_einsums_can_be_chosen() -> None:
    given = chain(memory("Main", keep="All"), mac())
    assert [space.einsum for space in list_mapspaces(given, ["Z"])] == ["Z"]
    with pytest.raises(KeyError, match="no Einsum Q in the workload; there are: Y, Z"):
        list_mapspaces(given, ["Q"])


def test_every_enabled_compute_has_a_mapspace() -> None:
    other = mac()
    other.name, other.enabled = "Vector", "len(Inputs) == 1"
    off = mac()
    off.name, off.enabled = "Off", "len(All) > 2"
    forks = [af.arch.Fork(nodes=[node]) for node in (other, off)]
    given = spec(memory("Main", keep="All"), *forks, mac())
    assert [space.compute for space in list_mapspaces(given)] == ["Vector", "MAC"]


def test_mapspaces_are_plain_data() -> None:
    given = chain(memory("Main", keep="All"), toll("Link", may_keep="All"), mac())
    for space in list_mapspaces(given):
        assert json.loads(json.dumps(space.mapspace)) == space.mapspace
        assert pickle.loads(pickle.dumps(space.mapspace)) == space.mapspace


def test_settings_of_the_mapper_are_among_the_data() -> None:
    given = spec(memory("Main", keep="All"), mac())
    given.mapper.max_fused_loops = 3
    settings = list_mapspaces(given)[0].mapspace["mapper"]
    assert settings["max_fused_loops"] == 3
    assert settings["explore_loop_orders"] is True
    assert "metrics" not in settings


def test_memories_that_everything_fits_in_are_not_tracked() -> None:
    tensors = 8 * (4 * 2 + 4) + 8 * (4 + 4)
    for size, tracked in ((tensors, []), (tensors - 1, ["Main"])):
        given = chain(memory("Main", size, keep="All"), memory("Buffer", 10, keep="All"), mac())
        assert [s.mapspace["tracked"] for s in list_mapspaces(given)] == [tracked] * 2
    assert "tracked" not in list_mapspaces(given, track_all=True)[0].mapspace
    given.mapper.metrics = af.Metrics.RESOURCE_USAGE
    assert "tracked" not in list_mapspaces(given)[0].mapspace


def test_memories_below_all_shared_tensors_are_not_tracked() -> None:
    buffer = memory("Buffer", 10, keep="~Main", may_keep="All")
    registers = memory("Registers", 10, keep="All")
    for keep, tracked in (("All", ["Main"]), ("~Y", ["Main", "Buffer"])):
        given = chain(memory("Main", 10, keep=keep), buffer, registers, mac())
        assert [s.mapspace["tracked"] for s in list_mapspaces(given)] == [tracked] * 2
    given.mapper.force_memory_hierarchy_order = False
    assert list_mapspaces(given)[0].mapspace["tracked"] == ["Main", "Buffer", "Registers"]


def test_persistent_tensors_are_there_for_every_instance() -> None:
    given = spec(
        memory("Main", 100 * 8 * 8 + 32, keep="All"),
        mac(),
        n_instances=100,
        persistent_tensors="Inputs",
    )
    assert list_mapspaces(given)[0].mapspace["tracked"] == []
    given.arch["Main"].size -= 1
    assert list_mapspaces(given)[0].mapspace["tracked"] == ["Main"]


def test_the_product_of_energy_and_delay_needs_both() -> None:
    assert objectives_of(af.Metrics.ENERGY_DELAY_PRODUCT) == ["energy", "latency"]
    assert objectives_of(af.Metrics.LATENCY | af.Metrics.RESOURCE_USAGE) == [
        "latency",
        "resource_usage",
    ]


def test_actions_are_no_objective() -> None:
    with pytest.raises(AssertionError, match="ACTIONS"):
        objectives_of(af.Metrics.ACTIONS | af.Metrics.ENERGY)
    with pytest.raises(ValueError, match="nothing to minimise"):
        objectives_of(af.Metrics.DETAILED_MEMORY_USAGE)
