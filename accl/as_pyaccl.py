# SPDX-License-Identifier: BSD-3-Clause
"""Have ``import pyaccl`` give this package, for programs that are not to be changed.

``import accl.as_pyaccl`` first, or run such a program as ``python -m accl.as_pyaccl program.py``.
"""

from __future__ import annotations

import argparse
import importlib
import runpy
import sys
from pathlib import Path

__all__ = ["install", "main"]

SUBMODULES = ("accl", "buffer", "constants", "device")


def install() -> None:
    """Put the package into the table of modules under the other name as well.

    Raises
    ------
    ImportError
        pyaccl itself was imported already.
    """
    ours = importlib.import_module("accl")
    if sys.modules.setdefault("pyaccl", ours) is not ours:
        raise ImportError("pyaccl was imported before: import accl.as_pyaccl first")
    for name in SUBMODULES:
        sys.modules[f"pyaccl.{name}"] = importlib.import_module(f"accl.{name}")


def main() -> int:
    """Run the program that the arguments name, with the arguments that follow it."""
    parser = argparse.ArgumentParser(
        prog="python -m accl.as_pyaccl",
        description="Run a program that imports pyaccl, unchanged, on offchip's accl.",
    )
    parser.add_argument("program", help="path of the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    options = parser.parse_args()

    # The program sees what it would see if it were run by itself.
    sys.argv[:] = [options.program, *options.arguments]
    if not sys.flags.safe_path:
        sys.path[0] = str(Path(options.program).resolve().parent)

    runpy.run_path(options.program, run_name="__main__")
    return 0


install()

if __name__ == "__main__":
    sys.exit(main())
