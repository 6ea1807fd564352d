# SPDX-License-Identifier: BSD-3-Clause
"""The picture of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accelforge.drawing.boxes import SVG, Box, draw

if TYPE_CHECKING:
    from accelforge.frontend.workload import Workload

__all__ = ["render_workload"]


def render_workload(workload: Workload) -> SVG:
    """Draw a workload: each Einsum below the tensors that it reads, above those that it writes.

    Parameters
    ----------
    workload : Workload
        Evaluated or not.
    """
    roots = []
    for einsum in workload.einsums:
        inputs = [a.name for a in einsum.tensor_accesses if not a.output]
        box = Box(f"{', '.join(inputs)}", "oval", "#dff3df")
        step = Box(f"{einsum.name}\n{_plain(einsum._to_formatted_string())}", "box", "#e3eefc")
        outputs = ", ".join(a.name for a in einsum.tensor_accesses if a.output)
        step.children.append(Box(outputs, "oval", "#dff3df"))
        box.children.append(step)
        roots.append(box)
    return draw(roots)


def _plain(text: str) -> str:
    return text.replace("<sub>", "[").replace("</sub>", "]")
