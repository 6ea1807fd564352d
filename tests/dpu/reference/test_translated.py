# SPDX-License-Identifier: BSD-3-Clause
"""Programs that switch between engines at random, translated code included, are as in turns.

``OFFCHIP_TEST_PROGRAMS`` says how many random programs run; a tenth of them are translated.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.dpu.reference import Table
from tests.dpu.reference.event_programs import EventProgram, Launch, draw_launch
from tests.dpu.reference.pairing import SEED
from tests.dpu.reference.test_engines import PROGRAMS, SWITCHES, MakeMachine, Two
from tests.dpu.support import native
from tests.dpu.support.native import NativeMachine
from tests.dpu.support.translation import needs_compiler

pytestmark = [
    # The machine is built here without sanitizers; tests/dpu/unit runs it with them.
    pytest.mark.nosanitize,
    pytest.mark.usefixtures("translation_cache"),
    needs_compiler,
]

SECONDS = 300
ENGINES = (native.ENGINE_DRIFT, native.ENGINE_TRANSLATED, native.ENGINE_TURNS)


def run_in_pieces(machine: NativeMachine, rng: random.Random) -> bool:
    """Launch it in slices, each in some engine; code becomes ready after one of them."""
    machine.boot()
    status, translated, slices = native.STEPPED, False, 0
    while status == native.STEPPED:
        slices += 1
        if slices == 2 or (not translated and rng.random() < 0.2):
            translated = machine.translate(SECONDS)
        machine.set_options(engine=rng.choice(ENGINES))
        status = machine.slice(rng.choice([4096, 8192, 12288]))
    return translated


def test_random_programs(table: Table, native_machine: MakeMachine, rng: random.Random) -> None:
    pairs = [Two(native_machine, accounting, native.ENGINE_AUTO) for accounting in (0, 1)]
    translated = 0
    for turn in range(max(4, PROGRAMS // 10)):
        seed = rng.getrandbits(32)
        about = f"seed {SEED}, program {turn} ({seed})"
        draw = random.Random(seed)
        two = pairs[turn % 2]
        two.reset(draw_launch(table, draw, SWITCHES), draw)
        for _ in range(3):
            two.turns.launch()
            translated += run_in_pieces(two.other, draw)
            two.check(about)
    assert translated > 0


class ChangedProgram(EventProgram):
    """Knows which of its instructions may be any other one that only computes."""

    def compute(self, end: int | None) -> None:
        super().compute(end)
        if end is None:
            self.plain_places = [*getattr(self, "plain_places", []), len(self.words) - 1]

    def change(self) -> tuple[int, int]:
        """Draw a place and what comes there."""
        place = self.rng.choice(self.plain_places)
        length = len(self.words)
        super().compute(None)
        word = self.words.pop()
        assert len(self.words) == length
        return place, word


def test_changes_of_iram(table: Table, native_machine: MakeMachine, rng: random.Random) -> None:
    """Words change between slices; what was translated then is not executed any more."""
    two = Two(native_machine, 0, native.ENGINE_TRANSLATED)
    compiled = two.other.translations().compiled
    changes = 0
    for turn in range(max(3, PROGRAMS // 20)):
        seed = rng.getrandbits(32)
        draw = random.Random(seed)
        program = ChangedProgram(table, draw, draw.choice([3, 8, 16]))
        two.reset(Launch(program.words, 4_000_000, 0), draw)
        for machine in two.both:
            machine.boot()
        status = native.STEPPED
        while status == native.STEPPED:
            # Without a change, what is there is used again.
            if changes < 12 * (turn + 1) and draw.random() < 0.7:
                place, word = program.change()
                changes += 1
                for machine in two.both:
                    machine.load([word], place)
                if draw.random() < 0.5:
                    assert two.other.translate(SECONDS)
            rounds = draw.choice([4096, 8192])
            two.turns.slice(rounds)
            status = two.other.slice(rounds)
            two.check(f"seed {SEED}, program {turn} ({seed})")
    assert changes > 0
    assert two.other.translations().compiled > compiled


def test_translated_code_is_used_again(
    table: Table, native_machine: MakeMachine, translation_cache: Path
) -> None:
    programs = [EventProgram(table, random.Random(i), 4, None).words for i in range(3)]
    others = [[table["or:rri"].encode(ra=24, imm=i), table["stop:ci"].encode()] for i in range(6)]
    two = Two(native_machine, 0, native.ENGINE_TRANSLATED)

    def translate(index: int) -> tuple[int, int]:
        """Run a program; how many were compiled and loaded for that."""
        before = two.other.translations()
        two.reset(Launch(programs[index], 4_000_000, 0), random.Random(index))
        assert two.other.translate(SECONDS)
        two.turns.launch()
        two.other.launch()
        two.check(f"program {index}")
        after = two.other.translations()
        # The last programs are kept, with their code: run others.
        for words in others:
            two.reset(Launch(words, 4_000_000, 0), random.Random())
            two.turns.launch()
            two.other.launch()
        return after.compiled - before.compiled, after.loaded - before.loaded

    assert translate(0) == (1, 0)
    (file,) = translation_cache.iterdir()
    assert translate(1) == (1, 0)
    assert translate(0) == (0, 1)

    # A damaged file is as good as none.
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert translate(2) == (1, 0)
    assert translate(0) == (1, 0)
