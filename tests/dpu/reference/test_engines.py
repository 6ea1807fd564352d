# SPDX-License-Identifier: BSD-3-Clause
"""Every engine gives programs without races the same results, cycles and counts as turns.

``OFFCHIP_TEST_PROGRAMS`` says how many random programs run in each engine.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from tests.dpu.reference import Table
from tests.dpu.reference.event_programs import EventProgram
from tests.dpu.reference.pairing import SEED
from tests.dpu.reference.random_programs import MRAM_OWN
from tests.dpu.support import native
from tests.dpu.support.native import NativeMachine

# The machine is built here without sanitizers; tests/dpu/unit runs it with them.
pytestmark = pytest.mark.nosanitize

MakeMachine = Callable[[int], NativeMachine]
PROGRAMS = int(os.environ.get("OFFCHIP_TEST_PROGRAMS", "50"))
ENGINES = {"drift": native.ENGINE_DRIFT}
MRAM = 24 * MRAM_OWN
RESULT = [field[0] for field in native.RunResult._fields_ if field[0] != "thread_instructions"]


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> int:
    return ENGINES[request.param]


class Two:
    """A machine in turns and one in another engine, in the same state."""

    def __init__(self, make: MakeMachine, accounting: int, engine: int) -> None:
        self.turns, self.other = make(accounting), make(accounting)
        self.turns.set_options(engine=native.ENGINE_TURNS)
        self.other.set_options(engine=engine)

    @property
    def both(self) -> tuple[NativeMachine, NativeMachine]:
        return self.turns, self.other

    def reset(self, words: list[int], rng: random.Random, max_cycles: int) -> None:
        content = rng.randbytes(MRAM)
        for machine in self.both:
            machine.clear_fault()
            machine.run_bits = []
            for bit in machine.atomic:
                machine.set_atomic(bit, False)
            for tasklet in range(24):
                machine.set_thread(tasklet, [0] * 24, 0, False, False, False)
            machine.set_counter(0, 3)
            machine.set_options(max_cycles=max_cycles)
            machine.load(words + [0] * (4096 - len(words)))
            machine.wram[:] = content[:65536]
            machine.mram[:MRAM] = content

    def check(self, about: str) -> None:
        """Compare all that can be seen of the two."""
        ours, theirs = (
            {name: getattr(machine.result, name) for name in RESULT} for machine in self.both
        )
        assert ours == theirs, about
        counts = [list(machine.result.thread_instructions) for machine in self.both]
        assert counts[0] == counts[1], about
        for tasklet in range(24):
            states = [bytes(machine.thread(tasklet)) for machine in self.both]
            assert states[0] == states[1], f"{about}: tasklet {tasklet}"
        assert self.turns.wram == self.other.wram, f"{about}: WRAM"
        assert self.turns.mram[:MRAM] == self.other.mram[:MRAM], f"{about}: MRAM"
        assert self.turns.run_bits == self.other.run_bits, about
        assert self.turns.atomic == self.other.atomic, about
        assert self.turns.counter == self.other.counter, about


def fault_of(table: Table, rng: random.Random) -> int:
    return rng.choice(
        [
            table["fault:i"].encode(imm=rng.getrandbits(23)),
            table["sw:erir"].encode(ra=24, off=-4, rb=3),
            table["ld:erri"].encode(dc=2, ra=25, off=0),
            table["ldma:rri"].encode(ra=26, rb=0, immDma=0),
        ]
    )


def launch(machine: NativeMachine) -> None:
    """Launch it; an interrupt may have come after the end of the launch before."""
    status = machine.launch()
    while status == native.INTERRUPTED:
        status = machine.run()


def run_in_pieces(machine: NativeMachine, rng: random.Random) -> None:
    """Launch it in slices, with interrupts."""
    machine.boot()
    status = native.STEPPED
    while status == native.STEPPED:
        if rng.random() < 0.3:
            machine.interrupt()
        status = machine.slice(rng.choice([4096, 8192, 12288]))
        while status == native.INTERRUPTED:
            status = machine.slice(4096)


def test_random_programs(
    table: Table, native_machine: MakeMachine, rng: random.Random, engine: int
) -> None:
    pairs = [Two(native_machine, accounting, engine) for accounting in (0, 1)]
    for turn in range(PROGRAMS):
        seed = rng.getrandbits(32)
        about = f"seed {SEED}, program {turn} ({seed})"
        draw = random.Random(seed)
        tasklets = draw.choice([1, 2, 3, 8, 11, 12, 16, 24])
        fault = fault_of(table, draw) if draw.random() < 0.3 else None
        max_cycles = draw.randrange(1, 60000) if draw.random() < 0.2 else 4_000_000
        two = pairs[turn % 2]
        two.reset(EventProgram(table, draw, tasklets, fault).words, draw, max_cycles)
        for _ in range(2):
            two.turns.launch()
            if draw.random() < 0.5:
                launch(two.other)
            else:
                run_in_pieces(two.other, draw)
            two.check(about)
