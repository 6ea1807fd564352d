# SPDX-License-Identifier: BSD-3-Clause
"""Vector registers of the Vector Engine kept in memory while other functions run.

A function may change all vector registers, and clang's back end for the VE (22) cannot save one: it
ends where a vector is needed after a call, or where there are more vectors than registers. So
these are stored where they are made, and loaded where they are used, in LLVM's intermediate text.
Nor can it choose between two vectors, which is done by their addresses.

It imports nothing of the package, as ``ve_structures``, which loads it.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

__all__ = ["save_vectors"]

_TYPE = r"<(?:256|512) x (?:double|i64|float|i32)>"
_NAME = r'%(?:"[^"]*"|[\w.$-]+)'
_PARAMETER = re.compile(rf"({_TYPE})(?: \w+)* ({_NAME})")
_LABEL = re.compile(r'("[^"]*"|[\w.$-]+):(?: *;.*)?$')
_DEFINITION = re.compile(rf"  ({_NAME}) = (\w+)(.*)", re.DOTALL)
_CALL = re.compile(rf".*?\bcall\b[^@%]* ({_TYPE}) [@%]", re.DOTALL)
_INCOMING = re.compile(rf"\[ (.*?), ({_NAME}) \]")
_TARGET = re.compile(rf"\blabel ({_NAME})")
_CHOICE = re.compile(
    rf"  ({_NAME}) = select (?:\w+ )*?i1 (\S+), ({_TYPE}) (.+), {_TYPE} (.+?)(?:, ![\w.]+ !\d+)*$"
)
_OTHER_RESULT = frozenset(
    ["alloca", "extractelement", "extractvalue", "fcmp", "getelementptr", "icmp", "shufflevector"]
)
# Calls but for these may become calls of functions.
_IN_LINE = re.compile(
    r"@llvm\.(ve\.|dbg\.|lifetime\.|assume|experimental\.noalias|[su](min|max|add|sub|mul)\.|abs\."
    r"|fabs\.|fmuladd\.|ct(pop|lz|tz)\.|bswap\.|fsh[lr]\.)"
)
_MADE_CALL = re.compile(r"\b(frem|i128|fp128|half)\b")


@dataclass
class _Block:
    name: str
    head: list[str]  # the line of its label, if it has one
    statements: list[str] = field(default_factory=list)


def save_vectors(text: str, *, all_of_them: bool = False) -> str:
    """Return a module of LLVM's that keeps vectors in memory.

    Parameters
    ----------
    text : str
        The module.
    all_of_them : bool
        Whether all vectors are kept there, not only those that are needed after calls.
    """
    out: list[str] = []
    function: list[str] = []
    for line in text.split("\n"):
        if function or line.startswith("define "):
            function.append(line)
            if line == "}":
                out += _save_in_function(function, all_of_them)
                function = []
        else:
            out.append(line)
    return "\n".join(out)


def _save_in_function(lines: list[str], all_of_them: bool) -> list[str]:
    blocks = _split(lines[1:-1])
    types = {match[2]: match[1] for match in _PARAMETER.finditer(lines[0])}
    parameters = list(types)
    for block in blocks:
        for statement in block.statements:
            kind = _result_type(statement)
            if kind:
                types[_defined(statement)] = kind
    first = _choose_in_memory(blocks)
    saved = set(types) if all_of_them else _live_in_calls(blocks, types)
    slots = {name: f"%vector.kept.{number}" for number, name in enumerate(sorted(saved))}
    first += [f"  {slots[name]} = alloca {types[name]}, align 8" for name in slots]
    first += [
        f"  {slots[name]}.next = alloca {types[name]}, align 8"
        for block in blocks
        for name in map(_defined, filter(_is_phi, block.statements))
        if name in slots
    ]
    first += [_store(types[name], name, slots[name]) for name in parameters if name in saved]
    _rewrite(blocks, types, slots)
    blocks[0].statements[:0] = first
    body = [line for block in blocks for line in (*block.head, *block.statements)]
    return [lines[0], *body, lines[-1]]


def _choose_in_memory(blocks: list[_Block]) -> list[str]:
    """Replace ``select`` of two vectors, which the back end lacks; return the slots for that."""
    slots: list[str] = []
    for block in blocks:
        out: list[str] = []
        for statement in block.statements:
            match = _CHOICE.match(statement)
            if match is None:
                out.append(statement)
                continue
            name, condition, kind, yes, no = match.groups()
            one, other, which = (
                f"%vector.{word}.{len(slots)}" for word in ("one", "other", "which")
            )
            slots += [f"  {slot} = alloca {kind}, align 8" for slot in (one, other)]
            out += [_store(kind, yes, one), _store(kind, no, other)]
            out.append(f"  {which} = select i1 {condition}, ptr {one}, ptr {other}")
            out.append(_load(kind, name, which))
        block.statements = out
    return slots


def _split(lines: list[str]) -> list[_Block]:
    """Split a function's body into blocks; a ``switch`` of several lines is one statement."""
    blocks: list[_Block] = []
    in_switch = False
    for line in lines:
        label = _LABEL.match(line)
        if label is not None or not blocks:
            name = f"%{label[1]}" if label is not None else ""
            blocks.append(_Block(name, [line] if label is not None else []))
            if label is not None:
                continue
        if in_switch:
            blocks[-1].statements[-1] += f"\n{line}"
        elif line:
            blocks[-1].statements.append(line)
        in_switch = (in_switch or line.startswith("  switch ")) and "]" not in line
    return blocks


def _result_type(statement: str) -> str:
    """Return the type of a statement's result if that is a vector."""
    match = _DEFINITION.match(statement)
    if match is None or match[2] in _OTHER_RESULT:
        return ""
    if re.match(r"((tail|musttail|notail) )?call\b", match[2] + match[3]):
        found = _CALL.match(statement)
    else:
        found = re.search(rf" to ({_TYPE})", match[3]) or re.search(rf"({_TYPE})", match[3])
        if found is not None and " to " in match[3] and " to " not in found[0]:
            found = None  # a cast to something else
    return found[1] if found is not None else ""


def _defined(statement: str) -> str:
    match = _DEFINITION.match(statement)
    return match[1] if match is not None else ""


def _used(statement: str, names: dict[str, str]) -> set[str]:
    if _is_debug(statement):
        return set()
    return {name for name in re.findall(_NAME, _operands(statement)) if name in names}


def _operands(statement: str) -> str:
    return statement[_operands_start(statement) :]


def _operands_start(statement: str) -> int:
    match = _DEFINITION.match(statement)
    return match.start(2) if match is not None else 0


def _is_debug(statement: str) -> bool:
    return statement.lstrip().startswith("#dbg_")


def _is_phi(statement: str) -> bool:
    match = _DEFINITION.match(statement)
    return match is not None and match[2] == "phi"


def _may_call(statement: str) -> bool:
    if re.search(r"\bcall\b", statement):
        return _IN_LINE.search(statement) is None
    return _MADE_CALL.search(statement) is not None


def _incoming(block: _Block, entry: str, names: dict[str, str]) -> list[tuple[str, str]]:
    """List the vectors of a block's ``phi`` statements, each with the block that it comes from."""
    return [
        (name if name != entry else "", value)
        for statement in block.statements
        if _is_phi(statement)
        for value, name in _INCOMING.findall(statement)
        if value in names
    ]


def _entry_name(blocks: list[_Block]) -> str:
    """Return how ``phi`` statements call the first block, which may have no label."""
    labels = {block.name for block in blocks}
    named = (
        name
        for block in blocks
        for statement in block.statements
        if _is_phi(statement)
        for _, name in _INCOMING.findall(statement)
    )
    return next((name for name in named if name not in labels), "")


def _live_in_calls(blocks: list[_Block], types: dict[str, str]) -> set[str]:
    """Return the vectors that are needed after a call which does not make them."""
    entry = _entry_name(blocks)
    by_name = {block.name: block for block in blocks}
    live_at_start: dict[str, set[str]] = {block.name: set() for block in blocks}
    found: set[str] = set()
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            live = set()
            for target in _TARGET.findall(block.statements[-1]):
                live |= live_at_start[target]
                live |= {
                    value
                    for name, value in _incoming(by_name[target], entry, types)
                    if name == block.name
                }
            for statement in reversed(block.statements):
                live.discard(_defined(statement))
                if _may_call(statement):
                    found |= live
                if not _is_phi(statement):
                    live |= _used(statement, types)
            if live != live_at_start[block.name]:
                live_at_start[block.name] = live
                changed = True
    return found


def _store(kind: str, value: str, slot: str) -> str:
    return f"  store volatile {kind} {value}, ptr {slot}, align 8"


def _load(kind: str, value: str, slot: str) -> str:
    return f"  {value} = load volatile {kind}, ptr {slot}, align 8"


def _rewrite(blocks: list[_Block], types: dict[str, str], slots: dict[str, str]) -> None:
    """Store the vectors that have slots behind their definitions, and load them before each use.

    A ``phi`` that has one becomes a load, of a second slot to which the blocks before it store:
    its value there may still be needed where such a block goes elsewhere.
    """
    entry = _entry_name(blocks)
    endings: dict[str, list[str]] = {block.name: [] for block in blocks}
    numbers = itertools.count()
    gone: set[str] = set()

    def again(name: str, statements: list[str]) -> str:
        loaded = f"%vector.again.{next(numbers)}"
        statements.append(_load(types[name], loaded, slots[name]))
        return loaded

    for block in blocks:
        phis: list[str] = []
        loads: list[str] = []
        out: list[str] = []
        for statement in block.statements:
            name = _defined(statement)
            if _is_phi(statement):
                for value, source in _INCOMING.findall(statement):
                    ending = endings[source if source != entry else ""]
                    current = again(value, ending) if value in slots else value
                    if name in slots:
                        ending.append(_store(types[name], current, f"{slots[name]}.next"))
                    statement = statement.replace(f"[ {value}, {source}", f"[ {current}, {source}")
                if name in slots:
                    loaded = f"{slots[name]}.now"
                    loads.append(_load(types[name], loaded, f"{slots[name]}.next"))
                    loads.append(_store(types[name], loaded, slots[name]))
                    gone.add(name)
                else:
                    phis.append(statement)
                continue
            loaded_here = {used: again(used, out) for used in sorted(_used(statement, slots))}
            out.append(_rename(statement, loaded_here))
            if name in slots:
                out.append(_store(types[name], name, slots[name]))
        block.statements = [*phis, *loads, *out]
    for block in blocks:
        block.statements[-1:-1] = endings[block.name]
        block.statements = [
            statement
            for statement in block.statements
            if not _is_debug(statement) or gone.isdisjoint(re.findall(_NAME, statement))
        ]


def _rename(statement: str, names: dict[str, str]) -> str:
    """Return a statement with other names in its operands."""
    if not names:
        return statement
    start = _operands_start(statement)
    operands = re.sub(_NAME, lambda match: names.get(match[0], match[0]), statement[start:])
    return statement[:start] + operands
