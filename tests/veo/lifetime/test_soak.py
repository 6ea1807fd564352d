# SPDX-License-Identifier: BSD-3-Clause
"""Many processes, calls and crashes in a row leave nothing behind."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import veo
from tests.support.full import share

pytestmark = [pytest.mark.timeout(600), pytest.mark.slow, pytest.mark.nosanitize]

PROCESSES = share(500, 10_000)
CALLS = share(100_000, 1_000_000)
TRANSFERS = share(50_000, 200_000)
CRASHES = share(200, 1_000)

KERNELS = """
int add(int a, int b) { return a + b; }
int crash(int *p) { return *p; }
"""


class State(NamedTuple):
    """Counts of what could grow."""

    children: int
    descriptors: int
    threads: int
    mappings: int

    @classmethod
    def now(cls) -> State:
        gc.collect()
        tasks = os.listdir("/proc/self/task")
        children = sum(
            len(Path(f"/proc/self/task/{task}/children").read_text().split()) for task in tasks
        )
        with open("/proc/self/maps") as lines:
            mappings = sum("memfd" in line for line in lines)
        return cls(children, len(os.listdir("/proc/self/fd")), len(tasks), mappings)


def resident_mib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


@pytest.fixture
def nothing_grows() -> Iterator[None]:
    """Compare before and after; memory may grow by as much as one process needs, not by count."""
    with veo.VeoProc(0, library="soft"):
        pass
    before, memory = State.now(), resident_mib()
    yield
    assert State.now() == before
    assert resident_mib() - memory < 16


@pytest.fixture
def library(compile_c: Callable[..., Path]) -> str:
    return str(compile_c(KERNELS, "soak.so", flags=["-g"]))


def test_processes_opened_and_closed(nothing_grows: None) -> None:
    for _ in range(PROCESSES):
        with veo.VeoProc(0, library="soft") as proc:
            proc.open_context()


def test_calls_awaited_and_dropped(nothing_grows: None, library: str) -> None:
    with veo.VeoProc(0, library="soft") as proc:
        add = proc.load_library(library).find_function("add")
        add.args_type("int", "int")
        ctx = proc.open_context()
        for i in range(CALLS // 1000):
            requests = [add(ctx, i, k) for k in range(500)]
            for k in range(500):
                add(ctx, i, k)  # dropped
            assert [request.wait_result() for request in requests] == [i + k for k in range(500)]


def test_buffers_of_requests_are_let_go(nothing_grows: None) -> None:
    buffer = bytearray(1000)
    with veo.VeoProc(0, library="soft") as proc:
        ctx = proc.open_context()
        at = proc.alloc_mem(1000)
        for i in range(TRANSFERS // 2):
            ctx.async_write_mem(at, buffer, 1000)
            request = ctx.async_read_mem(buffer, at, 1000)
            if i % 3 == 0:
                request.wait_result()
            del request
    buffer.extend(b"resizing fails while somebody holds it")


def test_kernels_that_crash(nothing_grows: None, library: str) -> None:
    for i in range(CRASHES):
        with veo.VeoProc(0, library="soft") as proc:
            lib = proc.load_library(library)
            lib.crash.args_type("int *")
            ctx = proc.open_context()
            request = lib.crash(ctx, 16)
            later = []
            with contextlib.suppress(veo.VeoError):  # refused, if the crash came before it
                later += [lib.crash(ctx, 16) for _ in range(i % 2)]
            with pytest.raises(ArithmeticError, match="SIGSEGV"):
                request.wait_result()
            for other in later:
                with pytest.raises(RuntimeError):
                    other.wait_result()
