# SPDX-License-Identifier: BSD-3-Clause
"""The key `softEngine` of a profile, and the engine that a report names."""

from __future__ import annotations

import io
import platform
import struct
import sys
from pathlib import Path

import pytest

from dpu import DpuError
from dpu.reports import Engine
from tests.dpu.support.translation import needs_compiler

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
def launch(make_set, translation_cache):
    """Run the program with an engine; what it computed, and the report of its DPU."""

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
@needs_compiler
def test_translated_programs_are_as_in_turns(launch, translation_cache):
    sums, turns = launch("turns")
    again, report = launch("translated")
    assert again == sums == SUMS
    assert report.engine is Engine.TRANSLATED
    assert (report.cycles, report.thread_instructions) == (turns.cycles, turns.thread_instructions)
    assert translation_cache.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def lanes():
    """Skip where DPUs cannot run in lockstep."""
    flags = Path("/proc/cpuinfo").read_text()
    if platform.machine() != "x86_64" or " avx2 " not in flags:
        pytest.skip("needs a processor with AVX2")


# A sum of random numbers from a seed of each DPU. Ways depend on the numbers, and one may fault.
MANY = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 4
    .text
    .globl main
main:
    move r0, 40000
    move r4, seed
    lw r1, r4, 0
    add r1, id, r1
.Lagain:
    lsl_add r1, r0, r1, 3
    lsr r3, r1, 7
    xor r1, r1, r3
    and r3, r1, 3
    jneq r3, 0, .Lelse
    add r2, r2, r1
.Lelse:
    add r2, r2, r3
    sub r0, r0, 1
    jneq r0, 0, .Lagain
    move r4, bad
    lw r4, r4, 0
    jeq r4, 0, .Lend
    lw r4, zero, -4
.Lend:
    lsl r5, id, 2
    sw r5, sums, r2
    stop
    .section .data.__sys_host
    .align 8
    .globl sums
    .type sums, @object
    .size sums, 16
sums: .space 16
    .globl seed
    .type seed, @object
    .size seed, 4
seed: .space 4
    .globl bad
    .type bad, @object
    .size bad, 4
bad: .space 4
"""


@pytest.fixture
def launch_many(make_set, translation_cache):
    """Run a program on DPUs with other data; what they computed, and their reports."""

    def launch(engine, count, bad=None):
        profile = f"softThreads=2,softEngine={engine}"
        dpus = make_set(nr_dpus=count, profile=profile, asm_source=io.StringIO(MANY))
        dpus.copy("seed", [struct.pack("<I", 77 * i) for i in range(count)])
        dpus.copy("bad", [struct.pack("<I", i == bad) for i in range(count)])
        if bad is None:
            dpus.exec()
        else:
            with pytest.raises(DpuError, match="WRAM access at"):
                dpus.exec()
        sums = [bytearray(16) for _ in range(count)]
        dpus.copy(sums, "sums")
        return sums, dpus.report

    return launch


@pytest.mark.nosanitize
@needs_compiler
@pytest.mark.usefixtures("lanes")
@pytest.mark.parametrize(
    ("count", "bad", "compiler"),
    [(40, None, None), (40, 23, None), (1, None, None), (20, None, "ziglang")],
)
def test_lockstep_is_as_drift(launch_many, monkeypatch, count, bad, compiler):
    if compiler is not None:
        pytest.importorskip(compiler)
        monkeypatch.setenv("DPU_SOFT_CC", f"{sys.executable} -P -m {compiler} cc")
    sums, drift = launch_many("drift", count, bad)
    again, lockstep = launch_many("lockstep", count, bad)
    assert again == sums
    assert len({bytes(each) for each in sums}) >= count - 1
    engines = [report.engine for report in lockstep]
    if count > 1:
        assert engines.count(Engine.LOCKSTEP) >= count - 2
    for one, other in zip(drift, lockstep, strict=True):
        assert one.engine is Engine.DRIFT
        assert one._replace(engine=Engine.NONE) == other._replace(engine=Engine.NONE)


def test_without_a_compiler_who_does_not_insist_has_no_error(launch, monkeypatch):
    monkeypatch.setenv("DPU_SOFT_CC", "")
    # The code of programs that ran before is kept: take another one.
    another = SOURCE.replace("    stop\n", "    stop\n    nop\n")
    sums, report = launch("auto", another)
    assert sums == SUMS
    assert report.engine is Engine.DRIFT
    for engine in "translated", "lockstep":
        with pytest.raises(DpuError) as caught:
            launch(engine, another)
        assert f"softEngine={engine} needs a " in caught.value.detail
        assert "softEngine=auto does without" in caught.value.detail
        # A processor without AVX2 is told first.
        assert "DPU_SOFT_CC" in caught.value.detail or "AVX2" in caught.value.detail


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
def test_checkpoints_of_a_fault(make_set, translation_cache):
    """They are the same with all engines, and can be restored where another one is used."""
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
