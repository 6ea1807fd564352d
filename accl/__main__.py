# SPDX-License-Identifier: BSD-3-Clause
"""``python -m accl``: shows which library is used, and why the others are not."""

from __future__ import annotations

import sys

from accl import library_info
from offchip.library_command import make_parser, show_library

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Print `library_info()`.

    Parameters
    ----------
    argv : list of str, optional
        Arguments of the command.

    Returns
    -------
    int
        1 if no library can be used.
    """
    options = make_parser("accl", "library").parse_args(argv)
    return show_library("accl", options, library_info)


if __name__ == "__main__":
    sys.exit(main())
