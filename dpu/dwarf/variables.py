# SPDX-License-Identifier: BSD-3-Clause
"""The variables of a program that are not local to a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .constants import Attribute, Tag
from .entries import Entry, Unit

__all__ = ["global_variables", "named"]


def named(entry: Entry, entries: Mapping[int, Entry]) -> Entry:
    """Return the entry that has the name and the type of one.

    Parameters
    ----------
    entry : Entry
        A variable or a function.
    entries : mapping of int to Entry
        All entries by their offsets.
    """
    for _ in range(4):
        for attribute in (Attribute.ABSTRACT_ORIGIN, Attribute.SPECIFICATION):
            origin = entry.number(attribute)
            if Attribute.NAME not in entry.values and origin is not None:
                entry = entries.get(origin, entry)
    return entry


def global_variables(units: Iterable[Unit], entries: Mapping[int, Entry]) -> dict[str, Entry]:
    """Return the variables outside of functions by their names; the first of several."""
    found: dict[str, Entry] = {}
    for unit in units:
        for entry in unit.root.children:
            if entry.tag == Tag.VARIABLE and Attribute.LOCATION in entry.values:
                found.setdefault(named(entry, entries).name, entry)
    return found
