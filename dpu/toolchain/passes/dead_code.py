# SPDX-License-Identifier: BSD-3-Clause
"""Dead code elimination: results that are not read, and instructions that are not reached."""

from __future__ import annotations

from ..ir.code import Code
from ..ir.flow_graph import FlowGraph

__all__ = ["remove_dead_results", "remove_unreachable"]


def remove_dead_results(code: Code) -> FlowGraph:
    """Drop instructions that only write registers that are dead; return the graph of the rest."""
    while True:
        graph = FlowGraph(code)
        live = graph.live
        drop = {
            index
            for index, effect in enumerate(graph.effects)
            if effect.is_pure and not effect.writes & live[index + 1]
        }
        if not drop:
            return graph
        code.replace(drop, {})


def remove_unreachable(code: Code, graph: FlowGraph) -> bool:
    """Drop instructions that control cannot reach; return whether there were any."""
    drop = graph.unreachable()
    if drop:
        code.replace(drop, {})
    return bool(drop)
