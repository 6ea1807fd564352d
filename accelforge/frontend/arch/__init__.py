# SPDX-License-Identifier: BSD-3-Clause
"""The architecture: memories, tolls and computes, and groups of them."""

from accelforge.frontend.arch.actions import Action, TensorHolderAction
from accelforge.frontend.arch.arch import Arch
from accelforge.frontend.arch.components import (
    Component,
    Compute,
    Container,
    Memory,
    Network,
    TensorHolder,
    Toll,
    TopologySpec,
)
from accelforge.frontend.arch.constraints import Comparison
from accelforge.frontend.arch.flattened import FlattenedArch
from accelforge.frontend.arch.spatial import Spatial, Spatialable
from accelforge.frontend.arch.structure import (
    ArchNode,
    ArchNodes,
    Array,
    Branch,
    Fork,
    Hierarchical,
    Leaf,
)
from accelforge.frontend.arch.tensors import Tensors

__all__ = [
    "Action",
    "Arch",
    "ArchNode",
    "ArchNodes",
    "Array",
    "Branch",
    "Comparison",
    "Component",
    "Compute",
    "Container",
    "FlattenedArch",
    "Fork",
    "Hierarchical",
    "Leaf",
    "Memory",
    "Network",
    "Spatial",
    "Spatialable",
    "TensorHolder",
    "TensorHolderAction",
    "Tensors",
    "Toll",
    "TopologySpec",
]
