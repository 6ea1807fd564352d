# SPDX-License-Identifier: BSD-3-Clause
"""Runs one of the C cases."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

# A case takes some fifty times as long under valgrind.
LIMIT_S = 90 if os.environ.get("OFFCHIP_VALGRIND", "0") in ("", "0") else 900


def environment(**changes: str) -> dict[str, str]:
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("UPMEM", "DPU"))}
    return {**ours, "DPU_SOFT_QUIET": "1", **changes}


def run_case(program: Path, name: str, folder: Path, *prefix: str, **changes: str) -> str:
    done = subprocess.run(
        [*prefix, str(program), name],
        env=environment(**changes),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_S,
        text=True,
    )
    assert done.returncode == 0, f"{name}: status {done.returncode}\n{done.stdout}"
    return done.stdout
