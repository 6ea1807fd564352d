# SPDX-License-Identifier: BSD-3-Clause
"""Converts what ``DPU_CHECK`` reported for CI: ``python -m dpu.checks LOG --sarif FILE``.

The log is what ``DPU_CHECK=all,log=LOG`` writes, or any text with it among other lines. SARIF 2.1.0
(OASIS, 2020) is what code hosts show at the line of a change, and JUnit's XML what CI servers list.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from offchip import __version__
from offchip.closed_pipe import ends_at_closed_pipe

__all__ = ["Finding", "Place", "as_junit", "as_sarif", "main", "read_findings"]

# The beginning of a finding's text, and the check that finds it.
_CHECKS = {
    "uninitialised": "uninitialised",
    "stack overflow": "stack",
    "misaligned DMA": "dma",
    "DMA out of bounds": "dma",
    "DMA beyond a variable": "dma",
    "access during a transfer": "dma",
    "null pointer": "bounds",
    "access outside of variables": "bounds",
    "race": "race",
    "deadlock": "deadlock",
}
_HEAD = re.compile(rf"== DPU (\d+\.\d+\.\d+)(?: (.+?))?: ({'|'.join(_CHECKS)}): (.*)")
_PLACE = re.compile(r"==    (at|called at) pc (0x[0-9a-f]+)(?: \((.*)\))?")
_SYMBOL = re.compile(r"(.+?)\+0x[0-9a-f]+(?:, |$)")
_LINE = re.compile(r"(.+):(\d+)")
_MORE = re.compile(r"==   (\S.*)")


@dataclass(frozen=True)
class Place:
    """A place in a DPU program.

    Attributes
    ----------
    what : str
        How it takes part: of the finding itself empty, else as ``called`` or a line of the report.
    pc : int
        Index of the instruction.
    function, file : str or None
        Where that is, as far as the program has symbols and lines.
    line : int or None
        From 1.
    """

    what: str
    pc: int
    function: str | None = None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Finding:
    """One report of `DPU_CHECK`.

    Attributes
    ----------
    check : str
        The word of ``DPU_CHECK`` that asks for it.
    text : str
        What was found, in a sentence.
    dpu, program : str
        The first DPU on which it was found, and its program's file; empty if unknown.
    places : list of Place
        First where it was found, then the calls that led there and other tasklets.
    """

    check: str
    text: str
    dpu: str
    program: str
    places: list[Place] = field(default_factory=list)


def _place(match: re.Match[str], role: str) -> Place:
    function = file = line = None
    inside = match[3] or ""
    if symbol := _SYMBOL.match(inside):
        function = symbol[1]
        inside = inside[symbol.end() :]
    if numbered := _LINE.fullmatch(inside):
        file, line = numbered[1], int(numbered[2])
    what = ", ".join(filter(None, [role, "called" if match[1] == "called at" else ""]))
    return Place(what, int(match[2], 16), function, file, line)


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
    finding: Finding | None = None
    role = ""
    for line in map(str.rstrip, lines):
        if head := _HEAD.fullmatch(line):
            if finding is not None:
                yield finding
            text = f"{head[3]}: {head[4]}"
            finding, role = Finding(_CHECKS[head[3]], text, head[1], head[2] or ""), ""
        elif finding is not None and (place := _PLACE.fullmatch(line)):
            finding.places.append(_place(place, role))
        elif finding is not None and (more := _MORE.fullmatch(line)):
            role = more[1]
    if finding is not None:
        yield finding


def _uri(file: str) -> str:
    """Give a path relative to the current folder if it is in there, as SARIF's viewers want it."""
    path = Path(os.path.abspath(file))
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_uri()


def _own_first(places: Sequence[Place]) -> list[Place]:
    """Put the first place in the current folder first: viewers show no others."""
    here = [place for place in places if place.file and ":" not in _uri(place.file)]
    return here[:1] + [place for place in places if place not in here[:1]]


def _location(place: Place) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if place.file is not None:
        location["physicalLocation"] = {
            "artifactLocation": {"uri": _uri(place.file)},
            "region": {"startLine": place.line},
        }
    if place.function is not None:
        location["logicalLocations"] = [{"name": place.function, "kind": "function"}]
    if place.what:
        location["message"] = {"text": place.what}
    return location


def as_sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return findings as a SARIF 2.1.0 document.

    Paths in the current folder become relative to it, so run it at the top of the repository.
    """
    results = []
    for finding in findings:
        locations = [_location(place) for place in _own_first(finding.places)]
        results.append(
            {
                "ruleId": finding.check,
                "level": "error" if finding.check in ("stack", "deadlock") else "warning",
                "message": {"text": finding.text},
                "locations": locations[:1],
                "relatedLocations": [
                    {"id": number, **location} for number, location in enumerate(locations[1:])
                ],
            }
        )
    rules = [{"id": check} for check in dict.fromkeys(_CHECKS.values())]
    driver = {"name": "DPU_CHECK", "version": __version__, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def as_junit(findings: Sequence[Finding]) -> str:
    """Return findings as JUnit's XML: one test case per check, with its findings as failures."""
    checks = list(dict.fromkeys(_CHECKS.values()))
    suite = ElementTree.Element(
        "testsuite", name="DPU_CHECK", tests=str(len(checks)), failures=str(len(findings))
    )
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname="DPU_CHECK", name=check)
        for finding in (one for one in findings if one.check == check):
            failure = ElementTree.SubElement(case, "failure", message=finding.text)
            failure.text = "\n".join(
                f"{place.what or 'at'} {place.function or hex(place.pc)} {place.file}:{place.line}"
                for place in finding.places
            )
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _write(path: str, text: str) -> None:
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text)


@ends_at_closed_pipe
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its status."""
    parser = argparse.ArgumentParser(
        prog="python -m dpu.checks",
        description="Convert what DPU_CHECK=all,log=LOG reported.",
        epilog="Example: python -m dpu.checks checks.log --sarif checks.sarif",
    )
    parser.add_argument("log", help="what DPU_CHECK wrote; - for standard input")
    parser.add_argument("--sarif", metavar="FILE", help="write SARIF 2.1.0; - for standard output")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit's XML; - for standard output")
    parser.add_argument("--json", action="store_true", help="print a list, one object per finding")
    options = parser.parse_args(arguments)
    try:
        if options.log == "-":
            findings = list(read_findings(sys.stdin))
        else:
            with open(options.log, errors="replace") as log:
                findings = list(read_findings(log))
        if options.sarif:
            _write(options.sarif, json.dumps(as_sarif(findings), indent=1) + "\n")
        if options.junit:
            _write(options.junit, as_junit(findings))
    except OSError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings]))
    elif "-" not in (options.sarif, options.junit):
        print(f"{len(findings)} finding{'s' * (len(findings) != 1)}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
