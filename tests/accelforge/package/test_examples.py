# SPDX-License-Identifier: BSD-3-Clause
"""The specifications that come with the package."""

from __future__ import annotations

import pytest

import accelforge as af
from accelforge.examples import Directory

FILES = sorted(af.examples.path.rglob("*.yaml"))


def test_the_folder_can_be_another(tmp_path, monkeypatch):
    (tmp_path / "arches").mkdir()
    (tmp_path / "arches" / "mine.yaml").touch()
    monkeypatch.setattr(af.examples, "path", tmp_path)
    assert af.examples.arches == tmp_path / "arches" / "mine.yaml"


def test_paths_are_attributes():
    assert af.examples.arches.simple.name == "simple.yaml"
    assert isinstance(af.examples.workloads, Directory)
    assert set(af.examples.workloads.iter()) == {"basic", "cnns", "transformers"}
    assert "simple" in dir(af.examples.arches)
    gpt = af.examples.workloads.transformers.gpt
    assert repr(gpt) == f"Directory({gpt.path}): gpt3_175B, gpt3_6_7B"
    assert af.examples.workloads.transformers.gpt.gpt3_6_7B.name == "gpt3_6.7B.yaml"
    with pytest.raises(ValueError, match="no nothing in .*simple"):
        af.examples.arches.nothing  # noqa: B018


def test_folders_show_the_names_of_their_attributes():
    waiting = [af.examples]
    while waiting:
        for name in dir(folder := waiting.pop()):
            if not name.startswith("_") and name not in ("iter", "path"):
                found = getattr(folder, name)
                if isinstance(found, Directory):
                    waiting.append(found)
                else:
                    assert found in FILES


def test_files_are_found_where_they_used_to_lie():
    assert af.examples.workloads.matmuls == af.examples.workloads.basic.matmuls


def test_a_folder_of_one_file_stands_for_it(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "only.yaml").touch()
    (tmp_path / "one" / "_part.yaml").touch()
    assert Directory(tmp_path).one == tmp_path / "one" / "only.yaml"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples_say_where_their_numbers_come_from(path):
    assert path.read_text().startswith("# ")


@pytest.mark.parametrize("name", list(af.examples.arches.iter()))
def test_architectures_have_all_costs(name):
    path = getattr(af.examples.arches, name)
    spec = af.Spec.from_yaml(path, af.examples.workloads.basic.matmuls)
    assert spec.calculate_component_costs().arch.total_area == 0
    assert "<svg" in spec.arch.render()


@pytest.mark.parametrize(
    "path", sorted((af.examples.path / "workloads").rglob("[!_]*.yaml")), ids=lambda path: path.stem
)
def test_workloads_are_complete(path):
    spec = af.Spec.from_yaml(path)
    workload = spec._spec_eval_expressions().workload
    assert workload.n_computes() > 0
    assert all(workload.get_tensor_size(name) > 0 for name in workload.tensor_names)
    for name in workload.einsum_names:
        for arch in af.examples.arches.iter():
            more = getattr(af.examples.arches, arch)
            af.Spec.from_yaml(path, more).calculate_component_costs(name)


# Mapping, architecture, workload, variables, computations.
MAPPINGS = [
    ("unfused_matmuls_to_simple", "simple", "basic.matmuls", {"N_EINSUMS": 3}, 3 * 128**3),
    ("fused_matmuls_to_simple", "simple", "basic.matmuls", {"N_EINSUMS": 3}, 3 * 128**3),
    ("fused_attention_to_simple", "simple", "transformers.attention", {"TOKENS": 4}, None),
    ("unfused_matvecs_to_simple", "simple", "basic.matvecs", {"SIZE": 4}, 32),
    ("matmul_to_weight_stationary", "weight_stationary", "basic.matmuls", {}, 128**3),
    ("matmul_to_tpu_v4i", "tpu_v4i", "basic.matmuls", {"M": 512, "KN": 512}, 512**3),
    ("convolution_to_eyeriss", "eyeriss", "cnns.convolution", {}, 256 * 384 * 13**2 * 9),
]


@pytest.mark.parametrize(
    ("mapping", "arch", "workload", "variables", "computes"), MAPPINGS, ids=lambda value: str(value)
)
def test_mappings_can_be_evaluated(mapping, arch, workload, variables, computes):
    folder = af.examples.workloads
    for name in workload.split("."):
        folder = getattr(folder, name)
    spec = af.Spec.from_yaml(
        getattr(af.examples.arches, arch),
        folder,
        getattr(af.examples.mappings, mapping),
        jinja_parse_data=variables,
    )
    result = spec.evaluate_mapping()
    assert result.energy() > 0
    assert result.latency() > 0
    assert max(result.resource_usage().values()) <= 1
    actions = result.actions(per_component=False)
    assert actions["compute"] == result.n_computes()
    assert computes is None or result.n_computes() == computes


def test_all_mappings_are_evaluated():
    assert {row[0] for row in MAPPINGS} == set(af.examples.mappings.iter())


def test_fusing_saves_energy():
    energy = {}
    for mapping in ("unfused_matmuls_to_simple", "fused_matmuls_to_simple"):
        spec = af.Spec.from_yaml(
            af.examples.arches.simple,
            af.examples.workloads.basic.matmuls,
            getattr(af.examples.mappings, mapping),
            N_EINSUMS=2,
        )
        energy[mapping] = spec.evaluate_mapping().energy(per_component=True)["MainMemory"]
    # T1 is neither written to main memory nor read back.
    saved = energy["unfused_matmuls_to_simple"] - energy["fused_matmuls_to_simple"]
    assert saved == 2 * 128 * 128 * 8
