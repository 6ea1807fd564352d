# SPDX-License-Identifier: BSD-3-Clause
"""Programs under the launcher of the MPI that is installed beside this Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PACKAGE = "tests.accl.mpi"
RUN_MODULE = Path(__file__).resolve().parents[2] / "support" / "run_module.py"


@pytest.fixture
def run_ranks(mpiexec: str, tmp_path: Path) -> Callable[..., Any]:
    """Run a module of this folder on a number of ranks; give the JSON that rank 0 printed."""

    def run(ranks: int, program: str, *arguments: str, limit: float = 100.0, **env: str) -> Any:
        command = [mpiexec, "-n", str(ranks), sys.executable, str(RUN_MODULE)]
        command += [f"{PACKAGE}.{program}", *arguments]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=limit,
            cwd=tmp_path,
            env={**os.environ, **env},
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout.strip().splitlines()[-1])

    return run
