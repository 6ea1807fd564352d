# SPDX-License-Identifier: BSD-3-Clause
"""The explanation of one mapping."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from accelforge.explanation.derivatives import find_derivatives
from accelforge.explanation.facts import (
    Change,
    Derivative,
    EinsumLimit,
    FanoutUse,
    LevelTotals,
    MemoryUse,
    Step,
)
from accelforge.explanation.limits import (
    ROOM,
    einsum_limits,
    fanout_uses,
    level_totals,
    memory_uses,
)
from accelforge.explanation.steps import find_steps
from accelforge.explanation.trials import Places, Trials
from accelforge.util.exceptions import InvalidMappingError
from accelforge.util.tables import Sheet, html_of, text_of
from accelforge.util.units import size_text, with_unit

__all__ = ["Explanation", "explain_problem"]

_MOST_STEPS = 8
_MOST_DERIVATIVES = 8


@dataclass(frozen=True)
class Explanation:
    """Limits of a mapping, changes that would lift them, and totals of each component.

    Attributes
    ----------
    latency, energy : float
        Of the mapping, in s and J.
    einsums : tuple of EinsumLimit
        What each Einsum waits for.
    levels : tuple of LevelTotals
        Time, energy and actions of each component.
    memories : tuple of MemoryUse
        How full each memory is.
    fanouts : tuple of FanoutUse
        How many instances are used.
    steps : tuple of Step
        The next changes that lower latency or energy; the largest effect on their product first.
    derivatives : tuple of Derivative
        How fast latency and energy change with each number of the architecture.
    """

    latency: float
    energy: float
    einsums: tuple[EinsumLimit, ...]
    levels: tuple[LevelTotals, ...]
    memories: tuple[MemoryUse, ...]
    fanouts: tuple[FanoutUse, ...]
    steps: tuple[Step, ...]
    derivatives: tuple[Derivative, ...]

    def derivative(self, component: str, quantity: str) -> Derivative:
        """Return the derivative in one number.

        Parameters
        ----------
        component, quantity : str
            For example ``DRAM`` and ``throughput of read``.
        """
        known = [d.quantity for d in self.derivatives if d.component == component]
        for found in self.derivatives:
            if (found.component, found.quantity) == (component, quantity):
                return found
        names = ", ".join(known) or "none"
        raise KeyError(f"{component} has no derivative of {quantity}; there are: {names}")

    @property
    def limits(self) -> dict[str, float]:
        """Things it waits for, such as ``bandwidth of DRAM``, and for how long, in s."""
        found: dict[str, float] = {}
        for einsum in self.einsums:
            name = _waits_for(einsum)
            found[name] = found.get(name, 0.0) + einsum.latency
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def __str__(self) -> str:
        head = f"latency {with_unit(self.latency, 's')}, energy {with_unit(self.energy, 'J')}"
        return "\n\n".join([head, *(text_of(sheet) for sheet in self._sheets())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(html_of(sheet) for sheet in self._sheets())

    def _sheets(self) -> Iterator[Sheet]:
        yield Sheet(
            "What Einsums wait for",
            ("Einsum", "takes", "waits for", "next", "which works for"),
            [
                (e.einsum, with_unit(e.latency, "s"), _waits_for(e), e.next or "nothing",
                 with_unit(e.next_latency, "s") if e.next else "")
                for e in self.einsums
            ],
        )  # fmt: skip
        yield Sheet(
            "What components do",
            ("component", "busy", "of the time", "energy", "leakage", "actions", "holds"),
            [self._level(level) for level in self.levels],
        )
        if self.fanouts:
            yield Sheet(
                "Fan-outs",
                ("Einsum", "fan-out", "instances", "used"),
                [
                    (f.einsum, f"{f.component} {f.dimension}", f"{f.fanout:g}", f"{f.used:g}")
                    for f in self.fanouts
                ],
            )
        yield Sheet(
            "What would change it" + _more(len(self.steps), _MOST_STEPS, "steps"),
            ("limit", "change", "latency", "energy", "then it waits for"),
            [_step(step) for step in self.steps[:_MOST_STEPS]],
        )
        steep = sorted(
            self.derivatives, key=lambda d: -abs(d.latency_elasticity) - abs(d.energy_elasticity)
        )
        steep = [d for d in steep if d.latency_elasticity or d.energy_elasticity]
        yield Sheet(
            "One per cent more of" + _more(len(steep), _MOST_DERIVATIVES, "derivatives"),
            ("number", "now", "latency", "energy"),
            [
                (f"{d.quantity} of {d.component}" if " of " not in d.quantity
                 else f"{d.component}: {d.quantity}", _number(d.value, d.unit),
                 f"{d.latency_elasticity:+.2f} %", f"{d.energy_elasticity:+.2f} %")
                for d in steep[:_MOST_DERIVATIVES]
            ],
        )  # fmt: skip

    def _level(self, level: LevelTotals) -> tuple[str, ...]:
        held = next((m for m in self.memories if m.component == level.component), None)
        holds = "" if held is None else _bits(held.used)
        if held is not None and math.isfinite(held.size):
            holds += f" of {_bits(held.size)} ({held.share:.1%})"
        return (
            level.component,
            with_unit(level.busy, "s"),
            f"{level.utilisation:.1%}",
            with_unit(level.energy, "J"),
            with_unit(level.leak_energy, "J"),
            ", ".join(f"{n:.4g} {name}" for name, n in level.actions.items()),
            holds,
        )


def _more(count: int, shown: int, what: str) -> str:
    return f" (the first {shown} of {count} {what})" if count > shown else ""


def _waits_for(limit: EinsumLimit) -> str:
    return f"{limit.kind} of {' and '.join(limit.components)}"


def _bits(bits: float) -> str:
    return size_text(bits).removeprefix("size: ")


def _step(step: Step) -> tuple[str, ...]:
    totals = (
        (step.latency_before, step.latency_after, "s"),
        (step.energy_before, step.energy_after, "J"),
    )
    return (
        step.kind,
        "\n".join(_change(change) for change in step.changes),
        *(f"{with_unit(now, unit)} ({_per_cent(then, now)})" for then, now, unit in totals),
        "\n".join(dict.fromkeys(_waits_for(limit) for limit in step.then)),
    )


def _per_cent(before: float, after: float) -> str:
    change = round(after / before - 1, 3) if before else 0.0
    return f"{change:+.1%}" if change else "0%"


def _change(change: Change) -> str:
    of = "" if change.component == "mapping" else f"{change.component} "
    before, after = _number(change.before, change.unit), _number(change.after, change.unit)
    return f"{of}{change.quantity} {before} to {after}"


def _number(value: float, unit: str) -> str:
    if unit == "bit":
        return _bits(value)
    if unit == "1/s":
        return f"{with_unit(value, '', 4)}/s"
    return with_unit(value, unit, 4) if unit else f"{value:g}"


def explain_problem(problem: Mapping[str, Any]) -> Explanation:
    """Explain the mapping of a problem.

    Parameters
    ----------
    problem : dict
        As in docs/design/accelforge.md, such as ``Spec.to_problem()`` returns.

    Raises
    ------
    InvalidMappingError
        The mapping does not fit.
    """
    places, trials = Places(problem), Trials(problem)
    result = trials.model.evaluate()
    if not result.valid:
        raise InvalidMappingError(result.reason)
    row = result.as_dict()
    trials.add({path: ROOM for component in places.kinds for path in places.sizes(component)})
    (roomy,) = trials.run()
    limits = einsum_limits(row, places)
    return Explanation(
        latency=row["total", "latency"],
        energy=row["total", "energy"],
        einsums=limits,
        levels=level_totals(row, places),
        memories=memory_uses(row, places, roomy),
        fanouts=fanout_uses(row, places),
        steps=find_steps(row, places, trials, limits),
        derivatives=find_derivatives(row, places, trials),
    )
