# SPDX-License-Identifier: BSD-3-Clause
"""Have ``import pyaccl`` give this package, for programs that are not to be changed.

``import accl.as_pyaccl`` first, or run such a program as ``python -m accl.as_pyaccl program.py``.
"""

from __future__ import annotations

import importlib
import runpy
import sys

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
    """Run the program that the arguments name."""
    if len(sys.argv) < 2:
        print("usage: python -m accl.as_pyaccl program.py [argument ...]", file=sys.stderr)
        return 2
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


install()

if __name__ == "__main__":
    sys.exit(main())
