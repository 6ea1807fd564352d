# SPDX-License-Identifier: BSD-3-Clause
"""Turns YAML text into sections with line numbers.

libyaml, in PyYAML, delivers events. They are put together here, so that tags construct nothing but
plain data, and each event is paid for before the next one is read.
"""

from __future__ import annotations

from typing import Any

from yaml import YAMLError
from yaml.cyaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from accelforge.expressions import LiteralString
from accelforge.util.budget import current
from accelforge.util.exceptions import EvaluationError, Place
from accelforge.yaml.inclusions import Inclusions
from accelforge.yaml.scalars import STANDARD, read_plain, read_tagged
from accelforge.yaml.sections import Section, Sequence

__all__ = ["parse"]

MAX_DEPTH = 100
MAX_DIRECTIVES = 100
_STEPS_OF_EVENT = 6
_TEXT_OF_STEP = 64

# Line breaks in YAML 1.1, as libyaml has them, but not in YAML 1.2.
_OLD_BREAKS = {"\x85": r"\N", "\u2028": r"\L", "\u2029": r"\P"}

_OPEN: Any = object()
"""Stands for an anchor while its node is read."""


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
    reader = _Reader(path, rendered, inclusions)
    if text.count("\n%") > MAX_DIRECTIVES:
        raise reader.error(0, f"more than {MAX_DIRECTIVES} lines begin with %")
    for character, escape in _OLD_BREAKS.items():
        if character in text:
            line = text.count("\n", 0, text.index(character))
            message = f"the character U+{ord(character):04X} is not read; in quotes, write {escape}"
            raise reader.error(line, message)
    try:
        reader.events = CParser(text)
        return reader.document()
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        # Errors of encoding and of characters have a position in place of a line.
        position = min(getattr(error, "position", 0) or 0, len(text))
        line = mark.line if mark else text.encode(errors="replace")[:position].count(b"\n")
        problem = getattr(error, "problem", None) or getattr(error, "context", None)
        raise reader.error(line, str(problem or getattr(error, "reason", error))) from error
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start)
        raise reader.error(line, f"{error.object[error.start]!r} is no character") from error
    except EvaluationError as error:
        error.locate(Place(path, reader.line + 1, rendered))
        raise


def _is_plain(event: Any) -> bool:
    """Return whether an event is a scalar with nothing but its text, as most are."""
    return (
        event.__class__ is ScalarEvent
        and not event.style
        and event.tag is None
        and event.anchor is None
    )


class _Reader:
    """Reads nodes, each of which begins with an event that is given."""

    events: CParser

    def __init__(self, path: str, rendered: bool, inclusions: Inclusions) -> None:
        self.path = path
        self.rendered = rendered
        self.inclusions = inclusions
        self.anchors: dict[str, Any] = {}
        self.line = 0
        self.spend = current().spend

    def document(self) -> Any:
        self.next()  # the stream
        start = self.next()
        if not isinstance(start, DocumentStartEvent):
            return None
        if start.version is not None and start.version < (1, 2):
            raise self.error(self.line, "files are YAML 1.2 here; remove or change the line %YAML")
        result = self.node(self.next(), 0)
        self.next()  # its end
        extra = self.next()
        if isinstance(extra, DocumentStartEvent):
            raise self.error(extra.start_mark.line, "a second document begins; a file holds one")
        return result

    def next(self) -> Event:
        event = self.events.get_event()
        self.line = event.start_mark.line
        self.spend(_STEPS_OF_EVENT)
        return event

    def text(self, event: Any, line: int) -> Any:
        """Read a scalar with nothing but its text."""
        text = event.value
        if len(text) > _TEXT_OF_STEP:
            self.spend(len(text) // _TEXT_OF_STEP)
        try:
            return read_plain(text)
        except ValueError as error:
            raise self.error(line, str(error)) from None

    def error(self, line: int, message: str) -> EvaluationError:
        error = EvaluationError(message)
        error.locate(Place(self.path, line + 1, self.rendered))
        return error

    def node(self, event: Event, depth: int) -> Any:
        line = event.start_mark.line
        if depth > MAX_DEPTH:
            raise self.error(line, f"it is nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, AliasEvent):
            return self.alias(event)
        assert isinstance(event, NodeEvent)
        anchor = event.anchor
        if anchor:
            self.anchors[anchor] = _OPEN
        result: Any
        if isinstance(event, ScalarEvent):
            result = self.scalar(event)
        elif isinstance(event, MappingStartEvent):
            result = self.mapping(event, depth)
        else:
            assert isinstance(event, SequenceStartEvent)
            result = self.sequence(event, depth)
        if anchor:
            self.anchors[anchor] = result
        return result

    def alias(self, event: AliasEvent) -> Any:
        line, name = event.start_mark.line, event.anchor
        if name not in self.anchors:
            raise self.error(line, f"nothing before has the anchor {name}")
        found = self.anchors[name]
        if found is _OPEN:
            raise self.error(line, "an alias refers to a node that contains it")
        return found

    def mapping(self, start: MappingStartEvent, depth: int) -> Section:
        place = Place(self.path, start.start_mark.line + 1, self.rendered)
        result = Section(tag=self.own_tag(start, "mapping", "map"), place=place)
        if result.tag == "nomerge":
            result.tag, result.keep_own = "", True
        get, spend, lines = self.events.get_event, self.spend, result.lines
        while (event := get()).__class__ is not MappingEndEvent:
            self.line = line = event.start_mark.line
            # The value is paid for with its key.
            spend(2 * _STEPS_OF_EVENT)
            key = self.text(event, line) if _is_plain(event) else self.key(event, line, depth)
            if key in result:
                raise self.error(line, f'duplicate key "{key}"')
            value = get()
            self.line = own = value.start_mark.line
            if _is_plain(value):
                result[key] = self.text(value, own)
            else:
                result[key] = self.node(value, depth + 1)
            lines[key] = line + 1
        self.line = event.start_mark.line
        spend(_STEPS_OF_EVENT)
        return result

    def key(self, event: Event, line: int, depth: int) -> Any:
        """Read the key of a mapping."""
        if not isinstance(event, (ScalarEvent, AliasEvent)):
            raise self.error(line, "a key must be text or a number")
        merges = isinstance(event, ScalarEvent) and event.value in ("<<", "<<<")
        key = event.value if merges else self.node(event, depth)
        if isinstance(key, (Section, Sequence)):
            raise self.error(line, "a key must be text or a number")
        return str(key) if isinstance(key, LiteralString) else key

    def sequence(self, start: SequenceStartEvent, depth: int) -> Any:
        line = start.start_mark.line
        place = Place(self.path, line + 1, self.rendered)
        ordered = start.tag == STANDARD + "omap"
        tag = "" if ordered else self.own_tag(start, "list", "seq")
        if tag not in ("", "nomerge"):
            raise self.error(line, f"a list cannot have the tag !{tag}")
        result = Sequence(place=place)
        result.keep_own = tag == "nomerge"
        while not isinstance(event := self.next(), SequenceEndEvent):
            line = event.start_mark.line
            result.lines[len(result)] = line + 1
            if _is_plain(event):
                result.append(self.text(event, line))
            else:
                result.append(self.node(event, depth + 1))
        return self.ordered(result, place.line - 1) if ordered else result

    def ordered(self, items: Sequence, line: int) -> Section:
        """Make the mapping that ``!!omap`` writes as a list of single entries."""
        result = Section(place=items.place)
        for number, item in enumerate(items):
            if not isinstance(item, Section) or len(item) != 1:
                raise self.error(
                    items.lines[number] - 1, "an item of !!omap is a key with its value"
                )
            for key, value in item.items():
                if key in result:
                    raise self.error(item.lines[key] - 1, f'duplicate key "{key}"')
                result[key], result.lines[key] = value, item.lines[key]
        return result

    def own_tag(self, start: Event, kind: str, standard: str) -> str:
        """Return the tag of a node without its mark; nothing if it says what the node is anyway."""
        tag: str = start.tag or ""
        if tag in ("!", STANDARD + standard):
            return ""
        if tag.startswith(STANDARD):
            name = tag.removeprefix(STANDARD)
            raise self.error(start.start_mark.line, f"a {kind} cannot have the tag !!{name}")
        return tag.removeprefix("!")

    def scalar(self, event: ScalarEvent) -> Any:
        text, tag, line = event.value, event.tag, event.start_mark.line
        self.spend(len(text) >> 6)
        quoted, block = event.style in ("'", '"'), event.style in ("|", ">")
        try:
            if tag is None and not quoted and not block:
                return read_plain(text)
            if tag in (None, "!"):
                return LiteralString(text) if quoted else text
            if tag == "!include_loaded":
                return self.included(line, text)
            if tag == "!include":
                return self.inclusions.read(self.find(line, text), {})
            return read_tagged(tag, text, quoted)
        except ValueError as error:
            raise self.error(line, str(error)) from None

    def find(self, line: int, name: str) -> str:
        from accelforge.yaml.search import find_path

        try:
            return find_path(name.rstrip(","), self.path, self.inclusions.folders)
        except FileNotFoundError as error:
            raise self.error(line, str(error)) from error

    def included(self, line: int, text: str) -> Any:
        """Look up a file that a template included, or a part of it."""
        name, *keys = text.strip().split(".")
        found = self.inclusions.loaded.get(name)
        for key in keys:
            parts = found if isinstance(found, tuple) else (found,)
            if not all(isinstance(part, dict) and key in part for part in parts):
                raise self.error(line, f'the included file has no "{".".join(keys)}"')
            found = tuple(part[key] for part in parts)
            found = found if len(parts) > 1 else found[0]
        return Sequence(found) if isinstance(found, tuple) else found
