# SPDX-License-Identifier: BSD-3-Clause
"""Runs a module of the tests as a program: ``run_module.py MODULE ARGUMENT...``."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    # Not this folder; and the root last, so that packages are those that are installed.
    sys.path[0:1] = []
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
