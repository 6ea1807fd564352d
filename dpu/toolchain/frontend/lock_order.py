# SPDX-License-Identifier: BSD-3-Clause
"""Keeps computations on their side of a lock.

An `acquire` or `release`, of the run time or in DPU assembly, is ordered with accesses to memory.
Arithmetic is not: the compiler may sink a computation from before `mutex_lock()` to its use inside
the lock, where all other tasklets wait for it. In LLVM IR, a value that is computed before such an
instruction, in the same block, and used only after it passes through an empty `asm volatile`, which
emits nothing and cannot move past another one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["LOCK_OPTIONS", "keep_lock_order", "mentions_lock"]

# The optimiser sinks a value into the only branch that uses it, past any lock before that.
LOCK_OPTIONS = ("-mllvm", "-instcombine-code-sinking=false")
_ATOMIC = '".insn i 0x0b, '
# In the words of the run time, or in DPU assembly.
_MNEMONIC = r"(?<![\w.])(?:acquire|release)\b"
_LOCK = re.compile(rf'\basm sideeffect "(?:\.insn i 0x0b, [34],|[^"]*{_MNEMONIC})')
_NAMED = re.compile(_MNEMONIC)
_NAME = re.compile(r'%[\w.$-]+|%"[^"]*"')
_DEFINITION = re.compile(rf"^\s+({_NAME.pattern}) = (?:(?:tail|musttail|notail) )?(\w+)\b ?(.*)$")
_LABEL = re.compile(r'^(?:[\w.$-]+|"[^"]*"):')
_FLAGS = re.compile(
    r"^(?:(?:nuw|nsw|exact|disjoint|nneg|samesign|inbounds|nusw|fast|nnan|ninf|nsz|arcp|contract|"
    r"afn|reassoc|noundef|range\([^)]*\)|inrange\([^)]*\)) )*"
)
_ARITHMETIC = re.compile(
    r"(?:add|sub|mul|[us]div|[us]rem|shl|[la]shr|and|x?or|f(?:add|sub|mul|div|rem|neg))$"
)
_CONVERSION = re.compile(r"(?:fpto[us]i|[us]itofp|fpext|fptrunc)$")
# These cost next to nothing; their operands are pinned instead.
_CHEAP = re.compile(
    r"(?:trunc|[zs]ext|bitcast|inttoptr|ptrtoint|addrspacecast|freeze|icmp|(?:extract|insert)value)$"
)
_PURE_CALL = re.compile(
    r"@llvm\.(?:[us](?:min|max)|abs|fsh[lr]|ct(?:pop|lz|tz)|bswap|bitreverse|fabs|fmuladd|"
    r"[us](?:add|sub)\.sat)\."
)
# Calls that annotate a value and emit no instruction.
_NOTE = re.compile(r"@llvm\.(?:dbg|lifetime|assume|experimental\.noalias)\b")
_TYPE = re.compile(r"^(i32|i64|float|double|ptr)(?=[ ,(]|$)(?! addrspace)")
_INDEX = re.compile(r", i\d+ (%|-?\d)")


@dataclass
class _Line:
    """An instruction: the value that it defines, its type and operands, and whether it can move."""

    name: str
    type: str
    reads: frozenset[str]
    is_pure: bool
    is_cheap: bool
    is_lock: bool


def mentions_lock(text: str) -> bool:
    """Tell whether C or LLVM IR contains an `acquire`, if only in a header."""
    return _ATOMIC in text or ("asm" in text and _NAMED.search(text) is not None)


def keep_lock_order(text: str) -> str:
    """Return LLVM IR in which no value that precedes a lock is computed after it."""
    if not mentions_lock(text):
        return text
    lines = text.split("\n")
    result: list[str] = []
    done = 0
    for start, end in _functions(lines):
        result += lines[done:start]
        body = lines[start:end]
        result += _in_function(body) if any(map(_LOCK.search, body)) else body
        done = end
    return "\n".join(result + lines[done:])


def _functions(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line and the end of each function."""
    start = None
    for number, line in enumerate(lines):
        if line.startswith("define "):
            start = number + 1
        elif line == "}" and start is not None:
            yield start, number
            start = None


def _in_function(body: list[str]) -> list[str]:
    code = [_parsed(line) for line in body]
    readers: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(code):
        for name in line.reads if line is not None else ():
            readers[name].append(number)

    pinned: set[int] = set()
    block = 0
    for number, line in enumerate(code):
        if _LABEL.match(body[number]):
            block = number + 1
        elif line is not None and line.is_lock:
            pinned |= _to_pin(code, readers, pinned, block, number)

    result: list[str] = []
    for number, text in enumerate(body):
        line = code[number]
        result += _pin(text, line, number) if number in pinned and line is not None else [text]
    return result


def _parsed(text: str) -> _Line | None:
    """Parse a line; None if it is no instruction."""
    stripped = text.strip()
    if not stripped or stripped.startswith((";", "#dbg")) or _LABEL.match(text):
        return None
    if _NOTE.search(text):
        return None
    match = _DEFINITION.match(text)
    if match is None:
        return _Line("", "", frozenset(_NAME.findall(text)), False, False, bool(_LOCK.search(text)))
    name, operation, rest = match.groups()
    kind, is_pure, is_cheap = _kind(operation, rest)
    is_lock = _LOCK.search(text) is not None
    return _Line(name, kind, frozenset(_NAME.findall(rest)), is_pure, is_cheap, is_lock)


def _kind(operation: str, rest: str) -> tuple[str, bool, bool]:
    """Return the type of a result, whether it can move, and whether it is cheap."""
    rest = _FLAGS.sub("", rest)
    if _CHEAP.match(operation):
        return "", True, True
    if operation == "getelementptr":
        is_vector = rest.startswith("<")
        return "ptr", not is_vector, "%" not in _INDEX.findall(rest) or "addrspace" in rest

    if _CONVERSION.match(operation):
        kind = rest.partition(" to ")[2].partition(",")[0]
    elif operation == "select":
        kind = rest.partition(", ")[2]
    elif operation == "fcmp":
        return "i1", True, False
    elif _ARITHMETIC.match(operation) or (operation == "call" and _PURE_CALL.search(rest)):
        kind = rest
    else:
        return "", False, False

    match = _TYPE.match(kind)
    # Steps of a counter: the code generator recognises loops by them.
    is_step = operation in ("add", "sub") and "%" not in kind.partition(", ")[2].partition(", !")[0]
    return (match[1] if match else ""), True, match is None or is_step


def _to_pin(
    code: list[_Line | None],
    readers: dict[str, list[int]],
    pinned: set[int],
    block: int,
    lock: int,
) -> set[int]:
    """Return the lines of a block whose result is used only after a lock of the block."""
    found: set[int] = set()
    # Lines that stay before the lock by themselves, and cheap ones that are used after it.
    held, needed = set(pinned), set()
    for number in range(lock - 1, block - 1, -1):
        line = code[number]
        if line is None or not line.is_pure:
            continue
        before = [reader for reader in readers[line.name] if block <= reader < lock]
        behind = len(before) < len(readers[line.name])
        if number in held or any(_holds(code[reader], reader in held) for reader in before):
            held.add(number)
        elif behind or any(reader in needed for reader in before):
            if line.is_cheap:
                needed.add(number)
            else:
                found.add(number)
                held.add(number)

    return found


def _holds(reader: _Line | None, is_held: bool) -> bool:
    return is_held or (reader is not None and not reader.is_pure)


def _pin(text: str, line: _Line, number: int) -> list[str]:
    """Return a computation whose result passes through an `asm volatile`."""
    name, raw, kind = line.name, f"%lock{number}.", line.type
    code = [text.replace(f"{name} =", f"{raw}raw =", 1)]

    def through(kind: str, value: str, result: str) -> None:
        code.append(f'  {result} = call {kind} asm sideeffect "", "=r,0"({kind} {value})')

    if kind in ("i32", "ptr"):
        through(kind, f"{raw}raw", name)
    elif kind == "float":
        code.append(f"  {raw}bits = bitcast float {raw}raw to i32")
        through("i32", f"{raw}bits", f"{raw}same")
        code.append(f"  {name} = bitcast i32 {raw}same to float")
    elif kind == "i1":
        code.append(f"  {raw}bits = zext i1 {raw}raw to i32")
        through("i32", f"{raw}bits", f"{raw}same")
        code.append(f"  {name} = icmp ne i32 {raw}same, 0")
    else:
        code.append(f"  {raw}bits = bitcast {kind} {raw}raw to i64")
        code.append(f"  {raw}low = trunc i64 {raw}bits to i32")
        code.append(f"  {raw}shifted = lshr i64 {raw}bits, 32")
        code.append(f"  {raw}high = trunc i64 {raw}shifted to i32")
        through("i32", f"{raw}low", f"{raw}low.same")
        through("i32", f"{raw}high", f"{raw}high.same")
        code.append(f"  {raw}low.wide = zext i32 {raw}low.same to i64")
        code.append(f"  {raw}high.wide = zext i32 {raw}high.same to i64")
        code.append(f"  {raw}high.part = shl i64 {raw}high.wide, 32")
        code.append(f"  {raw}same = or i64 {raw}high.part, {raw}low.wide")
        code.append(f"  {name} = bitcast i64 {raw}same to {kind}")
    return code
