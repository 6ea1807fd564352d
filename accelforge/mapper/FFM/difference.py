# SPDX-License-Identifier: BSD-3-Clause
"""The difference of two mappings, term by term."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from accelforge.util.tables import Sheet, html_of, text_of
from accelforge.util.units import with_unit

if TYPE_CHECKING:
    from accelforge.mapper.FFM.mappings import Mappings

__all__ = ["Difference", "Term", "difference_of"]

_MOST_TERMS = 12


@dataclass(frozen=True)
class Term:
    """A part of a total in two mappings.

    Attributes
    ----------
    total : str
        ``energy``, in J, or ``latency``, in s.
    key : tuple
        What the part is of. Energy: Einsum, component, tensor and action. Latency: Einsum.
    before, after : float
        The part in the first and in the second mapping; 0 where it does not exist.
    """

    total: str
    key: tuple[Any, ...]
    before: float
    after: float

    @property
    def change(self) -> float:
        """The second less the first."""
        return self.after - self.before


@dataclass(frozen=True)
class Difference:
    """The costs of one mapping less those of another one.

    Attributes
    ----------
    terms : tuple of Term
        All parts of energy and latency, the largest changes first; those of a total add up to it.
    usage : dict
        Memory: its use in the first and in the second mapping, as fractions of its size.
    """

    terms: tuple[Term, ...]
    usage: dict[str, tuple[float, float]]

    def change(self, total: str) -> float:
        """Return the change of a total.

        Parameters
        ----------
        total : str
            ``energy`` (J) or ``latency`` (s).
        """
        if total not in _UNITS:
            raise ValueError(f"differences are of {' and '.join(_UNITS)}, not of {total!r}")
        return sum(term.change for term in self.terms if term.total == total)

    def __str__(self) -> str:
        return "\n\n".join(text_of(sheet) for sheet in self._sheets())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(html_of(sheet) for sheet in self._sheets())

    def _sheets(self) -> list[Sheet]:
        sheets = []
        for total, unit in _UNITS.items():
            terms = [term for term in self.terms if term.total == total and term.change]
            shown = [*terms[:_MOST_TERMS], _sum(total, [t for t in self.terms if t.total == total])]
            more = (
                f" (and {len(terms) - _MOST_TERMS} more terms)" if len(terms) > _MOST_TERMS else ""
            )
            sheets.append(
                Sheet(
                    f"{total.capitalize()}{more}",
                    ("term", "first", "second", "change"),
                    [
                        (
                            ", ".join(str(part) for part in term.key if part not in (None, "None")),
                            with_unit(term.before, unit),
                            with_unit(term.after, unit),
                            with_unit(term.change, unit),
                        )
                        for term in shown
                    ],
                )
            )
        rows = [(n, f"{a:.1%}", f"{b:.1%}") for n, (a, b) in self.usage.items() if a or b]
        return [*sheets, Sheet("Use of memories", ("memory", "first", "second"), rows)]


def _sum(total: str, terms: list[Term]) -> Term:
    return Term(total, ("all",), sum(t.before for t in terms), sum(t.after for t in terms))


_UNITS = {"energy": "J", "latency": "s"}


def difference_of(first: Mappings, second: Mappings) -> Difference:
    """Compare two mappings.

    Parameters
    ----------
    first, second : Mappings
        One row each.
    """
    for which, mappings in (("first", first), ("second", second)):
        if len(mappings) != 1:
            raise ValueError(
                f"a difference is of two mappings, but the {which} result has {len(mappings)}: "
                f"say result[i]"
            )
    parts: dict[str, Callable[[Mappings], Any]] = {
        "energy": lambda m: m.energy(True, True, True, True),
        "latency": lambda m: {(n,): v for n, v in m.latency(per_einsum=True).items()},
    }
    terms = []
    for total, of in parts.items():
        before, after = of(first), of(second)
        found = [
            Term(total, key, before.get(key, 0.0), after.get(key, 0.0))
            for key in dict.fromkeys([*before, *after])
        ]
        terms += sorted(found, key=lambda term: -abs(term.change))
    own, other = first.resource_usage(), second.resource_usage()
    usage = {n: (own.get(n, 0.0), other.get(n, 0.0)) for n in dict.fromkeys([*own, *other])}
    return Difference(tuple(terms), usage)
