# SPDX-License-Identifier: BSD-3-Clause
"""Check every package of this distribution on this machine: ``offchip selftest``.

Each package checks itself in a process of its own (see `offchip.checks`), so that a crash or a
hang of one is a verdict, and the others are still checked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from offchip.checks import Outcome, format_outcome
from offchip.children import Child
from offchip.waiting_line import Waiting

__all__ = ["PACKAGES", "Verdict", "check_package", "check_packages", "format_verdict"]

#: Import names in the order in which they are checked.
PACKAGES = ("veo", "dpu", "accl", "accelforge")

#: Seconds that a package may take.
TIMEOUT = 60.0


class Verdict(NamedTuple):
    """Verdict on a package.

    Parameters
    ----------
    package : str
        Import name.
    works : bool
        Whether all checks passed, but for those that were skipped.
    outcomes : tuple of Outcome
        Its checks.
    problem : str or None
        Why the checks did not end as they should.
    """

    package: str
    works: bool
    outcomes: tuple[Outcome, ...]
    problem: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as ``--json`` prints it."""
        return {**self._asdict(), "outcomes": [item._asdict() for item in self.outcomes]}


def check_packages(
    packages: Sequence[str] = PACKAGES,
    *,
    timeout: float = TIMEOUT,
    begun: Callable[[str], None] = lambda _package: None,
    done: Callable[[Outcome], None] = lambda _outcome: None,
) -> list[Verdict]:
    """Check packages one after the other.

    Parameters
    ----------
    packages : sequence of str
        Import names, of those in `PACKAGES`.
    timeout : float
        Seconds that each may take.
    begun : callable, optional
        Called with the name of a package before it is checked.
    done : callable, optional
        Called with each outcome as soon as it is known.

    Returns
    -------
    list of Verdict
        In the order of `packages`.
    """
    verdicts = []
    for package in packages:
        begun(package)
        verdicts.append(check_package(package, timeout=timeout, done=done))
    return verdicts


def check_package(
    package: str,
    *,
    timeout: float = TIMEOUT,
    done: Callable[[Outcome], None] = lambda _outcome: None,
) -> Verdict:
    """Check one package in a process of its own; see `check_packages()`."""
    outcomes: list[Outcome] = []
    with Child(f"{package}.selftest", timeout) as child:
        for item in child.objects():
            try:
                outcome = Outcome(**item)
            except TypeError:
                continue  # something else that the package prints
            outcomes.append(outcome)
            done(outcome)

    failed = any(item.state == "failed" for item in outcomes)
    problem = child.explain(f" after {outcomes[-1].check!r}" if outcomes else "")
    if failed and child.status > 0:
        problem = None  # the outcomes say it
    elif problem is None and not outcomes:
        problem = "it made no checks"
    return Verdict(package, problem is None and not failed, tuple(outcomes), problem)


def format_verdict(verdict: Verdict) -> str:
    """Format a verdict as a line for people."""
    if verdict.problem is not None:
        return f"{verdict.package} DOES NOT WORK: {verdict.problem}"
    failed = sum(item.state == "failed" for item in verdict.outcomes)
    skipped = sum(item.state == "skipped" for item in verdict.outcomes)
    note = f", {skipped} skipped" if skipped else ""
    if failed:
        return f"{verdict.package} DOES NOT WORK: {failed} of {len(verdict.outcomes)} failed{note}"
    return f"{verdict.package} works: {len(verdict.outcomes) - skipped} passed{note}"


def main(packages: Sequence[str], *, as_json: bool, timeout: float) -> int:
    """Run ``offchip selftest``.

    Parameters
    ----------
    packages : sequence of str
        Import names; all if empty.
    as_json : bool
        Whether to print JSON when all is done, instead of lines as it goes.
    timeout : float
        Seconds that each package may take.

    Returns
    -------
    int
        0, or 1 if a package does not work.
    """
    start = time.perf_counter()
    chosen = list(packages) or list(PACKAGES)
    if as_json:
        with Waiting("checking " + ", ".join(chosen)):
            verdicts = check_packages(chosen, timeout=timeout)
        print(json.dumps([verdict.as_dict() for verdict in verdicts], indent=2))
    else:
        with Waiting("next check") as waiting:

            def show(text: str) -> None:
                waiting.clear()
                print(text, flush=True)

            verdicts = check_packages(
                chosen,
                timeout=timeout,
                begun=show,
                done=lambda outcome: show(format_outcome(outcome)),
            )
        print()
        for verdict in verdicts:
            print(format_verdict(verdict))
        print(f"{time.perf_counter() - start:.1f} s")

    return 0 if all(verdict.works for verdict in verdicts) else 1
