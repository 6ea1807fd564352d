# SPDX-License-Identifier: BSD-3-Clause
"""Random programs for chips that are not UPMEM's, and such chips.

With a cache, tasklets load and store in MRAM: what is their own, eight bytes each of lines that all
share, and a sum under a lock.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.dpu.reference import Table
from tests.dpu.reference.event_programs import EventProgram, draw_fault
from tests.dpu.reference.pairing import draw_word
from tests.dpu.reference.random_programs import (
    FAR,
    ID,
    LOADS,
    LOCKS,
    MRAM_BASE,
    MRAM_OWN,
    NEAR,
    PLAIN,
    SCRATCH,
    SIZES,
    WRAM_BASE,
    ZERO,
)

ID8 = 31
WINDOW = 0x0800_0000
# Lines of 512 bytes in which each tasklet has 8, and a sum, behind what tasklets have.
SHARED, LINES = 24 * MRAM_OWN, 8
FAR_SUM = SHARED + 512 * LINES
MRAM = FAR_SUM + 512


class ChipProgram(EventProgram):
    """A program for a chip with ALL_TASKLETS tasklets, and a cache or none."""

    def __init__(
        self, table: Table, rng: random.Random, tasklets: int, fault: int | None, chip: Chip
    ) -> None:
        self.all_tasklets = chip.tasklets
        self.has_cache = chip.options["cache_kib"] != 0
        self.used_tasklets = tasklets
        if tasklets > self.segments:
            self.wram_bits, self.mram_bits, self.segments = 9, 14, 16
        super().__init__(table, rng, tasklets, fault)

    def choose_segment(self) -> None:
        self.emit("and:rri", rc=0, ra=ID, imm=self.segments - 1 | 15)
        self.emit("lsl:rri", rc=0, ra=0, shift=7)

    def parts(self) -> list[Callable[[], None]]:
        direct = [self.load_far, self.store_far, self.add_to_far_sum] * 3
        return [*super().parts(), self.transfer_of_line, *(direct if self.has_cache else [])]

    def wake(self) -> None:
        """Resume a tasklet that has memory of its own."""
        self.emit("resume:rici", ra=ZERO, imm=self.rng.randrange(self.used_tasklets))

    def notify(self) -> None:
        """Set run bits that no tasklet has."""
        first = max(24, self.all_tasklets)
        if first < 64:
            form = self.rng.choice(["boot:rici", "resume:rici"])
            self.emit(form, ra=ZERO, imm=first + self.rng.randrange(min(4, 64 - first)))

    def far_place(self) -> int:
        """Make FAR point to what the tasklet has; return how many bytes of it are its own."""
        if self.rng.random() < 0.4:
            line = SHARED + 512 * self.rng.randrange(LINES)
            self.emit("add:rri", rc=FAR, ra=ID8, imm=WINDOW + line)
            return 8

        # Often near each other, so that lines are found again.
        most = self.rng.choice([256, 2048, 1 << self.mram_bits])
        self.emit("add:rri", rc=FAR, ra=MRAM_BASE, imm=WINDOW + self.rng.randrange(0, most - 64, 8))
        return 64

    def load_far(self) -> None:
        room, name = self.far_place(), self.rng.choice(LOADS)
        form = self.table[f"{name}:erri"]
        register = {"rc": self.rng.randrange(PLAIN), "dc": self.rng.randrange(0, PLAIN, 2)}
        operands = {key: value for key, value in register.items() if key in form.fields}
        offset = self.rng.randrange(0, room, SIZES[name[1]])
        self.emit(str(form), endian=self.rng.getrandbits(1), ra=FAR, off=offset, **operands)

    def store_far(self) -> None:
        room = self.far_place()
        name = self.rng.choice(["sb", "sh", "sw", "sd", "sb_id", "sh_id", "sw_id", "sd_id"])
        suffixes = ["erii"] if name.endswith("_id") else ["erii", "erir"]
        form = self.table[f"{name}:{self.rng.choice(suffixes)}"]
        fields = form.operands_of(draw_word(self.rng, form))
        fields["ra"], fields["off"] = FAR, self.rng.randrange(0, room, SIZES[name[1]])
        self.emit(str(form), **fields)

    def transfer_of_line(self) -> None:
        """Transfer its 8 bytes of a line of all."""
        line = SHARED + 512 * self.rng.randrange(LINES)
        self.emit("add:rri", rc=NEAR, ra=WRAM_BASE, imm=8 * self.rng.randrange(8))
        self.emit("add:rri", rc=FAR, ra=ID8, imm=line)
        self.emit(self.rng.choice(["ldma:rri", "sdma:rri"]), ra=NEAR, rb=FAR, immDma=0)

    def add_to_far_sum(self) -> None:
        which = self.rng.randrange(2)
        lock, here = LOCKS + 8 + which, len(self.words) + 1
        self.emit("add:rri", rc=FAR, ra=ZERO, imm=WINDOW + FAR_SUM + 4 * which)
        self.emit("acquire:rici", ra=ZERO, imm=lock, cc=3, pc=here)
        self.emit("lw:erri", rc=SCRATCH, ra=FAR, off=0)
        self.emit("add:rrr", rc=SCRATCH, ra=SCRATCH, rb=self.rng.randrange(PLAIN))
        self.emit("sw:erir", ra=FAR, off=0, rb=SCRATCH)
        self.emit("release:rici", ra=ZERO, imm=lock, pc=len(self.words) + 1)
        self.emit("add:rri", rc=SCRATCH, ra=ZERO, imm=0)


@dataclass
class Chip:
    """Options of a machine; some of them contradict each other."""

    tasklets: int
    options: dict[str, int]


def draw_chip(rng: random.Random, tasklets: int) -> Chip:
    """Draw a chip with so many tasklets; half of them issue as UPMEM's, and half have no cache."""
    pick, usual = rng.choice, rng.random() < 0.5
    cycles = 11 if usual else pick([1, 4, 11, 14])
    open_rows = rng.randrange(2)
    rcd = pick([0, 16, 40])
    return Chip(
        tasklets,
        {
            "round_cycles": cycles,
            "issue_width": 1 if usual else pick([1, 2, 3, 8]),
            "forwarding": 0 if usual else pick([0, 0, 1, min(4, cycles), cycles]),
            "hazard": 0 if usual else pick([0, 0, 1, 7]),
            "dma_engines": pick([1, 1, 1, 2, 3, 8]),
            "dma_read_latency": pick([73, 73, 0, 500]),
            "dma_write_latency": pick([57, 57, 0, 500]),
            "dma_latency_per_kib": pick([512, 512, 0, 3000]),
            "dma_setup": pick([34, 34, 0, 200]),
            "dma_engine_per_kib": pick([521, 521, 0, 3000]),
            "dma_page_crossing": pick([25, 25, 0]),
            "dram_banks": pick([0, 0, 1, 2, 16]),
            "dram_mhz": pick([1200, 1200, 400, 1333]),
            "dram_row_bytes": pick([1024, 1024, 64, 8]),
            "dram_rcd": rcd,
            "dram_ras": rcd + pick([0, 23]),
            "dram_rp": pick([16, 0, 50]),
            "dram_cl": pick([16, 0]),
            "dram_ccd": pick([14, 1, 40]),
            "dram_open_rows": open_rows,
            "dram_open_row_first": int(open_rows == 1 and rng.random() < 0.2),
            "dram_setup": pick([24, 0]),
            "dram_read_return": pick([39, 0]),
            "dram_write_return": pick([23, 0]),
            "dram_refresh_interval": pick([10920, 10920, 1500]),
            "dram_refresh_cycles": pick([364, 364, 0]),
            "tlb_entries": pick([0, 0, 1, 4, 64]),
            "tlb_page": pick([64, 4096]),
            "tlb_walk": pick([38, 0, 300]),
            "cache_kib": pick([0, 0, 0, 1, 4, 12, 64]),
            "cache_ways": pick([1, 2, 3, 8, 64]),
            "cache_line": pick([8, 64, 64, 256, 2048]),
            "cache_policy": rng.randrange(3),
        },
    )


def draw_program(table: Table, rng: random.Random, chip: Chip) -> list[int]:
    """Draw a program of up to as many tasklets as a chip has, one of which may fault."""
    counts = [1, 2, 3, 8, 11, 12, 16, 24, 32, 40, 63, 64]
    tasklets = rng.choice([count for count in counts if count <= chip.tasklets])
    fault = draw_fault(table, rng) if rng.random() < 0.2 else None
    return ChipProgram(table, rng, tasklets, fault, chip).words
