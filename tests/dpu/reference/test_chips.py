# SPDX-License-Identifier: BSD-3-Clause
"""Chips with random keys give the same results, cycles and counts, however a machine is run.

``OFFCHIP_TEST_CHIPS`` says how many random programs run; a tenth of them are translated.
"""

from __future__ import annotations

import ctypes
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dpu.reference import Table
from tests.dpu.reference.chip_programs import MRAM, Chip, draw_chip, draw_program
from tests.dpu.reference.pairing import SEED
from tests.dpu.reference.test_engines import SWITCHES
from tests.dpu.support.translation import HAS_COMPILER
from tests.dpu.support.ways import Ways
from tests.support.full import rest_if_full

# The machine is built here without sanitizers; tests/dpu/unit runs it with them.
pytestmark = pytest.mark.nosanitize

AT_ONCE = 12
PROGRAMS = int(os.environ.get("OFFCHIP_TEST_CHIPS", "480"))
# So many tasklets do chips have; programs have up to that.
TASKLETS = (24, 40, 64)


@pytest.fixture
def machines(machine_library: ctypes.CDLL, translation_cache: Path) -> Iterator[dict[int, Ways]]:
    made = {tasklets: Ways(machine_library, tasklets, MRAM) for tasklets in TASKLETS}
    yield made
    for ways in made.values():
        ways.close()


def draw_possible_chip(rng: random.Random, ways: Ways) -> Chip:
    """Draw a chip whose keys do not contradict each other, and give it to the machines."""
    while True:
        chip = draw_chip(rng, ways.tasklets)
        if ways.set_options(**chip.options):
            return chip


@pytest.mark.parametrize("first", rest_if_full(range(0, PROGRAMS, AT_ONCE), 1))
def test_random_chips(machines: dict[int, Ways], table: Table, first: int) -> None:
    for number in range(first, min(first + AT_ONCE, PROGRAMS)):
        rng = random.Random(f"{SEED} chip {number}")
        ways = machines[TASKLETS[number % len(TASKLETS)]]
        chip = draw_possible_chip(rng, ways)
        ways.set_options(
            accounting=int(rng.random() < 0.1),
            max_cycles=rng.randrange(1, 60000) if rng.random() < 0.2 else 400_000,
            switches=rng.getrandbits(32) & SWITCHES if rng.random() < 0.3 else 0,
        )
        content = rng.randbytes(MRAM)
        ways.load(draw_program(table, rng, chip), content[:65536], content)
        for _ in range(2):
            ways.launch(rng, translates=HAS_COMPILER and number % 10 == 0)
            ways.check(f"seed {SEED}, program {number}")
