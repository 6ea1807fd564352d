# SPDX-License-Identifier: BSD-3-Clause
"""Programs have the debug information of their sources, for the code that they have become."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from dpu.asm.lines import LineTable, read_line_units
from dpu.dwarf.constants import Attribute, Tag
from dpu.dwarf.entries import Entry, Unit, read_units
from dpu.dwarf.frames import CallFrames
from dpu.dwarf.locations import find_in_list
from dpu.dwarf.operations import read_steps
from dpu.elf.program import ProgramFile
from dpu.toolchain.ir.code import Code
from dpu.toolchain.ir.effects import register_set
from dpu.toolchain.ir.operands import Register, code_label
from dpu.toolchain.link.program import Program
from dpu.toolchain.link.register_values import RegisterValues, Snapshot

TEXT = """#include <stdint.h>
#include <attributes.h>
__host uint32_t count, result;
__mram_ptr uint64_t *far;
static __noinline uint64_t sum(const uint32_t *values, uint32_t n)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += values[i] / 3;
    return total;
}
int main(void)
{
    uint32_t table[8];
    for (uint32_t i = 0; i < 8; i++)
        table[i] = i * count;
    result = (uint32_t)sum(table, count);
    return 0;
}
"""


def units_of(program: ProgramFile) -> list[Unit]:
    sections = [program.section(name) for name in (".debug_info", ".debug_abbrev", ".debug_str")]
    return read_units(*[section.data for section in sections if section is not None])


def find(units: list[Unit], tag: int, name: str) -> Entry:
    found = [e for unit in units for e in unit.root.walk() if e.tag == tag and e.name == name]
    wanted = {Attribute.LOW_PC, Attribute.TYPE}
    return next((e for e in found if e.values.keys() & wanted), found[0])


@pytest.fixture(params=["-O0", "-O2", "-Os"])
def program(compile_text: Callable[..., Program], request: pytest.FixtureRequest) -> ProgramFile:
    return ProgramFile(compile_text(TEXT, level=request.param).elf)


def test_functions_are_where_their_symbols_are(program: ProgramFile) -> None:
    units = units_of(program)
    for name in ("main", "sum"):
        entry, symbol = find(units, Tag.SUBPROGRAM, name), program.symbol(name)
        assert entry.number(Attribute.LOW_PC) == symbol.value
        assert entry.number(Attribute.HIGH_PC) == symbol.size


def test_variables_are_where_their_symbols_are(program: ProgramFile) -> None:
    entry = find(units_of(program), Tag.VARIABLE, "count")
    location = entry.block(Attribute.LOCATION)
    assert location is not None
    assert next(read_steps(location)).operands == (program.symbol("count").value,)


def test_units_have_their_line_tables(program: ProgramFile) -> None:
    section = program.section(".debug_line")
    assert section is not None
    tables = {unit.offset: unit for unit in read_line_units(section.data)}
    unit = find(units_of(program), Tag.SUBPROGRAM, "main").unit
    table = tables[unit.root.number(Attribute.STMT_LIST) or 0]
    entry = find([unit], Tag.VARIABLE, "count")
    file = table.files[entry.number(Attribute.DECL_FILE) or 0]
    assert file.endswith("source.c") and entry.number(Attribute.DECL_LINE) == 3
    row = LineTable(table.rows).find(program.symbol("sum").value)
    assert row is not None and 5 <= row.line <= 8
    assert any(row.ends_prologue for row in table.rows)


def test_arguments_are_in_the_registers_of_the_dpu(compile_text: Callable[..., Program]) -> None:
    program = ProgramFile(compile_text(TEXT, level="-O2").elf)
    units = units_of(program)
    first = program.symbol("sum").value
    parameters = [
        e for e in find(units, Tag.SUBPROGRAM, "sum").children if e.tag == Tag.FORMAL_PARAMETER
    ]
    lists = program.section(".debug_loc")
    assert lists is not None
    found = {}
    for entry in parameters:
        offset = entry.number(Attribute.LOCATION)
        assert offset is not None
        expression = find_in_list(lists.data, offset, entry.unit.base, first)
        assert expression is not None
        found[entry.name] = next(read_steps(expression)).operands
    # a0 and a1 are r1 and r0.
    assert found == {"values": (1,), "n": (0,)}


def test_a_pointer_into_mram_is_marked(program: ProgramFile) -> None:
    units = units_of(program)
    entry = find(units, Tag.VARIABLE, "far")
    entries = {e.offset: e for unit in units for e in unit.root.walk()}
    pointer = entries[entry.number(Attribute.TYPE) or 0]
    marks = [child.values[Attribute.CONST_VALUE].value for child in pointer.children]
    assert pointer.tag == Tag.POINTER_TYPE and marks == ["mram"]


def test_frames_lead_to_the_return_address(program: ProgramFile) -> None:
    section = program.section(".debug_frame")
    assert section is not None
    frames = CallFrames(section.data)
    for name in ("main", "sum"):
        symbol = program.symbol(name)
        rule = frames.find(symbol.value)
        assert rule is not None
        assert (rule.base_register, rule.base_offset, rule.return_register) == (22, 0, 23)
        assert frames.find(symbol.value + symbol.size - 8) is not None
    # main calls: in the middle it has a frame, with its return address in it.
    main = program.symbol("main")
    rules = [frames.find(main.value + at) for at in range(0, main.size, 8)]
    assert any(rule is not None and rule.base_offset and 23 in rule.saved for rule in rules)
    assert frames.find(program.symbol("__bootstrap").value) is None


def test_sections_are_not_loaded(program: ProgramFile) -> None:
    for section in program.sections:
        assert not (section.name.startswith(".debug") and section.is_allocated)


def moved(*writes: tuple[str, int]) -> Code:
    """Code with an instruction, at its address, that writes a register; "-" for none."""
    code = Code()
    for address, (mnemonic, register) in enumerate((*writes, ("add", 7))):
        code.place(code_label(4 * address))
        if mnemonic != "-":
            code.emit(mnemonic, "rri", Register(register), Register(1), 1)
    return code


@pytest.mark.parametrize(
    ("before", "after", "right"),
    [
        # A copy that is dropped: r5 never has the value.
        ([("add", 5), ("add", 6)], [("-", 0), ("add", 6)], [True, False, False]),
        # An operation that moves down.
        ([("add", 5), ("add", 6)], [("-", 0), ("add", 5)], [True, False, True]),
        # An operation that takes over the register of a copy.
        ([("add", 6), ("add", 5)], [("add", 5), ("-", 0)], [True, False, True]),
        ([("add", 5), ("add", 5)], [("add", 5), ("add", 5)], [True, True, True]),
    ],
)
def test_values_that_moved_are_not_claimed(
    before: list[tuple[str, int]], after: list[tuple[str, int]], right: list[bool]
) -> None:
    values = RegisterValues(Snapshot(moved(*before)), moved(*after))
    assert [values.are_right(4 * at, register_set(Register(5))) for at in range(3)] == right


def test_damaged_sections_are_read_or_left_out(
    compile_text: Callable[..., Program], rng: random.Random
) -> None:
    program = ProgramFile(compile_text(TEXT).elf)
    sections: dict[str, Any] = {s.name: s.data for s in program.sections}
    for _ in range(300):
        damaged = {}
        for name, data in sections.items():
            new = bytearray(data)
            for _ in range(rng.randrange(4)):
                if new:
                    new[rng.randrange(len(new))] = rng.randrange(256)
            damaged[name] = bytes(new[: rng.randrange(len(new) + 1)] if rng.random() < 0.1 else new)
        units = read_units(*(damaged[f".debug_{part}"] for part in ("info", "abbrev", "str")))
        for unit in units:
            for entry in unit.root.walk():
                assert entry.name is not None
        frames = CallFrames(damaged[".debug_frame"])
        for address in range(0x80000000, 0x80000400, 64):
            frames.find(address)
