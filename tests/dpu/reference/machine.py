# SPDX-License-Identifier: BSD-3-Clause
"""A slow and plain interpreter of DPU programs, to compare the simulator with.

It knows the instruction set from its description and shares nothing with the simulator but the
table of forms. Every runnable tasklet executes one instruction a round, in the order of their ids.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from . import values
from .conditions import Outcome
from .forms import Table
from .tasklet import IRAM_WORDS, Instruction, Tasklet
from .values import MASK32, Sum, signed

TASKLETS = 24
WRAM_BYTES = 64 << 10
MRAM_BYTES = 64 << 20
ATOMIC_BITS = 256
RUN_BITS = 64
PIPELINE = 11
"""Cycles after which a tasklet can issue again."""
THREADS = frozenset(range(TASKLETS))
WORD_MASK = (1 << 48) - 1

SIZES = {"b": 1, "h": 2, "w": 4, "d": 8}


@dataclass(frozen=True)
class Fault:
    """Cause of a DPU's stop: ``bkp`` with a number, ``mem`` or ``dma``."""

    kind: str
    tasklet: int
    number: int = 0


class Machine:
    """A DPU. Its state is public, and kept from one `launch` to the next.

    Cycles are those of the pipeline, in which DMA takes no time; the counter that ``time`` reads
    counts instructions, as the vendor's simulator does.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.tasklets = [Tasklet(id) for id in range(TASKLETS)]
        self.iram = [0] * IRAM_WORDS
        self.wram = bytearray(WRAM_BYTES)
        self.mram = mmap.mmap(-1, MRAM_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.atomic: set[int] = set()
        self.run_bits: set[int] = set()
        self.fault: Fault | None = None
        self.executed = 0
        self.cycles = 0
        self.time = 0
        self.counts = True

    # --- running ------------------------------------------------------------------------------

    def load(self, words: Iterable[int], start: int = 0) -> None:
        """Write instructions to IRAM."""
        for index, word in enumerate(words, start):
            self.iram[index] = word & WORD_MASK

    def launch(self, limit: int = 1_000_000) -> None:
        """Start tasklet 0 at 0 and run until all have stopped, or one is in fault."""
        self.tasklets[0].pc = 0
        self.run_bits.add(0)
        self.run(limit)

    def run(self, limit: int) -> None:
        """Run what is to be run; AssertionError if that takes more than `limit` instructions."""
        end = self.executed + limit
        while self.run_bits & THREADS and self.fault is None:
            self.round()
            assert self.executed < end, f"more than {limit} instructions"

    def round(self) -> None:
        """Execute one instruction of every tasklet that runs, up to one that is in fault."""
        running = [tasklet for tasklet in self.tasklets if tasklet.id in self.run_bits]
        self.cycles += max(PIPELINE, len(running))
        for tasklet in running:
            if self.fault is None:
                self.step(tasklet)

    def step(self, tasklet: Tasklet) -> None:
        """Execute one instruction of a tasklet, whether its run bit is set or not."""
        self.executed += 1
        tasklet.pc %= IRAM_WORDS
        word = self.iram[tasklet.pc]
        form = self.table.decode(word)
        if form is None:
            tasklet.pc = (tasklet.pc + 1) % IRAM_WORDS
            self._tick()
            return
        instruction = Instruction(form, word, tasklet)
        # Those that read the counter count after they have read it.
        if instruction.name not in ("time", "time_cfg"):
            self._tick()
        HANDLERS[instruction.name](self, instruction)

    def _tick(self) -> None:
        self.time = (self.time + self.counts) % (1 << 36)

    def _raise(self, kind: str, i: Instruction, number: int = 0) -> None:
        self.fault = Fault(kind, i.tasklet.id, number)

    # --- data processing ----------------------------------------------------------------------

    def _finish(self, i: Instruction, outcome: Outcome, result: int | None = None) -> None:
        """Write what a data-processing instruction computed, and its ZF."""
        x = outcome.x if result is None else result
        if i.form.role == "set":
            i.set_result(int(i.holds(outcome)))
        else:
            i.set_result(x)
        i.tasklet.zero = outcome.x == 0
        i.conclude(outcome)

    def _arithmetic(self, i: Instruction) -> None:
        a, b = i.first, i.second
        source = a
        if i.form.suffix[1:3] == "ir":  # the number comes first
            a, b = b, a
        done = values.arithmetic(i.name, a, b, int(i.tasklet.carry))
        if i.form.suffix in ("sss", "ssi"):
            self._checked(i, done)
            return
        outcome = Outcome(done.x, source, b, i.tasklet.zero, done)
        i.tasklet.carry = done.carry
        self._finish(i, outcome)

    def _checked(self, i: Instruction, done: Sum) -> None:
        """Keep the upper half, a limit, apart from the lower half, an address."""
        distance = -signed(done.b) if done.subtracts else signed(done.b)
        x = done.x
        i.tasklet.carry = done.carry
        if not 0 <= (done.a & 0xFFFF) + distance <= 0xFFFF:
            self._raise("mem", i)
            x = (2 * i.tasklet.id) << 24 | x & 0xFF_FFFF
            i.tasklet.carry = True
        i.set_result(x)
        i.tasklet.zero = x == 0
        if self.fault is None:
            i.conclude(Outcome(x, done.a, done.b, False))

    def _logic(self, i: Instruction) -> None:
        x = values.logic(i.name, i.first, i.second)
        self._finish(i, Outcome(x, i.first, i.second, i.tasklet.zero))

    def _shift(self, i: Instruction) -> None:
        x = values.shift(i.name, i.first, i.second)
        self._finish(i, Outcome(x, i.first, i.second, i.tasklet.zero))

    def _shift_add(self, i: Instruction) -> None:
        ra, rb = i.register("ra"), i.register("rb")
        result, x = values.shift_add(i.name, rb, ra, i.field("shift"))
        self._finish(i, Outcome(x, ra, rb, i.tasklet.zero), result)

    def _unary(self, i: Instruction) -> None:
        x = values.unary(i.name, i.first)
        most = 31 if i.name == "cls" else 32
        self._finish(i, Outcome(x, i.first, 0, i.tasklet.zero, maximum=most))

    def _binary(self, i: Instruction) -> None:
        a, b = i.first, i.second
        if i.name == "cmpb4":
            x = values.cmpb4(a, b)
        elif i.name == "hash":
            x = values.hash_of(a, b)
        else:
            x = values.multiply(i.name, a, b)
        self._finish(i, Outcome(x, a, b, i.tasklet.zero))

    # --- pairs --------------------------------------------------------------------------------

    def _move(self, i: Instruction) -> None:
        value = i.tasklet.read_pair(i.field("db"))
        if i.name == "swapd":
            value = value >> 32 | (value & MASK32) << 32
        i.tasklet.write_pair(i.field("dc"), value)
        i.conclude(Outcome(0, 0, 0, False))

    def _mul_step(self, i: Instruction) -> None:
        registers, dc = i.tasklet.registers, i.field("dc")
        high, low = registers[i.field("db")], registers[i.field("db") + 1]
        factor = i.register("ra")
        if high & 1:
            registers[dc + 1] = low + (factor << i.field("shift")) & MASK32
        registers[dc] = high >> 1
        outcome = Outcome(high >> 1, factor, 0, i.tasklet.zero)
        i.tasklet.zero = outcome.x == 0
        i.conclude(outcome)

    def _div_step(self, i: Instruction) -> None:
        registers, dc = i.tasklet.registers, i.field("dc")
        high, low = registers[i.field("db")], registers[i.field("db") + 1]
        source = i.register("ra")
        divisor = source << i.field("shift") & MASK32
        fits = low >= divisor
        if fits:
            registers[dc + 1] = low - divisor
        registers[dc] = (high << 1 | fits) & MASK32
        i.conclude(Outcome(0, source, 0, False))

    # --- memory -------------------------------------------------------------------------------

    def _place(self, i: Instruction, size: int) -> int:
        """Find where an access goes in WRAM; a fault does not keep it from being done."""
        base = i.register("ra")
        if i.form.suffix in ("esii", "esir", "ersi"):
            address = (base & 0xFFFF) + i.field("off")
            margin = 0 if size == 1 else size
            outside = not 0 <= address < WRAM_BYTES or address + margin >= base >> 16
        else:
            address = base + i.field("off") & MASK32
            outside = address & 0xFF_FFFF >= WRAM_BYTES
        if outside or address % size:
            self._raise("mem", i)
        return address & 0xFFFF & -size

    def _load(self, i: Instruction) -> None:
        size = SIZES[i.name[1]]
        at = self._place(i, size)
        data = self.wram[at : at + size]
        value = int.from_bytes(data, "big" if i.field("endian") else "little")
        if i.name[2:] == "s":
            value = signed(value, 8 * size)
        if i.name == "ld":
            i.tasklet.write_pair(i.field("dc"), value)
        else:
            i.set_result(value & MASK32)
        if self.fault is None:
            i.conclude(Outcome(0, 0, 0, False))

    def _store(self, i: Instruction) -> None:
        size = SIZES[i.name[1]]
        if i.has("imm"):
            value = i.field("imm")
            if i.name.endswith("_id"):
                value |= i.tasklet.id
        elif i.has("db"):
            value = i.tasklet.read_pair(i.field("db"))
        else:
            value = i.register("rb")
        value &= (1 << 8 * size) - 1
        at = self._place(i, size)
        self.wram[at : at + size] = value.to_bytes(size, "big" if i.field("endian") else "little")
        if self.fault is None:
            i.conclude(Outcome(0, 0, 0, False))

    def _dma(self, i: Instruction) -> None:
        ra, rb = i.register("ra"), i.register("rb")
        size = 8 * ((i.field("immDma") + (ra >> 24) & 0xFF) + 1)
        near, far = ra & 0xFF_FFF8, rb & ~7
        room = 8 * IRAM_WORDS if i.name == "ldmai" else WRAM_BYTES
        if near + size > room or far + size > MRAM_BYTES:
            self._raise("dma", i)
            return
        if i.name == "sdma":
            self.mram[far : far + size] = bytes(self.wram[near : near + size])
        elif i.name == "ldma":
            self.wram[near : near + size] = self.mram[far : far + size]
        else:
            data = self.mram[far : far + size]
            words = (int.from_bytes(data[k : k + 8], "little") for k in range(0, size, 8))
            self.load(words, near // 8)
        i.conclude(Outcome(0, 0, 0, False))

    # --- control ------------------------------------------------------------------------------

    def _atomic(self, i: Instruction) -> None:
        source = i.register("ra")
        bit = fold(source + i.field("imm"))
        was_set = bit in self.atomic
        if i.name == "acquire":
            self.atomic.add(bit)
        else:
            self.atomic.discard(bit)
        i.tasklet.zero = not was_set
        i.conclude(Outcome(int(was_set), source, 0, False))

    def _run_bit(self, i: Instruction) -> None:
        source = i.register("ra")
        bit = fold(source + i.field("imm"))
        was_set = bit in self.run_bits or bit == RUN_BITS
        outcome = Outcome(int(was_set), source, 0, i.tasklet.zero)
        if not was_set and bit < RUN_BITS and i.name in ("boot", "resume"):
            self.run_bits.add(bit)
            if i.name == "boot" and bit < TASKLETS:
                self.tasklets[bit].pc = 0
        elif i.name == "clr_run":
            self.run_bits.discard(bit)
        i.tasklet.zero = not was_set
        i.conclude(outcome)

    def _stop(self, i: Instruction) -> None:
        self.run_bits.discard(i.tasklet.id)
        i.conclude(Outcome(1, i.tasklet.id, 0, i.tasklet.zero))

    def _call(self, i: Instruction) -> None:
        target = i.register("ra") + (i.field("off") if i.has("off") else i.register("rb"))
        i.set_result((i.tasklet.pc + 1) % IRAM_WORDS)
        i.tasklet.pc = target % IRAM_WORDS

    def _time(self, i: Instruction) -> None:
        value = self.time >> 4
        self._tick()
        if i.name == "time_cfg":
            request = i.register("rb")
            if request & 1:
                self.time = 0
            if request & 6:
                self.counts = request & 6 != 6
        i.set_result(value & MASK32)
        i.conclude(Outcome(value, 0, 0, False))

    def _fault(self, i: Instruction) -> None:
        self._raise("bkp", i, i.field("imm") & 0xFF_FFFF)

    def _nothing(self, i: Instruction) -> None:
        i.conclude(Outcome(0, 0, 0, False))


def fold(value: int) -> int:
    """Give the number of an atomic or run bit: the low byte xor the one above it."""
    return (value >> 8 ^ value) & 0xFF


Handler = Callable[[Machine, Instruction], None]


def _handlers() -> dict[str, Handler]:
    groups: list[tuple[Handler, Iterable[str]]] = [
        (Machine._arithmetic, ["add", "addc", "sub", "subc", "rsub", "rsubc"]),
        (Machine._logic, values.LOGIC),
        (Machine._shift, values.SHIFTS),
        (Machine._shift_add, values.SHIFT_ADDS),
        (Machine._unary, values.UNARY),
        (Machine._binary, ["cmpb4", "hash"]),
        (Machine._binary, [f"mul_{a}_{b}" for a in BYTES for b in BYTES]),
        (Machine._move, ["movd", "swapd"]),
        (Machine._mul_step, ["mul_step"]),
        (Machine._div_step, ["div_step"]),
        (Machine._load, ["lbs", "lbu", "lhs", "lhu", "lw", "ld"]),
        (Machine._store, [f"s{size}{by}" for size in SIZES for by in ("", "_id")]),
        (Machine._dma, ["ldma", "sdma", "ldmai"]),
        (Machine._atomic, ["acquire", "release"]),
        (Machine._run_bit, ["boot", "resume", "clr_run", "read_run"]),
        (Machine._stop, ["stop"]),
        (Machine._call, ["call"]),
        (Machine._time, ["time", "time_cfg"]),
        (Machine._fault, ["fault"]),
        (Machine._nothing, ["nop", "tell"]),
    ]
    return {name: handler for handler, names in groups for name in names}


BYTES = ("sh", "sl", "uh", "ul")
HANDLERS: dict[str, Handler] = _handlers()
