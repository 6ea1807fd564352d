# SPDX-License-Identifier: BSD-3-Clause
"""Machines that run a program in lockstep are as in turns, whether they go the same way or not.

``OFFCHIP_TEST_PROGRAMS`` says how many random programs run; a tenth of them are translated.
"""

from __future__ import annotations

import random

import pytest

from tests.dpu.reference import Table
from tests.dpu.reference.event_programs import Launch, draw_launch
from tests.dpu.reference.pairing import SEED
from tests.dpu.reference.test_engines import MRAM, PROGRAMS, SWITCHES, MakeMachine, Two
from tests.dpu.support import native
from tests.dpu.support.translation import needs_compiler

pytestmark = [
    # The machine is built here without sanitizers; tests/dpu/unit runs it with them.
    pytest.mark.nosanitize,
    pytest.mark.usefixtures("translation_cache"),
    needs_compiler,
]

SECONDS = 300
LONGEST = 300
ENGINES = (native.ENGINE_AUTO, native.ENGINE_DRIFT, native.ENGINE_TURNS)


class Group:
    """Pairs of a machine in turns and one in lockstep with the others."""

    def __init__(self, make: MakeMachine, count: int, accounting: int) -> None:
        self.pairs = [Two(make, accounting, native.ENGINE_AUTO) for _ in range(count)]
        self.together = 0

    def reset(self, launch: Launch, draw: random.Random) -> None:
        """Put all in one state, but for some words of memory that some of them have."""
        state = draw.getstate()
        for two in self.pairs:
            draw.setstate(state)
            two.reset(launch, draw)
        differ = draw.choice([0, 0, 0.1, 0.5, 1])
        for two in self.pairs:
            if draw.random() >= differ:
                continue
            for _ in range(draw.choice([1, 20, 2000])):
                place, value = draw.randrange(0, 65536, 4), draw.randbytes(4)
                far = draw.randrange(0, MRAM, 4)
                for machine in two.both:
                    machine.wram[place : place + 4] = value
                    machine.mram[far : far + 4] = value

    def launch(self, draw: random.Random) -> None:
        for two in self.pairs:
            two.turns.launch()
            two.other.boot()
        running = list(self.pairs)
        statuses = []
        while running:
            rounds = draw.choice([4096, 8192, 12288])
            others = [two.other for two in running]
            if draw.random() < 0.1:
                draw.choice(others).interrupt()
            if len(others) > 1 and draw.random() < 0.8:
                for other in others:
                    other.set_options(engine=native.ENGINE_AUTO)
                if native.slice_together(others, rounds, SECONDS):
                    self.together += 1
                    statuses = [other.result.status for other in others]
                    running = self.still(running, statuses)
                    continue
            engine = draw.choice(ENGINES)
            for other in others:
                other.set_options(engine=engine)
            statuses = [other.slice(rounds) for other in others]
            running = self.still(running, statuses)

    @staticmethod
    def still(running: list[Two], statuses: list[int]) -> list[Two]:
        on = (native.STEPPED, native.INTERRUPTED)
        return [two for two, status in zip(running, statuses, strict=True) if status in on]


def draw_short_launch(table: Table, draw: random.Random) -> Launch:
    """Draw a program that a compiler has soon: its vectors take longer than words."""
    while True:
        launch = draw_launch(table, draw, SWITCHES)
        if len(launch.words) <= LONGEST:
            return launch


@pytest.mark.timeout(10 * SECONDS)
def test_random_programs(table: Table, native_machine: MakeMachine, rng: random.Random) -> None:
    groups = [Group(native_machine, 8, accounting) for accounting in (0, 1)]
    for turn in range(max(3, PROGRAMS // 10)):
        seed = rng.getrandbits(32)
        draw = random.Random(seed)
        group = groups[turn % 2]
        group.reset(draw_short_launch(table, draw), draw)
        for launch in range(3):
            group.launch(draw)
            for i, two in enumerate(group.pairs):
                two.check(f"seed {SEED}, program {turn} ({seed}), launch {launch}, machine {i}")
    assert groups[0].together + groups[1].together > 0
