# SPDX-License-Identifier: BSD-3-Clause
"""Functions that are called between the operations of a set."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from dpu import DpuError, DpuSet
from tests.dpu.package.programs import command

pytestmark = [
    pytest.mark.usefixtures("threads_of_the_library"),
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
]


def test_function_is_called_for_each_rank(make_set):
    whole = make_set(nr_ranks=2)
    seen = []
    whole.call(lambda part, index, arg: seen.append((part, index, arg)), "x")
    assert sorted(seen, key=lambda item: item[1]) == [
        (rank, index, "x") for index, rank in enumerate(whole.ranks())
    ]
    seen.clear()
    whole.call(lambda *given: seen.append(given), None, True, False, True)
    whole.sync()
    assert seen == [(whole, 0xFFFFFFFF, None)]
    one = whole.dpus()[3]
    one.call(lambda *given: seen.append(given), 1)
    assert seen[1:] == [(one, 0xFFFFFFFF, 1)]


def test_callback_may_use_its_set(three):
    def work(part: DpuSet, index: int, arg: object) -> None:
        part.copy("counter", command(40))
        part.exec()

    three.call(work, None)
    assert three.counter.uint32() == [41, 41, 41]
    three.call(work, None, async_mode=True)
    three.exec(async_mode=True)
    three.sync()
    assert three.counter.uint32() == [42, 42, 42]


def test_exception_of_a_callback_is_raised(three):
    def fail(part: DpuSet, index: int, arg: object) -> None:
        raise LookupError("in the callback")

    with pytest.raises(LookupError, match="in the callback"):
        three.call(fail, None)
    three.call(fail, None, async_mode=True)
    with pytest.raises(LookupError, match="in the callback"):
        three.sync()
    three.sync()
    with pytest.raises(DpuError, match="^nonblocking and synchronous callback is invalid"):
        three.call(fail, None, is_blocking=False)
    with pytest.raises(TypeError):
        three.call(5, None)


def test_callback_cannot_free_its_set(three):
    with pytest.raises(DpuError, match="invalid action"):
        three.call(lambda *_: three.free(), None)
    assert not three.closed


@pytest.mark.parametrize("work", ["copy", "list", "exec", "call"])
def test_what_is_queued_lives_while_a_callback_does_something_at_once(three, work):
    go, lived = threading.Event(), []

    class Argument:
        pass

    def first(part: DpuSet, index: int, arg: object) -> None:
        assert go.wait(60)
        if work == "copy":
            part.copy("counter", command(1))
        elif work == "list":
            part.copy([bytearray(4) for _ in range(3)], "counter")
        elif work == "exec":
            part.exec()
        else:
            part.call(lambda *_: None, None)
        gc.collect()
        lived.append(watched() is not None)

    def second(part: DpuSet, index: int, arg: object) -> None:
        lived.append(isinstance(arg, Argument))

    argument = Argument()
    watched = weakref.ref(argument)
    target = [bytearray(4) for _ in range(3)]
    three.call(first, None, async_mode=True)
    three.copy("counter", command(7), async_mode=True)
    three.copy(target, "counter", async_mode=True)
    three.call(second, argument, async_mode=True)
    del argument
    go.set()
    three.sync()
    assert lived == [True, True]
    assert [bytes(one) for one in target] == [command(7)] * 3
    assert watched() is None
