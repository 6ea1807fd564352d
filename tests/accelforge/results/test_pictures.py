# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: well-formed, with all labels, without overlaps, of any depth and width."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET

import pytest

import accelforge as af
from accelforge.drawing.boxes import Box
from accelforge.drawing.graphs import draw_graph
from accelforge.drawing.layers import arrange
from accelforge.drawing.svg import GREY, SVG, Canvas
from accelforge.drawing.text import measure, wrap
from accelforge.drawing.trees import Tree, draw_trees
from accelforge.frontend.mapping.mapping import (
    Compute,
    Mapping,
    Reservation,
    Sequential,
    Storage,
    Temporal,
    TextBox,
    Toll,
)
from accelforge.util.units import size_text

NAMESPACE = "{http://www.w3.org/2000/svg}"


class Drawn:
    """Contents of a picture."""

    def __init__(self, svg):
        root = ET.fromstring(svg)
        assert root.tag == f"{NAMESPACE}svg"
        self.size = float(root.get("width")), float(root.get("height"))
        self.texts = [
            (float(t.get("x")), float(t.get("y")), t.text.replace("\u00a0", " "))
            for t in root.iter(f"{NAMESPACE}text")
        ]
        self.boxes = [
            tuple(float(r.get(k)) for k in ("x", "y", "width", "height"))
            for r in root.iter(f"{NAMESPACE}rect")
        ]

    def check(self):
        for number, (x, y, width, height) in enumerate(self.boxes):
            assert x >= 0
            assert y >= 0
            assert x + width <= self.size[0]
            assert y + height <= self.size[1]
            for other in self.boxes[:number]:
                apart = (
                    x >= other[0] + other[2]
                    or other[0] >= x + width
                    or y >= other[1] + other[3]
                    or other[1] >= y + height
                )
                assert apart
        for x, y, text in self.texts:
            inside = [
                b for b in self.boxes if b[0] <= x <= b[0] + b[2] and b[1] <= y <= b[1] + b[3]
            ]
            assert len(inside) == 1, text
            assert measure(text) <= inside[0][2]


# --- text ---------------------------------------------------------------------------------------


def test_width_of_text():
    assert measure("") == 0
    assert measure("iii") < measure("mmm")
    assert measure("\u4e00") > measure("a")
    assert measure("é") > 0


def test_long_lines_are_broken_after_spaces():
    text = "Buffer reuses " + ", ".join(f"T{i}" for i in range(30))
    lines = wrap(text, 200)
    assert len(lines) > 1
    assert all(measure(line) <= 200 for line in lines)
    assert " ".join(line.strip() for line in lines) == text
    assert wrap("word" * 30 + " next", 100)[0] == "word" * 30
    assert wrap("a\n\nb", 100) == ["a", "", "b"]


# --- shapes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape", ["box", "cylinder", "ellipse", "oval", "hexagon", "rarrow", "component", "Msquare"]
)
def test_shapes(shape):
    svg = draw_trees([Tree(Box("two\nlines <&>", shape, "#eee", copies=1, heading=True))])
    root = ET.fromstring(svg)
    assert [t.text for t in root.iter(f"{NAMESPACE}text")] == ["two", "lines <&>"]
    assert 'font-weight="bold"' in svg
    outlines = [e for e in root if not e.tag.endswith("text")]
    assert len(outlines) == 2


def test_no_shape_and_no_boxes():
    bare = draw_trees([Tree(Box("text", "none"))])
    assert "rect" not in bare
    assert f'fill="{GREY}"' in bare
    assert isinstance(draw_trees([]), SVG)
    assert draw_graph([], []).startswith("<svg")
    assert Canvas().picture(1, 1)._repr_svg_().startswith("<svg")


def test_text_that_xml_cannot_hold():
    drawn = Drawn(draw_trees([Tree(Box("a\x00b\x1b\ud800<&>"))]))
    assert drawn.texts[0][2] == "a\ufffdb\ufffd\ufffd<&>"


# --- trees --------------------------------------------------------------------------------------


def random_tree(rng, depth):
    tree = Tree(Box("word " * rng.randint(1, 20)))
    if depth:
        tree.below = [random_tree(rng, depth - 1) for _ in range(rng.choice([0, 1, 1, 2, 5]))]
    return tree


@pytest.mark.parametrize("seed", range(10))
def test_boxes_of_trees_do_not_overlap(seed):
    rng = random.Random(seed)
    Drawn(draw_trees([random_tree(rng, 4) for _ in range(2)])).check()


def test_trees_may_be_deep_and_wide():
    deep = Mapping(nodes=[Temporal(rank_variable="m", tile_shape=2)] * 3000 + [Compute(einsum="Z")])
    assert Drawn(deep.render()).size[1] > 3000 * 20
    wide = Mapping(nodes=[Sequential(nodes=[Compute(einsum=f"E{i}") for i in range(200)])])
    drawn = Drawn(wide.render())
    assert len(drawn.texts) == 201


def test_nests_may_be_deep():
    inner = Mapping(nodes=[Compute(einsum="Z")])
    for _ in range(300):
        inner = Sequential(nodes=[inner])
    assert len(Drawn(Mapping(nodes=[inner]).render()).texts) == 301


def test_titles_are_written_above():
    drawn = Drawn(draw_trees([Tree(Box("a"))], "A title that is longer than the box"))
    assert drawn.texts[0][2] == "A title that is longer than the box"
    assert drawn.size[0] >= measure("A title that is longer than the box")
    assert drawn.boxes[0][1] > drawn.texts[0][1]


# --- graphs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_boxes_of_graphs_do_not_overlap(seed):
    rng = random.Random(seed)
    count = rng.randint(1, 30)
    boxes = [Box("word " * rng.randint(1, 12)) for _ in range(count)]
    edges = [(rng.randrange(count), rng.randrange(count)) for _ in range(rng.randint(0, 60))]
    Drawn(draw_graph(boxes, edges)).check()


def test_edges_go_down_except_in_cycles():
    sizes = [(10.0, 10.0)] * 4
    places = arrange(sizes, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 1)])
    tops = [top for _, top in places.nodes]
    assert tops[0] < tops[1] < tops[2] < tops[3]
    for points in places.edges[:4]:
        assert points[0][1] < points[-1][1]
    assert places.edges[4][0][1] > places.edges[4][-1][1]
    assert arrange(sizes, [(1, 1)]).edges == [[]]


def test_long_edges_pass_between_boxes():
    # A chain, and an edge from its first node to its last.
    count = 6
    sizes = [(80.0, 20.0)] * count
    places = arrange(sizes, [(i, i + 1) for i in range(count - 1)] + [(0, count - 1)])
    for x, y in places.edges[-1][1:-1]:
        for center, top in places.nodes:
            assert not (abs(x - center) < 40 and top < y < top + 20)


def test_crossings_are_removed():
    # 0-5, 1-4, 2-3 do not cross if the lower layer is turned round.
    places = arrange([(10.0, 10.0)] * 6, [(0, 5), (1, 4), (2, 3)])
    upper = sorted(range(3), key=lambda n: places.nodes[n][0])
    lower = sorted(range(3, 6), key=lambda n: places.nodes[n][0])
    assert [5 - n for n in upper] == lower
    assert all(len({x for x, _ in points}) == 1 for points in places.edges)


# --- what is drawn ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["basic.matmuls", "transformers.attention", "cnns.convolution"])
def test_workloads(name):
    path = af.examples.workloads
    for part in name.split("."):
        path = getattr(path, part)
    workload = af.Spec.from_yaml(path).workload
    drawn = Drawn(workload.render())
    drawn.check()
    texts = [text for _, _, text in drawn.texts]
    for tensor in workload.tensor_names:
        assert texts.count(tensor) >= 1
    for einsum in workload.einsum_names:
        assert einsum in texts


def test_einsums_that_need_one_another():
    workload = af.Workload(
        einsums=["Z[m] = Y[m] * A[m]", "Y[m] = Z[m] * B[m]"],
        rank_sizes={"M": 4},
        bits_per_value={"All": 8},
    )
    svg = workload.render()
    Drawn(svg).check()
    assert svg.count("<polygon") == 6


def test_architectures_show_sizes_fanouts_and_forks():
    arch = af.Spec.from_yaml(af.examples.arches.tpu_v4i).arch
    svg = arch.render()
    for text in ("LocalBuffer", "4x Z", "size: 128 * 2**20 * 8", "ScalarUnit"):
        assert text in svg
    assert "stroke-dasharray" in svg
    assert arch._repr_svg_() == svg


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        (float("inf"), "size: inf"),
        ("2 * 8", "size: 2 * 8"),
        (4, "4 bit"),
        (12, "12 bit"),
        (8, "1 B"),
        (128 * 2**20 * 8, "128 MiB"),
        (10.5 * 2**20 * 8, "10.5 MiB"),
        (1e15, "125 TB"),
        (3 * 2**10 * 8, "3 KiB"),
    ],
)
def test_sizes_of_memories(bits, text):
    assert size_text(bits) == text


def test_graphs_of_pydot(one):
    pydot = pytest.importorskip("pydot")
    graph = one.mapping().render_pydot(with_reservations=False)
    assert isinstance(graph, pydot.Dot)
    assert {node.get_fillcolor() for node in graph.get_nodes()} >= {"#dff3df"}
    assert isinstance(one.spec.arch.find("MAC")._render_node(), pydot.Node)


def test_kinds_of_nodes_have_shapes_of_their_own():
    pytest.importorskip("pydot")
    shapes = {
        "cylinder": Storage(tensors=["A"], component="Main"),
        "component": Reservation(purposes=["A"], resource="Other"),
        "rarrow": Toll(tensors=["A"], component="NoC"),
        "none": TextBox(text="note"),
        "box": Temporal(rank_variable="m", tile_shape=2),
        "ellipse": Compute(einsum="Z"),
    }
    graph = Mapping(nodes=list(shapes.values())).render_pydot()
    assert [node.get_shape() for node in graph.get_nodes()] == list(shapes)
