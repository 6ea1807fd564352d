# SPDX-License-Identifier: BSD-3-Clause
"""One function, many specifications."""

from __future__ import annotations

import multiprocessing
import multiprocessing.resource_tracker
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

import accelforge as af
from tests.accelforge.mapper.small import Terminal, mac, memory, spec

# It runs until the interpreter ends, and is no leak of a test.
multiprocessing.resource_tracker.ensure_running()


def size_of_buffer(given: af.Spec) -> Any:
    return given.arch["Buffer"].size


def specs() -> list[af.Spec]:
    return [
        spec(memory("Main", keep="All"), memory("Buffer", size, keep="All"), mac())
        for size in (100, 200, 300)
    ]


@pytest.fixture(params=["here", "threads", "processes"])
def executor(request: pytest.FixtureRequest) -> Any:
    if request.param == "here":
        yield None
        return
    context = multiprocessing.get_context("spawn")
    pool: Executor = (
        ThreadPoolExecutor(2)
        if request.param == "threads"
        else ProcessPoolExecutor(2, mp_context=context)
    )
    with pool:
        yield pool


def test_results_are_in_order(executor: Executor | None) -> None:
    assert af.sweep(size_of_buffer, specs(), executor=executor) == [100, 200, 300]


def test_a_dictionary_gives_a_dictionary(executor: Executor | None) -> None:
    given = dict(zip("abc", specs(), strict=True))
    assert af.sweep(size_of_buffer, given, executor=executor) == {"a": 100, "b": 200, "c": 300}


def test_nothing_to_do(executor: Executor | None) -> None:
    assert af.sweep(size_of_buffer, [], executor=executor) == []


def test_the_error_of_a_call_is_raised(executor: Executor | None) -> None:
    bad = spec(memory("Main", keep="All"), mac())
    with pytest.raises(KeyError, match="Buffer"):
        af.sweep(size_of_buffer, [*specs(), bad], executor=executor)


def test_a_bar_shows_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal.seen(monkeypatch)
    af.sweep(size_of_buffer, specs(), pbar="Sizes")
    assert "Sizes: 100%" in screen.getvalue()
