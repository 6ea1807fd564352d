# SPDX-License-Identifier: BSD-3-Clause
"""Ranks as processes that find each other by the name of a job."""

from __future__ import annotations

import signal
import time

import pytest

COLLECTIVES = """
with accl(ranks, rank, job=job) as device:
    device.set_timeout(30_000)
    a, r = device.allocate((1000,)), device.allocate((1000,))
    a[:] = np.arange(1000) + rank
    for _ in range(3):
        device.allreduce(a, r)
    device.barrier()
    print(json.dumps(float(r.sum())))
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_processes_of_a_job_meet(run_ranks, ranks):
    want = float(sum(sum(range(rank, 1000 + rank)) for rank in range(ranks)))
    assert run_ranks(ranks, COLLECTIVES) == [want] * ranks


def test_interrupt_breaks_a_wait_off(processes):
    (process,) = processes(
        1,
        """
device = accl(2, 0, job=job)
print("ready", flush=True)
try:
    device.recv(device.allocate((4,)), 4, 1)
except KeyboardInterrupt:
    print("interrupted")
handle = device.recv(device.allocate((4,)), 4, 1, to_fpga=True, run_async=True)
print("ready", flush=True)
try:
    handle.wait()
except KeyboardInterrupt:
    print("interrupted")
device.deinit()
""",
    )
    for _ in range(2):
        while process.stdout.readline() != "ready\n":
            assert process.poll() is None, process.stderr.read()
        # The wait begins right behind the line.
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (out, process.returncode) == ("interrupted\ninterrupted\n"[12:], 0), err


@pytest.mark.parametrize(
    "question",
    ["cclo.read(4)", "dump_rx_buffers()", "dump_communicator()", "get_retcode()", "get_duration()"],
)
def test_questions_are_answered_while_a_call_waits(run_ranks, question):
    (answer,) = run_ranks(
        1,
        f"""
device = accl(2, 0, job=job)
handle = device.recv(device.allocate((4,)), 4, 1, to_fpga=True, run_async=True)
device.{question}
print(json.dumps(handle.test()))
device.deinit()
""",
    )
    assert answer is False


def test_interrupt_ends_a_fence_behind_a_call(processes):
    (process,) = processes(
        1,
        """
device = accl(2, 0, job=job)
handle = device.recv(device.allocate((4,)), 4, 1, to_fpga=True, run_async=True)
print("ready", flush=True)
try:
    device.nop()
except KeyboardInterrupt:
    print("interrupted", handle.test())
device.deinit()
""",
    )
    while process.stdout.readline() != "ready\n":
        assert process.poll() is None, process.stderr.read()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=5)
    assert (out, process.returncode) == ("interrupted False\n", 0), err


def test_deinit_ends_a_fence_behind_a_call(run_ranks):
    (answer,) = run_ranks(
        1,
        """
import signal
device = accl(2, 0, job=job)
device.recv(device.allocate((4,)), 4, 1, to_fpga=True, run_async=True)
signal.signal(signal.SIGALRM, lambda *_: device.deinit())
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    device.nop()
except ACCLClosedError as error:
    print(json.dumps([str(error), repr(device)]))
""",
    )
    assert answer == ["nop: this accl was deinitialised", "<accl, deinitialised>"]


# Within two seconds, of which two processes need some.
@pytest.mark.alone
def test_death_of_a_rank_is_an_error_for_others(processes):
    first, second = processes(
        2,
        """
device = accl(ranks, rank, job=job)
device.barrier()
print("ready", flush=True)
if rank == 1:
    sys.stdin.readline()
    raise SystemExit
try:
    device.recv(device.allocate((4,)), 4, 1)
except ACCLPeerError as error:
    print(error.flag_names)
""".replace("sys.stdin.readline()", "import time; time.sleep(60)"),
    )
    for process in (first, second):
        assert process.stdout.readline() == "ready\n"
    second.kill()
    killed = time.monotonic()
    out, err = first.communicate(timeout=10)
    assert time.monotonic() - killed < 2
    assert "PEER_LOST_ERROR" in out, err


@pytest.mark.nosanitize  # libasan's own locks may be held in the child
def test_forked_child_is_refused_and_may_have_its_own(run_ranks):
    (answer,) = run_ranks(
        1,
        """
import os
device = accl(1, 0, job=job)
buffer = device.allocate((4,))
read, write = os.pipe()
if os.fork() == 0:
    try:
        device.barrier()
    except ACCLClosedError as error:
        os.write(write, str(error).encode())
    mine = accl(1, 0, job=job + "-child")
    mine.barrier()
    mine.deinit()
    os._exit(0)
_, status = os.wait()
device.barrier()
device.deinit()
print(json.dumps([status, os.read(read, 1000).decode()]))
""",
    )
    assert answer[0] == 0
    assert "opened by the parent" in answer[1]


def test_exit_without_deinit_is_clean(run_ranks):
    assert run_ranks(
        2,
        """
device = accl(ranks, rank, job=job)
device.barrier()
handle = device.recv(device.allocate((4,)), 4, rank, to_fpga=True, run_async=True)
print(json.dumps(True))
""",
    ) == [True, True]


def test_signal_handler_may_deinit(run_ranks):
    (answer,) = run_ranks(
        1,
        """
import signal
device = accl(2, 0, job=job)
signal.signal(signal.SIGALRM, lambda *_: device.deinit())
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    device.recv(device.allocate((4,)), 4, 1)
except ACCLClosedError as error:
    print(json.dumps([str(error), repr(device)]))
""",
    )
    assert answer == ["recv: this accl was deinitialised", "<accl, deinitialised>"]


def test_other_threads_run_while_a_call_waits(run_ranks):
    """The GIL is free: one rank of a process waits for another of the same."""
    (answer,) = run_ranks(
        1,
        """
import threading
first, second = (accl(2, rank, job=job) for rank in range(2))
buffers = [device.allocate((1 << 20,)) for device in (first, second)]
buffers[1][:] = 5
thread = threading.Thread(target=second.send, args=(buffers[1], None, 0))
receiver = threading.Thread(target=first.recv, args=(buffers[0], None, 1))
receiver.start()
thread.start()
receiver.join()
thread.join()
print(json.dumps(float(buffers[0].sum())))
""",
    )
    assert answer == 5.0 * (1 << 20)
