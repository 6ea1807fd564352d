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
from tests.dpu.reference.event_programs import Launch, draw_launch
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
# Bits of enum dpu_switch with which programs do not need turns (engine.c).
SWITCHES = 0b1_0111_1111
CLR_RUN_KEEPS_RUNNING, UNKNOWN = 1 << 7, 1 << 9
RESULT = [field[0] for field in native.RunResult._fields_ if field[0] != "thread_instructions"]


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> int:
    return ENGINES[request.param]


def draw_chip(rng: random.Random) -> dict[str, int]:
    """Draw a DRAM: the fitted constants, or banks, whose open rows may come first."""
    open_rows, engines = rng.randrange(2), rng.choice([1, 1, 1, 2, 3])
    return {
        "dram_banks": rng.choice([0, 0, 1, 1, 2, 16]),
        "dram_row_bytes": rng.choice([1024, 1024, 64, 8]),
        "dram_open_rows": open_rows,
        "dram_open_row_first": int(open_rows == 1 and engines == 1 and rng.random() < 0.3),
        "dma_engines": engines,
        "tlb_entries": rng.choice([0, 0, 1, 4]),
        "tlb_page": rng.choice([64, 4096]),
        "dram_refresh_interval": rng.choice([10920, 10920, 1500]),
    }


class Two:
    """A machine in turns and one in another engine, in the same state."""

    def __init__(self, make: MakeMachine, accounting: int, engine: int) -> None:
        self.turns, self.other = make(accounting), make(accounting)
        self.turns.set_options(engine=native.ENGINE_TURNS)
        self.other.set_options(engine=engine)

    @property
    def both(self) -> tuple[NativeMachine, NativeMachine]:
        return self.turns, self.other

    def reset(self, launch: Launch, rng: random.Random) -> None:
        content = rng.randbytes(MRAM)
        chip = draw_chip(rng)
        for machine in self.both:
            machine.clear_fault()
            machine.run_bits = []
            for bit in machine.atomic:
                machine.set_atomic(bit, False)
            for tasklet in range(24):
                machine.set_thread(tasklet, [0] * 24, 0, False, False, False)
            machine.set_counter(0, 3)
            machine.set_options(max_cycles=launch.max_cycles, switches=launch.switches, **chip)
            machine.load(launch.words + [0] * (4096 - len(launch.words)))
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
        two = pairs[turn % 2]
        two.reset(draw_launch(table, draw, SWITCHES), draw)
        for _ in range(2):
            two.turns.launch()
            if draw.random() < 0.5:
                launch(two.other)
            else:
                run_in_pieces(two.other, draw)
            two.check(about)


@pytest.mark.parametrize("switches", [CLR_RUN_KEEPS_RUNNING, UNKNOWN, SWITCHES | UNKNOWN])
def test_switches_that_were_not_compared_need_turns(
    table: Table, native_machine: MakeMachine, engine: int, switches: int
) -> None:
    machine = native_machine(0)
    machine.load([table["stop:ci"].encode()])
    for chosen, name in ((0, "drift"), (switches, "turns"), (SWITCHES, "drift")):
        machine.set_options(engine=engine, switches=chosen)
        machine.launch()
        assert machine.engine_name == name


# Only turns can execute these; they have such bits, and others can have them too.
FOR_TURNS = {"ldmai": (0xFF800000FFFF, 0x700000000001), "clr_run": (0xFF83E0000000, 0x7C8320000000)}


@pytest.mark.parametrize("name", FOR_TURNS)
def test_words_that_only_look_like_those_for_turns_do_not_need_them(
    table: Table, native_machine: MakeMachine, rng: random.Random, name: str
) -> None:
    mask, match = FOR_TURNS[name]
    machine = native_machine(0)
    machine.set_options(engine=native.ENGINE_DRIFT)
    others: set[str] = set()
    for _ in range(400):
        word = rng.getrandbits(48) & ~mask | match
        form = table.decode(word)
        if form is None or str(form) in others:
            continue
        # It is behind the end, so that it is not executed.
        machine.load([table["stop:ci"].encode(), word])
        machine.clear_fault()
        machine.launch()
        assert (machine.engine_name == "turns") == (form.mnemonic == name), f"{word:#x} {form}"
        if form.mnemonic != name:
            others.add(str(form))
    assert name != "ldmai" or len(others) > 3
