# SPDX-License-Identifier: BSD-3-Clause
"""The command ``dpu-lldb``."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from offchip.completion import complete

from ..debugger.ending import Ending
from ..debugger.errors import DebuggerError
from ..debugger.host import split_command
from .commands import Interpreter
from .programs import command_for

__all__ = ["main"]

_PROMPT = "(lldb) "


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dpu-lldb",
        description="Debug a DPU: of a program for DPUs, or of a host program, which is started by "
        "`run`. The commands are the usual ones of lldb; `help` lists them.",
        epilog="Example: dpu-lldb -o 'b main' -o run -- ./host 1000",
    )
    parser.add_argument("program", nargs="?", help="a DPU program, or a host program")
    parser.add_argument("arguments", nargs="*", help="arguments of a host program, after --")
    parser.add_argument(
        "-s", "--source", action="append", default=[], metavar="FILE", help="run commands of a file"
    )
    parser.add_argument(
        "-o", "--one-line", action="append", default=[], metavar="COMMAND", help="run a command"
    )
    parser.add_argument(
        "-b", "--batch", action="store_true", help="end after these commands, or the first error"
    )
    parser.add_argument("--json", action="store_true", help="print an object of JSON per command")
    parser.add_argument("--dpu", metavar="R.S.M", help="rank, slice and member; default: the first")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="stop what a command lets run for longer, its start included; default: never",
    )
    return parser


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0")
    return value


class _Interrupts:
    """Ctrl-C: stops the DPU while it runs, and drops the line at the prompt."""

    def __init__(self) -> None:
        self.pending = False
        self.at_prompt = False

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        if self.at_prompt:
            raise KeyboardInterrupt
        self.pending = True

    def poll(self) -> bool:
        found, self.pending = self.pending, False
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status: 1 if the program cannot be read, or a command of a batch fails.
    """
    own, host = split_command(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    complete(parser)
    options = parser.parse_args(own)
    program = [*([options.program] if options.program else []), *options.arguments, *host]
    ending, interrupts = Ending(signal.SIGTERM, signal.SIGHUP), _Interrupts()
    signal.signal(signal.SIGINT, interrupts.handle)
    try:
        interpreter = Interpreter(
            command_for(program) if program else [],
            sys.stdout,
            dpu=options.dpu,
            as_json=options.json,
            poll=interrupts.poll,
            limit=options.timeout,
            ending=ending,
        )
    except DebuggerError as error:
        print(f"dpu-lldb: {error}", file=sys.stderr)
        return 1
    return ending.run(lambda: _converse(interpreter, options, interrupts), interpreter.close)


def _converse(
    interpreter: Interpreter, options: argparse.Namespace, interrupts: _Interrupts
) -> int:
    lines = list(options.one_line)
    for name in options.source:
        try:
            lines += Path(name).read_text().splitlines()
        except OSError as error:
            print(f"dpu-lldb: {name}: {error.strerror}", file=sys.stderr)
            return 1
    for line in lines:
        if not options.json:
            print(f"{_PROMPT}{line}", flush=True)
        fulfilled = interpreter.run(line)
        if interpreter.is_done:
            return 0
        if options.batch and (not fulfilled or interpreter.was_interrupted):
            return 1
        if interpreter.was_interrupted:
            # An interrupted script leaves the debugger for its user.
            break
    if not options.batch:
        _ask(interpreter, interrupts)
    return 0


def _ask(interpreter: Interpreter, interrupts: _Interrupts) -> None:
    """Run what the user types, until the end of the input."""
    if sys.stdin.isatty():
        _complete_by_tab(interpreter)
    while not interpreter.is_done:
        try:
            interrupts.at_prompt = True
            line = input("" if interpreter.as_json else _PROMPT)
        except EOFError:
            return
        except KeyboardInterrupt:
            print()
            continue
        finally:
            interrupts.at_prompt = False
        if line.strip():
            interpreter.run(line)
        else:
            interpreter.repeat()


def _complete_by_tab(interpreter: Interpreter) -> None:
    import readline

    def complete(text: str, index: int) -> str | None:
        before = readline.get_line_buffer()[: readline.get_begidx()]
        found = []
        for name in interpreter.names():
            if name.startswith(before + text):
                found.append(name[len(before) :].split(" ")[0] + " ")
        found += [word for word in interpreter.words() if before and word.startswith(text)]
        unique = sorted(set(found))
        return unique[index] if index < len(unique) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t*&[](.-+>")
    readline.parse_and_bind("tab: complete")


if __name__ == "__main__":
    sys.exit(main())
