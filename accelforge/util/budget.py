# SPDX-License-Identifier: BSD-3-Clause
"""The cost of reading and evaluating a specification, and its limits.

One budget covers a whole specification: its templates, its YAML, its merges, its fields and its
expressions. A step stands for about a microsecond, and for at most 64 bytes that are kept: what
makes or walks through much pays for it before it does so, which bounds both time and memory.
Processor time is limited too, in case something costs more than it pays.
"""

from __future__ import annotations

import contextlib
import contextvars
import time
from collections.abc import Iterator
from typing import Any

from accelforge.util.exceptions import EvaluationError

__all__ = ["Budget", "BudgetError", "budget", "current", "limits", "spend", "unpaid", "weigh"]

STEPS = 1_000_000
SECONDS = 10.0
STEPS_BETWEEN_LOOKS = 2_000


class BudgetError(EvaluationError):
    """A specification costs more than it may."""


class Budget:
    """The steps and the processor time that are left.

    Parameters
    ----------
    steps : int
        Steps.
    seconds : float
        Processor time of the thread.
    """

    __slots__ = ("_end", "_look", "_seconds", "_steps", "left")

    def __init__(self, steps: int, seconds: float) -> None:
        self._steps = self.left = steps
        self._seconds = seconds
        self._end = time.thread_time() + seconds
        self._look = max(steps - STEPS_BETWEEN_LOOKS, 0)

    @property
    def steps(self) -> int:
        """How many there were."""
        return self._steps

    def spend(self, steps: int) -> None:
        """Take steps away.

        Raises
        ------
        BudgetError
            None are left; nor are any later.
        """
        self.left -= steps
        if self.left < self._look:
            self._check()

    def allow(self, seconds: float) -> None:
        """Give more time."""
        self._end += seconds

    def _check(self) -> None:
        advice = "accelforge.limits() allows for more, in a file that you trust"
        if self.left < 0:
            self.left = -1
            raise BudgetError(f"the specification takes more than {self._steps} steps; {advice}")
        if time.thread_time() > self._end:
            self.left = -1
            raise BudgetError(
                f"the specification takes more than {self._seconds:g} s of processor time; {advice}"
            )
        self._look = max(self.left - STEPS_BETWEEN_LOOKS, 0)


_budget: contextvars.ContextVar[Budget | None] = contextvars.ContextVar(
    "accelforge_budget", default=None
)
_limits: contextvars.ContextVar[tuple[int, float]] = contextvars.ContextVar(
    "accelforge_limits", default=(STEPS, SECONDS)
)


@contextlib.contextmanager
def limits(*, steps: int = STEPS, seconds: float = SECONDS) -> Iterator[None]:
    """Change what a specification may cost within this context.

    Parameters
    ----------
    steps : int
        Steps of each reading and each evaluation: about microseconds, and at most 64 bytes each.
    seconds : float
        Processor time of each.
    """
    token = _limits.set((steps, seconds))
    try:
        yield
    finally:
        _limits.reset(token)


@contextlib.contextmanager
def budget() -> Iterator[Budget]:
    """Give what is done within this context one budget: the one around it, or a new one."""
    known = _budget.get()
    if known is not None:
        yield known
        return
    new = Budget(*_limits.get())
    token = _budget.set(new)
    try:
        yield new
    finally:
        _budget.reset(token)


@contextlib.contextmanager
def unpaid() -> Iterator[None]:
    """Leave out the time of what the user's own code, or another package, does."""
    start = time.thread_time()
    try:
        yield
    finally:
        known = _budget.get()
        if known is not None:
            known.allow(time.thread_time() - start)


def current() -> Budget:
    """Return the budget around this, or a new one."""
    return _budget.get() or Budget(*_limits.get())


def spend(steps: int) -> None:
    """Take steps from the budget around this, if there is one."""
    known = _budget.get()
    if known is not None:
        known.spend(steps)


_CONTAINERS = (list, tuple, set, frozenset, dict)


def weigh(value: Any, most: int) -> int:
    """Count the steps that pay for a value with all that is in it.

    Parameters
    ----------
    value : object
        Numbers cost nothing, text a step for 64 characters, an item a quarter of a step.
    most : int
        Where counting ends, as parts that are in it many times count each time.
    """
    if not isinstance(value, _CONTAINERS):
        if isinstance(value, range):
            return len(value) >> 2
        return len(value) >> 6 if isinstance(value, (str, bytes)) else 0
    quarters, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        quarters += 2 + len(part) * (1 if isinstance(part, (list, tuple)) else 4)
        if quarters > 4 * most:
            return most + 1
        for item in part:
            if isinstance(item, _CONTAINERS):
                waiting.append(item)
            elif isinstance(item, str):
                quarters += len(item) >> 4
        if isinstance(part, dict):
            waiting.append(list(part.values()))
    return quarters >> 2
