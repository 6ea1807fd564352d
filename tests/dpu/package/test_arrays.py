# SPDX-License-Identifier: BSD-3-Clause
"""Arrays over the DPUs of a set, with the types that the program's debug information says."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from dpu import DpuSet, DpuSymbol
from dpu.arrays import broadcast, gather, layout, scatter
from dpu.dtypes import ProgramTypes
from dpu.elf.program import ProgramFile
from dpu.toolchain import BuildOptions, Toolchain, build
from tests.dpu.package import programs

pytestmark = [
    pytest.mark.usefixtures("threads_of_the_library"),
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
]

SOURCE = """
#include <mram.h>
#include <stdbool.h>
#include <stdint.h>
struct inner { int16_t a; int8_t b[3]; };
union either { int32_t i; float f; };
struct record {
    char c;
    double d;
    struct inner in[2];
    union either u;
    struct { int32_t x, y; };
};
struct packed { uint8_t c; uint32_t i; } __attribute__((packed));
enum color { RED, GREEN };
typedef const volatile struct record *where;

__host struct record record;
__host struct packed packed[3];
__host int32_t length, one[1], pair[2][1];
__host uint8_t flag;
__host int16_t odd[3];
__host bool truth;
__host enum color color;
__host where address;
__host struct { unsigned low : 3, high : 5; } bits;
__host uint64_t wide[4];
__mram_noinit int32_t block[16], grid[6][8];
__mram_noinit int8_t bytes[20];
__mram_noinit int32_t three[3];
__mram_noinit float reals[8];

int main(void)
{
    for (int i = 0; i < length; i++)
        block[i] *= 2;
    length--;
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("arrays")
    (folder / "source.c").write_text(SOURCE)
    build([folder / "source.c"], folder / "program", BuildOptions(), toolchain=toolchain)
    return (folder / "program").read_bytes()


@pytest.fixture(scope="module")
def allocated(program: bytes, threads_of_the_library: None) -> Iterator[DpuSet]:
    with DpuSet(nr_dpus=5, binary=program, library="soft") as made:
        # Its threads are there before the first test, which would seem to leave them behind.
        made.exec()
        made.exec(async_mode=True)
        made.sync()
        yield made


@pytest.fixture
def five(allocated: DpuSet, program: bytes) -> DpuSet:
    """Five DPUs with the program, freshly loaded."""
    allocated.load(program)
    return allocated


# --- types --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype", "shape"),
    [
        ("length", "<i4", ()),
        ("one", "<i4", (1,)),
        ("pair", "<i4", (2, 1)),
        ("flag", "<u1", ()),
        ("odd", "<i2", (3,)),
        ("truth", "?", ()),
        ("color", "<u4", ()),
        ("address", "<u4", ()),
        ("wide", "<u8", (4,)),
        ("block", "<i4", (16,)),
        ("grid", "<i4", (6, 8)),
        ("reals", "<f4", (8,)),
    ],
)
def test_type_and_shape_are_those_of_the_source(five, name, dtype, shape):
    assert layout(five, name) == (np.dtype(dtype), shape)
    assert layout(five, five.program.get_symbol(name)) == (np.dtype(dtype), shape)


def test_structures_have_fields_at_their_offsets(five):
    kind, shape = layout(five, "record")
    assert shape == ()
    assert {name: kind.fields[name][1] for name in kind.names} == {
        "c": 0,
        "d": 8,
        "in": 16,
        "u": 28,
        "x": 32,
        "y": 36,
    }
    assert kind.itemsize == 40
    assert kind["in"].shape == (2,)
    assert kind["in"].base.names == ("a", "b")
    assert kind["in"].base.fields["b"] == (np.dtype(("i1", 3)), 2)
    assert [kind["u"].fields[name] for name in "if"] == [(np.dtype("<i4"), 0), (np.dtype("<f4"), 0)]

    packed, shape = layout(five, "packed")
    assert (packed.itemsize, packed.fields["i"][1], shape) == (5, 1, (3,))


def test_a_variable_without_a_numpy_type_is_explained(five):
    with pytest.raises(TypeError, match=r"bit field 'low' of 'struct \{...\}'; pass a dtype"):
        layout(five, "bits")
    assert gather(five, "bits", axis=None, dtype="<u4", shape=()).tolist() == [0] * 5


def test_variables_become_arrays_without_a_dtype(five):
    five.grid = [np.arange(48, dtype=np.int32) + i for i in range(5)]
    values = np.asarray(five.grid)
    assert (values.shape, values.dtype) == ((5, 6, 8), np.dtype("<i4"))
    assert values[3, 1, 2] == 13
    one = five.dpus()[3]
    assert one.grid.array().tolist() == values[3].tolist()
    assert np.asarray(one.length).shape == ()
    assert five.grid.array("<i2").shape == (5, 96)


def test_program_without_debug_information_needs_a_dtype(make_set):
    two = make_set(nr_dpus=2, binary=programs.build(programs.COUNTER))
    with pytest.raises(TypeError, match="'words'.* no debug information.* -g, or pass a dtype"):
        gather(two, "words")
    with pytest.raises(TypeError, match="no debug information"):
        np.asarray(two.words)
    counts = scatter(two, "words", np.arange(9), dtype="<i4")
    assert gather(two, "words", counts=counts, dtype="<i4").tolist() == list(range(9))


@pytest.mark.parametrize("how", ["path", "bytes", "bytearray", "source"])
def test_types_are_known_however_a_program_was_loaded(
    make_set, program, tmp_path, how, monkeypatch
):
    path = tmp_path / "program"
    path.write_bytes(program)
    monkeypatch.chdir(tmp_path)
    made = {
        "path": lambda: make_set(nr_dpus=1, binary="program"),
        "bytes": lambda: make_set(nr_dpus=1, binary=program),
        "bytearray": lambda: make_set(nr_dpus=1, binary=bytearray(program)),
        "source": lambda: make_set(nr_dpus=1, c_source=io.StringIO(SOURCE)),
    }[how]()
    monkeypatch.chdir("/")
    assert layout(made, "grid") == (np.dtype("<i4"), (6, 8))


def test_a_file_that_changed_after_it_was_loaded_has_no_types(make_set, program, tmp_path):
    path = tmp_path / "program"
    path.write_bytes(program)
    one = make_set(nr_dpus=1, binary=path)
    path.write_bytes(program + b"\0")
    with pytest.raises(TypeError, match="has changed since it was loaded"):
        np.asarray(one.grid)
    path.unlink()
    with pytest.raises(TypeError, match="cannot be read any more"):
        np.asarray(one.grid)
    assert one.grid.array("<i4").shape == (48,)


# --- copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 23, 79, 80])
def test_parts_are_joined_to_what_was_split(five, count):
    values = np.arange(count, dtype=np.int32)
    counts = scatter(five, "block", values)
    assert counts.tolist() == [len(part) for part in np.array_split(values, 5)]
    joined = gather(five, "block", counts=counts)
    assert (joined.dtype, joined.tolist()) == (np.dtype("<i4"), values.tolist())


def test_kernel_works_on_uneven_parts(five):
    values = np.arange(23)
    scatter(five, "block", values, counts_to="length")
    five.exec()
    joined = gather(five, "block", counts="length")
    parts = np.array_split(values * 2, 5)
    assert joined.tolist() == np.concatenate([part[:-1] for part in parts]).tolist()


def test_shorter_parts_are_filled(five):
    broadcast(five, "block", np.full(16, -1))
    scatter(five, "block", np.arange(11), fill=7)
    rows = gather(five, "block", axis=None)
    assert rows[0, :5].tolist() == [0, 1, 2, 7, -1]
    assert rows[4, :5].tolist() == [9, 10, 7, 7, -1]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_other_axes(five, axis):
    extents = [6, 8]
    extents[axis] = 21
    values = np.arange(np.prod(extents), dtype=np.int32).reshape(extents)
    counts = scatter(five, "grid", values, axis, fill=-1)
    assert gather(five, "grid", axis, counts=counts).tolist() == values.tolist()
    rows = gather(five, "grid", axis=None)
    first = np.array_split(values, 5, axis)[1]
    assert np.take(rows[1], range(first.shape[axis]), axis).tolist() == first.tolist()


def test_slices_and_other_orders_of_elements(five):
    values = np.arange(6 * 60, dtype=np.int32).reshape(60, 6)[::2, ::-1].T
    counts = scatter(five, "grid", values, axis=1)
    assert gather(five, "grid", axis=1, counts=counts).tolist() == values.tolist()


def test_counts_of_the_caller(five):
    counts = scatter(five, "block", np.arange(16), counts=[0, 16, 0, 0, 0])
    assert counts.tolist() == [0, 16, 0, 0, 0]
    assert gather(five, "block", counts=counts).tolist() == list(range(16))


def test_numbers_have_one_element_per_dpu(five):
    scatter(five, "length", [3, 1, 4, 1, 5])
    assert gather(five, "length").tolist() == [3, 1, 4, 1, 5]
    broadcast(five, "length", 9)
    assert gather(five, "length").tolist() == [9] * 5


def test_first_axis_may_count_the_dpus(five):
    values = np.arange(80, dtype=np.int32).reshape(5, 16)
    scatter(five, "block", values, axis=None)
    assert gather(five, "block", axis=None).tolist() == values.tolist()
    assert gather(five.dpus()[2], "block").tolist() == values[2].tolist()


def test_structures_are_elements(five):
    kind, _ = layout(five, "packed")
    values = np.zeros(7, kind)
    values["c"], values["i"] = range(7), range(100, 107)
    counts = scatter(five, "packed", values)
    joined = gather(five, "packed", counts=counts)
    assert (joined["c"].tolist(), joined["i"].tolist()) == (list(range(7)), list(range(100, 107)))


@pytest.mark.parametrize(
    ("name", "count"), [("flag", 5), ("odd", 12), ("bytes", 37), ("three", 14)]
)
def test_sizes_that_are_no_words_leave_their_neighbours(five, program, name, count):
    others = [n for n in ("flag", "odd", "truth", "color", "bytes", "three", "reals") if n != name]
    for number, other in enumerate(others):
        kind, shape = layout(five, other)
        broadcast(five, other, np.full(shape, number % 2, kind))
    before = {other: gather(five, other, axis=None) for other in others}
    values = np.arange(count) + 1
    counts = scatter(five, name, values)
    whole = None if layout(five, name)[1] == () else counts
    assert gather(five, name, counts=whole).tolist() == values.tolist()
    for other in others:
        assert gather(five, other, axis=None).tobytes() == before[other].tobytes(), other


def test_other_types_and_shapes_of_the_same_memory(five):
    values = np.arange(60, dtype=np.int32).reshape(15, 4)
    counts = scatter(five, "block", values, shape=(-1, 4))
    assert counts.tolist() == [3] * 5
    assert gather(five, "block", counts=counts, shape=(-1, 4)).tolist() == values.tolist()
    as_bytes = gather(five, "block", dtype="u1", counts=[12 * 4] * 5)
    assert as_bytes.tobytes() == values.tobytes()


def test_free_memory_is_an_array_too(five):
    heap = five.program.get_symbol("__sys_used_mram_end")
    counts = scatter(five, heap, np.arange(1000.0), dtype="<f8")
    joined = gather(five, "__sys_used_mram_end", counts=counts, dtype="<f8")
    assert joined.tolist() == list(range(1000))
    place = DpuSymbol("mine", (heap.value(), 64))
    assert gather(five.dpus()[0], place, dtype="<f8").tolist() == list(range(8))


def test_asynchronous_copies_keep_their_arrays(five):
    for _ in range(3):
        scatter(five, "block", np.arange(80), async_mode=True)
        broadcast(five, "length", 16, async_mode=True)
    five.exec(async_mode=True)
    assert gather(five, "block").tolist() == list(range(0, 160, 2))
    five.sync()


# --- wrong use ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda s: scatter(s, "nothing", [1]), KeyError, "no variable 'nothing'"),
        (lambda s: gather(s, "main"), TypeError, "is a function"),
        (lambda s: scatter(s, "block", np.arange(81)), ValueError, "room for 16.* DPU 0 .* 17"),
        (lambda s: scatter(s, "block", np.zeros((5, 16))), TypeError, "float64 do not become"),
        (lambda s: scatter(s, "block", np.zeros((5, 16), int)), ValueError, r"the shape \(any\)"),
        (lambda s: scatter(s, "grid", np.zeros((5, 7), int)), ValueError, r"\(any, 8\), not"),
        (lambda s: scatter(s, "length", [1, 2]), ValueError, r"\(5,\), not \(2,\)"),
        (lambda s: scatter(s, "bytes", [128]), ValueError, "int8, which 128 is not"),
        (lambda s: scatter(s, "wide", [-1]), ValueError, "uint64, which -1 is not"),
        (lambda s: scatter(s, "block", [1], axis=1), ValueError, "1 axes, so that 1 is none"),
        (lambda s: scatter(s, "block", [1, 2], counts=[1]), ValueError, "one per DPU"),
        (lambda s: scatter(s, "block", [1, 2], counts=[1.0] * 5), TypeError, "must be integers"),
        (lambda s: scatter(s, "block", [1], counts=[1] * 5), ValueError, "are 5 elements"),
        (lambda s: scatter(s, "block", [1], counts=[-1, 2, 0, 0, 0]), ValueError, "DPU 0 .* -1"),
        (lambda s: gather(s, "block", counts=[17] * 5), ValueError, "DPU 0 would have 17"),
        (lambda s: gather(s, "block", axis=None, counts=[1] * 5), ValueError, "need an axis"),
        (lambda s: gather(s, "block", shape=(17,)), ValueError, "too few for the shape"),
        (lambda s: gather(s, "block", shape=(-1, -1)), ValueError, "not a shape"),
        (lambda s: gather(s, "block", dtype=object), TypeError, "no Python objects"),
        (lambda s: gather(s, "block", dtype="V0"), TypeError, "have no bytes"),
        (lambda s: broadcast(s, "block", np.arange(17)), ValueError, "room for 16 elements"),
        (lambda s: broadcast(s, "grid", np.arange(8)), ValueError, "has the shape"),
    ],
)
def test_wrong_use_is_explained(five, call, error, text):
    with pytest.raises(error, match=text):
        call(five)


def test_parts_of_a_set_with_other_programs(five, program):
    five.dpus()[0].load(program)
    with pytest.raises(TypeError, match="no program was loaded into all"):
        gather(five, "block")


def test_nothing_is_imported_before_it_is_used():
    code = """
import sys
import dpu
assert "numpy" not in sys.modules
assert not [name for name in sys.modules if name in ("dpu.arrays", "dpu.dtypes", "dpu.dwarf")]
"""
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


# --- damaged debug information ------------------------------------------------------------------


def test_damaged_debug_information_is_an_error(program):
    rng = np.random.default_rng(18)
    sections = [
        (program.index(section.data), len(section.data))
        for section in ProgramFile(program).sections
        if section.name in (".debug_info", ".debug_abbrev")
    ]
    read = 0
    for _ in range(60):
        damaged = bytearray(program)
        for first, length in sections:
            for at in rng.integers(first, first + length, 3):
                damaged[at] = rng.integers(256)
        types = ProgramTypes(bytes(damaged))
        for name, size in (("record", 40), ("grid", 192), ("packed", 15), ("address", 4)):
            try:
                types.layout(DpuSymbol(name, (0, size)))
                read += 1
            except TypeError:
                pass
    assert read
