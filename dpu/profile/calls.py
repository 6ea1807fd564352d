# SPDX-License-Identifier: BSD-3-Clause
"""Call graph, and the cost of functions with all that they call."""

from __future__ import annotations

from collections.abc import Sequence

from .costs import Code, Cost, add_up
from .raw import Call, Site

__all__ = ["CallGraph"]


class CallGraph:
    """The calls of a program.

    Parameters
    ----------
    code : Code
        The program.
    sites : sequence of Site
        What instructions cost.
    calls : sequence of Call
        The calls.

    Attributes
    ----------
    calls : list of Call
        One for each pair of an instruction and what it calls.
    own, inclusive : dict of str to Cost
        Of each function: its own instructions; and with what it calls. Of what is not called, but
        reached in another way, only the former is known.
    """

    def __init__(self, code: Code, sites: Sequence[Site], calls: Sequence[Call]) -> None:
        self._code = code
        self.calls = _merged(calls)
        self.own = add_up(sites, lambda site: code.function(site.pc))
        called = add_up(self.calls, lambda call: code.function(call.target))
        self.inclusive = {
            name: max(cost, called.get(name, cost), key=lambda one: one.cycles)
            for name, cost in self.own.items()
        }
        # Tasklets begin there.
        whole = add_up(sites, lambda _: "").get("")
        if whole is not None:
            self.inclusive[code.function(0)] = whole

    def arcs(self) -> dict[tuple[str, str], tuple[int, Cost]]:
        """Return calls by the functions that call and are called; the most expensive come first.

        Returns
        -------
        dict
            The count, and what passed in them.
        """
        code = self._code

        def names(call: Call) -> tuple[str, str]:
            return code.function(call.site), code.function(call.target)

        counts: dict[tuple[str, str], int] = {}
        for call in self.calls:
            counts[names(call)] = counts.get(names(call), 0) + call.times
        return {key: (counts[key], cost) for key, cost in add_up(self.calls, names).items()}

    def most_expensive_call(self, name: str) -> int | None:
        """Return the instruction whose calls of a function take most; None if there are none."""
        calls = [call for call in self.calls if self._code.function(call.target) == name]
        return max(calls, key=lambda call: call.instructions).site if calls else None


def _merged(calls: Sequence[Call]) -> list[Call]:
    """Add up calls that come from several processes."""
    found: dict[tuple[int, int], Call] = {}
    for call in calls:
        key = (call.site, call.target)
        before = found.get(key)
        if before is not None:
            sums = (a + b for a, b in zip(before[:-2], call[:-2], strict=True))
            call = Call._make((*sums, *key))
        found[key] = call
    return [found[key] for key in sorted(found)]
