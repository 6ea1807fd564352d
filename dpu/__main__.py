# SPDX-License-Identifier: BSD-3-Clause
"""``python -m dpu``: which libdpu is used, why the others are not, and where C programs find it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from dpu import __version__, library_info
from dpu.toolchain import ToolchainError, find_toolchain
from offchip.errors import OffchipError

__all__ = ["main"]


def _print(info: dict[str, Any]) -> None:
    print(f"offchip {__version__}, package dpu")
    print(f"library      {info['path']}")
    print(f"kind         {info['kind']}")
    print(f"found via    {info['found_via']}")
    print(f"version      {info['version'] or 'unknown'}")
    print(f"devices      {info['devices']} hardware rank(s)")
    if info["missing"]:
        print(f"missing      {', '.join(info['missing'])}")
    for number, item in enumerate(info["refused"]):
        label = "refused" if number == 0 else ""
        print(f"{label:12} {item['path']} ({item['found_via']}): {item['reason']}")
    print(f"C compiler   {info['compiler']}")


def _compiler() -> str:
    try:
        return find_toolchain().describe()
    except ToolchainError as error:
        return f"none: {error}"


def main(argv: list[str] | None = None) -> int:
    """Print what `library_info()` says, and the C compiler for DPUs.

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
        prog="python -m dpu", description="Say which libdpu is used, and why the others are not."
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--library", help="look at this one: vendor, soft, or a path")
    folders = parser.add_mutually_exclusive_group()
    folders.add_argument(
        "--libdir",
        action="store_true",
        help="print the folder of libdpu.so, also under the names of UPMEM's releases",
    )
    folders.add_argument(
        "--includedir", action="store_true", help="print the folder of dpu.h and its parts"
    )
    options = parser.parse_args(argv)
    if options.libdir or options.includedir:
        print(Path(__file__).resolve().parent / ("lib" if options.libdir else "include"))
        return 0
    try:
        info = library_info(options.library)
    except OffchipError as error:
        print(error, file=sys.stderr)
        return 1
    info["compiler"] = _compiler()
    if options.json:
        print(json.dumps(info, indent=2))
    else:
        _print(info)
    return 0


if __name__ == "__main__":
    sys.exit(main())
