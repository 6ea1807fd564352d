# SPDX-License-Identifier: BSD-3-Clause
"""Every form: text to word to text, against the table that the reference reads for itself."""

from __future__ import annotations

import random

import pytest

from dpu import _isa, isa
from dpu.asm.printer import write_word
from dpu.disasm import disassemble, disassemble_raw
from tests.dpu.asm.programs_to_run import words_of
from tests.dpu.reference import Table, read_table
from tests.dpu.support.native import SOURCES
from tests.support.full import FULL, share

TABLE: Table = read_table(SOURCES / "isa")
FORMS = list(TABLE)
# Number of words of each form: the boundaries of every operand, then random ones.
RANDOM_WORDS = 12


def operand_text(name: str, value: int, condition: str | None) -> str:
    constants = ["zero", "one", "lneg", "mneg", "id", "id2", "id4", "id8"]
    if name in ("rc", "ra", "rb"):
        return f"r{value}" if value < 24 else constants[value - 24]
    if name in ("dc", "db"):
        return f"d{value // 2 * 2}"
    if name == "zero":
        return "zero"
    if name == "endian":
        return "!big" if value else "!little"
    if name == "cc":
        return condition or f"?{value}"
    return str(value)


def samples(form: isa.Form) -> list[dict[str, int]]:
    """Return operands that a form can have: all at their bounds, and random ones."""
    rng = random.Random(form.name)
    codes = list(form.conditions.values()) or [0]

    def choices(operand: isa.Operand) -> list[int]:
        if operand.name == "cc":
            return codes
        if operand.name in ("rc", "rb"):
            return [0, 23, rng.randrange(24)]
        if operand.name in ("dc", "db"):
            return [0, 22, 2 * rng.randrange(12)]
        if operand.name == "ra":
            return list(range(32))
        if operand.name == "zero":
            return [0]
        half = 1 << max(operand.bits - 1, 0)
        if operand.signed:
            return [-half, -1, 0, 1, half - 1, rng.randrange(-half, half)]
        return [0, 1, half, 2 * half - 1, rng.randrange(2 * half)]

    found = []
    every = {operand.name: choices(operand) for operand in form.operands}
    for name, values in every.items():
        for value in values if FULL else rng.sample(values, min(len(values), 6)):
            found.append({key: rng.choice(some) for key, some in every.items()} | {name: value})
    for _ in range(share(4, RANDOM_WORDS)):
        found.append({key: rng.choice(some) for key, some in every.items()})
    return found or [{}]


def statements(form: isa.Form) -> list[tuple[str, dict[str, int]]]:
    """Return texts of a form, with the operands that they must have."""
    found = []
    for operands in samples(form):
        if _isa.encode(form.index, list(operands.values())) is None:
            # Some forms take only a part of the registers.
            assert operands["ra"] == 24 or (operands["ra"] < 24) == (form.form == "rki")
            continue
        names = {code: name for name, code in form.conditions.items()}
        texts = [operand_text(name, value, names.get(value)) for name, value in operands.items()]
        found.append((f"{form.text_mnemonic} {', '.join(texts)}", operands))
    assert found, form.name
    return found


# Minutes under sanitizers, where the fuzz target of the decoder has every form.
@pytest.mark.nosanitize
@pytest.mark.parametrize("form", isa.INSTRUCTIONS, ids=lambda form: form.name)
def test_text_and_word_mean_the_same(form: isa.Form) -> None:
    texts = statements(form)
    words = words_of("\n".join(text for text, _ in texts), start_files=False)
    reference = TABLE[form.name]
    for (text, operands), word in zip(texts, words, strict=True):
        bits = {operand.name: operand.bits for operand in form.operands if operand.bits}
        expected = {name: value for name, value in operands.items() if name in bits}
        # The independent table's reading of the word.
        assert reference.matches(word), text
        decoded = reference.operands_of(word)
        for name, value in expected.items():
            assert (decoded[name] - value) % (1 << bits[name]) == 0, text
        # Our reading of the word, and that of its own text.
        raw = disassemble_raw(word)
        assert raw is not None
        assert raw[0] == form.name
        assert {**raw[1], **expected} == raw[1], text
    again = words_of("\n".join(str(disassemble(word)) for word in words), start_files=False)
    assert again == words
    printed = words_of("\n".join(write_word(word) for word in words), start_files=False)
    assert printed == words


def test_there_are_973_forms_and_the_reference_has_the_same() -> None:
    assert len(isa.INSTRUCTIONS) == 973
    assert sorted(isa.FORMS_BY_NAME) == sorted(str(form) for form in FORMS)
    for form in FORMS:
        ours = isa.FORMS_BY_NAME[str(form)]
        assert (ours.mask, ours.match) == (form.mask, form.match)


@pytest.mark.parametrize("seed", range(4))
def test_random_words_survive_being_printed(seed: int) -> None:
    rng = random.Random(seed)
    words = []
    for form in rng.sample(FORMS, 500):
        free = ~form.mask & 0xFFFF_FFFF_FFFF
        words.append(form.match | (rng.getrandbits(48) & free))
    text = "\n".join(write_word(word) for word in words)
    assert words_of(text, start_files=False) == words


def test_a_word_that_is_no_instruction_is_none_and_is_printed_as_a_number() -> None:
    word = next(w for w in (0, 0xFFFF_FFFF_FFFF, 0x7FFF_FFFF_FFFF) if disassemble(w) is None)
    assert disassemble_raw(word) is None
    assert write_word(word).split() == [".quad", f"{word:#014x}"]


def test_encode_refuses_what_does_not_fit() -> None:
    assert isa.encode("add:rri", rc=0, ra=1, imm=5) == words_of("add r0, r1, 5")[0]
    with pytest.raises(ValueError, match="unknown form 'add:xyz'"):
        isa.encode("add:xyz")
    with pytest.raises(ValueError, match="no operand rb"):
        isa.encode("add:rri", rb=1)
    with pytest.raises(ValueError, match="cannot encode"):
        isa.encode("add:rri", rc=24)
    with pytest.raises(ValueError, match="cannot encode"):
        isa.encode("add:rri", imm=1 << 40)


@pytest.mark.parametrize("mnemonic", ["sub", "subc"])
@pytest.mark.parametrize("operands", ["r5, r3, r4", "r5, r3, 7", "zero, r3, r4", "zero, r3, 7"])
def test_conditions_that_set_a_register_have_the_codes_that_compilers_use(
    mnemonic: str, operands: str
) -> None:
    """64-bit comparisons are `sub zero, l, l` and `subc r, h, h, xz`; code 10, and not 36."""
    for name, code, other in [("z", 6, 34), ("nz", 7, 35), ("xz", 10, 36), ("xnz", 11, 37)]:
        (word,) = words_of(f"{mnemonic} {operands}, {name}", start_files=False)
        reference = TABLE.decode(word)
        assert reference is not None
        assert reference.operands_of(word)["cc"] == code
        assert reference.conditions[code] == reference.conditions[other] == name
