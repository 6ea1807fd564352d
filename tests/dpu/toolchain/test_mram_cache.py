# SPDX-License-Identifier: BSD-3-Clause
"""Programs for chips with a cache, whose plain pointers lead to MRAM."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpu import DpuError, DpuSet
from dpu.asm import assemble
from dpu.profile import load, program_figures
from dpu.toolchain import ToolchainError
from dpu.toolchain.link.program import Program
from tests.dpu.profile.programs import run

Compile = Callable[..., Program]

CACHE = "softCacheKiB=4"

# Tasklets change a part of MRAM each, by loads and stores of all sizes, copies and DMA.
MIXED = """
#include <defs.h>
#include <mram.h>
#include <stdint.h>
#include <string.h>
#define PART 1024
struct pair { uint32_t first; uint8_t second[6]; };
__mram_noinit uint8_t bytes[NR_TASKLETS * PART];
__mram_noinit uint64_t results[NR_TASKLETS];
__host uint32_t seed, steps;

static uint64_t mix(__mram_ptr uint8_t *mine, uint32_t number, uint32_t from)
{
    __dma_aligned uint8_t block[64];
    switch (number % 9) {
    case 0: return mine[from];
    case 1: return *(__mram_ptr uint16_t *)(mine + (from & ~1u));
    case 2: return *(__mram_ptr int32_t *)(mine + (from & ~3u));
    case 3: return *(__mram_ptr uint64_t *)(mine + (from & ~7u));
    case 4: mine[from] = number >> 8; return 1;
    case 5: *(__mram_ptr uint32_t *)(mine + (from & ~3u)) += number; return 2;
    case 6: *(__mram_ptr uint64_t *)(mine + (from & ~7u)) ^= number * 77777ull; return 3;
    case 7:
        mram_read(mine + (from & ~7u), block, 64);
        block[number >> 8 & 63]++;
        mram_write(block, mine + (from * 5 % 960 & ~7u), 64);
        return block[9];
    default:
        *(__mram_ptr struct pair *)(mine + (from & ~3u)) =
            *(__mram_ptr struct pair *)(mine + (from + 480) % 960 / 4 * 4);
        memcpy(block, mine + from, 13);
        memset(mine + (from & ~7u), 5, 3);
        return block[12];
    }
}

int main(void)
{
    __mram_ptr uint8_t *mine = bytes + me() * PART;
    uint32_t number = seed + me();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < steps; i++) {
        number = number * 1664525 + 1013904223;
        sum = sum * 31 + mix(mine, number >> 7, (number >> 20) % 960);
    }
    results[me()] = sum;
    return 0;
}
"""

# Without a cast or an attribute, the target of a pointer is anywhere.
PLAIN = """
#include <mram.h>
#include <stdint.h>
__mram_noinit uint32_t far[4];
__mram uint32_t given[2] = {30, 12};
uint32_t near[4];
__host uint32_t sum, where, *target;
static uint32_t add(const uint32_t *one, uint32_t n)
{
    return n == 0 ? 0 : *one + add(one + 1, n - 1);
}
int main(void)
{
    uint32_t *const both[] = {near, far};
    for (uint32_t i = 0; i < 8; i++)
        both[i & 1][i >> 1] = i;
    sum = add(near, 4) * 10000 + add(far, 4) * 100 + add(given, 2);
    where = (uint32_t)DPU_MRAM_HEAP_POINTER;
    if (target != 0)
        *target = 1;
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_results_are_those_of_a_chip_without_a_cache(
    compile_text: Compile, tmp_path: Path, level: str
) -> None:
    paths = {sizes: tmp_path / (sizes or "plain") for sizes in ("", CACHE)}
    for sizes, path in paths.items():
        path.write_bytes(compile_text(MIXED, tasklets=11, sizes=sizes, level=level).elf)
    rng = random.Random(5)
    for more in "", ",softCachePolicy=2,softCacheWays=1", ",softDramBanks=2,softTlbEntries=2":
        seed, content = rng.randrange(1 << 32), rng.randbytes(11 * 1024)
        found = []
        for sizes, path in paths.items():
            profile = f"{sizes}{more}" if sizes else ""
            with DpuSet(nr_dpus=1, binary=path, profile=profile) as one:
                one.seed, one.steps = (n.to_bytes(4, "little") for n in (seed, 400))
                one.bytes = content
                one.exec()
                found.append((bytes(one.bytes.uint8()), list(one.results.uint64())))
                report = one.report[0]
            assert (report.cache_misses > 0) == (report.cache_hits > 0) == bool(sizes)
        assert found[0] == found[1]


def test_all_engines_take_the_same_cycles(compile_text: Compile, tmp_path: Path) -> None:
    path = tmp_path / "mixed"
    path.write_bytes(compile_text(MIXED, tasklets=16, sizes=CACHE).elf)
    reports = set()
    for engine in "turns", "drift", "translated":
        with DpuSet(nr_dpus=1, binary=path, profile=f"{CACHE},softEngine={engine}") as one:
            one.steps = (200).to_bytes(4, "little")
            one.exec()
            reports.add(one.report[0])
    assert len(reports) == 1


def test_a_profile_counts_lines_as_transfers(compile_text: Compile, tmp_path: Path) -> None:
    path, file = tmp_path / "mixed", tmp_path / "profile"
    path.write_bytes(compile_text(MIXED, tasklets=16, sizes=CACHE).elf)
    program = (
        "import sys; from dpu import DpuSet\n"
        f"with DpuSet(nr_dpus=1, binary=sys.argv[1], profile={CACHE!r}) as one:\n"
        "    one.steps = (200).to_bytes(4, 'little'); one.exec(); report = one.report[0]\n"
        "print(report.cycles, report.instructions, report.cache_misses, report.cache_write_backs,\n"
        "      report.dma_read_bytes + report.dma_write_bytes)\n"
    )
    done = [run([sys.executable, "-c", program, str(path)])]
    done.append(run([sys.executable, "-c", program, str(path)], DPU_PROFILE=f"file={file}"))
    assert done[0].returncode == done[1].returncode == 0, done[1].stderr
    assert done[0].stdout == done[1].stdout
    cycles, instructions, misses, written, by_dma = map(int, done[0].stdout.split())
    [figures] = program_figures(load([file]))
    whole = figures.whole
    assert (whole.total, whole.instructions) == (cycles, instructions)
    assert whole.bytes == by_dma + 64 * (misses + written)
    assert whole.lost_dma + whole.lost_few + whole.lost_stopped == cycles - instructions


def test_any_pointer_may_lead_to_mram(compile_text: Compile, tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.write_bytes(compile_text(PLAIN, sizes=CACHE).elf)
    with DpuSet(nr_dpus=1, binary=path, profile=CACHE) as one:
        one.exec()
        assert one.sum.uint32() == 12 * 10000 + 16 * 100 + 42
        assert list(one.far.uint32()) == [1, 3, 5, 7]
        assert one.where.uint32() == 0x08000018
        one.target = (0x0BFFFFFC).to_bytes(4, "little")
        one.exec()
        for address, how in (0x0C000000, "out of bounds"), (0x08000002, "misaligned"):
            one.load(path)
            one.target = address.to_bytes(4, "little")
            with pytest.raises(DpuError) as caught:
                one.exec()
            assert f"MRAM access at {address:#x} {how}" in caught.value.detail


def test_a_program_for_a_cache_is_refused_without_one(
    compile_text: Compile, tmp_path: Path
) -> None:
    path = tmp_path / "plain"
    path.write_bytes(compile_text(PLAIN, sizes=CACHE).elf)
    with pytest.raises(DpuError) as caught:
        DpuSet(nr_dpus=1, binary=path)
    assert "built for a chip with a cache of MRAM, and this one has none; " in caught.value.detail
    with pytest.raises(ToolchainError, match=r"softCacheKiB must be a number from 0 to 4096"):
        compile_text(PLAIN, sizes="softCacheKiB=4097")


def test_sources_of_a_set_are_built_for_its_cache() -> None:
    with DpuSet(nr_dpus=1, c_source=io.StringIO(PLAIN), profile=CACHE) as one:
        one.exec()
        assert one.sum.uint32() == 121642
        assert one.report.cache_misses > 0 and one.report.cache_hits > 0


def test_assembly_adds_the_window() -> None:
    text = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 1
    .text
    .globl main
main:
    move r0, value + 0x08000000
    lw r1, r0, 0
    add r1, r1, 1
    sw r0, 4, r1
    jump r23
    .section .mram
    .globl value
    .type value, @object
    .size value, 8
value: .word 41, 0
"""
    program = assemble(io.StringIO(text), sizes=CACHE)
    with DpuSet(nr_dpus=1, binary=program, profile=CACHE) as one:
        one.exec()
        assert np.array_equal(one.value.uint32(), [41, 42])


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("softCacheKiB=24", "384 lines in sets of 8 must be a power of two of sets"),
        ("softCacheKiB=1,softCacheWays=32", "16 lines in sets of 32 must be a power of two"),
        ("softCacheKiB=4,softCacheLineBytes=48", "softCacheLineBytes=48, but it must be a power"),
        (
            "softCacheKiB=4,softDramBanks=1,softDramOpenRows=1,softDramOpenRowFirst=1",
            "softDramOpenRowFirst=1, but what a cache writes back is not put into another order",
        ),
        ("softCachePolicy=3", "softCachePolicy must be a number from 0 to 2"),
    ],
)
def test_a_cache_that_makes_no_sense_is_refused(keys: str, reason: str) -> None:
    with pytest.raises(DpuError) as caught:
        DpuSet(nr_dpus=1, profile=keys)
    assert reason in caught.value.detail


def test_what_a_cache_does_not_change_is_named() -> None:
    program = "import dpu\ndpu.DpuSet(nr_dpus=1, library='soft').free()\n"
    done = run([sys.executable, "-c", program], UPMEM_PROFILE="softCacheWays=4,softCachePolicy=1")
    assert done.stderr.count("there is no cache without softCacheKiB: it changes nothing") == 2
