# SPDX-License-Identifier: BSD-3-Clause
"""Copies between the host and DPUs: sizes, array providers, lists, symbols, errors."""

from __future__ import annotations

import array
import gc
import mmap
import sys
from collections.abc import Callable

import numpy as np
import pytest

from dpu import DpuError, DpuSet, DpuSymbol
from offchip.errors import ReadOnlyError
from tests.dpu.package.programs import COUNTER, build
from tests.support.tensors import Interface, Tensor, WritableTensor

pytestmark = [
    pytest.mark.usefixtures("threads_of_the_library"),
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
]

PAGE = mmap.PAGESIZE
MRAM_SIZES = [0, 8, 24, PAGE - 8, PAGE, PAGE + 8, 65536]
PROVIDERS: dict[str, Callable[[bytes], object]] = {
    "bytearray": bytearray,
    "memoryview": lambda data: memoryview(bytearray(data)),
    "array": lambda data: array.array("B", data),
    "array of words": lambda data: array.array("Q", data),
    "numpy": lambda data: np.frombuffer(data, np.uint8).copy(),
    "numpy words": lambda data: np.frombuffer(data, np.uint32).copy(),
    "numpy matrix": lambda data: np.frombuffer(data, np.uint16).reshape(-1, 4).copy(),
}


def pattern(size: int, seed: int = 0) -> bytes:
    return np.random.default_rng(seed).bytes(size)


@pytest.mark.parametrize("size", MRAM_SIZES)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_is_copied_in_bytes(three, provider, size):
    data = pattern(size)
    three.copy("buffer", PROVIDERS[provider](data))
    targets = [PROVIDERS[provider](bytes(size)) for _ in range(3)]
    three.copy(targets, "buffer")
    for target in targets:
        assert bytes(memoryview(target).cast("B") if size else b"") == data


@pytest.mark.parametrize("size", [0, 4, 8, 12, 4096])
def test_read_only_memory_can_be_sent(three, size):
    data = pattern(size)
    constant = np.frombuffer(data, np.uint8)
    for source in (data, memoryview(data), constant):
        three.copy("words", bytes(4096))
        three.copy("words", source)
        assert bytes(three.words.data()[2][:size]) == data
        three.copy("words", [source] * 3)
        assert bytes(three.words.data()[1][:size]) == data


def test_list_has_a_buffer_for_each_dpu(three):
    three.copy("words", bytes(4096))
    three.copy("words", [pattern(16, 1), None, pattern(16, 3)])
    targets = [bytearray(16), bytearray(16), None]
    three.copy(targets, "words")
    assert targets == [pattern(16, 1), bytes(16), None]
    three.copy("words", [None, None, None], size=16)
    three.dpus()[2].copy(target := [bytearray(16)], "words")
    assert target[0] == pattern(16, 3)


def test_single_target_of_several_dpus_gets_the_last(three):
    three.copy("words", [pattern(16, seed) for seed in range(3)])
    target = bytearray(16)
    three.copy(target, "words")
    assert target == pattern(16, 2)


def test_size_and_offset_choose_a_part(three):
    three.copy("words", bytes(4096))
    three.copy("words", b"\xff" * 64, size=8, offset=16)
    assert three.words.data()[0][12:28] == bytes(4) + b"\xff" * 8 + bytes(4)
    target = bytearray(b"x" * 12)
    three.dpus()[0].copy(target, "words", size=4, offset=20)
    assert target == b"\xff" * 4 + b"x" * 8


def test_raw_addresses_reach_every_memory(three):
    for address in (0x400, 0x08001000, 0x80000000 + 8 * 100):
        symbol = DpuSymbol("raw", (address, 64))
        data = b"".join(pattern(6, seed) + bytes(2) for seed in range(8))
        three.copy(symbol, data)
        three.dpus()[1].copy(target := bytearray(64), symbol)
        assert target == data


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("words", "buffer"), "can only execute Host <-> DPU transfers"),
        ((bytearray(8), bytearray(8)), "can only execute Host <-> DPU transfers"),
        (("nothing", bytearray(8)), "undefined symbol"),
        (("words", bytes(5)), "invalid wram access"),
        (("buffer", bytes(12)), "invalid mram access"),
        (("words", bytes(4100)), "invalid memory symbol access"),
        (("words", bytes(8), 16), "host buffer is too small"),
        (("words", bytes(8), None, 4092), "invalid memory symbol access"),
        (("words", bytes(8), None, 1 << 40), "invalid memory symbol access"),
        (("words", [bytes(8)] * 2), "invalid number of host buffers for this DPU set"),
        (("words", [bytes(8), bytes(16), bytes(8)]), "invalid memory transfer"),
        (("words", [None] * 3), "invalid memory symbol access"),
        ((DpuSymbol("x", (0x80000000, 8)), bytes(4)), "invalid iram access"),
    ],
)
def test_copy_is_refused_with_the_documented_text(three, arguments, message):
    with pytest.raises(DpuError) as caught:
        three.copy(*arguments)
    assert str(caught.value) == message
    three.copy("words", [bytes(8)] * 3)


def test_rows_of_an_array_are_named_where_it_is_too_large(three):
    rows = np.arange(3 * 1024, dtype=np.int32).reshape(3, 1024)
    with pytest.raises(DpuError, match="^invalid memory symbol access") as caught:
        three.copy("words", rows)
    assert caught.value.detail.endswith(
        "; each DPU gets all 12288 bytes of an array of 2 dimensions; list(array) has a row for"
        " each of the 3 DPUs"
    )
    three.copy("words", list(rows))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("words", 5), TypeError),
        (("words", None), TypeError),
        (("words", ["x" * 8] * 3), TypeError),
        (("words", np.zeros(8, object)), TypeError),
        (("words", np.zeros((8, 8), np.uint32)[:, ::2]), ValueError),
        (("words", bytes(8), -1), ValueError),
        (("words", bytes(8), "8"), TypeError),
        (("words", bytes(8), None, -4), ValueError),
        (("wo\0rds", bytes(8)), ValueError),
        ((b"12345678", "words"), TypeError),
        (([b"12345678"] * 3, "words"), BufferError),
    ],
)
def test_wrong_arguments_are_refused_before_the_library(three, arguments, error):
    with pytest.raises(error):
        three.copy(*arguments)


def test_copy_needs_a_program():
    with DpuSet(nr_dpus=2, library="soft") as two:
        with pytest.raises(DpuError, match="^no program has been loaded in the dpu set"):
            two.copy("words", bytes(8))
        two.copy(DpuSymbol("raw", (0, 8)), bytes(8))


def test_buffers_are_free_again_after_a_copy(three):
    data = bytearray(16)
    three.copy("words", data)
    three.copy([data, None, None], "words")
    data.extend(b"more")
    with pytest.raises(DpuError):
        three.copy("nothing", data)
    data.extend(b"more")


def test_asynchronous_buffers_are_kept_until_sync(three):
    data = bytearray(pattern(65536))
    three.copy("buffer", data, async_mode=True)
    with pytest.raises(BufferError):
        data.extend(b"more")
    three.sync()
    data.extend(b"more")
    three.copy("buffer", [bytearray(pattern(65536, seed)) for seed in range(3)], async_mode=True)
    gc.collect()
    targets = [bytearray(65536) for _ in range(3)]
    three.copy(targets, "buffer", async_mode=True)
    three.sync()
    assert targets == [pattern(65536, seed) for seed in range(3)]
    for target in targets:
        target.clear()


def test_synchronous_operation_frees_what_was_kept(three):
    data = bytearray(64)
    three.copy("words", data, async_mode=True)
    three.copy("words", bytes(8))
    data.clear()


def test_asynchronous_mode_of_the_constructor():
    with DpuSet(nr_dpus=2, library="soft", binary=build(COUNTER), async_mode=True) as two:
        for number in range(50):
            two.counter = number.to_bytes(4, "little")
            two.exec()
        # Reading a variable waits, so that its value is there.
        assert two.counter.uint32() == [50, 50]


def test_copies_leave_no_reference(three):
    data = bytearray(64)
    before = sys.getrefcount(data)
    for _ in range(100):
        three.copy("words", data)
        three.copy([data, None, None], "words")
        three.copy("words", data, async_mode=True)
        three.sync()
    assert sys.getrefcount(data) == before


def test_tensors_are_memory(make_set):
    one = make_set(nr_dpus=1)
    one.load(build(COUNTER))
    values, back = np.arange(4, dtype="i4"), np.zeros(4, "i4")
    for kind, writable in ((Tensor, WritableTensor), (Interface, Interface)):
        values += 1
        one.copy("words", kind(values))
        one.copy(writable(back), "words")
        assert back.tolist() == values.tolist()
    values.flags.writeable = False
    for target in (values, [values]):
        with pytest.raises(ReadOnlyError):
            one.copy(target, "words")
