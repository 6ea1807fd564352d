# SPDX-License-Identifier: BSD-3-Clause
"""The command ``python -m dpu.gdb``."""

from __future__ import annotations

import argparse
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..debugger.ending import Ending
from ..debugger.errors import DebuggerError
from ..debugger.host import Host, program_command, split_command
from ..debugger.process import Process, Reason
from .server import Server, listen

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dpu.gdb",
        description="Serve gdb's remote serial protocol for one DPU: of a program for DPUs, or of "
        "a host program, which is started and waits at its first launch.",
        epilog="Example: python -m dpu.gdb --listen ./socket -- ./host 1000",
    )
    parser.add_argument("program", nargs="?", help="a DPU program, which is launched on one DPU")
    parser.add_argument(
        "command", nargs="*", help="after --: a host program and its arguments, instead"
    )
    parser.add_argument(
        "--listen",
        metavar="PLACE",
        help="the path of a socket to be made, for this user alone (default: in a temporary "
        "folder); or a port of this machine (0: any), which all its users can connect to",
    )
    parser.add_argument("--dpu", metavar="R.S.M", help="rank, slice and member; default: the first")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status: 1 if nothing can be debugged.
    """
    own, command = split_command(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(own)
    if bool(command) == bool(options.program):
        _parser().error("a program for DPUs is needed, or a host program after --")
    try:
        return _serve(command or program_command(options.program), options)
    except DebuggerError as error:
        print(f"python -m dpu.gdb: {error}", file=sys.stderr)
        return 1


def _serve(command: Sequence[str], options: argparse.Namespace) -> int:
    # Ctrl-C too: while the DPU runs, gdb is whom the user interrupts.
    ending = Ending(signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    folder = tempfile.mkdtemp(prefix="offchip-gdb-") if options.listen is None else None
    place = options.listen if folder is None else str(Path(folder, "socket"))
    listener = listen(place)
    is_path = listener.family == socket.AF_UNIX
    started: list[Process] = []

    def work() -> int:
        with ending.held():
            started.append(Process(Host(command, dpu=options.dpu)))
        if started[0].start().reason is Reason.EXITED:
            print("python -m dpu.gdb: the host program launched no DPU", file=sys.stderr)
            return 1
        where = place if is_path else f"localhost:{listener.getsockname()[1]}"
        if not is_path:
            print(
                "python -m dpu.gdb: warning: every user of this machine can connect to the port,"
                " and control the program; the path of a socket is for you alone",
                file=sys.stderr,
            )
        print(f"listening at {where}", flush=True)
        connection, _ = listener.accept()
        with connection:
            Server(started[0], connection).run()
        return 0

    def close() -> None:
        # A signal may have it done twice.
        for process in started:
            process.close()
        listener.close()
        if is_path:
            Path(place).unlink(missing_ok=True)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    return ending.run(work, close)


if __name__ == "__main__":
    sys.exit(main())
