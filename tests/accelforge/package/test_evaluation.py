# SPDX-License-Identifier: BSD-3-Clause
"""Evaluating mappings, and what the results offer.

Expected numbers are worked out by hand. The matrix product of `spec` has m = 8, n = 4, k = 2 and 8
bits per value: A has 128 bits, B 64, Z 256. The loop over two tiles of m above the buffer fetches B
twice.
"""

from __future__ import annotations

import math

import pytest

import accelforge as af
from accelforge.frontend.mapping import Compute, Spatial, Temporal
from accelforge.util.exceptions import EvaluationError, InvalidMappingError

MAIN_READ, MAIN_WRITE = 128 + 2 * 64, 256
COMPUTES = 8 * 4 * 2


@pytest.fixture
def result(spec):
    return spec.evaluate_mapping()


def test_actions(result):
    actions = result.actions(per_tensor=True)
    assert actions["Main", "A", "read"] == 128
    assert actions["Main", "B", "read"] == 128
    assert actions["Main", "Z", "write"] == 256
    assert actions["Buffer", "B", "write"] == 128
    assert actions["Buffer", "A", "read"] == COMPUTES * 8
    assert actions["MAC", "None", "compute"] == COMPUTES
    assert result.actions(per_component=False)["compute"] == COMPUTES


def test_first_partial_sums_are_read_only_if_asked_for(spec):
    # Of 64 multiplications 32 begin a sum of Z, whose values have 8 bits.
    assert spec.evaluate_mapping().actions(per_tensor=True)["Buffer", "Z", "read"] == 512
    for name, reads in {"MAC": 512 + 256, "Buffer": 512 + 256, "Main": 512}.items():
        node = next(node for node in spec.arch.nodes if node.name == name)
        node.skip_initial_output_write = False
        actions = spec.evaluate_mapping().actions(per_tensor=True)
        assert actions["Buffer", "Z", "read"] == reads
        node.skip_initial_output_write = True


def test_latency_is_that_of_the_slowest_component(result):
    main = MAIN_READ / 8 + MAIN_WRITE / 4
    assert result.latency(per_component=True) == {"Main": main, "Buffer": 0, "MAC": COMPUTES}
    assert result.latency() == result.latency(per_einsum=True)["Z"] == main


def test_energy(result):
    energy = result.energy(per_component=True, per_action=True)
    assert energy["Main", "read"] == MAIN_READ * 5
    assert energy["Main", "write"] == MAIN_WRITE * 7
    assert energy["MAC", "compute"] == COMPUTES * 0.5
    assert energy["Main", "leak"] == 2 * result.latency()
    assert result.energy() == pytest.approx(sum(energy.values()))
    assert result.energy(per_tensor=True)[None] == 2 * result.latency()
    assert result.energy(True, True, True, True)["Z", "MAC", "None", "compute"] == 32


def test_usage(load, texts):
    spec = load(texts.ARCH + texts.WORKLOAD + texts.MAPPING, SIZE=1000)
    # Four rows of A and the whole of B; Z is last, and so shrinks to one value.
    assert spec.evaluate_mapping().resource_usage() == {"Main": 0, "Buffer": (64 + 64 + 8) / 1000}


def test_names_and_order_of_columns(result):
    assert result.columns[:6] == [
        "reservation<SEP>Main<SEP>-1<SEP>right",
        "reservation<SEP>Buffer<SEP>-1<SEP>right",
        "Total<SEP>latency",
        "Total<SEP>energy",
        "Total<SEP>leak_energy",
        "Total<SEP>dynamic_energy",
    ]
    assert result.columns[-3:] == [
        "Z<SEP>mapping",
        "Total<SEP>energy_delay_product",
        "Total<SEP>mapping",
    ]
    assert "Z<SEP>energy<SEP>MAC<SEP>None<SEP>compute" in result
    assert "Z<SEP>energy<SEP>Main<SEP>leak" in result
    # Actions that are not done have a column, energies of them have none.
    assert "Z<SEP>action<SEP>Main<SEP>A<SEP>write" in result
    assert "Z<SEP>energy<SEP>Main<SEP>A<SEP>write" not in result


def test_metrics_choose_columns(spec):
    spec.model.metrics = af.Metrics.LATENCY
    assert [name for name in spec.evaluate_mapping().columns if "reserv" not in name] == [
        "Total<SEP>latency",
        "Z<SEP>mapping",
        "Total<SEP>mapping",
    ]


def test_the_table_is_a_dataframe(result):
    pandas = pytest.importorskip("pandas")
    assert isinstance(result.data, pandas.DataFrame)
    assert result.data["Total<SEP>latency"].iloc[0] == result.latency()
    assert isinstance(result["Total<SEP>energy"], pandas.Series)
    result.data["Total<SEP>latency"] = 3.0
    assert result.to_dict()["Total<SEP>latency"] == 3.0
    assert len(result) == 1
    result.data = result.data[["Total<SEP>latency"]]
    assert result.columns == ["Total<SEP>latency"]


def test_rows(result):
    assert len(result) == 1
    assert result[0].energy() == result.energy()
    with pytest.raises(IndexError, match="no number 1"):
        result[1]
    assert len(result.mapping().get_nodes_of_type(Compute)) == 1
    assert result.render().startswith("<svg")


def test_several_rows_give_lists(result):
    table = result.to_dict(list_if_one_mapping=True)
    double = result._update(columns={name: rows * 2 for name, rows in table.items()})
    assert double.energy() == [result.energy()] * 2
    assert double.latency(per_component=True)["MAC"] == [COMPUTES] * 2
    assert double.resource_usage()["Main"] == [0, 0]
    assert result.energy(list_if_one_mapping=True) == [result.energy()]
    with pytest.raises(ValueError, match="needs a single one"):
        double.mapping()
    assert double.mapping(1).to_yaml() == result.mapping().to_yaml()


def test_picking_columns(result):
    assert set(result.access("Total", "energy").columns) == {""}
    assert "Main<SEP>A<SEP>read" in result.access("Z", col_idx=0).access("action").columns
    assert "Z<SEP>action" in result.access("action", keep_key_index=True).columns[0]
    assert not any("energy<SEP>" in name for name in result.drop("energy").columns)
    with pytest.raises(ValueError, match="different places"):
        result.access("leak")._update(columns={"a<SEP>b": [1], "b<SEP>a": [1]}).access("a")
    with pytest.raises(ValueError, match="more than once"):
        result.access("Z")
    assert len(result.access("nothing").columns) == 0


def test_sums_of_columns(result):
    actions = result.access("action")
    by_component = actions.sum(keep_key_index=1).to_dict()
    assert by_component["MAC"] == COMPUTES
    assert actions.sum().to_dict()[""] == sum(by_component.values())
    with pytest.raises(ValueError, match="numbers of parts"):
        result.sum()
    with pytest.raises(ValueError, match="from 0 to 3"):
        actions.sum(7)


def test_dropping_components(result):
    only = result.drop_components(keep=["MAC"])
    assert set(only.energy(per_component=True)) == {"MAC"}
    assert "Main" not in result.drop_components(drop=["Main"]).latency(per_component=True)
    with pytest.raises(ValueError, match="not both"):
        result.drop_components(keep=[], drop=[])
    kept = result.drop_components_with_zero_energy_and_latency()
    assert set(kept.energy(per_component=True)) == {"Main", "Buffer", "MAC"}
    assert "Z<SEP>action<SEP>Main<SEP>A<SEP>write" not in result.drop_zeros()


def test_per_compute(result):
    assert result.n_computes() == COMPUTES
    assert result.per_compute().energy() == pytest.approx(result.energy() / COMPUTES)
    by_einsum = result.per_compute(per_einsum=True)
    assert by_einsum.latency() == pytest.approx(result.latency() / COMPUTES)
    assert result.per_tensor_size() == {"A": 128, "B": 64, "Z": 256}
    assert result.per_tensor_size(return_n_elements=True)["A"] == 16


def test_instances_multiply(spec):
    once = spec.evaluate_mapping()
    spec.workload.n_instances = 2
    spec.workload.einsums["Z"].n_instances = 3
    many = spec.evaluate_mapping()
    assert many.latency() == 6 * once.latency()
    assert many.energy() == pytest.approx(6 * once.energy())
    assert many.resource_usage() == once.resource_usage()
    assert many.n_computes() == once.n_computes()


def test_latency_expressions(spec):
    main = spec.arch["Main"]
    reads, writes = MAIN_READ / 8, MAIN_WRITE / 4
    for text, value in {
        "max(a.n_calls / a.throughput for a in actions)": max(reads, writes),
        # As specifications of earlier releases name them.
        "max(read_latency, write_latency)": max(reads, writes),
        "read_actions * 2 + size_factor": MAIN_READ * 2 + 3,
        "actions['read'].n_calls * 2 + size_factor": MAIN_READ * 2 + 3,
        "ceil(actions[0].n_calls / 100) * actions[0].latency": math.ceil(MAIN_READ / 100) / 8,
        "sum([a.n_calls for a in actions if a.name == 'read'])": MAIN_READ,
        "min(1000, actions['read'].n_calls ** 2 // 7 % 5) - (-abs(1))": min(
            1000, MAIN_READ**2 // 7 % 5
        )
        + 1,
        "1000 // actions['read'].n_calls": 1000 // MAIN_READ,
        "1000 % actions['read'].n_calls": 1000 % MAIN_READ,
        "1000 - actions['read'].n_calls": 1000 - MAIN_READ,
        "1000 / actions['read'].n_calls": 1000 / MAIN_READ,
        "1.01 ** actions['read'].n_calls": 1.01**MAIN_READ,
        "12.5": 12.5,
        7: 7,
        "area * 2": 6,
    }.items():
        spec.variables.size_factor = 3
        main.total_latency = text
        assert spec.evaluate_mapping().latency(per_component=True)["Main"] == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.n_calls", '"a" is not defined'),
        ("1 if actions[0].n_calls > 2 else 0", "use min"),
        ("actions", "not a number of seconds"),
        ("name", "not a number of seconds"),
        ("actions['hop'].n_calls", "hop"),
    ],
)
def test_wrong_latency_expressions(spec, text, message):
    spec.arch["Main"].total_latency = text
    with pytest.raises(EvaluationError, match=rf"spec.arch.nodes.Main.total_latency.*{message}"):
        spec.evaluate_mapping()


def test_expressions_for_tile_shapes(spec):
    before = spec.evaluate_mapping().energy()
    spec.variables.rows = 8
    spec.mapping.nodes[1].tile_shape = "rows // 2"
    assert spec.evaluate_mapping().energy() == before


def test_power_gating_warns(load, texts):
    spec = load(texts.ARCH + texts.WORKLOAD)
    container = af.arch.Container(
        name="PE", spatial=[{"name": "X", "fanout": 4, "power_gateable": True}]
    )
    spec.arch.nodes.insert(2, container)
    spec.arch["MAC"].leak_power = 1
    spec.mapping = {
        "nodes": [
            af.mapping.Storage(tensors=["A", "B", "Z"], component="Main"),
            Spatial(rank_variable="k", tile_shape=1, name="X", component="PE"),
            Temporal(rank_variable="m", tile_shape=1),
            Temporal(rank_variable="n", tile_shape=1),
            Compute(einsum="Z", component="MAC"),
        ]
    }
    with pytest.warns(UserWarning, match="power_gateable"):
        result = spec.evaluate_mapping()
    # Half of the four instances are used, and that is divided by four once more.
    leak = result.energy(per_component=True, per_action=True)["MAC", "leak"]
    assert leak == pytest.approx(4 * result.latency() * 0.5 / 4)


def test_actions_of_all_instances_are_counted(load, texts):
    spec = load(texts.ARCH + texts.WORKLOAD)
    buffer = next(node for node in spec.arch.nodes if node.name == "Buffer")
    buffer.spatial = [{"name": "X", "fanout": 4}]
    spec.mapping = {
        "nodes": [
            af.mapping.Storage(tensors=["A", "B", "Z"], component="Main"),
            Spatial(rank_variable="m", tile_shape=2, name="X", component="Buffer"),
            af.mapping.Storage(tensors=["A", "B", "Z"], component="Buffer"),
            Temporal(rank_variable="m", tile_shape=1),
            Temporal(rank_variable="n", tile_shape=1),
            Temporal(rank_variable="k", tile_shape=1),
            Compute(einsum="Z", component="MAC"),
        ]
    }
    actions = spec.evaluate_mapping().actions(per_tensor=True)
    # Each of the four holds two rows of A, and all of B.
    assert actions["Buffer", "A", "write"] == 128
    assert actions["Buffer", "B", "write"] == 4 * 64
    assert actions["Buffer", "A", "read"] == COMPUTES * 8


# --- what does not work -------------------------------------------------------------------------


def test_a_memory_that_is_too_small(load, texts):
    with pytest.raises(InvalidMappingError, match=r"136 bits of Buffer.*only 100"):
        load(texts.ARCH + texts.WORKLOAD + texts.MAPPING, SIZE=100).evaluate_mapping()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("energy: 7", "energy: 1e308", r"energy of write of Main is inf, .*Einsum Z, tensor Z"),
        ("leak_power: 2", "leak_power: 1e308", r"energy of leak of Main is inf, .*Einsum Z"),
        ("throughput: 1}", "throughput: 1e-307}", r"latency of MAC is inf, .*Einsum Z"),
    ],
)
def test_a_cost_whose_sum_is_too_large_has_its_place(tmp_path, texts, old, new, message):
    text = texts.ARCH.replace(old, new).replace("{{SIZE | default(100000)}}", "100000")
    (tmp_path / "large.yaml").write_text(text + texts.WORKLOAD + texts.MAPPING)
    line = 4 if "Main" in message else 22
    place = rf"spec\.arch\.nodes\.(Main|MAC) \(.*large\.yaml, line {line}\): the {message}"
    with pytest.raises(InvalidMappingError, match=place):
        af.Spec.from_yaml(str(tmp_path / "large.yaml")).evaluate_mapping()


def test_a_variable_without_its_loop(spec):
    del spec.mapping.nodes[5]
    with pytest.raises(InvalidMappingError, match=r"k"):
        spec.evaluate_mapping()


def test_an_evaluated_specification(spec):
    with pytest.raises(AssertionError, match="must not be evaluated"):
        spec.calculate_component_costs().evaluate_mapping()


def test_names_that_are_not_there(spec):
    spec.mapping.nodes[-1].einsum = "Q"
    with pytest.raises(KeyError, match="Q.*there are: Z"):
        spec.evaluate_mapping()
    spec.mapping.nodes[-1].einsum = "Z"
    spec.mapping.nodes[-1].component = "Q"
    with pytest.raises(EvaluationError, match=r"spec.mapping.nodes.*Q is no compute of .*: MAC"):
        spec.evaluate_mapping()
    spec.mapping.nodes[-1].component = "MAC"
    spec.mapping.nodes[1].rank_variable = "q"
    with pytest.raises(RuntimeError, match="loops over q.*k, m, n"):
        spec.evaluate_mapping()


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda m: setattr(m.nodes[1], "tile_shape", 0), "spec.mapping.nodes.1.tile_shape"),
        (lambda m: setattr(m.nodes[1], "tile_shape", "1.5"), "spec.mapping.nodes.1.tile_shape"),
        (lambda m: setattr(m.nodes[1], "tile_shape", "symbol"), "spec.mapping.nodes.1.tile_shape"),
        (lambda m: setattr(m.nodes[1], "rank_variable", None), "spec.mapping.nodes.1.rank_var"),
        (lambda m: setattr(m.nodes[0], "component", None), "spec.mapping.nodes.0.component"),
        (lambda m: m.nodes.clear(), "spec.mapping.nodes"),
    ],
)
def test_wrong_mappings_name_the_field(spec, change, path):
    change(spec.mapping)
    with pytest.raises(EvaluationError) as caught:
        spec.evaluate_mapping()
    assert caught.value.path.startswith(path)


def test_a_cost_that_is_missing(spec):
    del spec.arch["MAC"].actions["compute"].energy
    with pytest.raises(EvaluationError, match=r"MAC.component_class.*energy"):
        spec.evaluate_mapping()


@pytest.mark.parametrize("node", [{"type": "Network"}, {"type": "Array", "nodes": []}])
def test_nodes_that_are_not_evaluated(spec, node):
    costs = {"component_class": "Dummy"} if node["type"] == "Network" else {}
    spec.arch.nodes = [*spec.arch.nodes[:1], {**node, "name": "N", **costs}, *spec.arch.nodes[1:]]
    with pytest.raises(EvaluationError, match=r"spec.arch.nodes.N.*cannot be evaluated on a"):
        spec.evaluate_mapping()


def test_index_expressions_that_are_not_linear(load, texts):
    spec = load(
        texts.ARCH
        + """
workload:
  iteration_space_shape: {m: 0 <= m < 4, n: 0 <= n < 4}
  bits_per_value: {All: 8}
  einsums: ["Z[m, n] = A[Q: m * n]"]
mapping:
  nodes:
  - !Storage {tensors: [A, Z], component: Main}
  - !Compute {einsum: Z, component: MAC}
"""
    )
    with pytest.raises(EvaluationError, match=r"einsums?.Z.*product of variables|sum of rank"):
        spec.evaluate_mapping()
