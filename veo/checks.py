# SPDX-License-Identifier: BSD-3-Clause
"""Converts what ``VEO_CHECK`` reported for CI: ``python -m veo.checks LOG --sarif FILE``.

The log is what ``VEO_CHECK=all,log=LOG`` writes, or any text with it among other lines.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from offchip import check_log
from offchip.check_log import BaseFinding, Format, Place
from offchip.closed_pipe import ends_at_closed_pipe

__all__ = ["Finding", "Place", "as_junit", "as_sarif", "main", "read_findings"]

_CHECKS = ("uninitialised", "bounds", "align", "align_scalar")


@dataclass(frozen=True)
class Finding(BaseFinding):
    """One report of `VEO_CHECK`.

    Attributes
    ----------
    check : str
        The word of ``VEO_CHECK`` that asks for it.
    text : str
        What was found, in a sentence.
    program : str
        The file with the code.
    places : list of Place
        First where it was found, then the calls that led there, and where its block comes from.
    """

    program: str


def _finding(head: re.Match[str]) -> Finding:
    return Finding(head[2], f"{head[2]}: {head[3]}", head[1])


_FORMAT = Format(
    variable="VEO_CHECK",
    checks=_CHECKS,
    errors=("bounds",),
    head=re.compile(rf"== VE (.+?): ({'|'.join(_CHECKS)}): (.*)"),
    make=_finding,
)


def read_findings(lines: Iterable[str]) -> Iterator[Finding]:
    """Give the findings in a log; lines that are of none are skipped.

    Parameters
    ----------
    lines : iterable of str
        Lines of the log.

    Yields
    ------
    Finding
        Each as the log has it, in its order.
    """
    return check_log.read_findings(_FORMAT, lines)


def as_sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return findings as a SARIF 2.1.0 document.

    Paths in the current folder become relative to it, so run it at the top of the repository.
    """
    return check_log.as_sarif(_FORMAT, findings)


def as_junit(findings: Sequence[Finding]) -> str:
    """Return findings as JUnit's XML: one test case per check, with its findings as failures."""
    return check_log.as_junit(_FORMAT, findings)


@ends_at_closed_pipe
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its status."""
    return check_log.run(_FORMAT, "veo.checks", arguments)


if __name__ == "__main__":
    sys.exit(main())
