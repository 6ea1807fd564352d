# SPDX-License-Identifier: BSD-3-Clause
"""Traces of iterations."""

from __future__ import annotations

import numpy as np
import pytest

import accelforge as af
from accelforge.tracegen import tracemapping
from accelforge.tracegen.tracemapping import trace_iterations


def mapping_of(load, texts, *nodes):
    lines = "".join(f"  - {node}\n" for node in nodes)
    spec = load(texts.ARCH + texts.WORKLOAD + "mapping:\n  nodes:\n" + lines)
    return spec.mapping, spec


def test_values_of_each_step(spec):
    trace = trace_iterations(spec.mapping, spec)
    # 8 rows in tiles of 4, then 4 columns of Z and 2 steps of the sum.
    m, n, k = np.unravel_index(np.arange(64), (8, 4, 2))
    assert trace.keys() == {"m", "n", "k"}
    for name, want in (("m", m), ("n", n), ("k", k)):
        np.testing.assert_array_equal(trace[name], want + 1)


def test_einsums_follow_one_another(chain):
    trace = trace_iterations(chain.mapping(), chain.spec)
    assert {len(values) for values in trace.values()} == {2 * 16**3}
    row = slice(0, 2 * 16 * 16)
    assert (trace["m"][row] == 1).all()
    # The first Einsum of the row, then the second, which has no n0.
    assert not np.isnan(trace["n0"][: 16 * 16]).any()
    assert np.isnan(trace["n0"][16 * 16 : 2 * 16 * 16]).all()
    assert np.isnan(trace["n2"][: 16 * 16]).all()
    assert sorted(set(trace["n1"].tolist())) == [float(i) for i in range(1, 17)]


def test_unfused_einsums():
    spec = af.Spec.from_yaml(
        af.examples.arches.simple,
        af.examples.workloads.basic.matvecs,
        af.examples.mappings.unfused_matvecs_to_simple,
        SIZE=3,
    )
    trace = trace_iterations(spec.evaluate_mapping().mapping(), spec)
    np.testing.assert_array_equal(trace["na"], [1, 2, 3] * 3 + [np.nan] * 9)
    np.testing.assert_array_equal(trace["ny"], [1, 1, 1, 2, 2, 2, 3, 3, 3] * 2)


COMPUTE = "!Compute {einsum: Z, component: MAC}"


@pytest.mark.parametrize(
    ("node", "error"),
    [
        (
            "!Temporal {rank_variable: m, tile_shape: 3}",
            "tiles of 3 do not divide the 8 values of m",
        ),
        ("!Temporal {rank_variable: m, tile_shape: a + 1}", "is not a whole number"),
        ("!Spatial {rank_variable: m, tile_shape: 1, name: X, component: MAC}", "spatial loop"),
    ],
)
def test_what_cannot_be_traced(load, texts, node, error):
    mapping, spec = mapping_of(load, texts, node, COMPUTE)
    with pytest.raises(NotImplementedError, match=error):
        trace_iterations(mapping, spec)


def test_traces_are_not_endless(spec, monkeypatch):
    monkeypatch.setattr(tracemapping, "_MOST_STEPS", 10)
    with pytest.raises(ValueError, match="more than 10 steps"):
        trace_iterations(spec.mapping, spec)
