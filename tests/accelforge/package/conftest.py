# SPDX-License-Identifier: BSD-3-Clause
"""Small specifications, and files of YAML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

import accelforge as af

ARCH = """
arch:
  nodes:
  - !Memory
    name: Main
    size: inf
    leak_power: 2
    area: 3
    tensors: {keep: ~Intermediates, may_keep: All}
    actions:
    - {name: read, energy: 5, throughput: 8}
    - {name: write, energy: 7, throughput: 4}
  - !Memory
    name: Buffer
    size: {{SIZE | default(100000)}}
    leak_power: 0
    area: 0
    tensors: {keep: ~Main, may_keep: All}
    actions:
    - {name: read, energy: 1, throughput: inf}
    - {name: write, energy: 1, throughput: inf}
  - !Compute
    name: MAC
    leak_power: 0
    area: 0
    actions:
    - {name: compute, energy: 0.5, throughput: 1}
"""

WORKLOAD = """
workload:
  rank_sizes: {M: 8, N: 4, K: 2}
  bits_per_value: {All: 8}
  einsums:
  - "Z[m, n] = A[m, k] * B[k, n]"
"""

MAPPING = """
mapping:
  nodes:
  - !Storage {tensors: [A, B, Z], component: Main}
  - !Temporal {rank_variable: m, tile_shape: 4}
  - !Storage {tensors: [A, B, Z], component: Buffer}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {einsum: Z, component: MAC}
"""


class Texts:
    """The parts of the specification of the fixture `spec`."""

    ARCH = ARCH
    WORKLOAD = WORKLOAD
    MAPPING = MAPPING


@pytest.fixture
def texts() -> type[Texts]:
    """Give tests the parts, to put them together in other ways."""
    return Texts


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file."""

    def make(text: str, name: str = "spec.yaml") -> Path:
        path = tmp_path / name
        path.write_text(dedent(text))
        return path

    return make


@pytest.fixture
def load(write: Callable[..., Path]) -> Callable[..., Any]:
    """Read a specification from text."""

    def make(text: str, **variables: Any) -> af.Spec:
        return af.Spec.from_yaml(write(text), jinja_parse_data=variables)

    return make


@pytest.fixture
def spec(load: Callable[..., Any]) -> af.Spec:
    """A matrix product on two memories."""
    return load(ARCH + WORKLOAD + MAPPING)
