# SPDX-License-Identifier: BSD-3-Clause
"""The ``python -m`` command of a package: shows which library is used, and why not others."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from offchip import __version__
from offchip.closed_pipe import ends_at_closed_pipe
from offchip.devices import describe_devices
from offchip.error_pages import format_error
from offchip.errors import OffchipError

__all__ = ["make_parser", "show_library"]


def make_parser(package: str, library: str) -> argparse.ArgumentParser:
    """Make a parser with the options that all packages have.

    Parameters
    ----------
    package : str
        Import name of the package.
    library : str
        What it uses, such as ``libveo``.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {package}",
        description=f"Show which {library} is used, and why the others are not.",
        epilog=f"Example: python -m {package} --library soft --json",
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--library", help="examine this one: vendor, soft, or a path")
    return parser


@ends_at_closed_pipe
def show_library(
    package: str,
    options: argparse.Namespace,
    look: Callable[[str | None], dict[str, Any]],
    shown: Callable[[dict[str, Any]], Mapping[str, str]] = lambda _info: {},
) -> int:
    """Print what `look` returns for the library that the options name.

    Parameters
    ----------
    package : str
        Import name of the package.
    options : argparse.Namespace
        From `make_parser()`.
    look : callable
        The package's ``library_info()``.
    shown : callable, optional
        Returns the lines that differ between packages, by label: ``version`` if it needs a format
        of its own, and others, which come last.

    Returns
    -------
    int
        The exit status: 1 if no library can be used.
    """
    try:
        info = look(options.library)
    except OffchipError as error:
        if options.json:
            print(json.dumps({"error": str(error)}, indent=2))
        print(format_error(error), file=sys.stderr)
        return 1

    if options.json:
        print(json.dumps(info, indent=2))
        return 0

    own = dict(shown(info))
    lines = [
        ("library", info["path"]),
        ("kind", info["kind"]),
        ("found via", info["found_via"]),
        ("version", own.pop("version", info["version"] or "unknown")),
        ("devices", describe_devices(package, info)),
    ]
    if info["missing"]:
        lines.append(("missing", ", ".join(info["missing"])))
    for number, item in enumerate(info["refused"]):
        text = f"{item['path']} ({item['found_via']}): {item['reason']}"
        lines.append(("refused" if number == 0 else "", text))

    print(f"offchip {__version__}, package {package}")
    for label, text in [*lines, *own.items()]:
        print(f"{label:12} {text}")
    return 0
