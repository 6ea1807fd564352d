# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a package makes of itself, where it is installed: ``python -m PACKAGE.selftest``.

`offchip.selftest` runs them for all packages. A check is a function that takes nothing, returns a
short text of what it saw, and fails by raising; `Skipped` says that something is not installed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from offchip.closed_pipe import ends_at_closed_pipe

__all__ = ["Outcome", "Skipped", "format_outcome", "main", "require", "run"]

Check = Callable[[], str]


class Skipped(Exception):
    """A check cannot be made here; the text says what is missing and how to get it."""


class Outcome(NamedTuple):
    """Outcome of a check.

    Parameters
    ----------
    check : str
        What was checked.
    state : str
        ``passed``, ``failed`` or ``skipped``.
    detail : str
        What was seen, or the reason.
    seconds : float
        How long it took.
    """

    check: str
    state: str
    detail: str
    seconds: float


def require(condition: bool, message: str) -> None:
    """Raise `AssertionError` with a message, also under ``python -O``."""
    if not condition:
        raise AssertionError(message)


def run(checks: Mapping[str, Check]) -> Iterator[Outcome]:
    """Make checks one after the other; an exception of one does not stop the others.

    Parameters
    ----------
    checks : mapping of str to callable
        By what they check.

    Yields
    ------
    Outcome
        As soon as a check is done.
    """
    for title, check in checks.items():
        start = time.perf_counter()
        try:
            state, detail = "passed", check()
        except Skipped as error:
            state, detail = "skipped", str(error)
        except Exception as error:
            state, detail = "failed", f"{type(error).__name__}: {error}"
        yield Outcome(title, state, detail, time.perf_counter() - start)


def format_outcome(outcome: Outcome) -> str:
    """Format an outcome as a line for people."""
    sign = {"passed": "ok", "failed": "FAILED", "skipped": "skipped"}[outcome.state]
    detail = " ".join(outcome.detail.split())
    return f"  {sign:<8}{outcome.check:<44}{outcome.seconds:>7.2f} s  {detail}".rstrip()


@ends_at_closed_pipe
def main(package: str, checks: Mapping[str, Check], arguments: Sequence[str] | None = None) -> int:
    """Run the command ``python -m PACKAGE.selftest``.

    Parameters
    ----------
    package : str
        Import name of the package.
    checks : mapping of str to callable
        See `run()`.
    arguments : sequence of str, optional
        Those of the process if None.

    Returns
    -------
    int
        0, or 1 if a check failed.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {package}.selftest", description=f"Check that {package} works here."
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per check")
    options = parser.parse_args(arguments)
    failed = False
    output = sys.stdout
    # Output of the checks, such as the messages of VeBuild, is not part of the results.
    with contextlib.redirect_stdout(sys.stderr):
        for outcome in run(checks):
            failed |= outcome.state == "failed"
            text = json.dumps(outcome._asdict()) if options.json else format_outcome(outcome)
            print(text, file=output, flush=True)

    return 1 if failed else 0
