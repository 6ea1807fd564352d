# SPDX-License-Identifier: BSD-3-Clause
"""Random programs in which tasklets notice each other often, and always in the same order.

Beside what `random_programs` has, they read and set the clock, test and set bits that others test
and set, look at run bits, sleep, and wake each other. Which tasklet goes first shows in registers;
but it follows from rounds and ids alone, as nobody uses the WRAM of another without a lock.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.dpu.reference import Table
from tests.dpu.reference.random_programs import COUNT, ID, PLAIN, SCRATCH, ZERO, Program

BITS, NOTIFICATIONS = 100, 24


class EventProgram(Program):
    """Programs with many events."""

    all_tasklets = 24

    def parts(self) -> list[Callable[[], None]]:
        return [
            *super().parts(),
            self.read_clock,
            self.set_clock,
            self.try_bit,
            self.clear_bit,
            self.look_at_run_bit,
            self.notify,
            self.wake,
            self.sleep,
            self.long_loop,
        ]

    def read_clock(self) -> None:
        self.emit("time:r", rc=self.rng.randrange(PLAIN))

    def set_clock(self) -> None:
        self.emit("or:rri", rc=SCRATCH, ra=ZERO, imm=self.rng.randrange(8))
        self.emit("time_cfg:rr", rc=self.rng.randrange(PLAIN), rb=SCRATCH)

    def try_bit(self) -> None:
        """Skip two instructions if another tasklet has the bit."""
        here = len(self.words)
        bit = BITS + self.rng.randrange(3)
        self.emit("acquire:rici", ra=ZERO, imm=bit, cc=3, pc=here + 3)
        self.compute(None)
        self.compute(None)

    def clear_bit(self) -> None:
        bit = BITS + self.rng.randrange(3)
        self.emit("release:rici", ra=ZERO, imm=bit, pc=len(self.words) + 1)

    def look_at_run_bit(self) -> None:
        here = len(self.words)
        self.emit(
            "read_run:rici",
            ra=ZERO,
            imm=self.rng.randrange(min(64, self.all_tasklets + 4)),
            cc=3,
            pc=here + 2,
        )
        self.compute(None)

    def notify(self) -> None:
        form = self.rng.choice(["boot:rici", "resume:rici"])
        self.emit(form, ra=ZERO, imm=NOTIFICATIONS + self.rng.randrange(4))

    def wake(self) -> None:
        self.emit("resume:rici", ra=ZERO, imm=self.rng.randrange(24))

    def sleep(self) -> None:
        if self.rng.random() < 0.2:
            self.emit("stop:ci")

    def long_loop(self) -> None:
        """Run for longer than a window now and then."""
        turns = self.rng.choice([10, 50, 3000])
        self.emit("or:rri", rc=COUNT, ra=ZERO, imm=turns)
        top = len(self.words)
        self.emit("add:rrr", rc=self.rng.randrange(PLAIN), ra=ID, rb=self.rng.randrange(PLAIN))
        self.emit("sub:rrici", rc=COUNT, ra=COUNT, imm=1, cc=3, pc=top)

    def end(self) -> None:
        """Stop, and stop again if somebody wakes it."""
        self.emit("stop:ci", cc=1, pc=len(self.words))


@dataclass
class Launch:
    """A program with many events, and how a machine runs it."""

    words: list[int]
    max_cycles: int
    switches: int


def draw_fault(table: Table, rng: random.Random) -> int:
    """Draw an instruction that faults, some of them with a switch only."""
    return rng.choice(
        [
            table["fault:i"].encode(imm=rng.getrandbits(23)),
            table["sw:erir"].encode(ra=24, off=-4, rb=3),
            table["ld:erri"].encode(dc=2, ra=25, off=0),
            table["ldma:rri"].encode(ra=26, rb=0, immDma=0),
            # Of WRAM beyond its 24 bits, of MRAM beyond its 26, not aligned, not an instruction.
            table["lw:erri"].encode(rc=2, ra=27, off=64),
            table["ldma:rri"].encode(ra=24, rb=27, immDma=0),
            table["ldma:rri"].encode(ra=25, rb=24, immDma=0),
            0x7FFF00000000,
        ]
    )


def draw_launch(table: Table, rng: random.Random, switches: int = 0) -> Launch:
    """Draw a program of some tasklets, one of which may fault; half of them with some SWITCHES."""
    tasklets = rng.choice([1, 2, 3, 8, 11, 12, 16, 24])
    fault = draw_fault(table, rng) if rng.random() < 0.3 else None
    max_cycles = rng.randrange(1, 60000) if rng.random() < 0.2 else 4_000_000
    chosen = rng.getrandbits(32) & switches if rng.random() < 0.5 else 0
    return Launch(EventProgram(table, rng, tasklets, fault).words, max_cycles, chosen)
