# SPDX-License-Identifier: BSD-3-Clause
"""Runs DPUs of other processes: ``python -m dpu.serve SOCKET``, named in their DPU_SOFT_SERVERS.

``python -m dpu.hosts`` starts servers, and what uses them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator

from dpu._native import Library, use_library
from dpu.errors import DpuError

__all__ = ["main", "serve_connection"]


def serve_connection(library: Library, connection: socket.socket, threads: int) -> None:
    """Run DPUs over a connection until it ends, and close it; errors go to stderr.

    Parameters
    ----------
    library : Library
        The soft twin.
    connection : socket
        Of the process whose DPUs they are.
    threads : int
        Threads for launches; 0: one per core.
    """
    with connection:
        try:
            library.serve(connection.fileno(), threads)
        except DpuError as error:
            print(f"dpu.serve: {error.detail or error}", file=sys.stderr)


@contextlib.contextmanager
def _listening(path: str) -> Iterator[socket.socket]:
    """Give a socket that only this user can connect to; its name goes when it does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        before = os.umask(0o077)
        try:
            listener.bind(path)
        finally:
            os.umask(before)
        listener.listen()
        try:
            yield listener
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


@contextlib.contextmanager
def _signals() -> Iterator[socket.socket]:
    """Give a socket that can be read after a signal, whichever thread has got it."""
    woken, waker = socket.socketpair()
    with woken, waker:
        waker.setblocking(False)
        before = signal.set_wakeup_fd(waker.fileno())
        try:
            yield woken
        finally:
            signal.set_wakeup_fd(before)


def _accept(listener: socket.socket, threads: int, starter: int | None) -> None:
    """Serve connections until the starter, if it is a pipe, is closed."""
    with _signals() as woken:
        _accept_until(listener, threads, starter, woken)


def _accept_until(
    listener: socket.socket, threads: int, starter: int | None, woken: socket.socket
) -> None:
    library = use_library("soft")
    served: list[tuple[threading.Thread, socket.socket]] = []
    waits: list[socket.socket | int] = [listener, woken]
    if starter is not None:
        waits.append(starter)
    try:
        while True:
            ready, _, _ = select.select(waits, [], [])
            if starter in ready or woken in ready:
                return
            connection, _ = listener.accept()
            arguments = (library, connection.dup(), threads)
            thread = threading.Thread(target=serve_connection, args=arguments)
            thread.start()
            for old in [one for one in served if not one[0].is_alive()]:
                old[1].close()
                served.remove(old)
            served.append((thread, connection))
    finally:
        for thread, connection in served:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            thread.join()
            connection.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dpu.serve",
        description="Run DPUs of other processes, which name the socket in DPU_SOFT_SERVERS.",
        epilog="Example: python -m dpu.serve --threads 8 /run/user/1000/dpus",
    )
    parser.add_argument("socket", nargs="?", help="name of the socket, which must not exist")
    parser.add_argument("--threads", type=int, default=0, help="for launches (0: one per core)")
    parser.add_argument("--fd", type=int, help="a socket that listens, instead of a name")
    parser.add_argument("--starter", type=int, help="a pipe; the server ends when it is closed")
    return parser


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def main(argv: list[str] | None = None) -> int:
    """Serve until a signal.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status.
    """
    parser = _parser()
    options = parser.parse_args(argv)
    if (options.socket is None) == (options.fd is None):
        parser.error("the name of a socket, or --fd, is needed")
    if options.threads < 0:
        parser.error("--threads must not be negative")

    signal.signal(signal.SIGTERM, _stop)
    try:
        if options.fd is not None:
            with socket.socket(fileno=options.fd) as listener:
                _accept(listener, options.threads, options.starter)
        else:
            with _listening(options.socket) as listener:
                _accept(listener, options.threads, options.starter)
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        name = options.socket or f"file descriptor {options.fd}"
        print(f"dpu.serve: {name}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
