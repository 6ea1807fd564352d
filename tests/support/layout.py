# SPDX-License-Identifier: BSD-3-Clause
"""Reads the structure of the source tree: what includes, calls, imports and names what.

All functions take the root of a tree and give paths relative to it. C is read as text, without a
compiler: names that macros put together are not seen.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = [
    "Edges",
    "calls",
    "crossings",
    "cycles",
    "imports",
    "includes",
]

# For each file those that it includes, calls or imports.
Edges = Mapping[str, set[str]]

C_ROOTS = ("csrc", "include")
PACKAGES = ("offchip", "veo", "dpu", "accl", "accelforge")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
ATTRIBUTE = re.compile(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)\s*")
# Definitions at the margin: the head of a function, or a variable with its value.
FUNCTION = re.compile(r"^(?!static\b|typedef\b|extern\b)\w[^;{}#]*?\b(\w+)\([^;{}]*\)\s*\{", re.M)
VARIABLE = re.compile(
    r"^(?!static\b|typedef\b|extern\b|(?:struct|union|enum) \w+;)"
    r"\w[\w \t*]*?\b(\w+)(?:\[[^\]]*\])*(?: = |;)",
    re.MULTILINE,
)
STATIC = re.compile(r"^static\b[^;{}=]*?\b(\w+)\(", re.MULTILINE)
PYTHON_LINE = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+c?import[ \t]+(.+)|c?import[ \t]+(.+))$", re.M
)


# --- C ----------------------------------------------------------------------------------------


def includes(root: Path) -> dict[str, set[str]]:
    """Find which C file includes which file of the tree."""
    files = _files(root, C_ROOTS, ".c", ".h", ".S", ".inc", ".def", ".cpp", ".hpp")
    known = set(files)
    places = ["include/veo", "include/dpu", "include/accl", "csrc", "csrc/dispatch"]
    edges: dict[str, set[str]] = {}
    for file in files:
        text = re.sub(r"/\*.*?\*/", "", (root / file).read_text(), flags=re.DOTALL)
        edges[file] = set()
        for quoted, bracketed in INCLUDE.findall(text):
            folders = [*([str(Path(file).parent)] if quoted else []), *places]
            if file.startswith("csrc/dpu/runtime"):
                # Compiled for the DPU, where these are the system's headers.
                folders = [str(Path(file).parent), *map(str, _runtime_folders(root))]
            for folder in folders:
                target = _normal(f"{folder}/{quoted or bracketed}")
                if target in known:
                    edges[file].add(target)
                    break
    return edges


def calls(root: Path) -> dict[str, set[str]]:
    """Find which .c file uses a function or variable that another one of its library defines."""
    code = {
        file: _code(root, file)
        for file in _files(root, ("csrc",), ".c")
        # Functions of libc's names are in the latter.
        if not file.startswith(("csrc/dpu/runtime", "csrc/veo/sysfs"))
    }
    owners: dict[str, set[str]] = defaultdict(set)
    own: dict[str, set[str]] = {}
    for file, text in code.items():
        own[file] = set(STATIC.findall(text))
        for name in {*FUNCTION.findall(text), *VARIABLE.findall(text)}:
            owners[name].add(file)
    edges: dict[str, set[str]] = {}
    for file, text in code.items():
        # Not members of structures: those of a table of functions are not calls of a file.
        used = set(re.findall(r"(?<![.\w])(?<!->)[A-Za-z_]\w*", text)) - own[file]
        # Of a name that two libraries define, the one in the same library is meant.
        edges[file] = {
            owner
            for name in used & owners.keys()
            if file not in owners[name]
            for owner in owners[name]
            if len(owners[name]) == 1 or _library(owner) == _library(file)
        }
    return edges


def _code(root: Path, file: str) -> str:
    """Read a file without comments and texts, with the .inc that it includes for its macros."""
    text = (root / file).read_text()
    for name in re.findall(r'^#include "([^"]+\.inc)"$', text, re.MULTILINE):
        template = (root / file).parent / name
        if template.exists():
            included = template.read_text()
            for macro, value in re.findall(r"^#define (\w+) (\w+)$", text, re.MULTILINE):
                included = re.sub(rf"\b{macro}\b", value, included)
            text += included
    return ATTRIBUTE.sub("", NOISE.sub(" ", text))


def _library(file: str) -> str:
    return "/".join(file.split("/")[:3])


def _runtime_folders(root: Path) -> list[Path]:
    top = root / "csrc/dpu/runtime"
    return [path.relative_to(root) for path in sorted(top.iterdir()) if path.is_dir()]


# --- Python -----------------------------------------------------------------------------------


def imports(root: Path, *, types: bool = False) -> dict[str, set[str]]:
    """Find which module of the packages imports which, in functions too.

    Parameters
    ----------
    root : Path
        Of the tree.
    types : bool
        Count imports for type checkers.
    """
    files = _files(root, PACKAGES, ".py", ".pyx")
    modules = {_module(file): file for file in files}
    edges: dict[str, set[str]] = {}
    for file in files:
        text = (root / file).read_text()
        package = (
            _module(file) if file.endswith("__init__.py") else _module(file).rpartition(".")[0]
        )
        found = (
            _python_imports(text, types=types) if file.endswith(".py") else _cython_imports(text)
        )
        edges[file] = {
            target
            for name, members in found
            for target in _targets(name, members, package, modules)
            if target != file
        }
    return edges


def _python_imports(text: str, *, types: bool) -> Iterable[tuple[str, list[str]]]:
    todo: list[ast.AST] = [ast.parse(text)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, []
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), [alias.name for alias in node.names]
        elif not types and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)


def _cython_imports(text: str) -> Iterable[tuple[str, list[str]]]:
    text = re.sub(r"\(([^()]*)\)", lambda found: " ".join(found[1].split()), text)
    for origin, members, names in PYTHON_LINE.findall(text):
        if origin:
            yield origin, re.findall(r"(\w+)(?: as \w+)?", members)
        for name in names.split(","):
            if name.strip():
                yield name.split()[0], []


def _targets(name: str, members: list[str], package: str, modules: dict[str, str]) -> set[str]:
    if name.startswith("."):
        up = len(name) - len(name.lstrip("."))
        parts = package.split(".")[: len(package.split(".")) - up + 1]
        name = ".".join([*parts, *filter(None, [name.lstrip(".")])])
    found = {modules[f"{name}.{member}"] for member in members if f"{name}.{member}" in modules}
    if len(found) < max(len(members), 1) and name in modules:
        found.add(modules[name])
    return found


def _module(file: str) -> str:
    return ".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")


# --- graphs -----------------------------------------------------------------------------------


def crossings(edges: Edges, folder_of: Mapping[str, str]) -> dict[tuple[str, str], list[str]]:
    """Group edges between folders: the pair, and the files that make it."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for file, targets in edges.items():
        for target in targets:
            pair = folder_of[file], folder_of[target]
            if pair[0] != pair[1]:
                found[pair].append(f"{file} -> {target}")
    return {pair: sorted(files) for pair, files in found.items()}


def cycles(edges: Edges) -> list[list[str]]:
    """Find the largest sets of files in which each one reaches every other one."""
    order: list[str] = []
    seen: set[str] = set()
    for start in edges:
        stack = [(start, iter(sorted(edges[start])))] if start not in seen else []
        seen.add(start)
        while stack:
            node, rest = stack[-1]
            step = next((one for one in rest if one not in seen), None)
            if step is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(step)
                stack.append((step, iter(sorted(edges.get(step, ())))))
    back: dict[str, set[str]] = defaultdict(set)
    for file, targets in edges.items():
        for target in targets:
            back[target].add(file)
    found, placed = [], set()
    for start in reversed(order):
        group, todo = [], [start]
        while todo:
            node = todo.pop()
            if node not in placed:
                placed.add(node)
                group.append(node)
                todo += back[node]
        if len(group) > 1:
            found.append(sorted(group))
    return sorted(found)


def _files(root: Path, folders: Iterable[str], *ends: str) -> list[str]:
    return sorted(
        path.relative_to(root).as_posix()
        for folder in folders
        for path in (root / folder).rglob("*")
        if path.suffix in ends and not _is_built(path.relative_to(root))
    )


def _is_built(path: Path) -> bool:
    # Folders that an editable install puts beside the modules.
    return (
        len(path.parts) > 2
        and path.parts[0] in PACKAGES
        and path.parts[1] in ("lib", "bin", "include", "runtime")
    )


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)
