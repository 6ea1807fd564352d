# SPDX-License-Identifier: BSD-3-Clause
"""Processes and contexts: making, hooks, closing, use after closing."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

import veo
from tests.support.full import share


def alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_node_numbers(make_proc, monkeypatch):
    assert make_proc(0).nodeid == 0
    assert make_proc(0.0).nodeid == 0
    assert make_proc("0").nodeid == 0
    monkeypatch.delenv("VE_NODE_NUMBER", raising=False)
    assert make_proc(-1).nodeid == -1
    with pytest.raises(TypeError):
        veo.VeoProc()
    for wrong in ("", "zero", "0.5", b"0", None, [0]):
        with pytest.raises(TypeError, match="an integer is required"):
            veo.VeoProc(wrong)
    for number in (99, -2):
        with pytest.raises(RuntimeError, match=rf"veo_proc_create\({number}\) failed"):
            veo.VeoProc(number, library="soft")


def test_worker_binaries(make_proc, tmp_path):
    veorun = Path(veo.__file__).parent / "bin" / "veorun"
    for spelled in (veorun, str(veorun), str(veorun).encode()):
        assert make_proc(0, spelled).pid
    with pytest.raises(RuntimeError, match=r"veo_proc_create_static\(0, .*nothing.*\) failed"):
        make_proc(0, tmp_path / "nothing")
    with pytest.raises(TypeError):
        make_proc(0, 3)
    with pytest.raises(ValueError, match="NUL byte"):
        make_proc(0, "a\0b")


def test_attributes(proc):
    assert proc.context == []
    assert proc.tid == 0
    assert proc._proc_handle > 0
    assert alive(proc.pid)
    assert proc.proc_identifier() >= 0
    assert proc.library.kind == "soft"
    for name in ("nodeid", "context", "lib", "library"):
        with pytest.raises(AttributeError):
            setattr(proc, name, 1)


def test_processes_can_be_subclassed(kernels):
    class Mine(veo.VeoProc):
        def __init__(self, extra):
            super().__init__(0, library="soft")
            self.extra = extra

    with Mine(5) as mine:
        assert (mine.nodeid, mine.extra) == (0, 5)
        mine.load_library(kernels)


def test_identifiers_are_the_lowest_free_numbers(make_proc):
    procs = [make_proc() for _ in range(3)]
    numbers = [proc.proc_identifier() for proc in procs]
    procs[1].close()
    assert make_proc().proc_identifier() == numbers[1]


# --- hooks ------------------------------------------------------------------------------------


@pytest.fixture
def hook():
    added = []

    def add(function):
        veo.set_proc_init_hook(function)
        added.append(function)

    yield add
    for function in added:
        veo.del_proc_init_hook(function)


def test_hooks_run_in_order_with_the_process(hook, make_proc):
    seen = []
    hook(lambda proc: seen.append((1, proc)))
    second = lambda proc: seen.append((2, proc))  # noqa: E731
    hook(second)
    hook(second)
    proc = make_proc()
    assert seen == [(1, proc), (2, proc), (2, proc)]
    seen.clear()


def test_error_in_a_hook_comes_out_of_the_constructor(hook):
    def fail(proc):
        raise KeyError("from the hook")

    hook(fail)
    with pytest.raises(KeyError, match="from the hook"):
        veo.VeoProc(0, library="soft")


def test_hook_that_cannot_be_called(hook):
    hook(5)
    with pytest.raises(TypeError, match="not callable"):
        veo.VeoProc(0, library="soft")


def test_hook_that_is_not_there():
    with pytest.raises(ValueError, match="not in list"):
        veo.del_proc_init_hook(print)


# --- contexts ---------------------------------------------------------------------------------


def test_contexts(proc):
    ctx = proc.open_context()
    assert proc.context == [ctx]
    assert ctx.proc is proc
    assert ctx.tid == 0
    assert ctx._thr_ctxt > 0
    other = veo.VeoCtxt(proc)
    assert proc.context == [ctx]
    assert other._thr_ctxt != ctx._thr_ctxt
    for wrong in (None, 1, "proc"):
        with pytest.raises(TypeError, match="VeoProc"):
            veo.VeoCtxt(wrong)


def test_close_context_takes_it_out_of_the_list(proc, make_proc):
    first, second = proc.open_context(), proc.open_context()
    proc.close_context(second)
    assert second.closed
    assert proc.context == [first]
    with pytest.raises(ValueError, match="not in the list"):
        proc.close_context(second)
    with pytest.raises(ValueError, match="not in the list"):
        make_proc().close_context(first)
    with pytest.raises(TypeError):
        proc.close_context(None)


def test_context_as_a_context_manager(proc, typed):
    function = typed("count_up", "int")
    proc.open_context()
    with proc.open_context() as ctx:
        request = function(ctx)
    assert ctx.closed
    assert request.wait_result() == 1
    with pytest.raises(veo.VeoClosedError), ctx:
        pass


@pytest.mark.parametrize("way", ["close", "context_close"])
def test_closed_context_refuses_everything(proc, typed, way):
    function = typed("count_up", "int")
    proc.open_context()
    ctx = proc.open_context()
    getattr(ctx, way)()
    getattr(ctx, way)()
    address = proc.alloc_mem(8)
    for call in (
        lambda: function(ctx),
        lambda: ctx.async_read_mem(bytearray(8), address, 8),
        lambda: ctx.async_write_mem(address, bytes(8), 8),
        ctx.context_sync,
    ):
        with pytest.raises(veo.VeoClosedError, match="VeoCtxt is closed"):
            call()
    assert ctx._thr_ctxt == 0
    assert repr(ctx).endswith("closed>")


def test_main_context_that_was_closed_leaves_the_process_usable(proc, lib):
    main = proc.open_context()
    main.close()
    lib.count_up.args_type()
    assert lib.count_up(proc.open_context()).wait_result() == 1
    proc.read_mem(bytearray(4), lib.get_symbol("counter"), 4)


# --- closing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["close", "proc_destroy"])
def test_closed_process_refuses_everything(proc, typed, lib, way):
    function = typed("count_up", "int")
    ctx = proc.open_context()
    address = proc.alloc_mem(8)
    pid = proc.pid
    getattr(proc, way)()
    getattr(proc, way)()
    assert not alive(pid)
    assert proc.closed
    assert ctx.closed
    assert lib.closed
    for call in (
        lambda: function(ctx),
        lambda: ctx.async_read_mem(bytearray(8), address, 8),
        lambda: ctx.async_write_mem(address, bytes(8), 8),
        ctx.context_sync,
        proc.open_context,
        lambda: veo.VeoCtxt(proc),
        lambda: proc.alloc_mem(8),
        lambda: proc.free_mem(address),
        lambda: proc.read_mem(bytearray(8), address, 8),
        lambda: proc.write_mem(address, bytes(8), 8),
        lambda: proc.load_library("/x"),
        lambda: proc.unload_library(lib),
        lambda: lib.find_function("count_up"),
        lambda: lib.get_symbol("counter"),
        lambda: lib.echo_int,
        lambda: proc.alloc_hmem(8),
        proc.proc_identifier,
        proc.__enter__,
    ):
        with pytest.raises(veo.VeoClosedError, match="is closed"):
            call()
    ctx.close()
    assert (proc._proc_handle, ctx._thr_ctxt, proc.pid, proc.heap_used) == (0, 0, None, None)
    assert repr(proc).endswith("closed>")


def test_process_as_a_context_manager(lib, kernels):
    with veo.VeoProc(0, library="soft") as proc:
        count = proc.load_library(kernels).count_up
        count.args_type()
        request = count(proc.open_context())
    assert proc.closed
    assert request.wait_result() == 1


def test_exception_in_a_with_block_does_not_wait_for_the_queue(kernels):
    def run():
        with veo.VeoProc(0, library="soft") as proc:
            wait = proc.load_library(kernels).wait_for
            wait.args_type("int *")
            wait(proc.open_context(), proc.alloc_mem(4))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run()


def test_dropping_everything_in_any_order_ends_the_process(kernels):
    import itertools

    for order in itertools.islice(itertools.permutations(range(5)), 0, None, share(7, 1)):
        proc = veo.VeoProc(0, library="soft")
        lib = proc.load_library(kernels)
        function = lib.count_up
        function.args_type()
        ctx = proc.open_context()
        things = [proc, lib, function, ctx, function(ctx)]
        pid = proc.pid
        del proc, lib, function, ctx
        for place in order:
            things[place] = None
        if alive(pid):
            gc.collect()
        assert not alive(pid)


def test_what_depends_on_a_process_keeps_it(kernels):
    def make():
        proc = veo.VeoProc(0, library="soft")
        function = proc.load_library(kernels).count_up
        function.args_type()
        return function, proc.open_context(), weakref.ref(proc), proc.pid

    function, ctx, proc, pid = make()
    gc.collect()
    assert function(ctx).wait_result() == 1
    assert alive(pid)
    del function, ctx
    gc.collect()
    assert proc() is None
    assert not alive(pid)


def test_pointers_keep_their_process():
    pointer = veo.VeoProc(0, library="soft").alloc_mem(8)
    pointer.proc.write_mem(pointer, bytes(8), 8)


def test_cycles_through_subclasses_are_collected(kernels):
    class Mine(veo.VeoProc):
        pass

    proc = Mine(0, library="soft")
    function = proc.load_library(kernels).count_up
    function.args_type()
    proc.requests = [function(proc.open_context()) for _ in range(3)]
    pid = proc.pid
    del proc, function
    gc.collect()
    assert not alive(pid)
