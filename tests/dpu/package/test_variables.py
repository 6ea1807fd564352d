# SPDX-License-Identifier: BSD-3-Clause
"""Programs of sets, and their variables."""

from __future__ import annotations

import io
import warnings

import pytest

from dpu import DpuError, DpuSymbol
from dpu.driver import DpuProgram, DpuVariable
from tests.dpu.package.programs import COUNTER, build, command

pytestmark = [
    pytest.mark.usefixtures("threads_of_the_library"),
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_program_is_loaded_from_memory(make_set, kind):
    one = make_set(nr_dpus=1)
    program = one.load(kind(build(COUNTER)))
    assert isinstance(program, DpuProgram)
    one.exec()
    assert one.counter.uint32() == 1


def test_program_is_loaded_from_a_file(make_set, tmp_path):
    path = tmp_path / "counter.dpu"
    path.write_bytes(build(COUNTER))
    assert make_set(nr_dpus=1, binary=path).program.path == str(path)
    assert make_set(nr_dpus=1, binary=str(path)).program.path == str(path)


def test_program_is_built_from_assembly(make_set, tmp_path):
    path = tmp_path / "counter.S"
    path.write_text(COUNTER)
    for source in (io.StringIO(COUNTER), path, str(path), [io.StringIO(COUNTER)]):
        one = make_set(nr_dpus=1, asm_source=source)
        one.exec()
        assert one.counter.uint32() == 1


def test_one_kind_of_program_is_needed(make_set):
    one = make_set(nr_dpus=1)
    for arguments in ({}, {"binary": b"x", "asm_source": "x.S"}, {"asm_source": []}):
        with pytest.raises(DpuError, match="^one and only one source or binary program"):
            one.load(**arguments)


def test_symbols_of_a_program(three):
    symbols = three.program.fetch_all_symbols()
    assert {"main", "cmd", "counter", "words", "buffer"} <= set(symbols)
    buffer = three.program.get_symbol("buffer")
    assert (buffer.name, buffer.value(), buffer.size()) == ("buffer", 0x08000000, 65536)
    assert three.program.get_symbol("nothing") is None
    assert set(three.symbols) == set(symbols)


def test_variables_are_attributes(three):
    three.exec()
    assert isinstance(three.counter, DpuVariable)
    assert three.counter.uint32() == [1, 1, 1]
    assert three.dpus()[0].counter.int32() == 1
    three.counter = [command(5), None, command(7)]
    assert three.counter.uint32() == [5, 1, 7]
    assert three.ranks()[0].counter.uint32() == [5, 1, 7]
    assert "counter" in dir(three)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        three.nothing  # noqa: B018
    with pytest.raises(TypeError):
        three.counter.int64()
    with pytest.raises(TypeError, match="bytes-like object is required, not 'int'"):
        three.counter = 5


def test_other_attributes_are_python_ones(three):
    three.remark = "mine"
    assert three.remark == "mine"


def test_methods_win_over_variables_of_their_name(make_set):
    one = make_set(nr_dpus=1)
    with pytest.warns(RuntimeWarning, match="copy"):
        one.load(build(COUNTER))
    assert one.symbols["copy"].uint32() == 7
    one.symbols["copy"] = command(9)
    assert one.symbols["copy"].uint32() == 9
    with pytest.raises(AttributeError, match="symbols"):
        one.copy = command(1)
    with pytest.raises(KeyError):
        one.symbols["nothing"]


def test_loading_a_part_takes_the_variables_of_the_whole(three):
    three.dpus()[1].load(build(COUNTER))
    assert not hasattr(three, "counter")
    assert three.program is None
    for one in three:
        assert one.counter.uint32() == 0
    with pytest.raises(DpuError, match="different programs"):
        three.copy("counter", bytes(4))


def test_no_warning_without_a_reason(make_set):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_set(nr_dpus=1, asm_source=io.StringIO("stop\n"))


def test_symbols_are_values():
    symbol = DpuSymbol("x", (0x100, 8))
    assert (symbol.name, symbol.value(), symbol.size(), symbol.c_symbol) == ("x", 256, 8, (256, 8))
    for wrong in ((1,), (-1, 0), (0, 1 << 32), ("a", 1), 5):
        with pytest.raises((TypeError, ValueError)):
            DpuSymbol("x", wrong)


FORGED = """
    .globl main
main: jump r23
    .section .dpu_host
    .globl small
    .type small, @object
    .size small, 4
small: .word 7
    .globl huge
    .type huge, @object
    .size huge, {size}
huge: .word 7
"""


@pytest.mark.parametrize("size", [0xFFFFFFF0, 0x7FFFFFFC, 262144])
def test_a_symbol_with_a_forged_size_is_refused_before_memory_is_taken(make_set, size):
    dpus = make_set(nr_dpus=64, asm_source=io.StringIO(FORGED.format(size=size)))
    with pytest.raises(DpuError, match="^invalid wram access") as raised:
        dpus.huge  # noqa: B018
    assert raised.value.name == "DPU_ERR_INVALID_WRAM_ACCESS"
    assert "'huge' at 0x" in raised.value.detail and f"claims {size} bytes" in raised.value.detail
    assert dpus.small.uint32() == [7] * 64
