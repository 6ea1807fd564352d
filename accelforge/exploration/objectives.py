# SPDX-License-Identifier: BSD-3-Clause
"""Objectives of an exploration: numbers of a result, all to be small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from accelforge._problem.totals import UNITS

__all__ = ["USAGE", "Objectives", "unit_of"]

USAGE = "usage of "
_SUMS = {"area": "m²", "leak_power": "W"}


def unit_of(objective: str) -> str:
    """Return the unit of an objective; usage is a fraction.

    Parameters
    ----------
    objective : str
        Its name.
    """
    return {**UNITS, **_SUMS}.get(objective, "")


class Objectives:
    """Names of objectives, and the columns of the engine that they are sums of.

    Parameters
    ----------
    names : str or iterable of str
        Totals (``energy``, ``latency``, ...), ``area``, ``leak_power``, ``usage of MEMORY``.
    """

    def __init__(self, names: str | Iterable[str]) -> None:
        self.names = [names] if isinstance(names, str) else list(names or ())
        for name in self.names:
            known = isinstance(name, str) and (bool(unit_of(name)) or name.startswith(USAGE))
            if not known:
                raise ValueError(
                    f"{name!r} is no objective; there are: {', '.join([*UNITS, *_SUMS])}, and "
                    f"'{USAGE}' with the name of a memory"
                )
        if not self.names or len(set(self.names)) < len(self.names):
            raise ValueError("objectives are one or more names, each of them once")

    def columns(self, known: Sequence[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
        """Return the columns that each objective is the sum of.

        Parameters
        ----------
        known : sequence of tuple
            The columns of a model.
        """
        found = []
        for name in self.names:
            if name in UNITS:
                found.append([("total", name)])
            elif name in _SUMS:
                found.append([column for column in known if column[0] == name])
            else:
                # A memory that the mapping does not use has no column.
                column = ("reservation", name.removeprefix(USAGE))
                found.append([column] if column in known else [])
        return found

    def check_memories(self, known: Sequence[str]) -> None:
        """Check the names of memories.

        Parameters
        ----------
        known : sequence of str
            Those that there are.
        """
        for name in self.names:
            if name.startswith(USAGE) and name.removeprefix(USAGE) not in known:
                names = ", ".join(known) or "none"
                raise ValueError(f"{name!r}: there is no such memory; there are: {names}")
