# SPDX-License-Identifier: BSD-3-Clause
"""Reports of ``DPU_CHECK`` and ``VEO_CHECK``: reading them, and SARIF and JUnit's XML for CI.

SARIF 2.1.0 (OASIS, 2020) is what code hosts show at the line of a change, and JUnit's XML what CI
servers list. `dpu.checks` and `veo.checks` say what their reports look like, by a `Format`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar
from xml.etree import ElementTree

from offchip import __version__

__all__ = ["BaseFinding", "Format", "Place", "as_junit", "as_sarif", "read_findings", "run"]

_PLACE = re.compile(r"==    (at|called at) pc (0x[0-9a-f]+)(?: \((.*)\))?")
_SYMBOL = re.compile(r"(.+?)\+0x[0-9a-f]+(?:, |$)")
_LINE = re.compile(r"(.+):(\d+)")
_MORE = re.compile(r"==   (\S.*)")


@dataclass(frozen=True)
class Place:
    """A place in a program that was checked.

    Attributes
    ----------
    what : str
        How it takes part: of the finding itself empty, else as ``called`` or a line of the report.
    pc : int
        Index of the instruction, or its address.
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
class BaseFinding:
    """One report.

    Attributes
    ----------
    check : str
        The word of the variable that asks for it.
    text : str
        What was found, in a sentence.
    places : list of Place
        First where it was found, then the calls that led there and what else takes part.
    """

    check: str
    text: str
    places: list[Place] = field(default_factory=list, kw_only=True)


Found = TypeVar("Found", bound=BaseFinding)


@dataclass(frozen=True)
class Format(Generic[Found]):
    """The looks of the reports of a variable.

    Attributes
    ----------
    variable : str
        Its name.
    checks : tuple of str
        The checks that it may ask for.
    errors : tuple of str
        Those of them whose findings are errors; others are warnings.
    head : re.Pattern
        The first line of a report.
    make : callable
        Makes a finding, without its places, of a match of `head`.
    """

    variable: str
    checks: tuple[str, ...]
    errors: tuple[str, ...]
    head: re.Pattern[str]
    make: Callable[[re.Match[str]], Found]


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


def read_findings(form: Format[Found], lines: Iterable[str]) -> Iterator[Found]:
    """Give the findings in the lines of a log, in their order; lines of none are skipped."""
    finding: Found | None = None
    role = ""
    for line in map(str.rstrip, lines):
        if head := form.head.fullmatch(line):
            if finding is not None:
                yield finding
            finding, role = form.make(head), ""
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


def as_sarif(form: Format[Found], findings: Sequence[Found]) -> dict[str, Any]:
    """Return findings as a SARIF 2.1.0 document, with paths relative to the current folder."""
    results = []
    for finding in findings:
        locations = [_location(place) for place in _own_first(finding.places)]
        results.append(
            {
                "ruleId": finding.check,
                "level": "error" if finding.check in form.errors else "warning",
                "message": {"text": finding.text},
                "locations": locations[:1],
                "relatedLocations": [
                    {"id": number, **location} for number, location in enumerate(locations[1:])
                ],
            }
        )
    rules = [{"id": check} for check in form.checks]
    driver = {"name": form.variable, "version": __version__, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def as_junit(form: Format[Found], findings: Sequence[Found]) -> str:
    """Return findings as JUnit's XML: one test case per check, with its findings as failures."""
    suite = ElementTree.Element(
        "testsuite", name=form.variable, tests=str(len(form.checks)), failures=str(len(findings))
    )
    for check in form.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=form.variable, name=check)
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


def run(form: Format[Found], program: str, arguments: Sequence[str] | None) -> int:
    """Run the command ``python -m PROGRAM``; return its status."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {program}",
        description=f"Convert what {form.variable}=all,log=LOG reported.",
        epilog=f"Example: python -m {program} checks.log --sarif checks.sarif",
    )
    parser.add_argument("log", help=f"what {form.variable} wrote; - for standard input")
    parser.add_argument("--sarif", metavar="FILE", help="write SARIF 2.1.0; - for standard output")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit's XML; - for standard output")
    parser.add_argument("--json", action="store_true", help="print a list, one object per finding")
    options = parser.parse_args(arguments)
    try:
        if options.log == "-":
            findings = list(read_findings(form, sys.stdin))
        else:
            with open(options.log, errors="replace") as log:
                findings = list(read_findings(form, log))
        if options.sarif:
            _write(options.sarif, json.dumps(as_sarif(form, findings), indent=1) + "\n")
        if options.junit:
            _write(options.junit, as_junit(form, findings))
    except OSError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings]))
    elif "-" not in (options.sarif, options.junit):
        print(f"{len(findings)} finding{'s' * (len(findings) != 1)}")
    return 1 if findings else 0
