# SPDX-License-Identifier: BSD-3-Clause
"""``python -m veo``: shows which libveo is used, and why the others are not."""

from __future__ import annotations

import sys
from typing import Any

from offchip.library_command import make_parser, show_library
from veo import library_info

__all__ = ["main"]


def _shown(info: dict[str, Any]) -> dict[str, str]:
    return {"version": f"{info['version']} (VEO API {info['api_version']})"}


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
    options = make_parser("veo", "libveo").parse_args(argv)
    return show_library("veo", options, library_info, _shown)


if __name__ == "__main__":
    sys.exit(main())
