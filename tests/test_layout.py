# SPDX-License-Identifier: BSD-3-Clause
"""Folders use what is below them, files have no cycles, and comments name files that exist.

LAYERS says what each folder may use: include, call or import. What breaks a rule today is listed
with its reason; an entry that is no longer needed fails too, so that the lists only shrink.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from tests.support.layout import Edges, calls, crossings, cycles, imports, includes
from tests.support.mentions import find_absent

Pair = tuple[str, str]

# A folder, and the folders that it may use. The order is from below to above, and nothing else is.
LAYERS: dict[str, str] = {
    # C declarations, which are for users
    "include/veo": "",
    "include/dpu": "",
    "include/accl": "",
    # C that several systems share
    "csrc/common": "include/veo",
    "csrc/dispatch": "include/veo include/dpu include/accl",
    "csrc/hostcode": "csrc/common",
    "csrc/veo": "",
    "csrc/dpu/isa": "",
    "csrc/veo/isa": "",
    "csrc/veo/machine": "csrc/common csrc/veo/isa",
    "csrc/formats": "csrc/common csrc/dpu/isa",
    # veo
    "csrc/veo/alias": "csrc/dispatch include/veo",
    "csrc/veo/package": "include/veo csrc/common",
    "csrc/veo/sysve": "include/veo",
    "csrc/veo/sysfs": "",
    "csrc/veo/link": "",
    "csrc/veo/dump": "csrc/common csrc/formats csrc/veo/isa csrc/veo/link",
    "csrc/veo/time": "csrc/veo/isa csrc/veo/machine",
    "csrc/veo/checks": "csrc/common csrc/veo csrc/veo/isa csrc/veo/machine csrc/veo/time",
    "csrc/veo/translate": "csrc/common csrc/hostcode csrc/veo/isa csrc/veo/machine",
    "csrc/veo/run": "csrc/common csrc/formats csrc/veo/link csrc/veo/isa csrc/veo/machine "
    "csrc/veo/time csrc/veo/checks csrc/veo/translate csrc/hostcode csrc/veo",
    "csrc/veo/worker": "include/veo csrc/common csrc/formats csrc/veo csrc/veo/link "
    "csrc/veo/machine csrc/veo/run",
    "csrc/veo/lib": "include/veo csrc/common csrc/veo",
    # dpu: the machine, then the library, whose folders are a stack
    "csrc/dpu/machine": "csrc/common csrc/dpu/isa",
    "csrc/dpu/translate": "csrc/common csrc/hostcode csrc/dpu/isa csrc/dpu/machine",
    "csrc/dpu/profile": "csrc/dpu/isa csrc/dpu/machine",
    "csrc/dpu/checks": "csrc/dpu/isa csrc/dpu/machine",
    "csrc/dpu/lib/core": "include/dpu csrc/common",
    "csrc/dpu/lib/programs": "@csrc/dpu/lib/core csrc/formats csrc/dpu/isa",
    "csrc/dpu/lib/ranks": "@csrc/dpu/lib/programs csrc/dpu/machine",
    "csrc/dpu/lib/remote": "@csrc/dpu/lib/ranks",
    "csrc/dpu/lib/observe": "@csrc/dpu/lib/remote csrc/dpu/profile",
    "csrc/dpu/lib/schedule": "@csrc/dpu/lib/observe",
    "csrc/dpu/lib/sets": "@csrc/dpu/lib/schedule",
    "csrc/dpu/lib/transfers": "@csrc/dpu/lib/sets",
    "csrc/dpu/lib/run": "@csrc/dpu/lib/transfers csrc/dpu/translate csrc/dpu/checks csrc/hostcode",
    "csrc/dpu/lib/log": "@csrc/dpu/lib/sets",
    "csrc/dpu/lib/state": "@csrc/dpu/lib/run",
    "csrc/dpu/lib/python": "@csrc/dpu/lib/run csrc/dpu/lib/log",
    "csrc/dpu/alias": "",
    # the run time, which is code for the DPU
    "csrc/dpu/runtime/include": "",
    "csrc/dpu/runtime/builtins": "csrc/dpu/runtime/include",
    "csrc/dpu/runtime/upmem_costs": "csrc/dpu/runtime/include csrc/dpu/runtime/builtins",
    "csrc/dpu/runtime/string": "csrc/dpu/runtime/include",
    "csrc/dpu/runtime/stdlib": "csrc/dpu/runtime/include",
    "csrc/dpu/runtime/stdio": "csrc/dpu/runtime/include",
    "csrc/dpu/runtime/sync": "csrc/dpu/runtime/include csrc/dpu/runtime/builtins",
    "csrc/dpu/runtime/mram": "csrc/dpu/runtime/include csrc/dpu/runtime/stdlib",
    # accl
    "csrc/accl/driver": "include/accl",
    "csrc/accl/arithmetic": "include/accl csrc/common",
    "csrc/accl/base": "include/accl csrc/common",
    "csrc/accl/transport": "@csrc/accl/base csrc/accl/arithmetic",
    "csrc/accl/transport/shm": "@csrc/accl/transport",
    "csrc/accl/transport/mpi": "@csrc/accl/base",
    "csrc/accl/transport/packets": "@csrc/accl/transport csrc/accl/transport/mpi",
    "csrc/accl/transport/hosts": "@csrc/accl/transport",
    "csrc/accl/engine": "@csrc/accl/transport/shm csrc/accl/transport/packets"
    " csrc/accl/transport/hosts",
    # accelforge
    "csrc/accelforge/model": "",
    "csrc/accelforge/search": "csrc/accelforge/model",
    "csrc/accelforge/join": "",
    # Python
    "offchip": "",
    "veo": "offchip",
    "accl": "offchip",
    # Nothing else imports PyTorch.
    "accl/torch": "accl",
    "accelforge/examples": "",
    "accelforge/_problem": "",
    "accelforge/_model": "accelforge/_problem",
    "accelforge/_search": "@accelforge/_model",
    "accelforge/util": "offchip",
    "accelforge/_joining": "accelforge/util",
    "accelforge/_join": "accelforge/_joining",
    "accelforge/drawing": "@accelforge/util",
    "accelforge/expressions": "@accelforge/util",
    "accelforge/yaml": "@accelforge/expressions",
    "accelforge/fields": "@accelforge/yaml",
    "accelforge/frontend/mapper": "accelforge/fields accelforge/_problem",
    "accelforge/component_models": "",
    "accelforge/frontend": "@accelforge/fields accelforge/drawing @accelforge/frontend/mapper"
    " accelforge/component_models",
    "accelforge/tracegen": "accelforge/frontend",
    # of a problem, which is plain data
    "accelforge/explanation": "accelforge/_model accelforge/util",
    "accelforge/results": "@accelforge/frontend @accelforge/explanation",
    "accelforge/model": "@accelforge/results accelforge/_model",
    "accelforge/mapper": "@accelforge/model accelforge/_search accelforge/_join",
    "accelforge/exploration": "@accelforge/model accelforge/_join offchip",
    "accelforge/spec": "@accelforge/mapper accelforge/exploration",
    "accelforge/plotting": "@accelforge/spec accelforge/examples",
    "accelforge/devices": "@accelforge/frontend veo",
    "accelforge/prediction": "@accelforge/spec",
    "accelforge": "@accelforge/plotting accelforge/prediction"
    " accelforge/devices accelforge/examples offchip",
    "dpu/isa": "",
    "dpu/elf": "",
    "dpu/dwarf": "",
    "dpu/asm": "dpu/isa dpu/elf dpu/dwarf offchip",
    "dpu/toolchain/base": "dpu/isa dpu/asm offchip",
    "dpu/toolchain/ir": "dpu/isa dpu/toolchain/base",
    "dpu/toolchain/frontend": "dpu/toolchain/base dpu/toolchain/ir dpu/asm dpu/elf",
    "dpu/toolchain/translate": "dpu/isa dpu/asm dpu/toolchain/base dpu/toolchain/ir",
    "dpu/toolchain/passes": "dpu/toolchain/ir",
    "dpu/toolchain/link": "@dpu/toolchain/translate dpu/toolchain/passes dpu/asm dpu/elf dpu/dwarf"
    " offchip",
    "dpu/toolchain": "@dpu/toolchain/link dpu/toolchain/frontend offchip",
    "dpu": "@dpu/toolchain dpu/asm dpu/isa",
    "dpu/profile": "@dpu",
    "dpu/cli": "@dpu/profile",
    "dpu/debugger": "@dpu dpu/dwarf dpu/elf",
    "dpu/gdb": "@dpu/debugger dpu/toolchain/ir",
    "dpu/lldb": "@dpu/debugger",
    # programs of the others, whose cost it predicts
    "accelforge/kernels": "@accelforge/prediction accelforge/devices veo dpu accl",
    "offchip/demo": "@accelforge/kernels accelforge offchip",
}
# Modules that are a layer of their own in a folder of several.
APART = {
    # Places where programs of the original expect them; they are in accelforge/expressions.
    "accelforge/util/_eval_expressions.py": "accelforge",
    "accelforge/util/_setexpressions.py": "accelforge",
    **dict.fromkeys(
        ("accelforge/_model.pyx", "accelforge/_naming.py", "accelforge/_results.py"),
        "accelforge/_model",
    ),
    "accelforge/_search.pyx": "accelforge/_search",
    "accelforge/_join.pyx": "accelforge/_join",
    **dict.fromkeys(
        ("accelforge/frontend/__init__.py", "accelforge/frontend/spec.py"), "accelforge/spec"
    ),
    "accelforge/model/columns.py": "accelforge/results",
    **{
        f"accelforge/mapper/FFM/{name}.py": "accelforge/results"
        for name in ("breakdown", "difference", "frame", "mappings", "stacking", "summary", "table")
    },
    "dpu/_isa.pyx": "dpu/isa",
    "dpu/isa.py": "dpu/isa",
    "dpu/disasm.py": "dpu/isa",
    "dpu/stack.py": "dpu/asm",
    **{
        f"dpu/toolchain/{name}.py": "dpu/toolchain/base"
        for name in (
            *("commands", "compilers", "errors", "options", "stacks"),
            "target",
        )
    },
}
# --- what breaks the rules today ---------------------------------------------------------------

CROSSING: dict[Pair, str] = {}
INCLUDE_CYCLES: dict[str, str] = {}
CALL_CYCLES: dict[str, str] = {}
IMPORT_CYCLES: dict[str, str] = {}
# Of imports for type checkers too: files that name each other's classes in annotations alone.
TYPE_CYCLES: dict[str, str] = {
    **dict.fromkeys(
        ("accelforge/fields/kinds.py", "accelforge/fields/model.py"),
        "a kind of field is read for a model, whose fields have kinds",
    ),
    **dict.fromkeys(
        (
            *(f"accelforge/frontend/arch/{name}.py" for name in ("arch", "picture")),
            *(f"accelforge/frontend/mapping/{name}.py" for name in ("mapping", "picture")),
            *("accelforge/frontend/workload.py", "accelforge/frontend/workload_picture.py"),
        ),
        "render() of an object imports its picture, whose argument it is",
    ),
    **dict.fromkeys(
        ("accelforge/frontend/arch/component.py", "accelforge/frontend/arch/costs.py"),
        "costs of a component are a method of it in the original",
    ),
    **dict.fromkeys(
        (
            *(
                f"accelforge/exploration/{name}.py"
                for name in ("axes", "compiled", "explore", "result", "samplers", "work")
            ),
            "accelforge/frontend/spec.py",
            *(
                f"accelforge/mapper/FFM/{name}.py"
                for name in (
                    *("cache", "difference", "joining", "main", "mappings", "mapspace", "outcome"),
                    *("placements", "pmappings", "reasons", "results", "rounds", "searches"),
                    *("summary", "table"),
                )
            ),
            *(f"accelforge/model/{name}.py" for name in ("columns", "main", "problem")),
        ),
        "model, mapper and exploration take a Spec, whose methods call them",
    ),
    **dict.fromkeys(
        ("accl/accl.py", "accl/bootstrap.py"), "accl.from_comm() calls what makes an accl"
    ),
    **dict.fromkeys(
        ("dpu/_program_set.pyx", "dpu/_set.pyx", "dpu/ffi.py", "dpu/symbols.py"),
        "sets give symbols, which keep their set",
    ),
    **dict.fromkeys(
        (f"dpu/asm/{name}.py" for name in ("assembler", "contents", "directives", "macros")),
        "directives change the assembler that reads them",
    ),
    **dict.fromkeys(
        ("dpu/asm/image.py", "dpu/asm/linker.py"), "the linker makes the image of its result"
    ),
    **dict.fromkeys(
        ("offchip/futures.py", "offchip/request.pyx", "offchip/watcher.py"),
        "a request has a future, which is completed by the watcher of requests",
    ),
    **dict.fromkeys(
        (f"veo/{name}.py" for name in ("__init__", "compilers", "kernels", "vebuild")),
        "a compiler is chosen for a build, which has it",
    ),
    "veo/static_worker.py": "the same",
    **dict.fromkeys(
        (
            f"veo/_{name}.pyx"
            for name in (
                *("context", "convert", "function", "library", "memory", "proc", "proc_memory"),
                "request",
            )
        ),
        "a pointer to VE memory names its process, whose methods take pointers",
    ),
    "veo/memptr.py": "the same",
}
# File and name: what is not ours.
FOREIGN: dict[Pair, str] = {
    ("docs/dpu_toolchain.md", "include/host/DpuHost"): "a file of UPMEM's SDK",
    ("tests/test_comments.py", "csrc/a.c"): "planted there",
    ("tests/test_comments.py", "tests/b.py"): "planted there",
    ("tests/test_layout.py", "csrc/common/lost.c"): "planted below",
    ("tests/test_layout.py", "docs/lost.md"): "planted below",
}


# --- rules --------------------------------------------------------------------------------------


def allowed(folder: str) -> set[str]:
    """List the folders that a folder may use; one with @ stands for what it may use too."""
    found = set()
    for word in LAYERS[folder].split():
        found.add(word.removeprefix("@"))
        if word.startswith("@"):
            found |= allowed(word[1:])
    return found


def layer_of(file: str) -> str:
    """Give the layer of a file: the deepest folder of the table that it is in."""
    if file in APART:
        return APART[file]
    folder = file.rpartition("/")[0]
    while folder not in LAYERS and "/" in folder:
        folder = folder.rpartition("/")[0]
    return folder


def crossed(edges: Edges) -> dict[Pair, list[str]]:
    """List edges between layers that the table does not have, with their files."""
    layers = {file: layer_of(file) for file in {*edges, *(t for ts in edges.values() for t in ts)}}
    return {
        pair: files
        for pair, files in sorted(crossings(edges, layers).items())
        if pair[0] not in LAYERS or pair[1] not in allowed(pair[0])
    }


def broken(edges: Edges, exceptions: Collection[Pair]) -> list[str]:
    """List the edges that are neither in the table nor in the exceptions."""
    return [
        f"{pair[0]} may not use {pair[1]}: {', '.join(files)}"
        for pair, files in crossed(edges).items()
        if pair not in exceptions
    ]


def find_cycles(edges: Edges, exceptions: Collection[str]) -> list[str]:
    """List the cycles with a file that is not in the exceptions."""
    return [
        " <-> ".join(cycle)
        for cycle in cycles(edges)
        if not all(file in exceptions for file in cycle)
    ]


def unused_exceptions(edges: Edges, exceptions: Collection[str]) -> list[str]:
    """List the exceptions that are in no cycle."""
    return sorted(set(exceptions) - {file for cycle in cycles(edges) for file in cycle})


# --- tests --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def used(root: Path) -> dict[str, dict[str, set[str]]]:
    return {
        **{"include": includes(root), "call": calls(root), "import": imports(root)},
        "type": imports(root, types=True),
    }


def test_folders_use_what_is_below_them(used: dict[str, Edges]) -> None:
    # Annotations may name what is above.
    kinds = [edges for kind, edges in used.items() if kind != "type"]
    assert [line for edges in kinds for line in broken(edges, CROSSING)] == []
    needed = {pair for edges in kinds for pair in crossed(edges)}
    assert sorted(CROSSING.keys() - needed) == [], "these exceptions are no longer needed"


def test_layers_are_a_stack() -> None:
    below: set[str] = set()
    for folder in LAYERS:
        assert allowed(folder) <= below, f"{folder} is above what it may use"
        below.add(folder)


def test_every_layer_has_files(used: dict[str, Edges]) -> None:
    assert set(LAYERS) == {layer_of(file) for edges in used.values() for file in edges}
    assert set(APART) <= set(used["import"])


@pytest.mark.parametrize(
    ("kind", "exceptions"),
    [
        *(("include", INCLUDE_CYCLES), ("call", CALL_CYCLES), ("import", IMPORT_CYCLES)),
        ("type", TYPE_CYCLES),
    ],
)
def test_files_have_no_cycles(
    kind: str, exceptions: Mapping[str, str], used: dict[str, Edges]
) -> None:
    assert find_cycles(used[kind], exceptions) == []
    assert unused_exceptions(used[kind], exceptions) == [], "these exceptions are no longer needed"


def test_no_merge_is_left_half_done(root: Path) -> None:
    marks = re.compile(rb"^(<{7}|>{7}) ", re.MULTILINE)
    found = [
        str(path.relative_to(root))
        for folder in (
            "csrc",
            "include",
            "docs",
            "tests",
            "offchip",
            "veo",
            "dpu",
            "accl",
            "accelforge",
        )
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".c", ".h", ".py", ".pyx", ".md") and marks.search(path.read_bytes())
    ]
    assert found == []


def test_comments_and_pages_name_what_exists(root: Path) -> None:
    named = {(file, name) for file, names in find_absent(root).items() for name in names}
    assert sorted(named - FOREIGN.keys()) == []
    assert sorted(FOREIGN.keys() - named) == [], "these exceptions are no longer needed"


def drawn(page: str) -> list[Pair]:
    """List the arrows of the blocks ``layers`` of a page."""
    found = []
    for block in re.findall(r"^```layers\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for chain in re.split(r"\n| {4,}", block):
            folders = chain.split(" -> ") if chain.strip() else []
            found += [(a.strip(), b.strip()) for a, b in itertools.pairwise(folders)]
    return found


def test_the_diagram_of_the_design_shows_these_layers(root: Path) -> None:
    arrows = drawn((root / "docs/design/overview.md").read_text())
    wrong = [f"{a} -> {b}" for a, b in arrows if a not in LAYERS or b not in allowed(a)]
    assert wrong == []
    apart = {folder for folder, below in LAYERS.items() if not below or "runtime" in folder}
    assert set(LAYERS) - apart - {a for a, _ in arrows} == set(), "layers without an arrow"


def test_planted_arrows_are_found() -> None:
    page = "```layers\ndpu -> dpu/isa -> dpu/asm    veo -> accl\n```\n"
    assert drawn(page) == [("dpu", "dpu/isa"), ("dpu/isa", "dpu/asm"), ("veo", "accl")]


# --- what is planted is found -------------------------------------------------------------------


@pytest.fixture
def plant(tmp_path: Path) -> Callable[..., Path]:
    """Write files, named by their paths; give the root of their tree."""

    def write(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def test_planted_edges_are_found(plant: Callable[..., Path]) -> None:
    root = plant(
        {
            "csrc/common/a.c": '#include "dispatch/b.h"\nint a(void)\n{\n    return 1;\n}\n',
            "csrc/dispatch/b.h": "",
            "csrc/veo/lib/c.c": "int c(void)\n{\n    return d();\n}\n",
            "csrc/veo/worker/d.c": "int d(void)\n{\n    return 0;\n}\n",
            "offchip/e.py": "def f():\n    from veo import g\n",
            "veo/g.py": "",
            "veo/__init__.py": "",
        }
    )
    assert broken(includes(root), []) == [
        "csrc/common may not use csrc/dispatch: csrc/common/a.c -> csrc/dispatch/b.h"
    ]
    assert broken(calls(root), []) == [
        "csrc/veo/lib may not use csrc/veo/worker: csrc/veo/lib/c.c -> csrc/veo/worker/d.c"
    ]
    assert broken(imports(root), []) == ["offchip may not use veo: offchip/e.py -> veo/g.py"]
    assert broken(imports(root), [("offchip", "veo")]) == []


def test_planted_cycles_are_found(plant: Callable[..., Path]) -> None:
    root = plant(
        {
            "csrc/common/a.h": '#include "b.h"\n',
            "csrc/common/b.h": '#include "common/a.h"\n',
            "csrc/common/a.c": "int a_value;\nvoid *a(void)\n{\n    return b();\n}\n",
            "csrc/common/b.c": "static int c(void) {}\nint b(void)\n{\n    return a_value;\n}\n",
            "csrc/common/c.c": "void c(void)\n{\n    a();\n}\n",
            "veo/a.py": "from . import b\n",
            "veo/b.pyx": "from veo.a cimport (\n    x,\n)\n",
            "veo/c.py": "if TYPE_CHECKING:\n    import veo.d\n",
            "veo/d.py": "import veo.c\n",
            "veo/__init__.py": "",
        }
    )
    assert find_cycles(includes(root), []) == ["csrc/common/a.h <-> csrc/common/b.h"]
    assert find_cycles(calls(root), []) == ["csrc/common/a.c <-> csrc/common/b.c"]
    assert find_cycles(imports(root), []) == ["veo/a.py <-> veo/b.pyx"]
    with_types = ["veo/a.py <-> veo/b.pyx", "veo/c.py <-> veo/d.py"]
    assert find_cycles(imports(root, types=True), []) == with_types
    known = ["veo/a.py", "veo/b.pyx"]
    assert find_cycles(imports(root), known) == []
    assert unused_exceptions(imports(root), known) == []
    assert unused_exceptions(imports(root), [*known, "veo/c.py"]) == ["veo/c.py"]


def test_planted_names_are_found(plant: Callable[..., Path]) -> None:
    root = plant(
        {
            "csrc/common/a.c": '/* lost.c, a.c, <lost.h>, kernel.c:3; common/a.c */ "gone.c";\n',
            "csrc/common/b.h": "/*\n * c.h: what was renamed\n */\n",
            "docs/page.md": "`csrc/common/*.c`, `csrc/common/{a,x}.c`, `csrc/lost/`, x.c\n",
            "tests/test_a.py": '"""See csrc/common/lost.c."""\nx = "csrc/gone.c"  # docs/lost.md\n',
        }
    )
    assert find_absent(root) == {
        "csrc/common/a.c": {"lost.c"},
        "csrc/common/b.h": {"c.h"},
        "docs/page.md": {"csrc/common/{a,x}.c", "csrc/lost/"},
        "tests/test_a.py": {"csrc/common/lost.c", "docs/lost.md"},
    }


#: Modules that change a file's mode, each of a file that it made or knows to be a regular one.
CHANGES_MODES = {"offchip/code_cache.py", "offchip/outputs.py", "offchip/sdk_folder.py"}


def test_modes_are_changed_at_known_places(root: Path) -> None:
    changes = re.compile(r"\bf?chmod\(")
    found = {
        path.relative_to(root).as_posix()
        for package in ("accl", "accelforge", "dpu", "offchip", "veo")
        for path in (root / package).rglob("*.py*")
        if path.suffix in (".py", ".pyx") and changes.search(path.read_text())
    }
    assert found == CHANGES_MODES, "an output may be a device: see offchip/outputs.py"
