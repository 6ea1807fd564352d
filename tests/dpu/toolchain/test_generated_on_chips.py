# SPDX-License-Identifier: BSD-3-Clause
"""C programs at random compute on chips with random keys what they do on the host, in every way.

A tasklet computes, with its variables in WRAM, or some of them in MRAM if there is a cache;
others transfer, store and lock beside it. ``OFFCHIP_TEST_CHIPS`` says how many chips are tried.
"""

from __future__ import annotations

import ctypes
import os
import random
import re
import struct
from pathlib import Path

import pytest

from dpu.elf.format import IRAM_BASE, MRAM_BASE, SectionType
from dpu.elf.reader import ElfFile
from dpu.toolchain import BuildOptions, Toolchain
from tests.dpu.reference.chip_programs import draw_chip
from tests.dpu.support.native import DONE
from tests.dpu.support.running import SEED
from tests.dpu.support.ways import Ways
from tests.dpu.toolchain.generated import make_program
from tests.dpu.toolchain.reference_host import START, Reference, find_reference
from tests.dpu.toolchain.what_fits import build_what_fits
from tests.support.full import rest_if_full

# The machine is built here without sanitizers; tests/dpu/unit runs it with them.
pytestmark = pytest.mark.nosanitize

LEVELS = ("-O2", "-O0", "-O3", "-O1")
AT_ONCE = 2
PROGRAMS = int(os.environ.get("OFFCHIP_TEST_CHIPS", "480")) // 8
OPTIONS = ["-w", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off"]
MRAM = 1 << 18
MAX_CYCLES = 20_000_000

# Tasklets beside the first one transfer, access MRAM directly, and add under a lock.
MAIN = """
#include <defs.h>
#include <mram.h>
#include <mutex.h>
#include <stdint.h>
MUTEX_INIT(lock);
__mram_noinit uint32_t noise[NR_TASKLETS][64];
__host unsigned long long result;
__host uint32_t total;
void body_0(unsigned long long *);

static void make_noise(void)
{
    __dma_aligned uint32_t block[16];
    uint32_t x = me() + 1;
    for (uint32_t i = 0; i < TURNS; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        __mram_ptr uint32_t *at = &noise[me()][x % 48 & ~1u];
        mram_read(at, block, 64);
        block[i & 15] += x;
        mram_write(block, at, 64);
        noise[me()][x & 63] ^= block[x >> 28];
        mutex_lock(lock);
        total += x;
        mutex_unlock(lock);
    }
}

int main(void)
{
    if (me() != 0) {
        make_noise();
        return 0;
    }
    unsigned long long h = STARTull;
    body_0(&h);
    result = h;
    return 0;
}
"""
# Variables of a program, which may be anywhere if there is a cache.
VARIABLE = re.compile(
    r"^static (?=[\w ]+ [gx]\d = |int arr\[|S st\[|unsigned char by\[|long long q\[)", re.MULTILINE
)
PLACED = re.compile(r"static (int arr\[16\]|S st\[4\]|unsigned char by\[32\]|long long q\[8\])")


def in_mram(text: str, rng: random.Random) -> str:
    """Put some variables of a program into MRAM."""

    def place(match: re.Match[str]) -> str:
        return (
            match.group(0).replace("static ", "static __mram ")
            if rng.random() < 0.6
            else (match.group(0))
        )

    text = PLACED.sub(place, VARIABLE.sub(place, text))
    return f"#include <attributes.h>\n{text}"


def build_program(
    text: str, folder: Path, level: str, sizes: str, tasklets: int, toolchain: Toolchain
) -> ElfFile:
    """Compile a program, for size if it is too large at that level."""
    sources = [folder / "main.c", folder / "body.c"]
    sources[0].write_text(MAIN.replace("START", str(START)))
    sources[1].write_text(text)
    defines: dict[str, str | int] = {"NR_TASKLETS": tasklets, "TURNS": 40}
    defines |= {"STACK_SIZE_DEFAULT": 256, "STACK_SIZE_TASKLET_0": 8192}
    path = folder / "program.dpu"

    options = BuildOptions(level=level, defines=defines, options=OPTIONS, sizes=sizes)
    build_what_fits(sources, path, options, toolchain)
    return ElfFile(path.read_bytes())


def load(ways: Ways, file: ElfFile) -> None:
    words: list[int] = []
    wram, mram = bytearray(65536), bytearray(MRAM)
    for section in file.sections:
        if not section.is_allocated or section.type == SectionType.NOBITS or not section.size:
            continue
        data, at = section.data, section.address
        if at >= IRAM_BASE:
            words = list(struct.unpack(f"<{len(data) // 8}Q", data))
        elif at >= MRAM_BASE:
            mram[at - MRAM_BASE : at - MRAM_BASE + len(data)] = data
        else:
            wram[at : at + len(data)] = data
    ways.load(words, bytes(wram), bytes(mram))


@pytest.fixture(scope="module")
def reference(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Reference:
    return find_reference(toolchain, tmp_path_factory.mktemp("reference"))


@pytest.mark.parametrize("number", rest_if_full(range(PROGRAMS), 2))
def test_random_programs_on_random_chips(
    toolchain: Toolchain,
    reference: Reference,
    machine_library: ctypes.CDLL,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    rng = random.Random(f"{SEED} C on chips {number}")
    text = make_program(rng, "body_0")
    [expected] = reference.hashes([text], [*OPTIONS, "-O1"], tmp_path)
    tasklets = rng.choice([1, 2, 5, 12, 24, 40])
    ways = Ways(machine_library, 24 if tasklets <= 24 else 64, MRAM)
    try:
        while True:
            chip = draw_chip(rng, ways.tasklets)
            has_cache = chip.options["cache_kib"] != 0
            if has_cache == (number % 2 == 0) and ways.set_options(**chip.options):
                break
        ways.set_options(max_cycles=MAX_CYCLES)
        placed = in_mram(text, rng) if has_cache else text
        sizes = f"softTasklets={ways.tasklets}" + (",softCacheKiB=64" if has_cache else "")
        level = LEVELS[number // 2 % len(LEVELS)]
        file = build_program(placed, tmp_path, level, sizes, tasklets, toolchain)
        load(ways, file)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        ways.launch(rng, translates=number % 8 == 1, most=100_000)
        ways.check(f"seed {SEED}, program {number}")
        assert ways.first.result.status == DONE
        found = ways.first.wram[file.symbol("result").value :][:8]
        assert int.from_bytes(found, "little") == expected
        assert (ways.first.result.cache_misses != 0) == has_cache
    finally:
        ways.close()
