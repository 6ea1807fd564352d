# SPDX-License-Identifier: BSD-3-Clause
"""The key `softEngine` of a profile, and the engine that a report names."""

from __future__ import annotations

import io
import shutil

import pytest

from dpu import DpuError
from dpu.reports import Engine

pytestmark = [
    pytest.mark.usefixtures("threads_of_the_library"),
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
]

# Three tasklets add up numbers, each in a word of its own.
SOURCE = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 3
    .text
    .globl main
main:
    move r0, 5000
    move r1, id
.Lagain:
    add r1, r1, r0
    sub r0, r0, 1
    jneq r0, 0, .Lagain
    lsl r2, id, 2
    sw r2, sums, r1
    stop
    .section .data.__sys_host
    .align 8
    .globl sums
    .type sums, @object
    .size sums, 16
sums: .space 16
"""
SUMS = [sum(range(5001)) + tasklet for tasklet in range(3)]


@pytest.fixture
def launch(make_set, tmp_path, monkeypatch):
    """Run the program with an engine; what it computed, and the report of its DPU."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def launch(engine=None, source=SOURCE):
        profile = "softThreads=1" if engine is None else f"softThreads=1,softEngine={engine}"
        one = make_set(nr_dpus=1, profile=profile, asm_source=io.StringIO(source))
        one.exec()
        return list(one.sums.uint32())[:3], one.report[0]

    return launch


@pytest.mark.parametrize(
    ("engine", "used"),
    [
        (None, Engine.DRIFT),
        ("auto", Engine.DRIFT),
        ("drift", Engine.DRIFT),
        ("turns", Engine.TURNS),
    ],
)
def test_report_names_the_engine(launch, engine, used):
    sums, report = launch(engine)
    assert sums == SUMS
    assert report.engine is used


@pytest.mark.nosanitize  # code that a compiler made for a plain build
@pytest.mark.skipif(not any(map(shutil.which, ("gcc", "clang", "cc"))), reason="needs a C compiler")
def test_translated_programs_are_as_in_turns(launch, tmp_path):
    sums, turns = launch("turns")
    again, report = launch("translated")
    assert again == sums == SUMS
    assert report.engine is Engine.TRANSLATED
    assert (report.cycles, report.thread_instructions) == (turns.cycles, turns.thread_instructions)
    assert [path.stat().st_mode & 0o777 for path in tmp_path.rglob("translations")] == [0o700]


def test_without_a_compiler_who_does_not_insist_has_no_error(launch, monkeypatch):
    monkeypatch.setenv("DPU_SOFT_CC", "")
    # The code of programs that ran before is kept: take another one.
    another = SOURCE.replace("    stop\n", "    stop\n    nop\n")
    sums, report = launch("auto", another)
    assert sums == SUMS
    assert report.engine is Engine.DRIFT
    with pytest.raises(DpuError) as caught:
        launch("translated", another)
    assert "softEngine=translated needs a C compiler" in caught.value.detail
    assert "DPU_SOFT_CC" in caught.value.detail


# The last of 16 tasklets faults after some windows, when others could be ahead; transfers of all
# come before it.
FAULT = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 16
    .text
    .globl main
main:
    move r0, 9000
    lsl r2, id, 3
    move r3, sums
    add r3, r3, r2
    move r4, far
    add r4, r4, r2
.Lagain:
    add r1, r1, r0
    sw r3, 4, r1
    sdma r3, r4, 0
    sub r0, r0, 1
    jneq r0, 0, .Lagain
    jneq id, 15, .Lend
    fault 7
.Lend:
    move r0, 40000
.Lmore:
    add r1, r1, 3
    sub r0, r0, 1
    jneq r0, 0, .Lmore
    stop
    .section .data.__sys_host
    .align 8
    .globl sums
    .type sums, @object
    .size sums, 128
sums: .space 128
    .section .mram
    .p2align 3
    .globl far
    .type far, @object
    .size far, 128
far: .space 128
"""


def state_of(one):
    """Take all that a checkpoint has, as values that can be compared."""
    saved = one.checkpoint()
    threads = [(t.regs(), t.pc(), t.zf(), t.cf()) for t in saved.threads]
    return threads, saved.atomic_bits(), saved.wram_bytes(), one.far.data()


@pytest.mark.nosanitize  # code that a compiler made for a plain build
def test_checkpoints_of_a_fault(make_set, tmp_path, monkeypatch):
    """They are the same with all engines, and can be restored where another one is used."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    sets, states = [], []
    for engine in ("turns", "drift", "translated"):
        profile = f"softThreads=1,softEngine={engine}"
        one = make_set(nr_dpus=1, profile=profile, asm_source=io.StringIO(FAULT)).dpus()[0]
        with pytest.raises(DpuError, match="fault"):
            one.exec()
        sets.append(one)
        states.append(state_of(one))
    assert states[0] == states[1] == states[2]

    saved = [one.checkpoint() for one in sets]
    for number, one in enumerate(sets):
        one.sums = bytes(128)
        one.far = bytes(128)
        one.restore(saved[number - 1])
        assert state_of(one) == states[0]


def test_unknown_engines_are_rejected(launch):
    with pytest.raises(DpuError, match="softEngine"):
        launch("fast")
