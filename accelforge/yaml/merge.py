# SPDX-License-Identifier: BSD-3-Clause
"""The merge keys ``<<`` and ``<<<``.

Both add the keys of another mapping, or of several, whose first one wins, to a mapping. With
``<<`` own values stay what they are. With ``<<<`` mappings are merged into own mappings, and lists
are appended to own lists that stand before the merge key; own lists after it, and whatever is
marked ``!nomerge``, stay what they are.
"""

from __future__ import annotations

import copy
from typing import Any

from accelforge.util.exceptions import EvaluationError
from accelforge.yaml.sections import Section, Sequence, place_of

__all__ = ["check_size", "resolve_merges"]

MAX_ITEMS = 1_000_000


def check_size(data: Any) -> None:
    """Refuse what aliases blow up.

    A file of a few lines can stand for a structure of any size, each part of which refers twice
    to the part before.
    """
    sizes: dict[int, int] = {}

    def size(part: Any) -> int:
        if not isinstance(part, (dict, list)):
            return 1
        known = sizes.get(id(part))
        if known is None:
            children = part.values() if isinstance(part, dict) else part
            known = sizes[id(part)] = 1 + sum(size(child) for child in children)
        if known > MAX_ITEMS:
            error = EvaluationError(f"aliases make more than {MAX_ITEMS} items of it")
            error.locate(place_of(part))
            raise error
        return known

    size(data)


def resolve_merges(data: Any) -> Any:
    """Return the data with all merge keys carried out."""
    return _Merger().resolve(data)


class _Merger:
    def __init__(self) -> None:
        self.done: dict[int, Any] = {}
        # `done` compares by identity, so its objects must stay alive.
        self.alive: list[Any] = []
        self.items = 0

    def resolve(self, part: Any) -> Any:
        if not isinstance(part, (Section, Sequence)):
            return part
        if id(part) in self.done:
            return self.done[id(part)]
        result: Any
        if isinstance(part, Sequence):
            result = copy.copy(part)
            result[:] = [
                self.resolve(item) if isinstance(item, (Section, Sequence)) else item
                for item in part
            ]
        else:
            result = self._resolve_section(part)
        self.done[id(part)] = result
        self.alive.append(part)
        return result

    def _resolve_section(self, part: Section) -> Section:
        result = copy.copy(part)
        if "<<" not in part and "<<<" not in part:
            for key, value in part.items():
                if isinstance(value, (Section, Sequence)):
                    result[key] = self.resolve(value)
            return result
        keys = [key for key in part if key in ("<<", "<<<")]
        if len(keys) > 1:
            raise self._error(part, keys[1], 'one mapping has one "<<" or "<<<"')
        for key in keys:
            del result[key]
        for key, value in part.items():
            if key in keys:
                self._merge(result, self._sources(part, key), key == "<<<", part)
            else:
                merged = result[key]
                result[key] = self.resolve(merged if isinstance(merged, Section) else value)
        return result

    def _sources(self, part: Section, key: str) -> list[Section]:
        value = self.resolve(part[key])
        sources = list(value) if isinstance(value, list) else [value]
        if not all(isinstance(source, Section) for source in sources):
            raise self._error(part, key, f'"{key}" takes a mapping, or a list of mappings')
        return sources

    def _merge(self, into: Section, sources: list[Section], deep: bool, part: Section) -> None:
        for source in sources:
            self.items += len(source)
            for key, value in source.items():
                own = into.get(key)
                if key not in into:
                    into[key] = copy.copy(value)
                elif not deep or getattr(own, "keep_own", False):
                    continue
                elif isinstance(own, Section) and isinstance(value, Section):
                    into[key] = merged = copy.copy(own)
                    self._merge(merged, [value], deep, part)
                elif isinstance(own, Sequence) and isinstance(value, Sequence):
                    self.items += len(own) + len(value)
                    into[key] = merged_list = copy.copy(own)
                    merged_list.extend(value)
                if self.items > MAX_ITEMS:
                    raise self._error(part, key, f"merges make more than {MAX_ITEMS} items")

    @staticmethod
    def _error(part: Section, key: Any, message: str) -> EvaluationError:
        error = EvaluationError(message)
        error.locate(place_of(part, key))
        return error
