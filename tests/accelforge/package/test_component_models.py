# SPDX-License-Identifier: BSD-3-Clause
"""Costs from our own component models, where hwcomponents is not installed."""

from __future__ import annotations

import re
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import pytest

import accelforge as af
from accelforge.component_models import CLASSES, make_model, tables

PAGE = Path(__file__).parents[3] / "docs" / "component_models.md"
EYERISS = """
arch:
  extra_attributes_for_all_component_models: {tech_node: 45e-9}
  nodes:
  - !Memory {name: Main, component_class: LPDDR4, size: inf, tensors: {keep: All}}
  - !Memory
    name: Buffer
    component_class: SmartBufferSRAM
    size: 1024 * 1024
    leak_power: 0
    extra_attributes_for_component_model: {n_banks: 32}
    actions: [{name: read, bits_per_action: 64}, {name: write, bits_per_action: 64}]
  - !Memory {name: Free, component_class: Dummy, size: 8, tensors: {keep: Nothing}}
  - !Compute
    name: MAC
    component_class: IntMAC
    extra_attributes_for_component_model: {multiplier_width: 8, adder_width: 32}
workload:
  rank_sizes: {M: 8, N: 4, K: 2}
  bits_per_value: {All: 8}
  einsums:
  - "Z[m, n] = A[m, k] * B[k, n]"
mapping:
  nodes:
  - !Storage {tensors: [A, B, Z], component: Main}
  - !Storage {tensors: [A, B, Z], component: Buffer}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {einsum: Z, component: MAC}
"""


@pytest.fixture(autouse=True)
def _without_hwcomponents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hwcomponents", None)


@pytest.fixture
def eyeriss(tmp_path: Path) -> Any:
    (tmp_path / "spec.yaml").write_text(EYERISS)
    return af.Spec.from_yaml(tmp_path / "spec.yaml")


def ask(name: str, action: str, bits: float | None = None, **attributes: Any) -> Any:
    model = make_model(name, attributes)
    assert model is not None
    return model.try_call_arbitrary_action(action, bits_per_action=bits).value


@pytest.mark.parametrize("node", [0, 1], ids=["45nm", "7nm"])
def test_published_rows_are_the_numbers(node: int) -> None:
    at = tables.NODES[node]
    for what, rows in tables.ENERGIES.items():
        for width, pair in rows.items():
            name = {"add": "Adder", "multiply": "Multiplier"}[what]
            energy = ask(name, what, width=width, tech_node=at).energy
            assert energy == pytest.approx(pair[node] * 1e-12)
    for size, pair in tables.SRAM.items():
        energy = ask("SRAM", "read", 64, size=size * 8, tech_node=at).energy
        assert energy == pytest.approx(pair[node] * 1e-12)


def test_converters_of_the_table_are_within_the_stated_factor() -> None:
    for name, adc in tables.ADCS.items():
        attributes = {"n_bits": adc.bits, "throughput": adc.rate, "tech_node": adc.node}
        energy = ask("ADC", "convert", **attributes).energy
        assert 1 / 6 < energy / (adc.power / adc.rate) < 6, name


def test_smaller_nodes_and_memories_cost_less() -> None:
    steps = [180e-9, 130e-9, 90e-9, 65e-9, 46e-9, 45e-9, 44e-9, 22e-9, 7.1e-9, 7e-9, 6.9e-9, 3e-9]
    for name, action, attributes in (
        ("SRAM", "read", {"size": 8192}),
        ("IntMAC", "compute", {"multiplier_width": 8, "adder_width": 16}),
        ("Register", "write", {"width": 8}),
        ("ADC", "convert", {"n_bits": 8, "throughput": 1e6}),
        ("Wire", "switch", {"length": 1e-3}),
    ):
        costs = [ask(name, action, tech_node=node, **attributes).energy for node in steps]
        assert costs == sorted(costs, reverse=True), name
        # Nothing jumps where the source changes.
        assert costs[4] / costs[6] < 1.2, name
        assert costs[8] / costs[10] < 1.2, name
    sizes = [8, 192, 65535, 65536, 65537, 2**18, 2**23, 2**30]
    costs = [ask("SRAM", "read", tech_node=22e-9, size=size).energy for size in sizes]
    assert costs == sorted(costs)


def test_costs_are_given_dummy_or_of_a_model_which_results_name(eyeriss: Any) -> None:
    result = eyeriss.evaluate_mapping()
    sources = result.cost_sources()
    assert sources["Main"]["energy of read"] == "offchip: LPDDR4"
    assert sources["Buffer"]["leak_power"] == "given"
    assert sources["Buffer"]["throughput of write"] == "offchip: SmartBufferSRAM"
    assert set(sources["Free"].values()) == {"Dummy"}
    assert "costs from offchip: LPDDR4, offchip: SmartBufferSRAM, offchip: IntMAC" in repr(result)
    assert ">offchip: IntMAC</td>" in result._repr_html_()
    log = " ".join(eyeriss.calculate_component_costs().arch["MAC"].component_modeling_log)
    assert "Jouppi" in log
    assert "accuracy: factor 5" in log


def test_results_of_given_costs_name_no_model(spec: Any) -> None:
    result = spec.evaluate_mapping()
    assert {s for found in result.cost_sources().values() for s in found.values()} == {"given"}
    assert "costs" not in repr(result)
    assert "costs from" not in result._repr_html_()


def test_actions_of_several_bits_cost_as_much_per_bit(eyeriss: Any) -> None:
    found = eyeriss.calculate_component_costs().arch["Buffer"].actions["read"]
    one = ask("SmartBufferSRAM", "read", 1, size=2**20, tech_node=45e-9)
    assert found.energy == pytest.approx(64 * one.energy)
    assert found.throughput == pytest.approx(one.throughput / 64)


def test_hwcomponents_is_asked_where_it_is_installed(
    eyeriss: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = types.SimpleNamespace(energy=11, throughput=13)

    class Model:
        area = leak_power = 1
        __module__ = "hwcomponents_library.aladdin"

        def try_call_arbitrary_action(self, **_: Any) -> Any:
            return types.SimpleNamespace(value=answer, messages=[])

    package: Any = types.ModuleType("hwcomponents")
    package.get_models = lambda *_, **__: [Model]
    package.get_model = lambda *_, **__: types.SimpleNamespace(value=Model(), messages=[])
    monkeypatch.setitem(sys.modules, "hwcomponents", package)
    found = eyeriss.calculate_component_costs().arch["MAC"]
    assert found.actions["compute"].energy == 11
    assert found.cost_sources["area"] == "hwcomponents_library: Model"


@pytest.mark.parametrize(
    ("node", "nearest"),
    [(45e-9, ""), (22e-9, ""), (45 * 1e-9, ""), (7e-9, ""), (65e-9, "45"), (5e-9, "7")],
)
def test_a_node_that_the_tables_do_not_have_warns(eyeriss: Any, node: float, nearest: str) -> None:
    eyeriss.arch.extra_attributes_for_all_component_models.tech_node = node
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        eyeriss.calculate_component_costs()
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == (2 if nearest else 0)
    assert all(f"are scaled from {nearest} nm: a sweep" in text for text in texts)


@pytest.mark.parametrize(
    ("name", "attributes", "reason"),
    [
        ("SRAM", {"size": 8}, "SRAM needs tech_node: give it as one of the extra_attributes"),
        ("SRAM", {"size": 8, "tech_node": 65}, "tech_node is in m, for example 65e-9"),
        ("SRAM", {"size": float("inf"), "tech_node": 65e-9}, "size must be a number"),
        ("SRAM", {"size": 0, "tech_node": 65e-9}, "size must be a number that is more than 0"),
        ("SRAM", {"size": True, "tech_node": 65e-9}, "size must be a number"),
        ("IntMAC", {"tech_node": 65e-9}, "IntMAC needs multiplier_width"),
        ("Wire", {"length": "far", "tech_node": 65e-9}, "length must be a number"),
        ("ADC", {"n_bits": 99, "throughput": 1, "tech_node": 65e-9}, "at most 32 bits, not 99"),
        ("ADC", {"n_bits": 8, "tech_node": 65e-9}, "ADC needs throughput"),
    ],
)
def test_attributes_that_are_missing_or_wrong_are_named(
    name: str, attributes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        make_model(name, attributes)


def test_errors_have_field_and_line(eyeriss: Any) -> None:
    del eyeriss.arch.extra_attributes_for_all_component_models.tech_node
    with pytest.raises(af.EvaluationError, match="the model SmartBufferSRAM of offchip failed: "):
        eyeriss.calculate_component_costs()
    eyeriss.arch["Buffer"].actions[0].name = "clear"
    eyeriss.arch.extra_attributes_for_all_component_models.tech_node = 45e-9
    with pytest.raises(af.EvaluationError, match="has no action clear; it has read, write") as got:
        eyeriss.calculate_component_costs(area=False)
    assert got.value.path == "spec.arch.Buffer.actions.clear.energy"
    assert "spec.yaml, line" in str(got.value)


def test_an_unknown_class_is_an_error_that_names_the_extra(eyeriss: Any) -> None:
    eyeriss.arch["MAC"].component_class = "IntMAK"
    with pytest.raises(af.EvaluationError) as caught:
        eyeriss.calculate_component_costs()
    assert "Similar: IntMAC. Give area" in str(caught.value)
    assert "pip install 'offchip[forge-components]'" in str(caught.value)
    assert make_model("IntMAK", {}) is None


def test_models_can_be_turned_off(eyeriss: Any) -> None:
    eyeriss.config.use_installed_component_models = False
    with pytest.raises(af.EvaluationError, match="forge-components"):
        eyeriss.calculate_component_costs()


@pytest.mark.parametrize("name", ["sram", "smart_buffer_sram", "DRAM_LPDDR4", "int_mac", "DRAM"])
def test_other_spellings_are_the_same_class(name: str) -> None:
    attributes = {"size": 8, "tech_node": 45e-9, "multiplier_width": 8, "adder_width": 8}
    assert make_model(name, attributes) is not None


def test_the_page_has_the_numbers_and_every_class() -> None:
    text = PAGE.read_text()
    rows = re.findall(r"^\| (\w+) \| ([\w=., ]*)\| (\w* ?n?m?) ?\| ([0-9.]+) \|(.*)$", text, re.M)
    assert len(rows) > 30
    known = {"IntMAC": "compute", "Adder": "add", "Multiplier": "multiply", "ADC": "convert"}
    for name, words, node, energy, rest in rows:
        attributes: dict[str, Any] = {
            key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)", words)
        }
        if node.strip():
            attributes["tech_node"] = float(node.split()[0]) * 1e-9
        action = known.get(name, "read")
        found = ask(name, action, None if name in known else 1, **attributes)
        model = make_model(name, attributes)
        assert model is not None
        area, leak, throughput = (float(rest.split("|")[n]) for n in (2, 4, 6))
        assert found.energy * 1e12 == pytest.approx(float(energy), rel=6e-3), name
        assert model.area * 1e12 == pytest.approx(area, rel=6e-3), name
        assert model.leak_power * 1e6 == pytest.approx(leak, rel=6e-3), name
        assert found.throughput * 1e-9 == pytest.approx(throughput, rel=6e-3), name
    listed = set(re.findall(r"`(\w+)`", text.partition("## Classes")[2].partition("Sources:")[0]))
    assert set(CLASSES) <= listed


def test_two_widths_are_those_of_their_product():
    square = make_model("Multiplier", {"tech_node": 45e-9, "width": 8})
    other = make_model("Multiplier", {"tech_node": 45e-9, "width_a": 4, "width_b": 16})
    assert (other.energy, other.area) == (square.energy, square.area)


def test_capacitors_of_a_dac_have_a_femtofarad_each():
    usual = make_model("DAC", {"tech_node": 45e-9, "resolution": 4})
    given = make_model("DAC", {"tech_node": 45e-9, "resolution": 4, "unit_capacitance": 1e-15})
    assert usual == given
