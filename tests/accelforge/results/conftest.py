# SPDX-License-Identifier: BSD-3-Clause
"""Results with one row and with several."""

from __future__ import annotations

import pytest

import accelforge as af
from tests.accelforge.package.conftest import load, spec, texts, write

__all__ = ["load", "spec", "texts", "write"]


@pytest.fixture
def one(spec):
    """One mapping."""
    return spec.evaluate_mapping()


@pytest.fixture
def several(load, texts):
    """Three mappings that take different energy; the middle one takes least."""
    parts = []
    for tile in (1, 8, 2):
        mapping = texts.MAPPING.replace("tile_shape: 4", f"tile_shape: {tile}")
        parts.append(load(texts.ARCH + texts.WORKLOAD + mapping).evaluate_mapping())
    return type(parts[0]).concat(parts)


@pytest.fixture
def chain():
    """Two Einsums, fused."""
    return af.Spec.from_yaml(
        af.examples.arches.simple,
        af.examples.workloads.basic.matmuls,
        af.examples.mappings.fused_matmuls_to_simple,
        N_EINSUMS=2,
        M=16,
        KN=16,
        GlobalBufferSize=1e5,
        MainMemoryEnergy=100,
    ).evaluate_mapping()
