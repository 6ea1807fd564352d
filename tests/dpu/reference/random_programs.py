# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of several tasklets whose result does not depend on who goes first.

A tasklet has 2 KiB of WRAM and 64 KiB of MRAM of its own, or less if there are more than 24.
What is shared is a few sums under locks; what a tasklet reads of them it forgets again.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.dpu.reference import Form, Table
from tests.dpu.reference.pairing import draw_word, number
from tests.dpu.reference.values import LOGIC, SHIFT_ADDS, SHIFTS, UNARY

ZERO, ID = 24, 28
SEGMENT, FIRST = 128, 256
WRAM_BITS, MRAM_BITS, LOCKS = 11, 16, 200
MRAM_OWN, SUMS = 1 << MRAM_BITS, 24 << WRAM_BITS
# Registers that keep their meaning; those below are for anything.
PLAIN = 16
SCRATCH, FAR, NEAR, COUNT, WRAM_BASE, MRAM_BASE = 16, 17, 18, 19, 20, 21

ARITHMETIC = frozenset(["add", "addc", "sub", "subc", "rsub", "rsubc", "cmpb4", "hash"])
PAIRS = frozenset(["movd", "swapd", "mul_step", "div_step"])
LOADS = ("lbs", "lbu", "lhs", "lhu", "lw", "ld", "lbs.s", "lhs.s", "lw.s", "lbu.u", "lhu.u", "lw.u")
SIZES = {"b": 1, "h": 2, "w": 4, "d": 8}


def is_plain(form: Form) -> bool:
    """Tell whether a form computes with registers and does nothing else."""
    name = form.mnemonic.partition(".")[0]
    known = LOGIC | SHIFTS | SHIFT_ADDS | UNARY | ARITHMETIC | PAIRS
    return (name in known or name.startswith("mul_")) and form.suffix not in ("sss", "ssi")


class Program:
    """The instructions of all tasklets; one of them executes `fault`, if there is one."""

    # Memory that a tasklet has of its own, as powers of two, and how many have own instructions.
    wram_bits, mram_bits, segments = WRAM_BITS, MRAM_BITS, 24

    def __init__(
        self, table: Table, rng: random.Random, tasklets: int, fault: int | None = None
    ) -> None:
        self.table = table
        self.rng = rng
        self.plain = [form for form in table if is_plain(form)]
        self.words: list[int] = []
        self.start(tasklets)
        segments = min(tasklets, self.segments)
        unlucky = rng.randrange(segments)
        for tasklet in range(segments):
            self.words += [table["nop:"].encode()] * (FIRST + tasklet * SEGMENT - len(self.words))
            self.segment(fault if tasklet == unlucky else None)

    def emit(self, form: str, **operands: int) -> None:
        self.words.append(self.table[form].encode(**operands))

    def start(self, tasklets: int) -> None:
        """Start the next tasklet, and go to the instructions of this one."""
        self.emit("sub:zrici", ra=ID, imm=tasklets - 1, cc=2, pc=2)
        self.emit("boot:rici", ra=ID, imm=1)
        self.choose_segment()
        self.emit("call:zri", ra=0, off=FIRST)

    def choose_segment(self) -> None:
        self.emit("lsl:rri", rc=0, ra=ID, shift=7)

    def segment(self, fault: int | None) -> None:
        first = len(self.words)
        for register in range(PLAIN):
            self.emit("or:rri", rc=register, ra=ZERO, imm=number(self.rng))
        self.emit("lsl:rri", rc=WRAM_BASE, ra=ID, shift=self.wram_bits)
        self.emit("lsl:rri", rc=MRAM_BASE, ra=ID, shift=self.mram_bits)
        parts = self.parts()
        fault_at = first + self.rng.randrange(20, SEGMENT - 20)
        while len(self.words) < first + SEGMENT - 16:
            if fault is not None and len(self.words) >= fault_at:
                self.words.append(fault)
                return
            self.rng.choice(parts)()
        self.end()

    def parts(self) -> list[Callable[[], None]]:
        """List what a tasklet does in between, which takes up to 10 instructions each."""
        return [
            self.straight,
            self.loop,
            self.load,
            self.store,
            self.transfer,
            self.add_to_sum,
        ]

    def end(self) -> None:
        self.emit("stop:ci")

    def compute(self, end: int | None) -> None:
        """Emit a plain instruction that jumps to `end` at most, and not at all for None."""
        while True:
            form = self.rng.choice(self.plain)
            fields = form.operands_of(draw_word(self.rng, form))
            for name in fields.keys() & {"rc", "dc"}:
                fields[name] %= PLAIN
            if "pc" in fields:
                if end is None:
                    continue
                fields["pc"] = self.rng.randint(len(self.words) + 1, end)
            self.emit(str(form), **fields)
            return

    def straight(self) -> None:
        end = len(self.words) + self.rng.randint(1, 5)
        while len(self.words) < end:
            self.compute(end)

    def loop(self) -> None:
        self.emit("or:rri", rc=COUNT, ra=ZERO, imm=self.rng.randint(1, 5))
        top = len(self.words)
        for _ in range(self.rng.randint(1, 3)):
            self.compute(None)
        self.emit("sub:rrici", rc=COUNT, ra=COUNT, imm=1, cc=3, pc=top)

    def place(self, size: int) -> int:
        return self.rng.randrange(0, 1 << self.wram_bits, size)

    def load(self) -> None:
        name = self.rng.choice(LOADS)
        form = self.table[f"{name}:erri"]
        register = {"rc": self.rng.randrange(PLAIN), "dc": self.rng.randrange(0, PLAIN, 2)}
        operands = {key: value for key, value in register.items() if key in form.fields}
        self.emit(
            str(form),
            endian=self.rng.getrandbits(1),
            ra=WRAM_BASE,
            off=self.place(SIZES[name[1]]),
            **operands,
        )

    def store(self) -> None:
        name = self.rng.choice(["sb", "sh", "sw", "sd", "sb_id", "sh_id", "sw_id", "sd_id"])
        suffixes = ["erii"] if name.endswith("_id") else ["erii", "erir"]
        form = self.table[f"{name}:{self.rng.choice(suffixes)}"]
        fields = form.operands_of(draw_word(self.rng, form))
        fields["ra"], fields["off"] = WRAM_BASE, self.place(SIZES[name[1]])
        self.emit(str(form), **fields)

    def transfer(self) -> None:
        """Copy up to 256 bytes; their number is in two places, which are added."""
        length, near = self.rng.randrange(32), self.rng.randrange(0, (1 << self.wram_bits) - 256, 8)
        fixed = self.rng.randint(0, length)
        self.emit("add:rri", rc=NEAR, ra=WRAM_BASE, imm=near | (length - fixed) << 24)
        self.emit(
            "add:rri",
            rc=FAR,
            ra=MRAM_BASE,
            imm=self.rng.randrange(0, (1 << self.mram_bits) - 256, 8),
        )
        self.emit(self.rng.choice(["ldma:rri", "sdma:rri"]), ra=NEAR, rb=FAR, immDma=fixed)

    def add_to_sum(self) -> None:
        which = self.rng.randrange(4)
        at, here = SUMS + 4 * which, len(self.words)
        self.emit("acquire:rici", ra=ZERO, imm=LOCKS + which, cc=3, pc=here)
        self.emit("lw:erri", rc=SCRATCH, ra=ZERO, off=at)
        self.emit("add:rrr", rc=SCRATCH, ra=SCRATCH, rb=self.rng.randrange(PLAIN))
        self.emit("sw:erir", ra=ZERO, off=at, rb=SCRATCH)
        self.emit("release:rici", ra=ZERO, imm=LOCKS + which, pc=len(self.words) + 1)
        self.emit("add:rri", rc=SCRATCH, ra=ZERO, imm=0)
