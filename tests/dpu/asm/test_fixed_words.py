# SPDX-License-Identifier: BSD-3-Clause
"""Words that are written down: encoder and decoder read one table, and would err alike.

In ``fixed_words.txt`` each operand has distinct values that are not 0, in each layout of operands;
``forms.txt`` has what else a form is.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpu.disasm import disassemble
from dpu.isa import FORMS_BY_NAME, encode

HERE = Path(__file__).resolve().parent
ISA = HERE.parents[2] / "csrc/dpu/isa"
ROWS = [
    line.split()
    for line in (HERE / "fixed_words.txt").read_text().splitlines()
    if not line.startswith("#")
]


def operands_of(words: list[str]) -> dict[str, int]:
    return {name: int(value) for name, _, value in (word.partition("=") for word in words)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]}-{row[0]}")
def test_a_word_has_its_operands(row: list[str]) -> None:
    word, name, *shown = row
    wanted = operands_of(shown)
    found = disassemble(int(word, 16))
    assert found is not None and found.form.name == name
    fields = [operand for operand in found.form.operands if operand.bits != 0]
    assert {field.name for field in fields} == set(wanted)
    for field in fields:
        mask = (1 << field.bits) - 1
        assert found.operands[field.name] & mask == wanted[field.name] & mask, field.name
    assert encode(name, **wanted) == int(word, 16)


def test_each_place_of_an_operand_has_words() -> None:
    text = (ISA / "instructions.def").read_text()
    forms = {
        f"{mnemonic}:{form}": re.split(r",\s*", fields)
        for mnemonic, form, fields in re.findall(
            r'^FORM\(\w+, "([^"]+)", "([^"]*)", .*(?:OPERANDS|CHECKED)\d\((.*)\)\)$', text, re.M
        )
    }
    assert len(forms) == len(FORMS_BY_NAME)
    known = set(re.findall(r"^FIELD\((\w+)", (ISA / "fields.def").read_text(), re.M))
    assert known - {field for row in ROWS for field in forms[row[1]]} == set()


def test_each_form_is_what_is_written_down() -> None:
    destinations = ["none", "discard", "r32", "d64s", "d64u", "d64"]
    found = {
        f"{form.name} {form.mask:012x} {form.match:012x} {form.canon:012x} "
        f"{destinations[form.destination]} {['-', 'z', 'zc'][form.flags]} "
        f"{'yes' if form.documented else 'no'}"
        for form in FORMS_BY_NAME.values()
    }
    lines = (HERE / "forms.txt").read_text().splitlines()
    assert found ^ {line for line in lines if not line.startswith("#")} == set()


def test_conditions_have_their_codes() -> None:
    lines = (HERE / "condition_codes.txt").read_text().splitlines()
    written = {name: operands_of(codes) for name, *codes in map(str.split, lines) if name != "#"}
    for name, codes in written.items():
        form = FORMS_BY_NAME[name]
        for condition, code in codes.items():
            assert form.condition_code(condition) == code, f"{name} {condition}"
        assert set(form.conditions.values()) == set(codes.values()), name
    # Each class of conditions is written down.
    tables = {tuple(form.conditions.items()) for form in FORMS_BY_NAME.values() if form.conditions}
    assert tables == {tuple(FORMS_BY_NAME[name].conditions.items()) for name in written}
