# SPDX-License-Identifier: BSD-3-Clause
"""Runs a host whose DPUs are spread over processes: ``python -m dpu.hosts -- ./host arguments``.

Under ``mpiexec``, the first rank starts the host, and the others run DPUs for it, on whatever
machine they are; with ``--processes`` all processes are on this one. The host is any program that
uses the soft libdpu.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpu._native import use_library
from dpu.relay import Relay
from dpu.serve import serve_connection

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["main"]

_PR_SET_PDEATHSIG = 1
_NOT_FOUND = 127
_NOT_EXECUTABLE = 126


def _end_with_parent() -> None:
    """Have this process killed when its parent ends, however it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def _listeners(count: int) -> Iterator[tuple[list[socket.socket], str]]:
    """Give sockets that listen, and what DPU_SOFT_SERVERS is for them."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dpu-hosts-"))
        sockets = []
        for i in range(count):
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            stack.enter_context(listener)
            listener.bind(f"{folder}/{i + 1}")
            listener.listen()
            sockets.append(listener)
        yield sockets, ":".join(f"{folder}/{i + 1}" for i in range(count))


@contextlib.contextmanager
def _host(command: Sequence[str], servers: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start the host; signals that end this process end it."""
    env = {**os.environ, "DPU_SOFT_SERVERS": servers}
    host = subprocess.Popen(command, env=env, preexec_fn=_end_with_parent)
    old = {
        number: signal.signal(number, lambda number, _: host.send_signal(number))
        for number in (signal.SIGTERM, signal.SIGHUP)
    }
    # The terminal's goes to both.
    old[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield host
    finally:
        if host.poll() is None:
            host.kill()
            host.wait()
        for number, handler in old.items():
            signal.signal(number, handler)


def _status(host: subprocess.Popen[bytes]) -> int:
    """Give the exit status that a shell would show."""
    status = host.wait()
    return status if status >= 0 else 128 - status


# --- processes of one machine -----------------------------------------------------------------


def _start_server(listener: socket.socket, threads: int) -> subprocess.Popen[bytes]:
    """Start one, which ends when its standard input is closed, as by the end of this process."""
    command = [sys.executable, "-m", "dpu.serve", "--starter", "0"]
    command += ["--fd", str(listener.fileno()), "--threads", str(threads)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[listener.fileno()])


def _run_here(command: Sequence[str], processes: int, threads: int) -> int:
    with contextlib.ExitStack() as stack:
        listeners, names = stack.enter_context(_listeners(processes - 1))
        for listener in listeners:
            server = stack.enter_context(_start_server(listener, threads))
            assert server.stdin is not None
            stack.callback(server.stdin.close)
            listener.close()  # a server that ends is noticed
        return _status(stack.enter_context(_host(command, names)))


# --- ranks of MPI -----------------------------------------------------------------------------


def _run_host(comm: MPI.Comm, command: Sequence[str], *, shows: bool) -> int:
    """Run the host, and carry what it and its servers say."""
    relay = Relay(comm)
    with _listeners(comm.size - 1) as (listeners, names):
        try:
            with _host(command, names) as host:
                while host.poll() is None:
                    for listener in relay.step(*listeners):
                        relay.add(listeners.index(listener) + 1, listener.accept()[0])
                status = _status(host)
        finally:
            relay.end(range(1, comm.size))
    if shows:
        print(
            f"dpu.hosts: {relay.sent} bytes to servers, {relay.received} from them",
            file=sys.stderr,
        )
    return status


def _run_server(comm: MPI.Comm, threads: int) -> None:
    """Serve the host of the first rank until that has ended."""
    library = use_library("soft")
    served: list[threading.Thread] = []

    def accept() -> socket.socket:
        ours, theirs = socket.socketpair()
        arguments = (library, theirs, threads)
        served.append(threading.Thread(target=serve_connection, args=arguments))
        served[-1].start()
        return ours

    relay = Relay(comm, accept)
    try:
        while True:
            relay.step()
    except EOFError:
        pass
    finally:
        relay.close()
        for thread in served:
            thread.join()
        comm.Send(b"", dest=0, tag=0)


def _run_ranks(command: Sequence[str], threads: int, *, shows: bool) -> int:
    try:
        from mpi4py import MPI
    except ImportError as error:
        print(f"dpu.hosts: {error}: install offchip[mpi], or use --processes", file=sys.stderr)
        return 1
    world = MPI.COMM_WORLD
    if world.size == 1:
        print(
            "dpu.hosts: there is one rank: start it by mpiexec -n 2 or more, or use --processes",
            file=sys.stderr,
        )
        return 1
    comm = world.Dup()
    if comm.rank == 0:
        return _run_host(comm, command, shows=shows)
    # The first rank has the signal, and says when it is over.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _run_server(comm, threads)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dpu.hosts",
        usage="mpiexec -n RANKS python -m dpu.hosts [options] -- HOST [ARGUMENTS]",
        description="Run a host whose DPUs are spread over processes: the ranks of MPI, or "
        "--processes of this machine.",
        epilog="Example: mpiexec -n 4 python -m dpu.hosts -- ./host 1000",
    )
    parser.add_argument("--processes", type=int, help="of this machine, the host among them")
    parser.add_argument("--threads", type=int, default=0, help="of each server (0: one per core)")
    parser.add_argument("--bytes", action="store_true", help="show how many MPI has carried")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run a host.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status of the host; 128 and a signal that ended it.
    """
    parser = _parser()
    options = parser.parse_args(argv)
    command = options.command[options.command[:1] == ["--"] :]
    if not command:
        parser.error("there is no host to run")
    if options.threads < 0 or (options.processes is not None and options.processes < 1):
        parser.error("--processes must be 1 or more, --threads not negative")
    try:
        if options.processes is not None:
            return _run_here(command, options.processes, options.threads)
        return _run_ranks(command, options.threads, shows=options.bytes)
    except OSError as error:
        print(f"dpu.hosts: {Path(command[0])}: {error.strerror}", file=sys.stderr)
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE


if __name__ == "__main__":
    sys.exit(main())
