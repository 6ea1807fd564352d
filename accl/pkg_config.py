# SPDX-License-Identifier: BSD-3-Clause
"""The command ``accl-pkg-config``: options for C and C++ programs that use libaccl."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from offchip import __version__
from offchip.pkg_config import CLibrary, run_pkg_config

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, or that of the process; return the exit status."""
    words = sys.argv[1:] if argv is None else argv
    return run_pkg_config(CLibrary("accl", Path(__file__).resolve().parent, __version__), words)


if __name__ == "__main__":
    sys.exit(main())
