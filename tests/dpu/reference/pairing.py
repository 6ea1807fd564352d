# SPDX-License-Identifier: BSD-3-Clause
"""The machine and the reference interpreter in the same state, with random instructions for both.

``OFFCHIP_TEST_SEED`` asks for other numbers, ``OFFCHIP_TEST_SCALE`` for more of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable

from tests.dpu.reference import Form, Machine, Table
from tests.dpu.reference.machine import THREADS
from tests.dpu.support import native
from tests.dpu.support.native import NativeMachine

SEED = int(os.environ.get("OFFCHIP_TEST_SEED", "20240"))
SCALE = int(os.environ.get("OFFCHIP_TEST_SCALE", "1"))

BOUNDARIES = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x00FF00FF]
BOUNDARIES += [0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFF00, 0xFFFF0000, 0xFFFFFFFE, 0xFFFFFFFF]
ELSEWHERE = 100


def number(rng: random.Random, width: int = 32) -> int:
    """Draw a number that is near a boundary half of the time."""
    value = rng.choice(BOUNDARIES) if rng.random() < 0.5 else rng.getrandbits(rng.randint(1, 32))
    return value & (1 << width) - 1


def operand(rng: random.Random, form: Form, name: str) -> int:
    match name:
        case "rc" | "rb":
            return rng.randrange(24)
        case "dc" | "db":
            return rng.randrange(0, 24, 2)
        case "ra":
            constant = rng.random() < 0.2
            allowed = next((a for f, a in form.checks if f == form.fields["ra"]), range(32))
            return rng.choice([r for r in allowed if (r >= 24) == constant] or sorted(allowed))
        case "cc":
            return rng.choice(sorted(form.conditions))
        case _:
            return number(rng, form.fields[name].width)


def draw_word(rng: random.Random, form: Form) -> int:
    # A form may fix bits of an operand too.
    while True:
        word = form.encode(**{name: operand(rng, form, name) for name in form.fields})
        if form.matches(word):
            return word


class Pair:
    """The machine and the reference, in the same state."""

    def __init__(self, table: Table, native_machine: NativeMachine, rng: random.Random) -> None:
        self.table = table
        self.rng = rng
        self.real = native_machine
        self.model = Machine(table)
        self.stop = table["stop:ci"].encode()
        self.fill([self.stop] * 4096)
        content = rng.randbytes(1 << 16)
        self.real.wram[:] = content
        self.model.wram[:] = content
        for at in (0, (64 << 20) - len(content)):
            self.real.mram[at : at + len(content)] = content
            self.model.mram[at : at + len(content)] = content

    def fill(self, words: Iterable[int], start: int = 0) -> None:
        data = list(words)
        self.real.load(data, start)
        self.model.load(data, start)

    def set_tasklet(self, id: int, registers: list[int], pc: int) -> None:
        tasklet = self.model.tasklets[id]
        tasklet.registers[:] = registers
        tasklet.zero, tasklet.carry = self.rng.random() < 0.5, self.rng.random() < 0.5
        tasklet.pc = pc
        running = id in self.model.run_bits
        self.real.set_thread(id, registers, pc, tasklet.zero, tasklet.carry, running)

    def set_run_bits(self, bits: set[int]) -> None:
        self.model.run_bits = set(bits)
        self.real.run_bits = bits

    def set_counter(self) -> None:
        value, mode = self.rng.getrandbits(36), self.rng.choice([1, 2, 3])
        self.model.time, self.model.counts = value, mode != 3
        self.real.set_counter(value, mode)

    def clear_fault(self) -> None:
        """Forget a fault, and what its program has left locked or running."""
        self.model.fault = None
        self.real.clear_fault()
        for bit in self.model.atomic:
            self.real.set_atomic(bit, False)
        self.model.atomic.clear()
        self.set_run_bits(self.model.run_bits - THREADS)

    def check_tasklets(self, ids: Iterable[int], about: str, carry: bool = True) -> None:
        for id in ids:
            state, expected = self.real.thread(id), self.model.tasklets[id]
            found = list(state.registers)
            differ = {
                f"r{n}": f"{found[n]:#x} and not {value:#x}"
                for n, value in enumerate(expected.registers)
                if value != found[n]
            }
            assert not differ, f"{about}: {differ}"
            assert bool(state.zero) == expected.zero, f"{about}: ZF of {id}"
            assert not carry or bool(state.carry) == expected.carry, f"{about}: CF of {id}"
            assert state.pc == expected.pc, f"{about}: pc of {id}"

    def check_fault(self, about: str) -> None:
        result, expected = self.real.result, self.model.fault
        kind = native.FAULT_KINDS[result.fault]
        assert kind == (expected.kind if expected else None), about
        if expected is not None:
            assert result.fault_thread == expected.tasklet, about
            assert result.fault_pc == self.model.tasklets[expected.tasklet].pc, about
            assert result.breakpoint == expected.number or kind != "bkp", about

    def check_memories(self, about: str, mram: Iterable[tuple[int, int]] = ()) -> None:
        assert self.real.wram == self.model.wram, f"{about}: WRAM"
        for at, size in mram:
            assert self.real.mram[at : at + size] == self.model.mram[at : at + size], about


MEMORY = frozenset("lbs lbu lhs lhu lw ld sb sh sw sd sb_id sh_id sw_id sd_id".split())
DMA = frozenset(["ldma", "sdma", "ldmai"])
RUN_BIT = frozenset(["boot", "resume", "clr_run", "read_run"])


def aim(rng: random.Random, form: Form, word: int, registers: list[int]) -> None:
    """Give registers that are addresses values that are of use, mostly."""
    fields = form.operands_of(word)
    name = form.mnemonic.partition(".")[0]
    if rng.random() < 0.2 or fields.get("ra", 24) >= 24:
        return
    base = fields["ra"]
    if name in MEMORY:
        at = rng.choice([rng.randrange(0x10000) & -8, rng.randrange(0x10000), 0xFFF8, 0xFFFC])
        if form.suffix in ("esii", "esir", "ersi"):
            limit = rng.choice([at + rng.randint(0, 9), 0xFFFF, rng.randrange(0x10000)])
            registers[base] = (limit & 0xFFFF) << 16 | (at - fields["off"]) & 0xFFFF
        else:
            registers[base] = (at - fields["off"]) & 0xFFFF_FFFF
    elif name in DMA:
        near = rng.choice([rng.randrange(0x10000), 0x10000 - 8 * rng.randint(0, 4), 0x7FF8])
        far = rng.choice([rng.randrange(0x10000), (64 << 20) - 8 * rng.randint(0, 300)])
        registers[base] = rng.getrandbits(8) << 24 | near
        if fields["rb"] != base:
            registers[fields["rb"]] = far
    elif name in RUN_BIT:
        low = rng.randrange(65) if rng.random() < 0.5 else rng.randrange(24)
        registers[base] = low - fields["imm"] & 0xFFFF_FFFF


def run_bit_of(form: Form, word: int, tasklet: int, registers: list[int]) -> int | None:
    """Find which run bit an instruction is about."""
    if form.mnemonic not in RUN_BIT:
        return None
    fields = form.operands_of(word)
    constants = [0, 1, 0xFFFFFFFF, 0x80000000, tasklet, 2 * tasklet, 4 * tasklet, 8 * tasklet]
    value = (registers + constants)[fields["ra"]] + fields["imm"]
    return (value >> 8 ^ value) & 0xFF


def is_defined(
    form: Form, word: int, tasklet: int, registers: list[int], running: set[int]
) -> bool:
    """Tell whether what the instruction does is known; see the documentation of the machine."""
    bit = run_bit_of(form, word, tasklet, registers)
    if bit is None:
        return True
    return bit <= 64 and not (form.mnemonic == "clr_run" and bit in running and bit < 24)


def draw_case(pair: Pair, form: Form, tasklet: int, place: int) -> str:
    """Put an instruction and what it works on into both machines."""
    rng = pair.rng
    while True:
        word = draw_word(rng, form)
        registers = [number(rng) for _ in range(24)]
        aim(rng, form, word, registers)
        running = set(rng.sample(range(64), rng.randrange(6))) | {tasklet}
        if is_defined(form, word, tasklet, registers, running):
            break
    pair.fill([word], place)
    pair.set_run_bits(running)
    for id in running & THREADS:
        pair.set_tasklet(id, registers, place if id == tasklet else ELSEWHERE)
    if form.mnemonic in ("acquire", "release"):
        for bit in rng.sample(range(256), 60):
            value = rng.random() < 0.5
            pair.real.set_atomic(bit, value)
            (pair.model.atomic.add if value else pair.model.atomic.discard)(bit)
    if form.mnemonic.startswith("time"):
        pair.set_counter()
    values = ", ".join(f"{name}={value:#x}" for name, value in form.operands_of(word).items())
    return f"seed {SEED}: {form} {word:012x} ({values}) in tasklet {tasklet}"
