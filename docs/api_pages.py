# SPDX-License-Identifier: BSD-3-Clause
"""Additions to Sphinx for the reference pages: signatures of compiled classes, and links.

Functions of Cython have no types; the stubs beside them (``.pyi``) do.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = [
    "add_constructor",
    "connect",
    "find_signature",
    "find_target",
    "keep_whole",
    "without_self",
]

ROOT = Path(__file__).resolve().parents[1]
#: The class that each page begins with.
FIRST = {"veo": "VeoProc", "dpu": "DpuSet", "accl": "accl", "accelforge": "Spec"}
#: Words in types of docstrings that are also names of attributes.
PROSE = frozenset(["path", "size", "value", "name", "data"])

Signature = tuple[str, str | None]
_stubs: dict[str, dict[str, Signature]] = {}


def _aliases(tree: ast.Module) -> dict[str, str]:
    """Return the private names of types in a stub, with what they stand for."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.startswith("_") and not isinstance(node.value, ast.Call):
                found[name] = _expand(ast.unparse(node.value), found)
    return found


def _expand(text: str, aliases: dict[str, str]) -> str:
    """Write private names of types out, or without the underscore."""
    return re.sub(r"\b_\w+\b", lambda match: aliases.get(match[0], match[0]), text)


def _signature(node: ast.FunctionDef, aliases: dict[str, str], *, is_method: bool) -> Signature:
    words = node.args
    is_static = any(getattr(one, "id", "") == "staticmethod" for one in node.decorator_list)
    if is_method and not is_static:
        (words.posonlyargs or words.args).pop(0)
    returns = ast.unparse(node.returns) if node.returns is not None else None
    shown = _expand(ast.unparse(words), aliases)
    return f"({shown})", _expand(returns, aliases) if returns is not None else None


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, bool]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node, False
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", inner, True


def read_stubs(package: str) -> dict[str, Signature]:
    """Return the signatures in the stubs of a package, by names such as ``DpuSet.exec``.

    A class has that of its ``__init__``. Functions with several signatures are left out.
    """
    found: dict[str, Signature] = {}
    several = set()
    for path in sorted((ROOT / package).rglob("*.pyi")):
        tree = ast.parse(path.read_text())
        aliases = _aliases(tree)
        for name, node, is_method in _functions(tree):
            is_class = name.endswith(".__init__")
            key = name.removesuffix(".__init__")
            if key in found:
                several.add(key)
            arguments, returns = _signature(node, aliases, is_method=is_method)
            found[key] = (arguments, None if is_class else returns)
    return {name: value for name, value in found.items() if name not in several}


def find_signature(name: str) -> Signature | None:
    """Return the signature of what is documented under a name, such as ``dpu.DpuSet.exec``."""
    package, *parts = name.split(".")
    stubs = _stubs.setdefault(package, read_stubs(package))
    return stubs.get(".".join(parts[-2:])) or stubs.get(parts[-1])


def without_self(signature: str) -> str:
    """Leave out what callers do not pass."""
    return re.sub(r"^\(self(?=[,)])(, /)?(, )?", "(", signature)


def _process_docstring(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    keep_whole(what, lines)
    add_constructor(what, name, lines)


def _process_signature(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str, returns: str
) -> Signature | None:
    if what not in ("class", "function", "method", "exception") or not signature:
        return None
    if what == "class" and signature.startswith("(*_"):  # of a __new__ that passes on
        return without_self(str(inspect.signature(thing.__init__))), returns
    if inspect.isfunction(thing):
        # Not compiled; a function of that name in a stub is another one.
        return without_self(signature), returns
    # Methods that are inherited are in the stub of the class that has them.
    whole = f"{name.partition('.')[0]}.{getattr(thing, '__qualname__', '')}"
    found = find_signature(name) or (find_signature(whole) if what == "method" else None)
    if found is not None:
        return found
    return without_self(signature), returns


def add_constructor(what: str, name: str, lines: list[str]) -> None:
    """Begin with how objects of a compiled class are made, which Sphinx does not find."""
    found = find_signature(name) if what == "class" else None
    if found is not None and found[0] != "()":
        lines[:0] = [f"``{name.rpartition('.')[2]}{found[0].replace('=', ' = ')}``", ""]


def keep_whole(what: str, lines: list[str]) -> None:
    """Keep an attribute's first sentence: Napoleon takes what stands before a colon for a type."""
    if what in ("attribute", "property", "data") and lines and ":" in lines[0]:
        lines[:0] = ["..", ""]


def find_target(target: str, module: str, owner: str, objects: dict[str, str]) -> str | None:
    """Find what a short name in a docstring means: a member of the same class, or a class of ours.

    Parameters
    ----------
    target : str
        The name, such as ``exec()`` or ``DpuSet``.
    module, owner : str
        Where it stands: module and class.
    objects : dict of str to str
        What there is to link to, with the kind of each.
    """
    name = target.removesuffix("()")
    for key in (f"{module}.{owner}.{name}", f"{module}.{name}"):
        if key in objects:
            return key
    found = [
        key
        for key, kind in objects.items()
        if key.endswith(f".{name}") and kind in ("class", "exception", "function")
    ]
    return min(found, key=len, default=None)


def _link(app: Any, env: Any, node: Any, content: Any) -> Any:
    from sphinx.util.nodes import make_refnode

    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target:
        return None
    objects = env.domains["py"].objects
    kinds = {key: place.objtype for key, place in objects.items() if not place.aliased}
    found = find_target(target, node.get("py:module") or "", node.get("py:class") or "", kinds)
    if found is None:
        return None
    place = objects[found]
    return make_refnode(app.builder, node["refdoc"], place.docname, place.node_id, content, target)


def _unlink_prose(app: Any, doctree: Any) -> None:
    """Leave words of prose in types alone: ``str or path`` is no attribute of that name."""
    from sphinx.addnodes import pending_xref

    for node in list(doctree.findall(pending_xref)):
        if node.get("refdomain") == "py" and node["reftarget"] in PROSE:
            node.replace_self(node.children)


def connect(app: Any) -> None:
    """Connect this to Sphinx."""
    for package, first in FIRST.items():
        names = import_module(package).__all__
        names.sort(key=lambda name, first=first: name != first)
    app.connect("autodoc-process-signature", _process_signature)
    # Before Napoleon's, of 500.
    app.connect("autodoc-process-docstring", _process_docstring, priority=400)
    app.connect("doctree-read", _unlink_prose)
    app.connect("missing-reference", _link)
