# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a source holds: a program comes out, or AsmError.

``OFFCHIP_FUZZ_SEED`` and ``OFFCHIP_FUZZ_SECONDS`` ask for other texts, and more of them.
"""

from __future__ import annotations

import os
import random
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpu.asm import AsmError, Source, assemble
from dpu.elf.program import ProgramFile
from dpu.elf.reader import ElfError
from dpu.objdump import dump, source_of
from tests.dpu.fuzz.damaged_texts import damaged

# Under sanitizers it is too slow to find much: what it looks for is in Python.
pytestmark = pytest.mark.nosanitize

SECONDS = float(os.environ.get("OFFCHIP_FUZZ_SECONDS", "4"))
SEED = os.environ.get("OFFCHIP_FUZZ_SEED", "1")
# Seconds of the processor: no damaged source of a few lines may keep the assembler busy for longer.
SLOWEST = 10.0


def check(text: str) -> bool:
    start = time.process_time()
    try:
        image = assemble(Source("fuzz.s", text, preprocess=False))
    except AsmError as error:
        problems = error.problems
        done = False
    else:
        program = ProgramFile(image)
        dump(program)
        again = assemble(Source("again.s", source_of(program), preprocess=False))
        assert ProgramFile(again).words() == program.words()
        done = True
    assert done or problems
    assert time.process_time() - start < SLOWEST
    return done


@pytest.mark.timeout(SECONDS + 60)
def test_damaged_sources_give_a_program_or_an_error() -> None:
    rng = random.Random(SEED)
    end = time.monotonic() + SECONDS
    outcomes = {False: 0, True: 0}
    while time.monotonic() < end:
        text = damaged(rng)
        try:
            outcomes[check(text)] += 1
        except Exception:
            print(repr(text))
            raise
    assert outcomes[False] > 50
    assert outcomes[True] > 5


# Digits that int() does not take.
@example(text="²:")
@example(text="add r0, r1, r2, ?²")
@pytest.mark.timeout(120)
@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_any_text_gives_a_program_or_an_error(text: str) -> None:
    check(text)


@pytest.mark.timeout(SECONDS + 60)
def test_damaged_programs_are_read_or_refused() -> None:
    rng = random.Random(SEED)
    image = assemble(Source("a.s", "main: jump r23\n.data\n.long 1\n", preprocess=False))
    end = time.monotonic() + SECONDS / 2
    count = 0
    while time.monotonic() < end:
        count += 1
        data = bytearray(image)
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.choice(
                [0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)]
            )
        data = data[: rng.choice([len(data), rng.randrange(len(data))])]
        try:
            program = ProgramFile(bytes(data))
        except ElfError:
            continue
        dump(program)
        source_of(program)
    assert count > 100
