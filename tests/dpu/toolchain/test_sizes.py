# SPDX-License-Identifier: BSD-3-Clause
"""Programs for chips with other sizes: what does not fit is refused, the heap ends with WRAM."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
import pytest

from dpu import DpuError, DpuSet, DpuSymbol
from dpu.asm import AsmError, assemble
from dpu.compiler import Compiler
from dpu.driver import DpuContext
from dpu.toolchain import ToolchainError
from dpu.toolchain.command import main
from dpu.toolchain.link.program import Program

Compile = Callable[..., Program]

MAIN = "int main(void) { return 0; }\n"
CODE = "volatile int x;\nint main(void) { " + "x += 1;" * 330 + " return 0; }"

# Takes the heap 8 bytes at a time, as often as it is told to.
HEAP = """
#include <alloc.h>
#include <defs.h>
#include <dpuconst.h>
__host uint32_t asked, end, wram = DPU_WRAM_SIZE;
int main(void)
{
    mem_reset();
    for (uint32_t i = 0; i < asked; i++)
        end = (uint32_t)mem_alloc(1024) + 1024;
    return 0;
}
"""


# Tasklets meet at a barrier, take a lock, transfer, and go on one after the other.
TOGETHER = """
#include <barrier.h>
#include <defs.h>
#include <handshake.h>
#include <mram.h>
#include <mutex.h>
#include <sem.h>
#include <stdint.h>
BARRIER_INIT(all, NR_TASKLETS);
SEMAPHORE_INIT(two, 2);
MUTEX_INIT(lock);
__mram_noinit uint64_t words[NR_TASKLETS];
__host uint32_t total, order;
int main(void)
{
    uint64_t mine = me();
    mram_write(&mine, &words[me()], 8);
    barrier_wait(&all);
    mram_read(&words[NR_TASKLETS - 1 - me()], &mine, 8);
    mutex_lock(lock);
    total += (mine + 1) * (me() + 1);
    mutex_unlock(lock);
    sem_take(&two);
    sem_give(&two);
    if (me() > 0)
        handshake_wait_for(me() - 1);
    order = order * 3 + me();
    if (me() < NR_TASKLETS - 1)
        handshake_notify();
    return 0;
}
"""


@pytest.mark.parametrize("tasklets", [25, 32, 33, 64])
def test_more_tasklets_than_upmems_chip_has(
    compile_text: Compile, tmp_path: Path, tasklets: int
) -> None:
    path, sizes = tmp_path / "together", f"softTasklets={tasklets}"
    stacks = {"STACK_SIZE_DEFAULT": 256, f"STACK_SIZE_TASKLET_{tasklets - 1}": 512}
    program = compile_text(TOGETHER, tasklets=tasklets, sizes=sizes, defines=stacks)
    path.write_bytes(program.elf)
    reports, order = set(), 0
    for tasklet in range(tasklets):
        order = (3 * order + tasklet) % 2**32
    more = "softDramBanks=1,softDramOpenRows=1,softDramOpenRowFirst=1"
    for engine in "turns", "drift", "translated":
        for chip in "softDmaEngines=2", "softPipelineHazard=1", more:
            profile = f"{sizes},softEngine={engine},{chip}"
            with DpuSet(nr_dpus=1, binary=path, profile=profile) as dpus:
                dpus.exec()
                total = sum((tasklets - one) * (one + 1) for one in range(tasklets))
                assert (dpus.total.uint32(), dpus.order.uint32()) == (total, order)
                one = dpus.report[0]
            assert len(one.thread_instructions) == tasklets and all(one.thread_instructions)
            assert sum(one.thread_instructions) == one.instructions
            reports.add((chip, one.cycles, one.thread_instructions))
    assert len(reports) == 3
    with pytest.raises(DpuError, match="invalid|tasklets") as caught:
        DpuSet(nr_dpus=1, binary=path, profile=f"softTasklets={tasklets - 1}")
    assert f"the program has {tasklets} tasklets" in str(caught.value.detail)


def test_tasklets_that_sleep_are_named_beyond_the_32nd(
    compile_text: Compile, tmp_path: Path
) -> None:
    text = """
    #include <barrier.h>
    #include <defs.h>
    BARRIER_INIT(all, 40);
    int main(void) { if (me() != 37) barrier_wait(&all); return 0; }
    """
    path = tmp_path / "asleep"
    program = compile_text(
        text, tasklets=40, sizes="softTasklets=64", defines={"STACK_SIZE_DEFAULT": 128}
    )
    path.write_bytes(program.elf)
    with (
        DpuSet(nr_dpus=1, binary=path, profile="softTasklets=64") as dpus,
        pytest.warns(RuntimeWarning, match=r"0-36, 38, 39 wait at .* missing: 37 \(ended\)"),
    ):
        dpus.exec()


@pytest.mark.parametrize(
    ("text", "tasklets", "sizes", "message"),
    [
        (MAIN, 9, "softTasklets=8", r"NR_TASKLETS must be 1 to 8, not 9 \(v1A\)"),
        ("int x[1900];\nint main(void) { return x[x[1]]; }", 1, "softWramKiB=8", "WRAM .* of 8192"),
        (CODE, 1, "softTasklets=8,softIramInstructions=900", "IRAM overflows .* of 900"),
    ],
)
def test_what_the_sizes_have_no_room_for_is_refused(
    compile_text: Compile, text: str, tasklets: int, sizes: str, message: str
) -> None:
    with pytest.raises(ToolchainError, match=message):
        compile_text(text, tasklets=tasklets, sizes=sizes)
    compile_text(text, tasklets=tasklets, sizes="softWramKiB=0")


@pytest.mark.parametrize(
    ("chip", "sizes", "message"),
    [
        ("v1A", "softWramKiB=-1", r"softWramKiB must be a number from 0 to .*, not '-1'"),
        ("v1A", "softWramKiB", r"softWramKiB must be a number from 0 to .*, not ''"),
        ("v1A", "softWramKiB=99999", r"softWramKiB must be a number from 0 to .*, not '99999'"),
        ("v1A", "softTasklets=65", r"softTasklets must be a number from 0 to 64"),
        ("v1A", "softTasklets=8,", r"sizes are softTasklets, .*, not ''"),
        ("v1A", "softDmaEngines=2", r"sizes are softTasklets, .*, not 'softDmaEngines=2'"),
    ],
)
def test_sizes_that_are_none_are_refused(
    compile_text: Compile, chip: str, sizes: str, message: str
) -> None:
    with pytest.raises(ToolchainError, match=message):
        compile_text(MAIN, chip=chip, sizes=sizes)
    with pytest.raises(AsmError, match=message):
        assemble(io.StringIO("nop"), chip=chip, sizes=sizes)


@pytest.mark.parametrize("size", [8, 40, 64, 100, 256])
@pytest.mark.parametrize("engine", ["turns", "drift", "translated"])
def test_the_heap_ends_where_wram_does(tmp_path: Path, size: int, engine: str) -> None:
    source, program = tmp_path / "heap.c", tmp_path / "heap.dpu"
    source.write_text(HEAP)
    Compiler(sizes=f"softWramKiB={size}").compile(source, program)
    profile = f"softWramKiB={size},softEngine={engine}"
    with DpuSet(nr_dpus=1, binary=str(program), profile=profile) as one:
        # Data and stacks take less than 4 KiB.
        one.asked = (size - 4).to_bytes(4, "little")
        one.exec()
        assert one.wram.uint32() == 1024 * size
        assert 1024 * (size - 4) < one.end.uint32() <= 1024 * size
        one.asked = size.to_bytes(4, "little")
        with pytest.raises(DpuError) as caught:
            one.exec()
        assert "the heap is full" in caught.value.detail


def test_the_command_takes_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "main.c"
    source.write_text(CODE)
    words = [str(source), "-o", str(tmp_path / "a.out")]
    assert main(["--sizes=softIramInstructions=900", *words]) == 1
    assert "IRAM overflows" in capsys.readouterr().err
    assert main(["--sizes", "softIramInstructions=1800", *words]) == 0


def test_assembly_is_linked_for_sizes() -> None:
    text = "nop\n" * 65
    assemble(io.StringIO(text), sizes="softIramInstructions=65")
    with pytest.raises(AsmError, match=r"IRAM is too small: the program needs 65 instr.* are 64"):
        assemble(io.StringIO(text), sizes="softIramInstructions=64")


# Each tasklet sums what it copies from MRAM to its part of an array of 160,000 bytes and back.
LARGE = """
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#define WORDS 10000
BARRIER_INIT(all, NR_TASKLETS);
__mram uint32_t given[4 * WORDS], made[4 * WORDS];
uint32_t __dma_aligned large[4][WORDS];
__host uint32_t sum, where;
int main(void)
{
    uint32_t *mine = large[me()];
    for (uint32_t i = 0; i < WORDS; i += 200)
        mram_read(&given[me() * WORDS + i], &mine[i], 800);
    for (uint32_t i = 1; i < WORDS; i++)
        mine[i] += mine[i - 1];
    for (uint32_t i = 0; i < WORDS; i += 200)
        mram_write(&mine[i], &made[me() * WORDS + i], 800);
    barrier_wait(&all);
    if (me() == 0)
        sum = large[0][WORDS - 1] + large[3][WORDS - 1] + *(volatile uint32_t *)where;
    return 0;
}
"""


def test_programs_use_a_larger_wram_in_all_engines(tmp_path: Path) -> None:
    source, program = tmp_path / "large.c", tmp_path / "large.dpu"
    source.write_text(LARGE)
    build = Compiler(sizes="softWramKiB=192").compile
    build(source, program, defines={"NR_TASKLETS": 4})
    given = np.random.default_rng(5).integers(0, 1 << 32, 40000, dtype=np.uint32)
    sums = given.reshape(4, -1).cumsum(axis=1, dtype=np.uint32)

    with pytest.raises(DpuError) as caught:
        DpuSet(nr_dpus=1, binary=str(program))
    assert "bytes, and WRAM of this chip has 65536; the profile key softW" in caught.value.detail

    times = set()
    for engine in "turns", "drift", "translated":
        profile = f"softWramKiB=192,softEngine={engine}"
        with DpuSet(nr_dpus=1, binary=str(program), profile=profile) as one:
            one.given = given
            one.exec()
            assert np.array_equal(one.made.uint32(), sums.ravel())
            assert one.sum.uint32() == (int(sums[0, -1]) + int(sums[3, -1])) % (1 << 32)
            times.add((one.report[0].cycles, one.report[0].instructions))

            # All of WRAM is part of a checkpoint.
            saved = DpuContext.from_buffer(bytes(one.dpus()[0].checkpoint().serialize()))
            assert len(saved.wram_bytes()) == 192 << 10
            one.sum = bytes(4)
            one.dpus()[0].restore(saved)
            assert one.sum.uint32() != 0

            one.where = (192 << 10).to_bytes(4, "little")
            with pytest.raises(DpuError) as caught:
                one.exec()
            assert "WRAM access at 0x30000 out of bounds" in caught.value.detail
    assert len(times) == 1


MRAM = """
#include <mram.h>
__mram_noinit uint64_t block[SIZE];
__host uint32_t where;
int main(void)
{
    __dma_aligned uint64_t word = 5;
    mram_write(&word, (__mram_ptr void *)where, 8);
    return 0;
}
"""


def test_mram_ends_earlier_for_programs_and_hosts(tmp_path: Path) -> None:
    source, program = tmp_path / "mram.c", tmp_path / "mram.dpu"
    source.write_text(MRAM)
    with pytest.raises(CalledProcessError) as linked:
        Compiler(sizes="softMramMiB=2").compile(source, program, defines={"SIZE": 262145})
    assert "MRAM overflows by 8 bytes: data needs 2097160 of 2097152" in linked.value.stderr
    Compiler().compile(source, program, defines={"SIZE": 262145})
    with pytest.raises(DpuError) as caught:
        DpuSet(nr_dpus=1, binary=str(program), profile="softMramMiB=2")
    assert "take 2097160 bytes of MRAM, and this chip has 2097152; the prof" in caught.value.detail

    Compiler(sizes="softMramMiB=2").compile(source, program, defines={"SIZE": 1024})
    for engine in "turns", "drift", "translated":
        profile = f"softMramMiB=2,softEngine={engine}"
        with DpuSet(nr_dpus=1, binary=str(program), profile=profile) as one:
            end = 2 << 20
            one.where = (end - 8).to_bytes(4, "little")
            one.exec()
            mram = one.dpus()[0].checkpoint().mram_bytes()
            assert len(mram) == 2 << 20
            assert mram[-8:] == (5).to_bytes(8, "little")
            one.where = end.to_bytes(4, "little")
            with pytest.raises(DpuError) as caught:
                one.exec()
            text = "8 bytes whose place in MRAM is out of bounds, at 0x200000"
            assert text in caught.value.detail
            with pytest.raises(DpuError) as caught:
                one.copy(bytearray(16), DpuSymbol("end", (0x08000000 + end - 8, 16)))
            assert "go beyond its 2 MiB" in caught.value.detail


@pytest.mark.parametrize("size", [8, 256])
@pytest.mark.parametrize("where", ["of the set", "of the environment"])
def test_sources_of_a_set_are_built_for_its_chip(
    monkeypatch: pytest.MonkeyPatch, size: int, where: str
) -> None:
    profile = f"softWramKiB={size}"
    if where == "of the environment":
        monkeypatch.setenv("UPMEM_PROFILE", profile)
        profile = ""
    with DpuSet(nr_dpus=1, c_source=io.StringIO(HEAP), profile=profile) as one:
        one.asked = (size - 4).to_bytes(4, "little")
        one.exec()
        assert one.wram.uint32() == 1024 * size


def test_sources_of_a_set_that_do_not_fit_its_chip_are_refused() -> None:
    with pytest.raises(CalledProcessError, match="IRAM overflows .* of 900"):
        DpuSet(nr_dpus=1, c_source=io.StringIO(CODE), profile="softIramInstructions=900")
    text = "nop\n" * 65
    with pytest.raises(AsmError, match=r"IRAM is too small: the program needs 65 instr.* are 64"):
        DpuSet(nr_dpus=1, asm_source=io.StringIO(text), profile="softIramInstructions=64")


def test_sources_of_a_set_are_built_for_a_v1b_chip() -> None:
    with DpuSet(nr_dpus=1, c_source=io.StringIO(HEAP), profile="chipId=9") as one:
        one.exec()
        assert one.wram.uint32() == 62 << 10
