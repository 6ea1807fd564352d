# SPDX-License-Identifier: BSD-3-Clause
"""Kernels: programs with a specification that predicts how long they take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping as Table
from collections.abc import Sequence
from typing import Any, NamedTuple

from accelforge.frontend.arch import Arch
from accelforge.frontend.mapping import (
    Compute,
    Mapping,
    Nested,
    Sequential,
    Spatial,
    Storage,
    Temporal,
)
from accelforge.frontend.spec import Spec
from accelforge.frontend.workload import Workload

__all__ = ["Kernel", "Measurement", "compute", "hold", "loop", "make_spec", "phases", "spread"]


class Measurement(NamedTuple):
    """Time that a run of a kernel took.

    Parameters
    ----------
    seconds : float
        On the device, or on the host that stands in for it.
    source : str
        How it was measured.
    """

    seconds: float
    source: str


class Kernel(ABC):
    """A program that can be run, and the specification of what it does.

    Parameters
    ----------
    name : str
        Shown in tables.
    note : str
        What the prediction leaves out.
    """

    def __init__(self, name: str, note: str = "") -> None:
        self.name = name
        self.note = note

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @abstractmethod
    def spec(self) -> Spec:
        """Return architecture, workload and mapping: what the program does, on what."""

    @abstractmethod
    def run(self) -> Measurement:
        """Run the program, and check what it computed.

        Raises
        ------
        RuntimeError
            It computed something else.
        """


def make_spec(
    arch: Arch,
    einsums: Sequence[str | dict[str, Any]],
    sizes: Table[str, int],
    bits: int | Table[str, int],
    nodes: Sequence[Any],
) -> Spec:
    """Put a specification together.

    Parameters
    ----------
    arch : Arch
        The architecture.
    einsums : sequence
        The workload.
    sizes : mapping
        Values of each rank.
    bits : int or mapping
        Bits of a value, of all tensors or by set of tensors.
    nodes : sequence
        The mapping.
    """
    return Spec(
        arch=arch,
        workload=Workload(
            einsums=list(einsums),
            rank_sizes=dict(sizes),
            bits_per_value=dict(bits) if isinstance(bits, Table) else {"All": bits},
        ),
        mapping=Mapping(nodes=list(nodes)),
    )


def hold(component: str, *tensors: str) -> Storage:
    """Make a storage node."""
    return Storage(component=component, tensors=list(tensors))


def loop(variable: str, tile: int = 1) -> Temporal:
    """Make a loop."""
    return Temporal(rank_variable=variable, tile_shape=tile)


def spread(variable: str, component: str, dimension: str, tile: int = 1) -> Spatial:
    """Make a loop over instances of a component."""
    return Spatial(rank_variable=variable, tile_shape=tile, component=component, name=dimension)


def compute(component: str, einsum: str) -> Compute:
    """Make a leaf."""
    return Compute(component=component, einsum=einsum)


def phases(*branches: Sequence[Any]) -> Sequential:
    """Make branches that are executed one after the other."""
    return Sequential(nodes=[Nested(nodes=list(branch)) for branch in branches])
