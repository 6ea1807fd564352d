# SPDX-License-Identifier: BSD-3-Clause
"""Processes that launch programs with some library and engine: used by `engines.py`."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from types import TracebackType

from benchmarks.harness import HERE

RUNS = HERE / "dpu" / "engine_runs.py"


@dataclass(frozen=True)
class Launch:
    """Costs of a launch (engine_runs.py)."""

    instructions: int
    seconds: float  # of processor time
    wall: float
    compiler: float  # seconds of processor time that compilers have taken so far
    modules: int  # translated programs in memory
    mapped: int  # their bytes
    executable: int


class Runner:
    """A process that launches programs; to be used in `with`."""

    def __init__(
        self, python: str, profile: str, environment: dict[str, str] | None = None, dpus: int = 1
    ) -> None:
        self.profile = profile
        self.dpus = dpus
        # Not in the folder of this tree, whose package would be found first.
        self.process = subprocess.Popen(
            [python, str(RUNS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env=environment,
        )

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.communicate()

    def begin(self, program: str, rounds: int) -> None:
        """Launch a program; end() is to follow."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{program}\t{self.profile}\t{rounds}\t{self.dpus}\n")
        self.process.stdin.flush()

    def end(self) -> Launch:
        """Wait for the launch that was begun."""
        assert self.process.stdout is not None
        return Launch(**json.loads(self.process.stdout.readline()))

    def launch(self, program: str, rounds: int) -> Launch:
        """Launch a program and wait for it."""
        self.begin(program, rounds)
        return self.end()
