# SPDX-License-Identifier: BSD-3-Clause
"""Makes ``import pyaccl`` import this package, for programs that cannot be changed.

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
    """Add the package to the table of modules under that name, too.

    Raises
    ------
    ImportError
        pyaccl itself is already imported.
    """
    ours = importlib.import_module("accl")
    if sys.modules.setdefault("pyaccl", ours) is not ours:
        raise ImportError("pyaccl is already imported: import accl.as_pyaccl first")
    for name in SUBMODULES:
        sys.modules[f"pyaccl.{name}"] = importlib.import_module(f"accl.{name}")


def main() -> int:
    """Run a program with the rest of the arguments."""
    parser = argparse.ArgumentParser(
        prog="python -m accl.as_pyaccl",
        description="Run a program that imports pyaccl, unchanged, on offchip's accl.",
        epilog="Example: mpiexec -n 2 python -m accl.as_pyaccl program.py",
    )
    parser.add_argument(
        "-m", dest="module", action="store_true", help="the program is a module, such as pytest"
    )
    parser.add_argument("program", help="path of the program, or name of a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    options = parser.parse_args()

    # The program sees the same arguments as if it were run directly.
    sys.argv[:] = [options.program, *options.arguments]
    folder = Path.cwd() if options.module else Path(options.program).resolve().parent
    if not sys.flags.safe_path:
        sys.path[0] = str(folder)

    if options.module:
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(options.program, run_name="__main__")
    return 0


install()

if __name__ == "__main__":
    sys.exit(main())
