# SPDX-License-Identifier: BSD-3-Clause
"""The picture of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accelforge.drawing.boxes import Box
from accelforge.drawing.graphs import draw_graph
from accelforge.drawing.svg import SVG

if TYPE_CHECKING:
    from accelforge.frontend.workload import Workload

__all__ = ["render_workload"]


_EINSUM = "#e3eefc"
# Tensors that are only read, that are both, and that are only written.
_INPUT, _BETWEEN, _OUTPUT = "#dff3df", "#fffbdc", "#ffe3c4"


def render_workload(workload: Workload) -> SVG:
    """Draw a workload: arrows go from tensors to the Einsums that read them, and on to outputs.

    Parameters
    ----------
    workload : Workload
        Evaluated or not.
    """
    accesses = [access for einsum in workload.einsums for access in einsum.tensor_accesses]
    read = {access.name for access in accesses if not access.output}
    written = {access.name for access in accesses if access.output}

    boxes: list[Box] = []
    edges: list[tuple[int, int]] = []
    numbers: dict[str, int] = {}

    def tensor(name: str) -> int:
        if name not in numbers:
            numbers[name] = len(boxes)
            color = _INPUT if name not in written else _BETWEEN if name in read else _OUTPUT
            boxes.append(Box(name, "oval", color))
        return numbers[name]

    for einsum in workload.einsums:
        inputs = [tensor(access.name) for access in einsum.tensor_accesses if not access.output]
        number = len(boxes)
        label = f"{einsum.name}\n{_plain(einsum._to_formatted_string())}"
        boxes.append(Box(label, "box", _EINSUM, heading=True))
        outputs = [tensor(access.name) for access in einsum.tensor_accesses if access.output]
        edges += [(source, number) for source in inputs]
        edges += [(number, target) for target in outputs]
    return draw_graph(boxes, edges)


def _plain(text: str) -> str:
    return text.replace("<sub>", "[").replace("</sub>", "]")
