# SPDX-License-Identifier: BSD-3-Clause
"""Turns YAML text into sections with line numbers.

ruamel.yaml reads the text into nodes, which are converted here, so that tags construct nothing but
plain data.
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from accelforge.expressions import LiteralString
from accelforge.util.exceptions import EvaluationError, Place
from accelforge.yaml.inclusions import Inclusions
from accelforge.yaml.sections import Section, Sequence

__all__ = ["parse"]

STANDARD = "tag:yaml.org,2002:"


def parse(text: str, path: str, rendered: bool, inclusions: Inclusions) -> Any:
    """Parse YAML.

    Parameters
    ----------
    text : str
        One document.
    path : str
        Its file, for places.
    rendered : bool
        Whether templates changed the lines.
    inclusions : Inclusions
        The files that templates included.
    """
    yaml = YAML(typ="rt", pure=True)
    yaml.composer.warn_double_anchors = False
    try:
        root = yaml.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _error(
            path, mark.line if mark else 0, rendered, f"{error.problem or error.context}"
        ) from error
    except YAMLError as error:
        raise _error(path, 0, rendered, " ".join(str(error).split())) from error
    # The scanner fails in its own ways on text that is not YAML at all.
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise _error(path, 0, rendered, f"this is not YAML: {error}") from error
    return None if root is None else _Constructor(path, rendered, inclusions).construct(root)


def _error(path: str, line: int, rendered: bool, message: str) -> EvaluationError:
    error = EvaluationError(message)
    error.locate(Place(path, line + 1, rendered))
    return error


class _Constructor:
    def __init__(self, path: str, rendered: bool, inclusions: Inclusions) -> None:
        self.path = path
        self.rendered = rendered
        self.inclusions = inclusions
        self.done: dict[int, Any] = {}
        self.open: set[int] = set()

    def construct(self, node: Node) -> Any:
        if isinstance(node, ScalarNode):
            return self.scalar(node)
        if id(node) in self.done:
            return self.done[id(node)]
        if id(node) in self.open:
            raise self.error(node, "an alias refers to a node that contains it")
        self.open.add(id(node))
        if isinstance(node, MappingNode):
            result: Any = self.mapping(node)
        elif isinstance(node, SequenceNode):
            result = self.sequence(node)
        else:
            raise self.error(node, "this is neither a value, a list nor a mapping")
        self.open.discard(id(node))
        self.done[id(node)] = result
        return result

    def error(self, node: Node, message: str) -> EvaluationError:
        return _error(self.path, node.start_mark.line, self.rendered, message)

    def place(self, node: Node) -> Place:
        return Place(self.path, node.start_mark.line + 1, self.rendered)

    def mapping(self, node: MappingNode) -> Section:
        result = Section(tag=self.own_tag(node, "map"), place=self.place(node))
        if result.tag == "nomerge":
            result.tag, result.keep_own = "", True
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                raise self.error(key_node, "a key must be text or a number")
            key = key_node.value if key_node.value in ("<<", "<<<") else self.scalar(key_node)
            if isinstance(key, LiteralString):
                key = str(key)
            if key in result:
                raise self.error(key_node, f'duplicate key "{key}"')
            result[key] = self.construct(value_node)
            result.lines[key] = key_node.start_mark.line + 1
        return result

    def sequence(self, node: SequenceNode) -> Sequence:
        tag = self.own_tag(node, "seq")
        if tag not in ("", "nomerge"):
            raise self.error(node, f"a list cannot have the tag !{tag}")
        result = Sequence(place=self.place(node))
        result.keep_own = tag == "nomerge"
        for number, item in enumerate(node.value):
            result.lines[number] = item.start_mark.line + 1
            result.append(self.construct(item))
        return result

    @staticmethod
    def own_tag(node: Node, standard: str) -> str:
        tag = str(node.tag or "")
        return "" if tag == STANDARD + standard else tag.lstrip("!")

    def scalar(self, node: ScalarNode) -> Any:
        tag, text = str(node.tag or ""), str(node.value)
        quoted = node.style in ("'", '"')
        if tag in (STANDARD + "str", STANDARD + "timestamp", STANDARD + "merge", "!", ""):
            return LiteralString(text) if quoted else text
        if tag == "!include_loaded":
            return self.included(node, text)
        if tag == "!include":
            return self.inclusions.read(self.find(node, text), {})
        try:
            return _READERS[tag](text)
        except KeyError:
            name = tag.removeprefix(STANDARD).lstrip("!")
            raise self.error(node, f"a value cannot have the tag !{name}") from None
        except ValueError as error:
            raise self.error(node, str(error)) from None

    def find(self, node: Node, name: str) -> str:
        from accelforge.yaml.search import find_path

        try:
            return find_path(name.rstrip(","), self.path, self.inclusions.folders)
        except FileNotFoundError as error:
            raise self.error(node, str(error)) from error

    def included(self, node: Node, text: str) -> Any:
        """Look up a file that a template included, or a part of it."""
        name, *keys = text.strip().split(".")
        found = self.inclusions.loaded.get(name)
        for key in keys:
            parts = found if isinstance(found, tuple) else (found,)
            if not all(isinstance(part, dict) and key in part for part in parts):
                raise self.error(node, f'the included file has no "{".".join(keys)}"')
            found = tuple(part[key] for part in parts)
            found = found if len(parts) > 1 else found[0]
        return Sequence(found) if isinstance(found, tuple) else found


def _read_bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{text} is neither true nor false")
    return text.lower() == "true"


def _read_int(text: str) -> int:
    digits = text.replace("_", "").lower()
    if len(digits) > 1000:
        raise ValueError("the number has more than 1000 digits")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(digits.lstrip("+-")[:2], 10)
    return int(digits, base)


def _read_float(text: str) -> float:
    return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))


_READERS = {
    STANDARD + "null": lambda text: None,
    STANDARD + "bool": _read_bool,
    STANDARD + "int": _read_int,
    STANDARD + "float": _read_float,
}
