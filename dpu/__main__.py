# SPDX-License-Identifier: BSD-3-Clause
"""``python -m dpu``: shows which libdpu is used, why others are not, and where C code finds it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from dpu import library_info
from dpu.toolchain import ToolchainError, find_toolchain
from offchip.library_command import make_parser, show_library

__all__ = ["main"]


def _look(library: str | None) -> dict[str, Any]:
    return {**library_info(library), "compiler": _compiler()}


def _compiler() -> str:
    try:
        return find_toolchain().describe()
    except ToolchainError as error:
        return f"none: {error}"


def _shown(info: dict[str, Any]) -> dict[str, str]:
    return {"C compiler": info["compiler"]}


def main(argv: list[str] | None = None) -> int:
    """Print `library_info()` and the C compiler for DPUs.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status: 1 if no library can be used.
    """
    parser = make_parser("dpu", "libdpu")
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
    return show_library("dpu", options, _look, _shown)


if __name__ == "__main__":
    sys.exit(main())
