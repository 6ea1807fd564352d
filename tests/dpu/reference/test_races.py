# SPDX-License-Identifier: BSD-3-Clause
"""Programs with races have one result, faults included, whatever runs them and when it is stopped.

``OFFCHIP_TEST_PROGRAMS`` says how many random programs run; some of them are translated.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.dpu.reference import Table
from tests.dpu.reference.event_programs import EventProgram, Launch, draw_fault
from tests.dpu.reference.pairing import SEED
from tests.dpu.reference.random_programs import PLAIN, SCRATCH, SUMS, ZERO
from tests.dpu.reference.test_engines import PROGRAMS, MakeMachine, Two
from tests.dpu.support import native
from tests.dpu.support.translation import HAS_COMPILER

# The machine is built here without sanitizers; tests/dpu/unit runs it with them.
pytestmark = [pytest.mark.nosanitize, pytest.mark.usefixtures("translation_cache")]

SHARED = SUMS + 256
ENGINES = (native.ENGINE_DRIFT, native.ENGINE_TRANSLATED)


class RacyProgram(EventProgram):
    """Tasklets use words of all others without a lock, and some of them fault by what they read."""

    def parts(self) -> list[Callable[[], None]]:
        return [*super().parts(), *[self.add_without_lock] * 4, self.fault_by_chance]

    def add_without_lock(self) -> None:
        at = SHARED + 4 * self.rng.randrange(4)
        register = self.rng.randrange(PLAIN)
        self.emit("lw:erri", rc=register, ra=ZERO, off=at)
        self.emit("add:rri", rc=register, ra=register, imm=self.rng.randrange(1, 100))
        self.emit("sw:erir", ra=ZERO, off=at, rb=register)

    def fault_by_chance(self) -> None:
        """Fault if some bits of a word that others write are 0."""
        here = len(self.words)
        self.emit("lw:erri", rc=SCRATCH, ra=ZERO, off=SHARED + 4 * self.rng.randrange(4))
        mask = self.rng.choice([0x1F, 0xFF])
        self.emit("and:rrici", rc=SCRATCH, ra=SCRATCH, imm=mask, cc=3, pc=here + 3)
        self.words.append(draw_fault(self.table, self.rng))


def run_in_pieces(two: Two, rng: random.Random, translates: bool) -> None:
    """Launch the second machine in slices, with interrupts, each in drift or translated."""
    machine = two.other
    machine.boot()
    status = native.STEPPED
    while status in (native.STEPPED, native.INTERRUPTED):
        if translates and rng.random() < 0.3:
            machine.translate(300)
        if rng.random() < 0.5:
            machine.interrupt()
        machine.set_options(engine=rng.choice(ENGINES))
        status = machine.slice(rng.choice([4096, 8192, 12288]))


def test_results_of_races_do_not_depend_on_engines(
    table: Table, native_machine: MakeMachine, rng: random.Random
) -> None:
    pair = Two(native_machine, 0, native.ENGINE_DRIFT)
    pair.turns.set_options(engine=native.ENGINE_DRIFT)
    faults = 0
    for turn in range(PROGRAMS):
        seed = rng.getrandbits(32)
        draw = random.Random(seed)
        program = RacyProgram(table, draw, draw.choice([2, 3, 8, 16, 24]))
        pair.reset(Launch(program.words, 4_000_000, 0), draw)
        pair.turns.launch()
        run_in_pieces(pair, draw, HAS_COMPILER and turn % 10 == 0)
        pair.check(f"seed {SEED}, program {turn} ({seed})")
        faults += pair.turns.result.fault != 0
    assert faults >= PROGRAMS // 10


def test_the_programs_have_races(
    table: Table, native_machine: MakeMachine, rng: random.Random
) -> None:
    pair = Two(native_machine, 0, native.ENGINE_DRIFT)
    differ = 0
    for _ in range(20):
        pair.reset(Launch(RacyProgram(table, rng, 8).words, 4_000_000, 0), rng)
        pair.turns.launch()
        pair.other.launch()
        differ += pair.turns.wram != pair.other.wram
    assert differ > 0
