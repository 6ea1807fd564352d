# SPDX-License-Identifier: BSD-3-Clause
"""Several ranks in one process, as threads, and the same as processes."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import accl as package
from accl import accl
from tests.support.rank_threads import in_threads


@pytest.fixture
def job() -> str:
    """Name of a job that nobody else has."""
    return f"test-{uuid.uuid4().hex}"


@pytest.fixture
def make(job: str) -> Iterator[Callable[..., list[accl]]]:
    """Make the ranks of a job; all are ended after the test."""
    made: list[accl] = []

    def make_(ranks: int = 1, **options: Any) -> list[accl]:
        options.setdefault("job", f"{job}-{len(made)}")
        new = [accl(ranks, rank, **options) for rank in range(ranks)]
        for device in new:
            device.set_timeout(20_000)
        made.extend(new)
        return new

    yield make_
    for device in made:
        device.deinit()


@pytest.fixture
def one(make: Callable[..., list[accl]]) -> accl:
    """Give the only rank of a job."""
    return make(1)[0]


def everywhere(devices: list[accl], body: Callable[[accl, int], Any], limit: float = 30) -> list:
    """Run a function for each rank in a thread of its own; give what they return."""
    return in_threads(len(devices), lambda rank: body(devices[rank], rank), limit)


@pytest.fixture(name="everywhere")
def _everywhere() -> Callable[..., list]:
    return everywhere


PROGRAM = """
import json, sys
import numpy as np
from accl import *
from accl import accl
rank, ranks, job = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
"""


@pytest.fixture
def processes(job: str) -> Iterator[Callable[..., list[subprocess.Popen[str]]]]:
    """Start a program on a number of ranks that find each other by the job's name."""
    started: list[subprocess.Popen[str]] = []

    def start(ranks: int, body: str) -> list[subprocess.Popen[str]]:
        new = [
            subprocess.Popen(
                # -P: what is installed, not what lies in the current folder.
                [sys.executable, "-P", "-c", PROGRAM + body, str(rank), str(ranks), job],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(ranks)
        ]
        started.extend(new)
        return new

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def run_ranks(processes: Callable[..., Any]) -> Callable[..., list[Any]]:
    """Run a program on a number of ranks; give the JSON that each printed last."""

    def run(ranks: int, body: str, limit: float = 60) -> list[Any]:
        answers = []
        for process in processes(ranks, body):
            out, err = process.communicate(timeout=limit)
            assert process.returncode == 0, err
            answers.append(json.loads(out.strip().splitlines()[-1]))
        return answers

    return run


@pytest.fixture
def soft() -> None:
    """Skip what only the soft engine does."""
    if package.library_info()["kind"] != "soft":
        pytest.skip("this is for the soft engine")
