# SPDX-License-Identifier: BSD-3-Clause
"""Launches: faults, reports, waiting, signals, and what is printed."""

from __future__ import annotations

import io
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpu import DpuError
from dpu.reports import FaultKind, LaunchStatus
from tests.dpu.package.programs import COUNTER, build, command

pytestmark = [
    pytest.mark.usefixtures("threads_of_the_library"),
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
]


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
    assert report.joules == pytest.approx(300e-12 * report.instructions)


def test_another_chip_has_no_energy_unless_it_is_given(make_set):
    for energy, joules in ("", None), (",softInstructionPicojoules=50", 50e-12):
        one = make_set(nr_dpus=2, profile=f"softDmaEngines=2{energy}", binary=build(COUNTER))
        one.exec()
        report = one.report
        expected = joules and pytest.approx(joules * report.instructions)
        assert report.joules == expected
        assert (report[0].joules is None) == (joules is None)


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


def test_threads_that_ask_at_once_get_the_same_error(three):
    three.cmd = command(1)
    for _ in range(100):
        failed = three.exec_async()
        failed.wait()
        start = threading.Barrier(4)

        def ask(_: int, request=failed, start=start):
            start.wait(10)
            return request.exception()

        with ThreadPoolExecutor(4) as threads:
            errors = set(threads.map(ask, range(4)))
        assert len(errors) == 1
        assert isinstance(errors.pop(), DpuError)


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


def test_program_that_cannot_print_has_no_log(three):
    with pytest.raises(DpuError, match="^logging context missing"):
        three.log(io.StringIO())
    with pytest.raises(DpuError, match="'write' method"):
        three.exec(log=5)
    with pytest.raises(DpuError, match="cannot log, log list length"):
        three.exec(log=[io.StringIO()])
