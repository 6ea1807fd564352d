# SPDX-License-Identifier: BSD-3-Clause
"""Whole programs give in the machine what they give in the reference."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.dpu.reference import Table
from tests.dpu.reference.pairing import SCALE, SEED, Pair
from tests.dpu.reference.random_programs import MRAM_OWN, Program
from tests.dpu.support import native
from tests.dpu.support.native import NativeMachine

# The machine is built here without sanitizers; tests/dpu/unit runs it with them.
pytestmark = pytest.mark.nosanitize

MakeMachine = Callable[[int], NativeMachine]
ACCOUNTING = {"pipeline": native.ACCOUNTING_PIPELINE, "vendor": native.ACCOUNTING_VENDOR}
TRANSFERS = ("ldma", "sdma")


@pytest.fixture(params=sorted(ACCOUNTING))
def accounting(request: pytest.FixtureRequest) -> int:
    return ACCOUNTING[request.param]


def check(pair: Pair, about: str, mram: int = 24 * MRAM_OWN) -> None:
    pair.check_fault(about)
    pair.check_tasklets(range(24), about)
    pair.check_memories(about, [(0, mram)])
    assert pair.real.run_bits == pair.model.run_bits, about
    assert pair.real.atomic == pair.model.atomic, about


@pytest.mark.parametrize("tasklets", [1, 2, 10, 11, 12, 24])
def test_random_programs(
    table: Table, native_machine: MakeMachine, rng: random.Random, accounting: int, tasklets: int
) -> None:
    pair = Pair(table, native_machine(accounting), rng)
    for turn in range(2 * SCALE):
        about = f"seed {SEED}, program {turn} of {tasklets} tasklets"
        pair.fill(Program(table, rng, tasklets).words)
        for _ in range(2):  # the second launch goes on with what the first one left
            executed = pair.model.executed
            pair.model.launch()
            assert pair.real.launch() == native.DONE, about
            check(pair, about)
            if accounting == native.ACCOUNTING_VENDOR:  # so that locks are waited for as long
                assert pair.real.result.instructions == pair.model.executed - executed, about


def test_cycles_of_programs_without_transfers(
    table: Table, native_machine: MakeMachine, rng: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = Pair(table, native_machine(native.ACCOUNTING_PIPELINE), rng)
    monkeypatch.setattr(Program, "transfer", Program.straight)
    for tasklets in (1, 3, 11, 13, 24):
        about = f"seed {SEED}, {tasklets} tasklets"
        cycles, executed = pair.model.cycles, pair.model.executed
        pair.fill(Program(table, rng, tasklets).words)
        pair.model.launch()
        assert pair.real.launch() == native.DONE, about
        check(pair, about)
        assert pair.real.result.cycles == pair.model.cycles - cycles, about
        assert pair.real.result.instructions == pair.model.executed - executed, about


@pytest.mark.parametrize("tasklets", [1, 2, 24])
def test_programs_that_end_in_a_fault(
    table: Table, native_machine: MakeMachine, rng: random.Random, tasklets: int
) -> None:
    pair = Pair(table, native_machine(native.ACCOUNTING_VENDOR), rng)
    faults = [
        table["fault:i"].encode(imm=rng.getrandbits(23)),
        table["sw:erir"].encode(ra=24, off=-4, rb=3),
        table["lw:erri"].encode(rc=3, ra=25, off=0),
        table["ldma:rri"].encode(ra=26, rb=0, immDma=0),
    ]
    for turn, fault in enumerate(faults):
        about = f"seed {SEED}, fault {turn} of {tasklets} tasklets"
        pair.fill(Program(table, rng, tasklets, fault).words)
        pair.model.launch()
        assert pair.model.fault is not None
        assert pair.real.launch() == native.FAULT, about
        check(pair, about)
        assert pair.real.launch() == native.FAULT, about  # it does not go on by itself
        check(pair, about)
        pair.clear_fault()


def test_stopped_tasklets_are_resumed_where_they_stopped(
    table: Table, native_machine: MakeMachine, rng: random.Random, accounting: int
) -> None:
    """Tasklet 0 starts the others, and resumes each as soon as it has stopped."""
    pair = Pair(table, native_machine(accounting), rng)
    words: list[int] = []

    def emit(form: str, **operands: int) -> None:
        words.append(table[form].encode(**operands))

    others = range(1, 24)
    emit("sub:zrici", ra=28, imm=0, cc=3, pc=100)
    for id in others:
        emit("boot:rici", ra=24, imm=id)
    for id in reversed(others):
        emit("resume:rici", ra=24, imm=id, cc=3, pc=len(words))
    emit("stop:ci")
    words += [pair.stop] * (100 - len(words))
    emit("or:rri", rc=0, ra=28, imm=0x100)
    emit("sub:rrici", rc=0, ra=0, imm=1, cc=3, pc=101)
    emit("stop:ci", cc=1, pc=110)
    words += [pair.stop] * (110 - len(words))
    emit("sw_id:erii", ra=30, off=0, imm=0x40)
    emit("stop:ci")
    pair.fill(words)
    pair.model.launch()
    assert pair.real.launch() == native.DONE
    check(pair, "stop and resume")
    for id in others:
        assert pair.real.thread(id).pc == 112
        assert pair.real.wram[4 * id : 4 * id + 4] == bytes([0x40 | id, 0, 0, 0])
