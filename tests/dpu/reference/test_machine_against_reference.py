# SPDX-License-Identifier: BSD-3-Clause
"""Every form of every instruction does in the machine what it does in the reference."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable

import pytest

from tests.dpu.reference import Form, Table
from tests.dpu.reference.machine import HANDLERS
from tests.dpu.reference.pairing import DMA, MEMORY, RUN_BIT, SCALE, Pair, draw_case, draw_word
from tests.dpu.support import native
from tests.dpu.support.native import Decoded, FormInfo, NativeMachine

# The machine is built here without sanitizers; tests/dpu/unit runs it with them.
pytestmark = pytest.mark.nosanitize

MakeMachine = Callable[[int], NativeMachine]

# --- words ------------------------------------------------------------------------------------


def form_index(library: ctypes.CDLL, form: Form) -> int:
    index = library.dpu_form_find(form.mnemonic.encode(), form.suffix.encode())
    assert index != native.NO_FORM, str(form)
    return int(index)


def names_of(library: ctypes.CDLL, index: int) -> tuple[FormInfo, list[str]]:
    """Give a form, and the operands that it has bits for."""
    info = FormInfo()
    assert library.dpu_form_info(index, ctypes.byref(info))
    library.dpu_operand_name.restype = ctypes.c_char_p
    numbers = list(info.operands)[: info.operand_count]
    return info, [library.dpu_operand_name(number).decode() for number in numbers]


def test_there_are_973_forms_and_the_machine_names_them_all(
    table: Table, machine_library: ctypes.CDLL
) -> None:
    found = {form_index(machine_library, form) for form in table}
    assert found == set(range(973))
    for form in table:
        info, operands = names_of(machine_library, form_index(machine_library, form))
        assert (info.mnemonic.decode(), info.form.decode()) == (form.mnemonic, form.suffix)
        assert (info.mask, info.match, info.canon) == (form.mask, form.match, form.canon)
        widths = dict(zip(operands, info.widths, strict=False))
        assert {name: field.width for name, field in form.fields.items()}.items() <= widths.items()


def test_encoding_and_decoding_are_inverse_for_every_form(
    table: Table, machine_library: ctypes.CDLL, rng: random.Random
) -> None:
    for form in table:
        index = form_index(machine_library, form)
        _, operands = names_of(machine_library, index)
        for _ in range(10 * SCALE):
            expected = draw_word(rng, form)
            values = form.operands_of(expected)
            assert table.decode(expected) is form, f"{form} {expected:012x}"
            given = Decoded(index, len(operands))
            for k, name in enumerate(operands):
                given.values[k] = values.get(name, 0)
            word = native.u64()
            assert machine_library.dpu_encode(ctypes.byref(given), ctypes.byref(word)), str(form)
            assert word.value == expected, f"{form} {values}"
            decoded = Decoded()
            assert machine_library.dpu_decode(word, ctypes.byref(decoded)), str(form)
            assert decoded.form == index, f"{form} {expected:012x}"
            found = dict(zip(operands, decoded.values, strict=False))
            assert {name: found[name] for name in values} == values, str(form)


def test_operands_that_do_not_fit_are_refused(
    table: Table, machine_library: ctypes.CDLL, rng: random.Random
) -> None:
    beyond = {"rc": 24, "rb": 24, "dc": 1, "db": 24, "ra": 32, "cc": 64}
    for form in table:
        index = form_index(machine_library, form)
        info, operands = names_of(machine_library, index)
        fitting = Decoded(index, len(operands))
        values = form.operands_of(draw_word(rng, form))
        for k, name in enumerate(operands):
            fitting.values[k] = values.get(name, 0)
        word = native.u64()
        assert machine_library.dpu_encode(ctypes.byref(fitting), ctypes.byref(word)), str(form)
        for k, name in enumerate(operands):
            if name == "zero":  # it has no value
                continue
            kept = fitting.values[k]
            for value in (beyond.get(name, 1 << info.widths[k]), -(1 << 40)):
                fitting.values[k] = value
                fits = machine_library.dpu_encode(ctypes.byref(fitting), ctypes.byref(word))
                assert not fits, f"{form}: {name} = {value}"
            fitting.values[k] = kept


def test_any_word_is_decoded_alike(
    table: Table, machine_library: ctypes.CDLL, rng: random.Random
) -> None:
    index = {form_index(machine_library, form): form for form in table}
    decodable = 0
    for n in range(4000 * SCALE):
        word = rng.getrandbits(48)
        if n % 2:  # of some form, but for what its operands may be
            form = rng.choice(table.forms)
            word = word & ~form.mask | form.match
        expected = table.decode(word)
        decoded = Decoded()
        known = machine_library.dpu_decode(native.u64(word), ctypes.byref(decoded))
        assert known == (expected is not None), f"{word:012x} {expected}"
        if expected is not None:
            decodable += 1
            assert index[decoded.form] is expected, f"{word:012x}"
    assert decodable > 1000


# --- single instructions ----------------------------------------------------------------------


def check_case(pair: Pair, form: Form) -> bool:
    """Execute one random instruction of a form on both sides; False for a fault."""
    model, real, rng = pair.model, pair.real, pair.rng
    name = form.mnemonic.partition(".")[0]
    touches_memory = name in MEMORY or name in DMA
    # The result of a call at the last instruction, 0 or 4096, is not known.
    places = [0, 1, 2047, 4094 if name == "call" else 4095]
    tasklet, place = rng.randrange(24), rng.choice(places)
    about = draw_case(pair, form, tasklet, place)
    # One tasklet and several are not run by the same code.
    if rng.random() < 0.4:
        model.step(model.tasklets[tasklet])
        real.step(tasklet)
    else:
        model.round()
        real.round()
    pair.check_fault(about)
    unknown = form.suffix in ("sss", "ssi") and model.fault is not None
    pair.check_tasklets([tasklet], about, carry=not unknown)
    if touches_memory:
        pair.check_memories(about, [(0, 1 << 16), ((64 << 20) - 4096, 4096)])
    if name == "ldmai":
        assert real.iram() == model.iram, about
        pair.fill([pair.stop] * 4096)
    if name in RUN_BIT or name == "stop":
        pair.check_tasklets({id for id in range(24) if id in model.run_bits}, about)
    if name in ("acquire", "release"):
        assert real.atomic == model.atomic, about
    if name.startswith("time"):
        assert real.counter == model.time, about
    pair.fill([pair.stop], place)
    if model.fault is None:
        assert real.run_bits == model.run_bits, about
        return True
    pair.clear_fault()
    return False


def test_every_form_does_what_the_reference_does(
    table: Table, native_machine: MakeMachine, rng: random.Random
) -> None:
    pair = Pair(table, native_machine(native.ACCOUNTING_VENDOR), rng)
    often = MEMORY | DMA | RUN_BIT
    faults = 0
    for form in table:
        for _ in range((40 if form.mnemonic.partition(".")[0] in often else 8) * SCALE):
            faults += not check_case(pair, form)
    assert faults > 100


@pytest.mark.parametrize("name", ["xor", "lw", "ldma", "acquire", "boot", "time"])
def test_a_planted_difference_is_found(
    table: Table,
    native_machine: MakeMachine,
    rng: random.Random,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setitem(HANDLERS, name, HANDLERS["nop"])
    pair = Pair(table, native_machine(native.ACCOUNTING_VENDOR), rng)
    forms = [form for form in table if form.mnemonic == name]
    with pytest.raises(AssertionError, match=f"seed .*: {name}:"):
        for _ in range(50):
            for form in forms:
                check_case(pair, form)
