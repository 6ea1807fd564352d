# SPDX-License-Identifier: BSD-3-Clause
"""Sets of DPUs: allocation, parts, programs, symbols, launches."""

from __future__ import annotations

import gc
import io
import signal
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator

import pytest
from package_programs import COUNTER, build

import dpu
from dpu import DpuError, DpuSet, DpuSymbol
from dpu.debug import Debugger
from dpu.driver import DpuContext, DpuProgram, DpuVariable
from dpu.reports import FaultKind, LaunchStatus

pytestmark = pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning")


@pytest.fixture(scope="module", autouse=True)
def _threads_of_the_library() -> None:
    """Make the threads that the library keeps, so that they are not taken for a leak."""
    with DpuSet(nr_ranks=2, library="soft", binary=build(COUNTER)) as both:
        both.exec()
        both.call(lambda *_: time.sleep(0.05), None)


@pytest.fixture
def make_set() -> Iterator[Callable[..., DpuSet]]:
    """Allocate sets, and free them at the end."""
    made: list[DpuSet] = []

    def make(*args: object, **kwargs: object) -> DpuSet:
        kwargs.setdefault("library", "soft")
        made.append(DpuSet(*args, **kwargs))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        if not one.closed:
            one.interrupt()
            one.free()


@pytest.fixture
def three(make_set: Callable[..., DpuSet]) -> DpuSet:
    return make_set(nr_dpus=3, binary=build(COUNTER))


def command(number: int) -> bytes:
    return number.to_bytes(4, "little")


# --- allocation and parts -----------------------------------------------------------------


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


# --- programs and symbols --------------------------------------------------------------------


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


# --- launches --------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 3])
def test_fault_says_where_and_why(three, number):
    three.dpus()[1].cmd = command(number)
    with pytest.raises(DpuError) as caught:
        three.exec()
    assert str(caught.value) == "dpu is in fault"
    assert caught.value.name == "DPU_ERR_DPU_FAULT"
    assert "tasklet 0" in caught.value.detail
    assert "main" in caught.value.detail
    report = three.report[1]
    assert report.status == LaunchStatus.FAULT
    assert report.fault == (FaultKind.FAULT_INSTRUCTION if number == 1 else FaultKind.WRAM)
    context = three.dpus()[1].checkpoint(mram=False)
    assert (context.bkp_fault() == (0, 3)) == (number == 1)
    assert (context.mem_fault() == 0) == (number == 3)
    three.cmd = command(0)
    three.exec()


def test_report_counts(three):
    three.exec()
    report = three.report
    assert len(report) == 3
    assert report.instructions == sum(one.instructions for one in report)
    assert report.cycles == max(one.cycles for one in report) > 0
    assert report[0].status == LaunchStatus.DONE
    assert report[0].thread_instructions[0] == report[0].instructions
    assert report.seconds > 0


def test_report_counts_instructions_as_cycles_under_the_simulator_profile(make_set):
    one = make_set(nr_dpus=1, profile="backend=simulator", binary=build(COUNTER))
    one.exec()
    assert one.report.cycles == one.report.instructions


def test_asynchronous_launches_keep_their_order(three):
    for _ in range(5):
        three.exec(async_mode=True)
    three.sync()
    assert three.counter.uint32() == [5, 5, 5]


def test_default_mode_can_be_overridden(make_set):
    one = make_set(nr_dpus=1, binary=build(COUNTER), async_mode=True)
    one.exec()
    one.exec(async_mode=False)
    assert one.counter.uint32() == 2


def test_asynchronous_fault_is_raised_by_sync(three):
    three.cmd = command(1)
    three.exec(async_mode=True)
    with pytest.raises(DpuError) as caught:
        three.sync()
    assert "dpu is in fault" in str(caught.value)
    three.sync()


def test_request_can_be_waited_for(three):
    request = three.exec_async()
    assert request.result(timeout=10) is None
    assert request.done()
    three.cmd = command(1)
    failed = three.exec_async()
    for _ in range(2):
        with pytest.raises(DpuError):
            failed.result()


def test_request_has_limits_callbacks_and_an_end(three):
    three.cmd = command(2)
    request = three.exec_async()
    assert not request.wait(0.02)
    with pytest.raises(TimeoutError):
        request.result(timeout=0.01)
    called = threading.Event()
    request.add_done_callback(lambda _: called.set())
    three.interrupt()
    assert called.wait(10)
    with pytest.raises(DpuError, match="timeout"):
        request.result()
    three.load(build(COUNTER))
    three.exec()
    assert three.counter.uint32() == [1, 1, 1]


def test_signal_ends_a_launch_that_spins(three):
    def ring(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    three.cmd = command(2)
    previous = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            three.exec()
        assert time.monotonic() - start < 5
        three.load(build(COUNTER))
        three.cmd = command(2)
        three.exec(async_mode=True)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            three.sync()
        three.interrupt()
        with pytest.raises(DpuError, match="timeout"):
            three.sync()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    three.load(build(COUNTER))
    three.exec()
    assert three.counter.uint32() == [1, 1, 1]


def test_other_threads_run_while_a_launch_is_waited_for(three):
    three.cmd = command(2)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            three.exec()
        except DpuError as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 10
    while thread.is_alive() and time.monotonic() < deadline:
        three.interrupt()
        thread.join(0.01)
    assert not thread.is_alive()
    assert len(failed) == 1


def test_restored_checkpoint_is_what_was_saved(three):
    one = three.dpus()[0]
    one.words = bytes(range(256)) * 16
    saved = one.checkpoint()
    again = DpuContext.from_buffer(bytes(saved.serialize()))
    one.words = bytes(4096)
    one.restore(again)
    assert one.words.data() == bytes(range(256)) * 16
    assert [thread.regs() for thread in again.threads] == [t.regs() for t in saved.threads]
    assert len(saved.threads) == 24
    assert len(saved.atomic_bits()) == 256
    assert saved.wram_bytes()[8:264] == bytes(range(256))
    with pytest.raises(DpuError, match="invalid ELF file"):
        DpuContext.from_buffer(b"no snapshot")
    with pytest.raises(DpuError, match="invalid action for this dpu set"):
        three.checkpoint()
    with pytest.raises(TypeError):
        one.restore(None)


def test_snapshot_without_memories_restores_registers_only(three):
    one = three.dpus()[0]
    saved = one.checkpoint(iram=False, mram=False, wram=False)
    assert saved.iram() is saved.mram() is saved.wram() is None
    one.counter = command(8)
    one.restore(saved)
    assert one.counter.uint32() == 8


# --- callbacks -------------------------------------------------------------------------------


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


# --- logs ------------------------------------------------------------------------------------


def test_program_that_cannot_print_has_no_log(three):
    with pytest.raises(DpuError, match="^logging context missing"):
        three.log(io.StringIO())
    with pytest.raises(DpuError, match="'write' method"):
        three.exec(log=5)
    with pytest.raises(DpuError, match="cannot log, log list length"):
        three.exec(log=[io.StringIO()])


# --- debugging -------------------------------------------------------------------------------


def test_debugger_stops_at_breakpoints_and_steps(three):
    debugger = Debugger(three.dpus()[0])
    pc = debugger.break_at("main")
    assert debugger.breakpoints == {pc}
    target = debugger.break_at(pc + 5)
    assert debugger.cont().status in (LaunchStatus.BREAKPOINT, LaunchStatus.STEPPED)
    while debugger.threads[0].pc != target:
        assert debugger.cont().status == LaunchStatus.BREAKPOINT
    counter = debugger.threads[0].registers[1]
    debugger.remove(target)
    assert "main:" in debugger.disassembly(target, before=target - pc)
    assert debugger.step(0).status == LaunchStatus.STEPPED
    assert debugger.threads[0].pc == target + 1
    debugger.threads[0].set({1: counter + 41})
    assert debugger.threads[0].registers[1] == counter + 41
    assert debugger.threads[0].running
    assert debugger.cont().status == LaunchStatus.DONE
    assert three.dpus()[0].counter.uint32() == counter + 41
    assert debugger.fault == ""


@pytest.mark.parametrize("thread", [None, 0])
def test_signal_ends_steps_of_a_program_that_spins(three, thread):
    def ring(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    one = three.dpus()[0]
    one.cmd = command(2)
    debugger = Debugger(one)
    previous = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            debugger.step(thread, 1 << 60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert debugger.step(thread, 2).status == LaunchStatus.STEPPED
    one.cmd = command(0)
    debugger.restart()
    # It ends long before it has made so many steps.
    assert debugger.step(thread, 1 << 60).status == LaunchStatus.DONE


def test_debugger_is_for_one_dpu_with_a_program(three, make_set):
    with pytest.raises(DpuError, match="invalid action"):
        Debugger(three)
    with pytest.raises(DpuError, match="no program"):
        Debugger(make_set(nr_dpus=1))
    debugger = Debugger(three.dpus()[0])
    with pytest.raises(DpuError, match="undefined symbol"):
        debugger.break_at("nothing")
    with pytest.raises(ValueError, match="not in the program's code"):
        debugger.break_at("counter")
    with pytest.raises(ValueError, match="no instruction -1"):
        debugger.break_at(-1)
    with pytest.raises(DpuError, match="invalid iram access"):
        debugger.break_at(4096)
    with pytest.raises(TypeError):
        debugger.break_at(1.5)
    with pytest.raises(ValueError, match="cannot be negative"):
        debugger.step(0, -1)
    with pytest.raises(ValueError, match="cannot be negative"):
        debugger.cont(-1)


def test_library_is_the_soft_twin(three):
    info = dpu.library_info("soft")
    assert info["kind"] == "soft"
    assert info["missing"] == []
    assert three.library.path == info["path"]
    assert three.library.is_soft


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
