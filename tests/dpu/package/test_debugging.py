# SPDX-License-Identifier: BSD-3-Clause
"""The state of a DPU: snapshots, and the debugger."""

from __future__ import annotations

import io
import signal

import pytest

from dpu import DpuError
from dpu.debug import Debugger
from dpu.driver import DpuContext
from dpu.reports import LaunchStatus
from tests.dpu.package.programs import command

pytestmark = [
    pytest.mark.usefixtures("threads_of_the_library"),
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
]


def test_restored_checkpoint_is_what_was_saved(three):
    one = three.dpus()[0]
    one.words = bytes(range(256)) * 16
    saved = one.checkpoint()
    again = DpuContext.from_buffer(bytes(saved.serialize()))
    one.words = bytes(4096)
    one.restore(again)
    assert one.words.data() == bytes(range(256)) * 16
    assert [thread.regs() for thread in again.threads] == [t.regs() for t in saved.threads]
    assert len(saved.threads) == 24
    assert len(saved.atomic_bits()) == 256
    assert saved.wram_bytes()[8:264] == bytes(range(256))
    with pytest.raises(DpuError, match="invalid ELF file"):
        DpuContext.from_buffer(b"no snapshot")
    with pytest.raises(DpuError, match="invalid action for this dpu set"):
        three.checkpoint()
    with pytest.raises(TypeError):
        one.restore(None)


def test_snapshot_without_memories_restores_registers_only(three):
    one = three.dpus()[0]
    saved = one.checkpoint(iram=False, mram=False, wram=False)
    assert saved.iram() is saved.mram() is saved.wram() is None
    one.counter = command(8)
    one.restore(saved)
    assert one.counter.uint32() == 8


def test_debugger_stops_at_breakpoints_and_steps(three):
    debugger = Debugger(three.dpus()[0])
    pc = debugger.break_at("main")
    assert debugger.breakpoints == {pc}
    target = debugger.break_at(pc + 5)
    assert debugger.cont().status in (LaunchStatus.BREAKPOINT, LaunchStatus.STEPPED)
    while debugger.threads[0].pc != target:
        assert debugger.cont().status == LaunchStatus.BREAKPOINT
    counter = debugger.threads[0].registers[1]
    debugger.remove(target)
    assert "main:" in debugger.disassembly(target, before=target - pc)
    assert debugger.step(0).status == LaunchStatus.STEPPED
    assert debugger.threads[0].pc == target + 1
    debugger.threads[0].set({1: counter + 41})
    assert debugger.threads[0].registers[1] == counter + 41
    assert debugger.threads[0].running
    assert debugger.cont().status == LaunchStatus.DONE
    assert three.dpus()[0].counter.uint32() == counter + 41
    assert debugger.fault == ""


@pytest.mark.parametrize("thread", [None, 0])
def test_signal_ends_steps_of_a_program_that_spins(three, thread):
    def ring(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    one = three.dpus()[0]
    one.cmd = command(2)
    debugger = Debugger(one)
    previous = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            debugger.step(thread, 1 << 60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert debugger.step(thread, 2).status == LaunchStatus.STEPPED
    one.cmd = command(0)
    debugger.restart()
    # It ends long before it has made so many steps.
    assert debugger.step(thread, 1 << 60).status == LaunchStatus.DONE


def test_debugger_is_for_one_dpu_with_a_program(three, make_set):
    with pytest.raises(DpuError, match="invalid action"):
        Debugger(three)
    with pytest.raises(DpuError, match="no program"):
        Debugger(make_set(nr_dpus=1))
    debugger = Debugger(three.dpus()[0])
    with pytest.raises(DpuError, match="undefined symbol"):
        debugger.break_at("nothing")
    with pytest.raises(ValueError, match="not in the program's code"):
        debugger.break_at("counter")
    with pytest.raises(ValueError, match="instruction -1 does not exist"):
        debugger.break_at(-1)
    with pytest.raises(DpuError, match="invalid iram access"):
        debugger.break_at(4096)
    with pytest.raises(TypeError):
        debugger.break_at(1.5)
    with pytest.raises(ValueError, match="must not be negative"):
        debugger.step(0, -1)
    with pytest.raises(ValueError, match="must not be negative"):
        debugger.cont(-1)


def test_debugger_has_the_tasklets_and_instructions_of_the_chip(make_set):
    profile = "softTasklets=4,softIramInstructions=40"
    text = ".globl NR_TASKLETS\n.set NR_TASKLETS, 4\n.globl main\nmain: jump r23\n"
    debugger = Debugger(make_set(nr_dpus=1, profile=profile, asm_source=io.StringIO(text)))
    assert [thread.number for thread in debugger.threads] == [0, 1, 2, 3]
    assert debugger.disassembly(pc=39).splitlines()[-1].split() == ["39", "?"]
    assert "main:" in debugger.disassembly()
