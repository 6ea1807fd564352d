# SPDX-License-Identifier: BSD-3-Clause
"""Check every package of this distribution on this machine: ``offchip selftest``.

Each package checks itself in a process of its own (see `offchip.checks`), so that a crash or a
hang of one is a verdict, and the others are still checked.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from offchip.checks import Outcome, format_outcome

__all__ = ["PACKAGES", "Verdict", "check_package", "check_packages", "format_verdict"]

#: Import names in the order in which they are checked.
PACKAGES = ("veo", "dpu", "accl", "accelforge")

#: Seconds that a package may take.
TIMEOUT = 60.0


class Verdict(NamedTuple):
    """What became of a package.

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
    command = [sys.executable, "-P", "-m", f"{package}.selftest", "--json"]
    outcomes: list[Outcome] = []
    # A session of its own, so that what it has started can be ended with it.
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        late = threading.Event()
        timer = threading.Timer(timeout, _end, (process, late))
        timer.daemon = True
        timer.start()
        try:
            assert process.stdout is not None
            for outcome in _read(process.stdout):
                outcomes.append(outcome)
                done(outcome)
            # Not waited for yet: until then its number, and its group's, belong to nobody else.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        finally:
            timer.cancel()
            timer.join()
            _kill(process)
        status = process.wait()
        problem = _explain(status, outcomes, timeout if late.is_set() else None, errors)

    works = problem is None and all(item.state != "failed" for item in outcomes)
    return Verdict(package, works, tuple(outcomes), problem)


def _read(lines: IO[str]) -> Iterator[Outcome]:
    """Yield the outcomes that a package prints, and leave out whatever else it prints."""
    for line in lines:
        with contextlib.suppress(ValueError, TypeError):
            yield Outcome(**json.loads(line))


def _end(process: subprocess.Popen[str], late: threading.Event) -> None:
    late.set()
    _kill(process)


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a session; nothing happens if it has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _explain(
    status: int, outcomes: list[Outcome], late: float | None, errors: IO[str]
) -> str | None:
    """Say why a package's process did not end well; None if it did, or if an outcome says it."""
    after = f" after {outcomes[-1].check!r}" if outcomes else ""
    if late is not None:
        return f"not done within {late:g} s{after}"
    if status < 0:
        return f"ended by {_signal_name(-status)}{after}{_last_line(errors)}"
    if status != 0 and not any(item.state == "failed" for item in outcomes):
        return f"ended with status {status}{after}{_last_line(errors)}"
    if not outcomes:
        return "it made no checks"
    return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_line(errors: IO[str]) -> str:
    errors.seek(0)
    lines = [line.strip() for line in errors if line.strip()]
    return f": {lines[-1]}" if lines else ""


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
        verdicts = check_packages(chosen, timeout=timeout)
        print(json.dumps([verdict.as_dict() for verdict in verdicts], indent=2))
    else:
        verdicts = check_packages(
            chosen,
            timeout=timeout,
            begun=lambda package: print(package, flush=True),
            done=lambda outcome: print(format_outcome(outcome), flush=True),
        )
        print()
        for verdict in verdicts:
            print(format_verdict(verdict))
        print(f"{time.perf_counter() - start:.1f} s")

    return 0 if all(verdict.works for verdict in verdicts) else 1
