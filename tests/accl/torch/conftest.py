# SPDX-License-Identifier: BSD-3-Clause
"""Process groups of several ranks: as threads of the test, and as processes of a job."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.rank_threads import in_threads

PACKAGE = "tests.accl.torch"
RUN_MODULE = Path(__file__).resolve().parents[2] / "support" / "run_module.py"
MISSING = "PyTorch is not installed: pip install torch==2.13.0"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder where PyTorch is missing."""
    if find_spec("torch") is not None:
        return
    for item in items:
        if Path(__file__).parent in item.path.parents and "without_torch" not in item.name:
            item.add_marker(pytest.mark.skip(reason=MISSING))


@pytest.fixture(name="in_threads")
def _in_threads() -> Callable[..., list[Any]]:
    return in_threads


@pytest.fixture
def make_groups() -> Iterator[Callable[..., list[Any]]]:
    """Make the process groups of a number of ranks in this process; all are shut down."""
    import torch
    from torch.distributed import HashStore

    from accl.torch.meeting import create

    # Threads of OpenMP would be left behind.
    torch.set_num_threads(1)
    made: list[Any] = []

    def make(ranks: int, timeout: float = 20) -> list[Any]:
        store = HashStore()

        def start(rank: int) -> Any:
            options = SimpleNamespace(
                store=store,
                group_rank=rank,
                group_size=ranks,
                timeout=timedelta(seconds=timeout),
                global_ranks_in_group=[],
            )
            made.append(group := create(options))
            return group

        return in_threads(ranks, start)

    yield make
    for group in made:
        group.shutdown()


@pytest.fixture
def start_job(tmp_path: Path) -> Iterator[Callable[..., list[subprocess.Popen[str]]]]:
    """Start a module of this folder on a number of ranks, with PyTorch's variables for each."""
    started: list[subprocess.Popen[str]] = []

    def start(ranks: int, program: str, *arguments: str) -> list[subprocess.Popen[str]]:
        words = [sys.executable, str(RUN_MODULE), f"{PACKAGE}.{program}", str(tmp_path / "meet")]
        started.extend(
            subprocess.Popen(
                [*words, *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=tmp_path,
                env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(ranks)},
            )
            for rank in range(ranks)
        )
        return started[-ranks:]

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.fixture
def run_job(start_job: Callable[..., Any]) -> Callable[..., list[Any]]:
    """Run a module of this folder on a number of ranks; give the JSON that each printed last."""

    def run(ranks: int, program: str, *arguments: str, limit: float = 100) -> list[Any]:
        answers = []
        for process in start_job(ranks, program, *arguments):
            out, err = process.communicate(timeout=limit)
            assert process.returncode == 0, err
            answers.append(json.loads(out.strip().splitlines()[-1]))
        return answers

    return run
