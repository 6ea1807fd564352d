# SPDX-License-Identifier: BSD-3-Clause
"""Computes the stack usage of the functions of a DPU program: ``python -m dpu.stack FILE``.

It follows the stack pointer through the instructions of each function, and the calls among
functions. A call through a pointer counts as a call of the deepest function that is never called by
name. Results that may be too small are marked: such calls, recursion, and frames whose size is
computed.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from offchip.closed_pipe import ends_at_closed_pipe

from . import _isa
from .disasm import Instruction, disassemble
from .elf.format import IRAM_BASE, SymbolType
from .elf.program import ProgramFile
from .elf.readable_name import readable_name
from .elf.reader import ElfError

__all__ = ["Function", "analyse", "explain_small", "main"]

_STACK_POINTER, _RETURN, _ZERO = 22, 23, _isa.REGISTERS
_WORD = 1 << 32


@dataclass
class Function:
    """The stack usage of a function.

    Parameters
    ----------
    name : str
        Its symbol, or its address.
    frame : int
        Bytes of its own stack frame.
    deepest : int
        Bytes of its frame and of all that it calls, at most.
    path : tuple of str
        The chain of calls that needs them.
    uncertain : tuple of str
        Reasons why it may need more.
    """

    name: str
    frame: int = 0
    deepest: int = 0
    path: tuple[str, ...] = ()
    uncertain: tuple[str, ...] = ()
    calls: dict[int, int] = field(default_factory=dict, repr=False)
    pointer_calls: int | None = field(default=None, repr=False)
    doubts: set[str] = field(default_factory=set, repr=False)

    @property
    def is_bounded(self) -> bool:
        """True if `deepest` is an upper bound."""
        return not self.uncertain


class _Walker:
    """Follows the stack pointer through one function."""

    def __init__(
        self, words: Sequence[int], entries: dict[int, str], links: set[int], start: int
    ) -> None:
        self.words = words
        self.entries = entries
        self.start = start
        self.links = links
        self.function = Function(entries.get(start, hex(IRAM_BASE + 8 * start)))

    def walk(self) -> Function:
        pending = [(self.start, 0)]
        seen: set[tuple[int, int]] = set()
        while pending:
            place = pending.pop()
            if place in seen or place[0] >= len(self.words):
                continue
            seen.add(place)
            index, depth = place
            if abs(depth) > _isa.WRAM:
                self.function.doubts.add("its frame grows in a loop")
                continue
            self.function.frame = max(self.function.frame, abs(depth))
            instruction = disassemble(self.words[index])
            if instruction is not None:
                pending += self._after(index, depth, instruction)
        return self.function

    def _after(self, index: int, depth: int, instruction: Instruction) -> list[tuple[int, int]]:
        """Return the positions that may follow an instruction, with the depth there."""
        if instruction.mnemonic == "call":
            return self._after_call(index, depth, instruction)
        if instruction.mnemonic == "fault":
            return []
        depth = self._depth_after(depth, instruction)
        target = instruction.operands.get("pc")
        if target is None:
            return [(index + 1, depth)]
        after = []
        if instruction.condition != "false":
            after += self._jump(target, depth)
        if instruction.condition != "true":
            after.append((index + 1, depth))
        return after

    def _after_call(
        self, index: int, depth: int, instruction: Instruction
    ) -> list[tuple[int, int]]:
        operands = instruction.operands
        returns = "rc" in operands
        if operands["ra"] == _ZERO and "off" in operands:
            if not returns:
                return self._jump(operands["off"], depth)
            self._called(operands["off"], depth)
        elif not returns and operands.get("off"):
            # A jump into a sequence of instructions, as in divisions; control continues there.
            return self._jump(operands["off"], depth)
        elif returns or operands["ra"] not in self.links:
            known = self.function.pointer_calls
            self.function.pointer_calls = max(known or 0, abs(depth))
            self.function.doubts.add("it calls or jumps through a pointer")
        return [(index + 1, depth)] if returns else []

    def _jump(self, target: int, depth: int) -> list[tuple[int, int]]:
        if target in self.entries and target != self.start:
            self._called(target, depth)
            return []
        return [(target, depth)]

    def _called(self, target: int, depth: int) -> None:
        calls = self.function.calls
        calls[target] = max(calls.get(target, 0), abs(depth))

    def _depth_after(self, depth: int, instruction: Instruction) -> int:
        operands = instruction.operands
        if operands.get("dc") == _STACK_POINTER:
            # The caller's frame is restored, or the stack pointer initialised.
            return 0
        if operands.get("rc") != _STACK_POINTER:
            return depth
        by = operands.get("imm")
        if (
            instruction.mnemonic == "add"
            and operands.get("ra") == _STACK_POINTER
            and by is not None
        ):
            return depth + (by - _WORD if by >= _WORD // 2 else by)
        self.function.doubts.add("the size of its frame is computed")
        return depth


def analyse(data: bytes) -> dict[str, Function]:
    """Compute the stack usage of the functions of a program.

    Parameters
    ----------
    data : bytes
        The file of a program.

    Returns
    -------
    dict of str to Function
        By name, in the order of the program.

    Raises
    ------
    ElfError
        If it is not a DPU program.
    """
    return _analyse(ProgramFile(data))


def explain_small(data: bytes) -> str | None:
    """Say which stacks are too small, what needs them and how much; None if all are large enough.

    Only calls by name count: which function a pointer calls is a guess.

    Parameters
    ----------
    data : bytes
        The file of a program.
    """
    program = ProgramFile(data)
    functions = _analyse(program, pointers=False)
    root = functions.get("main")
    stacks = _stacks(program)
    small = [n for n, size in enumerate(stacks) if root is not None and size < root.deepest]
    if root is None or not small:
        return None
    chain = " > ".join(f"{name} ({functions[name].frame})" for name in root.path)
    sizes = " or ".join(str(size) for size in sorted({stacks[n] for n in small}))
    whose = "all tasklets" if len(small) == len(stacks) else f"tasklets {small[0]} to {small[-1]}"
    if len(small) == 1:
        whose = f"tasklet {small[0]}"
    return (
        f"stack too small: main needs {root.deepest} bytes, {chain}, and the stack of {whose} has "
        f"{sizes}: -DSTACK_SIZE_DEFAULT={root.deepest}, or -DSTACK_SIZE_TASKLET_n for some, gives "
        "more"
    )


def _analyse(program: ProgramFile, *, pointers: bool = True) -> dict[str, Function]:
    text = program.section(".text")
    if text is None:
        raise ElfError("the program has no section .text")
    words = struct.unpack(f"<{len(text.data) // 8}Q", text.data[: len(text.data) // 8 * 8])
    entries = {
        (symbol.value - IRAM_BASE) // 8: readable_name(symbol.name)
        for symbol in program.symbols
        if symbol.type == SymbolType.FUNC and symbol.section is text
    }
    entries.setdefault(0, "__bootstrap")
    links = _links(words)
    functions: dict[int, Function] = {}
    pending = sorted(entries, reverse=True)
    while pending:
        start = pending.pop()
        if start not in functions:
            functions[start] = _Walker(words, entries, links, start).walk()
            pending += functions[start].calls

    if pointers:
        _add_pointer_calls(functions)
    done: dict[int, Function] = {}
    for start in functions:
        _add_calls(start, functions, done, ())
    return {functions[start].name: functions[start] for start in sorted(functions)}


def _links(words: Sequence[int]) -> set[int]:
    """Return the registers that calls put return addresses into: only jumps to these return."""
    links = {_RETURN}
    for word in words:
        instruction = disassemble(word)
        if instruction is not None and instruction.mnemonic == "call":
            links.add(instruction.operands.get("rc", _RETURN))
    return links


def _add_pointer_calls(functions: dict[int, Function]) -> None:
    """Count calls through pointers as calls of all functions that are never called by name."""
    called = {target for function in functions.values() for target in function.calls}
    roots = ("main", "__bootstrap")
    others = [s for s, one in functions.items() if s not in called and one.name not in roots]
    for function in functions.values():
        if function.pointer_calls is not None:
            for target in others:
                known = function.calls.get(target, 0)
                function.calls[target] = max(known, function.pointer_calls)


def _add_calls(
    start: int, functions: dict[int, Function], done: dict[int, Function], above: tuple[int, ...]
) -> Function:
    """Complete a function: find its deepest path of calls."""
    function = functions[start]
    if start in done:
        return function
    deepest: int = function.frame
    path: tuple[str, ...] = (function.name,)
    doubts = {f"{function.name}: {doubt}" for doubt in function.doubts}
    for target, depth in function.calls.items():
        if target == start or target in above:
            doubts.add(f"{functions[target].name}: it is recursive")
            continue
        callee = _add_calls(target, functions, done, (*above, start))
        doubts.update(callee.uncertain)
        if depth + callee.deepest > deepest:
            deepest, path = depth + callee.deepest, (function.name, *callee.path)
    function.deepest, function.path, function.uncertain = deepest, path, tuple(sorted(doubts))
    done[start] = function
    return function


def _stacks(program: ProgramFile) -> list[int]:
    """Return the stack sizes of the tasklets that the program's symbols give."""
    values = {symbol.name: symbol.value for symbol in program.symbols}
    tasklets = min(values.get("NR_TASKLETS", 0), _isa.THREADS_ROOM)
    default = values.get("STACK_SIZE_DEFAULT", 0)
    return [values.get(f"STACK_SIZE_TASKLET_{number}", default) for number in range(tasklets)]


@ends_at_closed_pipe
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status: 1 if a stack is too small, 2 if the program cannot be read.
    """
    parser = argparse.ArgumentParser(
        prog="python -m dpu.stack",
        description="Compute the stack usage of the functions of a program.",
        epilog="Example: python -m dpu.stack program",
    )
    parser.add_argument("program", help="the file of the program")
    parser.add_argument("--json", action="store_true", help="write JSON")
    options = parser.parse_args(argv)
    try:
        program = ProgramFile(Path(options.program).read_bytes())
        functions = _analyse(program)
    except (OSError, ElfError) as error:
        print(f"{options.program}: {error}", file=sys.stderr)
        return 2

    stacks = _stacks(program)
    root = functions.get("main") or next(iter(functions.values()))
    small = [number for number, size in enumerate(stacks) if size < root.deepest]
    if options.json:
        print(json.dumps(_as_json(functions, root, stacks, small), indent=2))
    else:
        _print(functions, root, stacks, small)

    return 1 if small else 0


def _as_json(
    functions: dict[str, Function], root: Function, stacks: list[int], small: list[int]
) -> dict[str, object]:
    found = {
        name: {
            "frame": one.frame,
            "deepest": one.deepest,
            "path": one.path,
            "uncertain": one.uncertain,
        }
        for name, one in functions.items()
    }
    return {"root": root.name, "functions": found, "stacks": stacks, "too_small": small}


def _print(
    functions: dict[str, Function], root: Function, stacks: list[int], small: list[int]
) -> None:
    width = max(len("function"), *(len(name) for name in functions))
    print(f"{'function':{width}}    frame  deepest")
    for name, function in functions.items():
        mark = "" if function.is_bounded else "  or more"
        print(f"{name:{width}} {function.frame:8} {function.deepest:8}{mark}")
    at_most = "" if root.is_bounded else " or more"
    print(f"\n{root.name} needs {root.deepest} bytes{at_most}: {' > '.join(root.path)}")
    for doubt in root.uncertain:
        print(f"unknown: {doubt}")
    if stacks:
        sizes = sorted(set(stacks))
        print(f"{len(stacks)} tasklet(s) with stacks of {', '.join(map(str, sizes))} bytes")
    if small:
        print(f"too small: the stacks of tasklet(s) {', '.join(map(str, small))}")


if __name__ == "__main__":
    sys.exit(main())
