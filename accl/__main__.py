# SPDX-License-Identifier: BSD-3-Clause
"""``python -m accl``: which library is used, and why the others are not."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from accl import __version__, library_info
from offchip.errors import OffchipError

__all__ = ["main"]


def _print(info: dict[str, Any]) -> None:
    print(f"offchip {__version__}, package accl")
    print(f"library      {info['path']}")
    print(f"kind         {info['kind']}")
    print(f"found via    {info['found_via']}")
    print(f"version      {info['version'] or 'unknown'}")
    print(f"devices      {info['devices']} FPGA board(s)")
    if info["missing"]:
        print(f"missing      {', '.join(info['missing'])}")
    for number, item in enumerate(info["refused"]):
        label = "refused" if number == 0 else ""
        print(f"{label:12} {item['path']} ({item['found_via']}): {item['reason']}")


def main(argv: list[str] | None = None) -> int:
    """Print what `library_info()` says.

    Parameters
    ----------
    argv : list of str, optional
        Arguments of the command.

    Returns
    -------
    int
        1 if no library can be used.
    """
    parser = argparse.ArgumentParser(
        prog="python -m accl", description="Say which library is used, and why the others are not."
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--library", help="look at this one: vendor, soft, or a path")
    options = parser.parse_args(argv)
    try:
        info = library_info(options.library)
    except OffchipError as error:
        print(error, file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(info, indent=2))
    else:
        _print(info)
    return 0


if __name__ == "__main__":
    sys.exit(main())
