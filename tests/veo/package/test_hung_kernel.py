# SPDX-License-Identifier: BSD-3-Clause
"""Calls that work while a kernel in the main context does not end, and how waits for it end."""

from __future__ import annotations

import math
import re
import threading
import time

import numpy as np
import pytest

import veo
from tests.support.waits import check_table_of_waits

# Each does not wait for the kernel, or makes the next call that must.


def free_foreign(proc, lib, kit, timeout):
    """Free memory as from a kernel's malloc()."""
    proc.free_mem(kit.foreign, timeout=timeout)


AT_ONCE = {
    "alloc_mem": lambda p, lib, kit: p.alloc_mem(64),
    "alloc_hmem": lambda p, lib, kit: p.alloc_hmem(64),
    "open_context": lambda p, lib, kit: p.open_context(),
    "a known function in another context": lambda p, lib, kit: lib.echo_int(
        kit.side, 3
    ).wait_result(20),
    "a new function": lambda p, lib, kit: lib.echo_double(kit.side, 3.0).wait_result(20),
    "find_function": lambda p, lib, kit: lib.find_function("echo_char"),
    "get_symbol": lambda p, lib, kit: lib.get_symbol("echo_short"),
    "a symbol that is not there": lambda p, lib, kit: not hasattr(lib, "no_such_symbol"),
    "to_device": lambda p, lib, kit: veo.to_device(p, np.arange(9.0)),
    "DeviceArray": lambda p, lib, kit: veo.DeviceArray(p, 9),
    "DeviceArray.free": lambda p, lib, kit: kit.array.free(),
    "the last reference to a DeviceArray": lambda p, lib, kit: kit.drop(),
    "async_write_mem": lambda p, lib, kit: kit.side.async_write_mem(
        kit.array.address, bytes(8), 8
    ).wait_result(20),
    "async_read_mem": lambda p, lib, kit: kit.array.read_async(kit.side, kit.host).wait_result(20),
    "context_sync of another context": lambda p, lib, kit: kit.side.context_sync(),
    "close of another context": lambda p, lib, kit: p.close_context(kit.side),
    "submission behind it": lambda p, lib, kit: lib.echo_int(kit.main, 1),
    "static_library": lambda p, lib, kit: p.static_library(),
    "peek": lambda p, lib, kit: not kit.request.done(),
    "state": lambda p, lib, kit: (repr(p), p.alive, p.death_report, p.heap_used, p.closed),
}

# With a limit of their own. The names are those of the C API in the message.
LATE = {
    "veo_read_mem": [
        lambda p, lib, kit, t: p.read_mem(kit.host, kit.array.address, 8, timeout=t),
        lambda p, lib, kit, t: kit.array.read(timeout=t),
    ],
    "veo_write_mem": [
        lambda p, lib, kit, t: p.write_mem(kit.array.address, kit.host, 8, timeout=t),
        lambda p, lib, kit, t: kit.array.write(1.0, timeout=t),
    ],
    "veo_free_mem": [
        lambda p, lib, kit, t: p.free_mem(kit.memory, timeout=t),
        free_foreign,
    ],
    "veo_free_hmem": [lambda p, lib, kit, t: p.free_hmem(kit.tagged, timeout=t)],
    "veo_hmemcpy": [
        lambda p, lib, kit, t: veo.VEO_HMEM.hmemcpy(int(kit.tagged), kit.host, 8, timeout=t),
        lambda p, lib, kit, t: veo.VEO_HMEM.hmemcpy(kit.host, kit.tagged, 8, timeout=t),
    ],
    "veo_load_library": [lambda p, lib, kit, t: p.load_library(lib.name, timeout=t)],
    "veo_unload_library": [lambda p, lib, kit, t: p.unload_library(kit.other, timeout=t)],
    "veo_context_sync": [lambda p, lib, kit, t: kit.main.context_sync(t)],
    "veo_call_wait_result": [
        lambda p, lib, kit, t: kit.request.wait_result(t),
        lambda p, lib, kit, t: kit.behind.result(t),
        lambda p, lib, kit, t: kit.behind.exception(t),
    ],
}
# A sanitizer's worker has another malloc() than the C library's, which is found by name.
CASES = [
    pytest.param(name, call, marks=pytest.mark.nosanitize if call is free_foreign else ())
    for name, calls in LATE.items()
    for call in calls
]


class Kit:
    """A process whose main context executes a kernel that waits for a latch."""

    def __init__(self, proc, lib, latch, typed):
        self.main, self.side = proc.context[0], proc.open_context()
        self.array = veo.to_device(proc, np.zeros(1))
        self._dropped = [veo.DeviceArray(proc, 5)]
        self.host = np.zeros(1)
        self.memory, self.tagged = proc.alloc_mem(8), proc.alloc_hmem(8)
        malloc = typed("malloc", "void *", "size_t")
        self.foreign = malloc(self.main, 64).wait_result(20)
        self.other = proc.load_library(lib.name)
        typed("echo_int", "int", "int")
        self.request = typed("wait_for", "int", "int *")(self.main, latch.address)
        self.behind = lib.echo_int(self.main, 5)

    def drop(self):
        self._dropped.clear()


@pytest.fixture
def kit(proc, lib, latch, typed):
    return Kit(proc, lib, latch, typed)


@pytest.mark.parametrize("call", AT_ONCE.values(), ids=AT_ONCE)
def test_what_does_not_depend_on_the_main_context_does_not_wait_for_it(proc, lib, kit, latch, call):
    started = time.monotonic()
    call(proc, lib, kit)
    assert time.monotonic() - started < 1
    assert not kit.request.done()
    latch()
    assert kit.request.wait_result(20) == 1


@pytest.mark.parametrize(("name", "call"), CASES, ids=[case.values[0] for case in CASES])
def test_what_must_wait_says_for_what(proc, lib, kit, latch, name, call):
    with pytest.raises(veo.VeoTimeoutError, match=r"within 0\.05 s") as caught:
        call(proc, lib, kit, 0.05)
    assert caught.value.function == name
    waited_for = (
        rf"request {kit.request.req}, a call of wait_for\(\), submitted \d+\.\d s ago; 1 more"
    )
    assert re.search(waited_for, str(caught.value)), caught.value
    assert not kit.request.done()
    latch()
    call(proc, lib, kit, 20)
    assert kit.behind.wait_result(20) == 5


def test_after_a_wait_that_timed_out_others_give_up_soon(proc, kit, latch):
    assert not kit.request.wait(0.01)
    started = time.monotonic()
    with pytest.raises(veo.VeoTimeoutError, match=r"within 1\.5 s.*timeout=math\.inf has none"):
        proc.read_mem(kit.host, kit.array.address, 8)
    assert 1.4 < time.monotonic() - started < 10
    threading.Timer(1.7, latch).start()
    proc.read_mem(kit.host, kit.array.address, 8, timeout=math.inf)
    # Now nobody has been waited for in vain.
    assert kit.behind.wait_result(20) == 5


def test_without_such_a_wait_there_is_no_limit(proc, kit, latch):
    threading.Timer(1.7, latch).start()
    proc.read_mem(kit.host, kit.array.address, 8)
    assert kit.request.done()


def test_closing_a_context_has_a_limit(proc, kit, latch):
    kit.main.close(0.05)
    with pytest.raises(veo.VeoClosedError, match="closed before request"):
        kit.request.wait_result()
    latch()


def test_a_wait_that_timed_out_has_done_nothing(proc, kit, latch):
    with pytest.raises(veo.VeoTimeoutError):
        proc.free_mem(kit.memory, timeout=0)
    latch()
    proc.free_mem(kit.memory, timeout=20)
    with pytest.raises(veo.VeoError, match="freed twice"):
        proc.free_mem(kit.memory)


def test_dropped_arrays_are_freed_when_the_queue_is_done(proc, kit, latch):
    before = proc.heap_used
    kit.drop()
    assert proc.heap_used == before
    latch()
    kit.main.context_sync()
    assert proc.heap_used < before


@pytest.mark.parametrize("wrong", ["1", [1], math.nan])
def test_what_is_no_limit_is_refused(proc, kit, wrong):
    with pytest.raises((TypeError, ValueError), match="timeout must be a number of seconds"):
        proc.read_mem(kit.host, kit.array.address, 8, timeout=wrong)


def test_a_vendors_library_has_the_same_limits(null_path, null):
    proc = veo.VeoProc(0, library=null_path)
    lib, ctx = proc.load_library("/null.so"), proc.open_context()
    lib.hold.args_type()
    request = lib.hold(ctx)
    calls = [
        lambda: proc.read_mem(bytearray(8), 64, 8, timeout=0.05),
        lambda: proc.alloc_mem(8, timeout=0.05),
        lambda: lib.find_function("sum", timeout=0.05),
        lambda: proc.open_context(timeout=0.05),
        lambda: ctx.context_sync(0.05),
    ]
    for call in calls:
        with pytest.raises(veo.VeoTimeoutError, match=rf"0\.05 s.*request {request.req}\b"):
            call()
    assert not request.wait(0.01)
    with pytest.raises(veo.VeoTimeoutError, match=r"within 1\.5 s.*request"):
        proc.alloc_mem(8)
    null.release()
    proc.free_mem(proc.alloc_mem(8))
    assert request.done()
    proc.close()


# Code that a library runs when it is loaded, and unloaded, lasts as long as a file is there.
SLOW_LIBRARY = """
#include <stdio.h>
#include <stdint.h>
#include <unistd.h>
static void wait_for_go(void) {{ while (access("{held}", F_OK) == 0) usleep(1000); }}
__attribute__((constructor)) static void begin(void) {{ wait_for_go(); }}
__attribute__((destructor)) static void end(void) {{ wait_for_go(); }}
int64_t answer(void) {{ return 42; }}
"""


@pytest.fixture
def slow(tmp_path):
    held = tmp_path / "held"
    held.touch()
    build = veo.VeBuild(target="host")
    build.set_build_dir(str(tmp_path))
    build.set_c_src("slow", SLOW_LIBRARY.format(held=held))
    yield build.build_so(), held
    held.unlink(missing_ok=True)


def test_code_of_a_library_that_does_not_end_has_a_limit(proc, lib, slow):
    path, held = slow
    started = time.monotonic()
    with pytest.raises(veo.VeoTimeoutError, match=r"veo_load_library did not end within 0\.05 s"):
        proc.load_library(path, timeout=0.05)
    with pytest.raises(veo.VeoTimeoutError, match=r"veo_load_library did not end within 0\.3 s"):
        proc.load_library(path, timeout=0.3)
    with pytest.raises(veo.VeoTimeoutError, match="the loading of a library"):
        lib.find_function("echo_long", timeout=0.05)
    with pytest.raises(veo.VeoTimeoutError, match="the loading of a library"):
        proc.load_library(lib.name, timeout=0.05)
    proc.alloc_mem(64)
    assert time.monotonic() - started < 10
    held.unlink()
    loaded = proc.load_library(path, timeout=20)
    assert loaded.answer(proc.open_context()).wait_result(20) == 42
    assert lib.find_function("echo_long").name == "echo_long"

    held.touch()
    with pytest.raises(veo.VeoTimeoutError, match="veo_unload_library did not end within"):
        proc.unload_library(loaded, timeout=0.05)
    held.unlink()
    proc.unload_library(loaded, timeout=20)
    with pytest.raises(veo.VeoClosedError, match="was unloaded"):
        proc.unload_library(loaded)


def test_a_load_that_nobody_waits_for_leaves_room_for_the_next(proc, lib, slow):
    path, held = slow
    with pytest.raises(veo.VeoTimeoutError):
        proc.load_library(path, timeout=0)
    held.unlink()
    proc.load_library(lib.name, timeout=20)
    with pytest.raises(veo.VeoError, match="cannot load '/no/such/library.so': cannot open"):
        proc.load_library("/no/such/library.so", timeout=20)


def test_closing_a_process_ends_the_code_of_a_library(proc, slow):
    path, _ = slow
    with pytest.raises(veo.VeoTimeoutError):
        proc.load_library(path, timeout=0)
    started = time.monotonic()
    proc.close(0)
    assert time.monotonic() - started < 10


@pytest.mark.full
def test_a_long_silent_wait_is_told_once(proc, kit, latch, caplog):
    threading.Timer(32, latch).start()
    proc.read_mem(kit.host, kit.array.address, 8)
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert re.search(r"veo_read_mem has waited 30 s .* a call of wait_for\(\)", record.message)


def test_the_table_of_waits_has_every_public_call():
    check_table_of_waits(veo, {*dir(veo), *veo._ADDED})
