# SPDX-License-Identifier: BSD-3-Clause
"""The reference pages have the signatures of the stubs, and descriptions where they belong."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("api_pages", ROOT / "docs/api_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_compiled_methods_have_the_types_of_their_stubs(pages: ModuleType) -> None:
    assert pages.find_signature("dpu.DpuSet.exec_async") == ("()", "DpuRequest")
    arguments, returns = pages.find_signature("veo.VeoProc.close_context")
    assert (arguments, returns) == ("(ctx: VeoCtxt, timeout: float | None=None)", "None")
    # Static methods have no self, and private names of types are written out.
    assert pages.find_signature("dpu.DpuContext.from_buffer")[0].startswith("(buf")
    assert "_Log" not in pages.find_signature("dpu.DpuSet.exec")[0]
    assert pages.find_signature("dpu.DpuSet.nothing") is None


def test_functions_of_python_keep_their_signature(pages: ModuleType) -> None:
    def run(self: object) -> None: ...

    given = ("method", "accelforge.kernels.DpuKernel.run", run, None, "(self)", "Measurement")
    assert pages._process_signature(None, *given) == ("()", "Measurement")


@pytest.mark.parametrize(
    ("given", "shown"),
    [("(self)", "()"), ("(self, x)", "(x)"), ("(self, /, *a)", "(*a)"), ("(selfish)", "(selfish)")],
)
def test_signatures_have_no_self(pages: ModuleType, given: str, shown: str) -> None:
    assert pages.without_self(given) == shown


def test_pages_of_compiled_classes_begin_with_how_they_are_made(pages: ModuleType) -> None:
    lines = ["A set."]
    pages.add_constructor("class", "dpu.DpuSet", lines)
    assert lines[0].startswith("``DpuSet(nr_dpus: SupportsIndex | None = None")
    assert lines[1:] == ["", "A set."]
    for what, name in (("method", "dpu.DpuSet"), ("class", "dpu.Nothing")):
        lines = ["A set."]
        pages.add_constructor(what, name, lines)
        assert lines == ["A set."]


def test_a_colon_in_an_attributes_description_makes_no_type(pages: ModuleType) -> None:
    lines = ["The report: of the last launch."]
    pages.keep_whole("property", lines)
    assert lines == ["..", "", "The report: of the last launch."]
    lines = ["Runs: all."]
    pages.keep_whole("method", lines)
    assert lines == ["Runs: all."]


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("exec()", "dpu.DpuSet.exec"),
        ("DpuError", "dpu.DpuError"),
        ("Debugger", "dpu.debug.Debugger"),
        ("path", None),
        ("int", None),
    ],
)
def test_names_lead_to_the_same_class_or_to_a_class_of_ours(
    pages: ModuleType, target: str, found: str | None
) -> None:
    objects = {
        "dpu.DpuSet.exec": "method",
        "dpu.DpuError": "exception",
        "dpu.debug.Debugger": "class",
        "dpu.debug.Debugger.exec": "method",
        "veo.Tool.path": "attribute",
    }
    assert pages.find_target(target, "dpu", "DpuSet", objects) == found


def test_main_classes_exist(pages: ModuleType) -> None:
    for package, name in pages.FIRST.items():
        assert name in importlib.import_module(package).__all__
