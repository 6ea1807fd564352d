# SPDX-License-Identifier: BSD-3-Clause
"""Sets of DPUs: allocation, parts, the end."""

from __future__ import annotations

import gc
import io
import weakref

import pytest

import dpu
from dpu import DpuError, DpuSet
from tests.dpu.package.programs import COUNTER, build, command

pytestmark = [
    pytest.mark.usefixtures("threads_of_the_library"),
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
]


def test_set_has_dpus_and_ranks(make_set):
    whole = make_set(nr_ranks=2)
    assert len(whole) == len(whole.dpus()) == 128
    assert len(whole.ranks()) == 2
    assert [len(rank) for rank in whole.ranks()] == [64, 64]
    assert whole.ranks()[1].dpus() == whole.dpus()[64:]
    one = whole.dpus()[70]
    assert one.dpus() == [one]
    assert one.ranks() == [whole.ranks()[1]]
    assert list(whole) == whole.dpus()
    assert len({whole, *whole, *whole.ranks()}) == 131


def test_dpu_finds_its_rank_when_nothing_else_is_left(make_set):
    one = DpuSet(nr_dpus=3, library="soft").dpus()[1]
    gc.collect()
    (rank,) = one.ranks()
    assert len(rank) == 3
    assert rank.dpus()[1] is one


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nr_dpus": 1, "nr_ranks": 1}, "cannot specify nr_dpus and nr_ranks"),
        ({"nr_dpus": 0}, "dpu allocation error"),
        ({"nr_dpus": 1, "profile": "foo"}, "invalid profile"),
        ({"nr_dpus": 1, "binary": "/nonexistent"}, "system error"),
        ({"nr_dpus": 1, "binary": b""}, "invalid ELF file"),
        ({"nr_dpus": 1, "binary": b"no program"}, "invalid ELF file"),
        (
            {"nr_dpus": 2, "log": [io.StringIO()]},
            "log list length does not match number of DPUs in DpuSet",
        ),
        ({"nr_dpus": 1, "log": 5}, "stream argument is not an object with a 'write' method"),
        ({"nr_dpus": 1, "log": [5]}, "stream argument is not an object with a 'write' method"),
    ],
)
def test_constructor_refuses(make_set, arguments, message):
    with pytest.raises(DpuError) as caught:
        make_set(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"nr_dpus": -1}, ValueError),
        ({"nr_dpus": 1 << 32}, ValueError),
        ({"nr_dpus": "two"}, TypeError),
        ({"nr_dpus": 1, "profile": "a\0b"}, ValueError),
        ({"nr_dpus": 1, "profile": 5}, TypeError),
        ({"nr_dpus": 1, "binary": 5}, TypeError),
        ({"nr_dpus": 1, "binary": "a\0b"}, ValueError),
        ({"nr_dpus": 1, "asm_source": 5}, TypeError),
    ],
)
def test_wrong_arguments_are_refused_before_the_library(make_set, arguments, error):
    with pytest.raises(error):
        make_set(**arguments)


def test_error_has_number_name_and_function(make_set):
    with pytest.raises(DpuError) as caught:
        make_set(nr_dpus=0)
    error = caught.value
    assert (error.code, error.name) == (4, "DPU_ERR_ALLOCATION")
    assert error.function == "dpu_alloc"
    assert error.detail
    assert error.detail in error.__notes__


def test_set_cannot_be_freed_twice_or_in_parts(make_set):
    whole = make_set(nr_dpus=2)
    for part in (whole.dpus()[0], whole.ranks()[0]):
        with pytest.raises(DpuError, match="^invalid action for this dpu set"):
            part.free()
    whole.free()
    assert whole.closed
    for operation in (
        whole.free,
        whole.sync,
        whole.exec,
        whole.log,
        whole.dpus()[0].checkpoint,
        lambda: whole.copy("buffer", bytes(8)),
        lambda: whole.load(build(COUNTER)),
    ):
        with pytest.raises(DpuError, match="^invalid action for this dpu set"):
            operation()


def test_context_manager_frees():
    with DpuSet(nr_dpus=1, library="soft") as one:
        assert not one.closed
    assert one.closed


def test_context_manager_frees_after_an_error_while_a_dpu_spins():
    with pytest.raises(KeyError), DpuSet(1, binary=build(COUNTER), library="soft") as one:
        one.cmd = command(2)
        one.exec(async_mode=True)
        raise KeyError
    assert one.closed


def test_dropped_sets_give_their_dpus_back():
    for _ in range(300):
        one = DpuSet(nr_dpus=64, library="soft", binary=build(COUNTER))
        reference = weakref.ref(one)
        del one
        assert reference() is None


def test_set_without_internals_refuses_everything():
    empty = DpuSet(_do_internals=False)
    assert len(empty) == 0
    for operation in (empty.free, empty.exec, empty.sync, lambda: empty.load(b"x")):
        with pytest.raises(DpuError):
            operation()
    assert "not allocated" in repr(empty)


def test_library_is_the_soft_twin(three):
    info = dpu.library_info("soft")
    assert info["kind"] == "soft"
    assert info["missing"] == []
    assert three.library.path == info["path"]
    assert three.library.is_soft
