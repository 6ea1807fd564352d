# SPDX-License-Identifier: BSD-3-Clause
"""Tasklets give the same in long batches, where each may run ahead, as round by round."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable

import pytest

from tests.dpu.support.native import DONE, ENGINE_AUTO, ENGINE_TURNS, STEPPED, NativeMachine
from tests.dpu.support.running import Running

RunKernel = Callable[..., Running]

PARTS = ["count", "a", "b", "values", "bins", "entries", "matrix", "text", "word"]


def state(machine: NativeMachine) -> tuple[object, ...]:
    """Return all that a program leaves."""
    result = machine.result
    threads = []
    for tasklet in range(24):
        thread = machine.thread(tasklet)
        threads.append((list(thread.registers), thread.pc, thread.zero, thread.carry))
    return (
        bytes(machine.wram),
        bytes(machine.mram[: 1 << 16]),
        threads,
        (result.cycles, result.rounds, result.instructions),
        (result.dma_read_bytes, result.dma_write_bytes),
        list(result.thread_instructions),
    )


def prepare(dpu: Running, rng: random.Random) -> None:
    """Fill the variables that there are with random bytes; sizes stay within what is there."""
    for name in PARTS:
        if dpu.file.has_symbol(name):
            size = dpu.file.symbol(name).size
            dpu.put(name, "B", *rng.randbytes(size))
    if dpu.file.has_symbol("count"):
        dpu.put("count", "I", 1000)


def finish_by_steps(machine: NativeMachine, rounds: int) -> int:
    """Boot and run a few rounds at a time."""
    library, result = machine.library, ctypes.byref(machine.result)
    library.dpu_machine_boot(machine.handle)
    status = STEPPED
    while status == STEPPED:
        status = library.dpu_machine_step(machine.handle, ctypes.c_uint64(rounds), result)
    return int(status)


@pytest.mark.parametrize("tasklets", [2, 16])
@pytest.mark.parametrize(
    "name",
    ["racing", "vector_add", "reduction", "histogram", "scan_select", "sort", "transpose"],
)
def test_batches_give_the_same_as_single_rounds(
    run_kernel: RunKernel, name: str, tasklets: int
) -> None:
    states = []
    for rounds in (None, 7):
        with run_kernel(name, tasklets=tasklets, level="-O2") as dpu:
            prepare(dpu, random.Random(f"{name} {tasklets}"))
            machine = dpu.machine
            # The outcome of a race is the same in turns only.
            machine.set_options(engine=ENGINE_TURNS if name == "racing" else ENGINE_AUTO)
            status = dpu.launch() if rounds is None else finish_by_steps(machine, rounds)
            assert status == DONE
            states.append(state(machine))
    assert states[0] == states[1]
