# SPDX-License-Identifier: BSD-3-Clause
"""Reports what is installed: the library that each package uses, why, and any problems."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import re
from typing import Any, NamedTuple

from offchip import __version__
from offchip.devices import describe_devices
from offchip.environment import variables_set
from offchip.loader import Refused

__all__ = ["PackageInfo", "Report", "ask_forge", "collect", "format_report"]

DISTRIBUTION = "offchip"

# Import names and their purposes.
PACKAGES = {
    "veo": "NEC Vector Engine offloading",
    "dpu": "UPMEM processing-in-memory",
    "accl": "collectives offloaded to FPGAs",
}

# A package without a vendor's library, and what its extra installs.
FORGE = "accelforge"
FORGE_PURPOSE = "predictions of energy, latency and area"
FORGE_EXTRAS = ("PyYAML", "jinja2", "pandas", "hwcomponents")


class PackageInfo(NamedTuple):
    """One package.

    Parameters
    ----------
    name, purpose : str
        Import name, and what it is for.
    library : dict or None
        Its ``library_info()``.
    error : str or None
        Why it cannot be used.
    parts : dict or None
        For a package without a library: its engine, and versions of the packages it reads files
        with.
    """

    name: str
    purpose: str
    library: dict[str, Any] | None
    error: str | None
    parts: dict[str, str | None] | None = None


class Report(NamedTuple):
    """The contents of ``offchip info``; `problems` is empty if there are none.

    `environment` has the variables of the packages that are set.
    """

    version: str
    python: str
    machine: str
    packages: tuple[PackageInfo, ...]
    problems: tuple[str, ...]
    environment: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as ``--json`` prints it."""
        result = self._asdict()
        result["packages"] = [package._asdict() for package in self.packages]
        result["problems"] = list(self.problems)
        return result


def collect() -> Report:
    """Examine every package of this distribution."""
    packages = []
    problems = []
    for name, purpose in PACKAGES.items():
        conflicts = find_conflicts(name)
        problems += conflicts
        library, error = None, None
        if conflicts:
            error = "another package has the same import name"
        else:
            library, error = _ask(name)
            if error is not None:
                problems.append(error)
        packages.append(PackageInfo(name, purpose, library, error))

    packages.append(ask_forge(problems))
    return Report(
        version=__version__,
        python=platform.python_version(),
        machine=f"{platform.system()} {platform.machine()}",
        packages=tuple(packages),
        problems=tuple(problems),
        environment=variables_set(),
    )


def _ask(name: str) -> tuple[dict[str, Any] | None, str | None]:
    """Return a package's `library_info()`, or the reason why it has none."""
    try:
        answer = dict(importlib.import_module(name).library_info())
    except Exception as error:
        # Any error: the other packages are still reported.
        return None, f"{name} cannot be used: {error}"
    answer["refused"] = [_refused_as_dict(item) for item in answer.get("refused", ())]
    answer["missing"] = list(answer.get("missing", ()))
    return answer, None


def ask_forge(problems: list[str]) -> PackageInfo:
    """Examine accelforge, which has its own engine and reads files with other packages.

    Parameters
    ----------
    problems : list of str
        Gets a sentence for each problem.
    """
    error = None
    versions: dict[str, str | None] = {}
    conflicts = find_conflicts(FORGE)
    problems += conflicts
    if conflicts:
        error = "another package has the same import name"
    else:
        try:
            versions["engine"] = importlib.import_module(f"{FORGE}._model").__file__
        except ImportError as cause:
            error = f"{FORGE} cannot be used: {cause}"
            problems.append(error)
        for name in FORGE_EXTRAS:
            try:
                versions[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                versions[name] = None

    return PackageInfo(FORGE, FORGE_PURPOSE, None, error, versions or None)


def _refused_as_dict(item: Any) -> dict[str, str]:
    return dict(item) if isinstance(item, dict) else Refused(*item)._asdict()


def find_conflicts(name: str) -> list[str]:
    """Find other distributions or folders that have, or hide, one of our import names.

    Parameters
    ----------
    name : str
        Import name of one of our packages.

    Returns
    -------
    list of str
        One sentence per problem.
    """
    problems = []
    ours = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), name)
    for owner in _owners(name):
        if owner != DISTRIBUTION:
            problems.append(
                f"the distribution {owner} also installs the package {name!r}: the files of "
                f"both are mixed. Uninstall both (pip uninstall {owner} {DISTRIBUTION}), then "
                "install the one you want"
            )

    spec = importlib.util.find_spec(name)
    origin = spec.origin if spec is not None else None
    if spec is None:
        problems.append(f"the package {name!r} is not installed, though it should be in {ours}")
    elif origin is None or os.path.realpath(os.path.dirname(origin)) != os.path.realpath(ours):
        where = origin or ", ".join(spec.submodule_search_locations or ()) or "a built-in module"
        problems.append(
            f"`import {name}` takes {where}, which hides ours in {ours}; rename it, or change "
            "sys.path"
        )

    return problems


def _owners(name: str) -> list[str]:
    """List the distributions that have files of a package, by normalised names."""
    ours = re.compile(rf'^"?{re.escape(name)}(/|\.py\b)', re.MULTILINE)
    owners = set()
    for distribution in importlib.metadata.distributions():
        top_level = (distribution.read_text("top_level.txt") or "").split()
        # As text: for a path object per file, an environment of notebooks takes two seconds.
        record = distribution.read_text("RECORD") or distribution.read_text("SOURCES.txt") or ""
        if name not in top_level and ours.search(record) is None:
            continue
        title = distribution.metadata["Name"]
        if title:
            owners.add(re.sub(r"[-_.]+", "-", title).lower())
    return sorted(owners)


def format_report(report: Report) -> str:
    """Format a report for people."""
    lines = [f"offchip {report.version}, Python {report.python}, {report.machine}", ""]
    for package in report.packages:
        lines.append(f"{package.name:<11} {package.purpose}")
        if package.parts is not None:
            lines += _part_lines(package.parts)
        elif package.library is None:
            lines.append(f"    NOT USABLE: {package.error}")
        else:
            lines += _library_lines(package.name, package.library)
        lines.append("")
    if report.environment:
        lines.append("environment")
        lines += [f"    {name}={value}" for name, value in report.environment.items()]
    return "\n".join(lines).rstrip()


def _part_lines(parts: dict[str, str | None]) -> list[str]:
    found = [f"{name} {version}" for name, version in parts.items() if version and name != "engine"]
    missing = [name for name, version in parts.items() if not version]
    lines = [f"    engine    {parts['engine']}", f"    with      {', '.join(found) or 'nothing'}"]
    if "PyYAML" in missing or "jinja2" in missing:
        lines.append("    missing   packages that read YAML; install offchip[forge]")
    return lines


def _library_lines(name: str, library: dict[str, Any]) -> list[str]:
    kind = {"soft": "soft twin", "vendor": "vendor's library", "path": "library given by its path"}
    version, api_version = (
        "unknown" if library.get(key) is None else library[key]
        for key in ("version", "api_version")
    )
    lines = [
        f"    library   {library['path']}",
        f"    kind      {kind.get(library['kind'], library['kind'])} ({library['found_via']})",
        f"    version   {version}, API {api_version}",
        f"    devices   {describe_devices(name, library)}",
    ]
    if library["missing"]:
        lines.append(f"    missing   {', '.join(library['missing'])}")
    for number, item in enumerate(library["refused"]):
        head = "refused" if number == 0 else ""
        lines.append(f"    {head:<9} {item['path']} ({item['found_via']}): {item['reason']}")
    return lines
