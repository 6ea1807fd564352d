# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of architectures, workloads and mappings, as SVG; nothing else is needed for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from accelforge.util.lazy import need

if TYPE_CHECKING:
    from accelforge.frontend.arch import Arch
    from accelforge.frontend.mapping import Mapping
    from accelforge.frontend.workload import Workload

__all__ = ["Box", "mapping_to_pydot", "render_arch", "render_mapping", "render_workload"]

CHARACTER = 7.2
LINE = 16
PADDING = 10
GAP = 18


class SVG(str):
    """The text of a picture, which a notebook draws."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


class Box:
    """A node of a picture.

    Parameters
    ----------
    label : str
        Its text; lines are separated by newlines.
    shape : str
        ``box``, ``cylinder``, ``ellipse``, ``hexagon`` and others, of which most are drawn alike.
    color : str
        Of its inside.
    children : list of Box
        What hangs on it.
    """

    def __init__(self, label: str, shape: str = "box", color: str = "white") -> None:
        self.lines = label.strip().split("\n")
        self.shape = shape
        self.color = color
        self.children: list[Box] = []

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        width = max(len(line) for line in self.lines) * CHARACTER + 2 * PADDING
        return width, len(self.lines) * LINE + PADDING

    def extent(self) -> float:
        """Width of this node and of all below it."""
        below = sum(child.extent() for child in self.children)
        return max(self.size[0], below + GAP * max(len(self.children) - 1, 0))

    def draw(self, x: float, y: float, out: list[str]) -> float:
        """Draw this node and all below it into a column that begins at x.

        Returns
        -------
        float
            Where the picture ends below.
        """
        extent, (width, height) = self.extent(), self.size
        center = x + extent / 2
        bottom = y + height
        at = (
            x
            + (
                extent
                - sum(c.extent() for c in self.children)
                - GAP * max(len(self.children) - 1, 0)
            )
            / 2
        )
        for child in self.children:
            middle = at + child.extent() / 2
            top = y + height + GAP
            out.append(
                f'<line x1="{center:.1f}" y1="{y + height:.1f}" x2="{middle:.1f}" y2="{top:.1f}" '
                f'stroke="#888"/>'
            )
            bottom = max(bottom, child.draw(at, top, out))
            at += child.extent() + GAP
        self._outline(center - width / 2, y, out)
        for number, line in enumerate(self.lines):
            out.append(
                f'<text x="{center:.1f}" y="{y + PADDING / 2 + LINE * (number + 0.75):.1f}" '
                f'text-anchor="middle">{escape(line)}</text>'
            )
        return bottom

    def _outline(self, x: float, y: float, out: list[str]) -> None:
        width, height = self.size
        style = f'fill="{self.color}" stroke="#444"'
        if self.shape == "none":
            return
        if self.shape in ("ellipse", "oval"):
            out.append(
                f'<ellipse cx="{x + width / 2:.1f}" cy="{y + height / 2:.1f}" '
                f'rx="{width / 2:.1f}" ry="{height / 2:.1f}" {style}/>'
            )
            return
        corner = {"cylinder": 8, "hexagon": 12}.get(self.shape, 2)
        out.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'rx="{corner}" {style}/>'
        )


def _picture(roots: Sequence[Box], title: str | None = None) -> SVG:
    out: list[str] = []
    x: float = GAP
    top = GAP + (LINE if title else 0)
    bottom = float(top)
    if title:
        out.append(f'<text x="{GAP}" y="{LINE}" font-weight="bold">{escape(title)}</text>')
    for root in roots:
        bottom = max(bottom, root.draw(x, top, out))
        x += root.extent() + GAP
    body = "\n".join(out)
    return SVG(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x:.0f}" height="{bottom + GAP:.0f}" '
        f'font-family="Arial, sans-serif" font-size="12">\n{body}\n</svg>\n'
    )


# --- architectures and workloads ----------------------------------------------------------------


def render_arch(arch: Arch) -> SVG:
    """Draw an architecture.

    Parameters
    ----------
    arch : Arch
        Evaluated or not.
    """
    root = Box("Architecture", "none")
    _hang_nodes(arch, root)
    return _picture(root.children)


def _hang_nodes(branch: Any, parent: Box) -> Box:
    from accelforge.frontend.arch import Branch, Compute, Fork

    for node in branch.nodes:
        if isinstance(node, Branch):
            below = _hang_nodes(node, parent)
            if not isinstance(node, Fork):
                parent = below
            continue
        box = Box(node._render_node_label(), node._render_node_shape(), node._render_node_color())
        parent.children.append(box)
        if not isinstance(node, Compute):
            parent = box
    return parent


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
    return _picture(roots)


def _plain(text: str) -> str:
    return text.replace("<sub>", "[").replace("</sub>", "]")


# --- mappings -----------------------------------------------------------------------------------


def render_mapping(
    mapping: Mapping, with_reservations: bool = True, with_tile_shape: bool = True
) -> SVG:
    """Draw a mapping.

    Parameters
    ----------
    mapping : Mapping
        Evaluated or not.
    with_reservations : bool
        Whether to draw reservations.
    with_tile_shape : bool
        Whether to write tile shapes into loops.
    """
    root = Box("Root", "none")
    _walk(
        mapping, root, with_reservations, lambda node, parent: _hang(node, parent, with_tile_shape)
    )
    return _picture(root.children, mapping.title)


def _hang(node: Any, parent: Box, with_tile_shape: bool) -> Box:
    label = node.text or node._render_node_label(with_tile_shape=with_tile_shape)
    box = Box(label, node._render_node_shape(), node._render_node_color())
    parent.children.append(box)
    return box


def _walk(node: Any, parent: Any, with_reservations: bool, hang: Callable[[Any, Any], Any]) -> None:
    """Visit the nodes of a mapping, each with what stands for the node above it."""
    from accelforge.frontend.mapping import Nested, Reservation, Split

    if isinstance(node, Nested):
        for inner in node.nodes:
            if isinstance(inner, (Nested, Split)):
                _walk(inner, parent, with_reservations, hang)
            elif with_reservations or not isinstance(inner, Reservation):
                parent = hang(inner, parent)
    elif isinstance(node, Split):
        own = hang(node, parent)
        for branch in node.nodes:
            _walk(branch, own, with_reservations, hang)
    else:
        hang(node, parent)


def mapping_to_pydot(
    mapping: Mapping, with_reservations: bool = True, with_tile_shape: bool = True
) -> Any:
    """Make a graph of the package pydot of a mapping.

    Parameters
    ----------
    mapping : Mapping
        Evaluated or not.
    with_reservations : bool
        Whether to draw reservations.
    with_tile_shape : bool
        Whether to write tile shapes into loops.
    """
    pydot = need("pydot", "render_pydot()")
    graph = pydot.Dot(graph_type="graph", rankdir="TD")

    def hang(node: Any, parent: str | None) -> str:
        name = str(node._render_node_name())
        label = node.text or node._render_node_label(with_tile_shape=with_tile_shape)
        graph.add_node(
            pydot.Node(
                name,
                label=label,
                shape=node._render_node_shape(),
                style="filled",
                fillcolor=node._render_node_color(),
            )
        )
        if parent is not None:
            graph.add_edge(pydot.Edge(parent, name))
        return name

    _walk(mapping, None, with_reservations, hang)
    return graph
