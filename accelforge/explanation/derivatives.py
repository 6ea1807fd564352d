# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of latency and energy in the numbers of the architecture.

Latencies are sums and maxima of counts divided by throughputs, so that they are piecewise linear in
the reciprocals of throughputs; energies are linear in the energies of actions and in leak powers.
A difference in these variables is therefore the derivative, but for rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from accelforge.explanation.facts import Derivative
from accelforge.explanation.trials import Places, Trials

__all__ = ["find_derivatives"]

# Part by which a reciprocal is lowered: less than to the next maximum, more than rounding.
_PART = 2.0**-20


def find_derivatives(
    row: Mapping[tuple[Any, ...], float], places: Places, trials: Trials
) -> tuple[Derivative, ...]:
    """Calculate all derivatives.

    Parameters
    ----------
    row : mapping
        The evaluation.
    places : Places
        Of the problem.
    trials : Trials
        Evaluates it.
    """
    wanted = []
    for component, quantity, unit, numbers in _numbers(places):
        value = next(iter(numbers.values()))
        if unit == "1/s":
            changed = {path: number / (1 - _PART) for path, number in numbers.items()}
            # Of 1/x to x, at the value: d(1/x) is -1/x^2 dx.
            step = _PART * value
        else:
            # Any step does, if a number is 0 also one of 1.
            step = value or 1.0
            changed = {path: number + (number or 1.0) for path, number in numbers.items()}
        wanted.append((component, quantity, unit, value, step, trials.add(changed)))

    results = trials.run()
    latency, energy = row["total", "latency"], row["total", "energy"]
    found = []
    for component, quantity, unit, value, step, number in wanted:
        after = results[number]
        if after is None:
            continue
        by_latency, by_energy = (
            (after["total", name] - row["total", name]) / step for name in ("latency", "energy")
        )
        found.append(
            Derivative(
                component=component,
                quantity=quantity,
                value=value,
                unit=unit,
                latency=by_latency,
                energy=by_energy,
                latency_elasticity=by_latency * value / latency if latency else 0.0,
                energy_elasticity=by_energy * value / energy if energy else 0.0,
            )
        )
    return tuple(found)


def _numbers(places: Places) -> Iterator[tuple[str, str, str, dict[str, float]]]:
    """Give component, quantity, unit, paths and numbers of all that costs depend on."""
    for component in places.levels:
        for kind, unit in (("throughput", "1/s"), ("energy", "J")):
            for action, numbers in places.actions(component, kind).items():
                if all(math.isfinite(number) for number in numbers.values()):
                    yield component, f"{kind} of {action}", unit, numbers
    for component in places.problem.get("components", ()):
        numbers = places.leaks([component["name"]])
        if numbers:
            yield component["name"], "leak power", "W", numbers
