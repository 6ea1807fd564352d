# SPDX-License-Identifier: BSD-3-Clause
"""Lowers loads and stores through pointers into MRAM to calls of the run time.

MRAM can only be copied to and from WRAM. In LLVM IR it is address space 255: a load or store there
becomes a call of a function of `soft_cache.h`, a copy of a structure one of `string.h`. All other
accesses are left for `mram_access` to reject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["serve_mram_accesses", "split_operands"]

_SPACE = "ptr addrspace(255) "
_LOAD = re.compile(r"^\s+(%\S+) = load (?:volatile )?(?!atomic)(.*)$")
_STORE = re.compile(r"^\s+store (?:volatile )?(?!atomic)(.*)$")
_COPY = re.compile(
    r"^\s+(?:(?:tail|musttail|notail) )?call void @llvm\.(memcpy|memset)(?:\.inline)?"
    r"\.p(\d+)(?:\.p(\d+))?\.i32\((.*)\)( #\d+)?((?:, !\S+ !\d+)*)$"
)
_ALIGN = re.compile(r"align (\d+)")
_DEBUG = re.compile(r"(, !dbg !\d+)")
_ATTRIBUTES = re.compile(
    r"(?:noundef|nonnull|noalias|readonly|writeonly|nocapture|captures\([^)]*\)|align \d+|"
    r"dereferenceable\(\d+\)|dereferenceable_or_null\(\d+\)) "
)
_SIZES = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "float": 32, "double": 64, "ptr": 32}
_SIZES["ptr addrspace(255)"] = 32
_COPIES: dict[tuple[str, str, str | None], str] = {
    ("memset", "255", None): "__memset_mram",
    ("memcpy", "0", "255"): "__memcpy_wm",
    ("memcpy", "255", "0"): "__memcpy_mw",
}
_COPIES[("memcpy", "255", "255")] = "__memcpy_mm"
_POINTER = "ptr addrspace(255)"
_DECLARATIONS = {
    **{f"__mram_load{n}": f"i32 @__mram_load{n}(i32)" for n in (8, 16, 32)},
    "__mram_load64": "i64 @__mram_load64(i32)",
    **{f"__mram_store{n}": f"void @__mram_store{n}(i32, i32)" for n in (8, 16, 32)},
    "__mram_store64": "void @__mram_store64(i32, i64)",
    "__memcpy_wm": f"void @__memcpy_wm(ptr, {_POINTER}, i32)",
    "__memcpy_mw": f"void @__memcpy_mw({_POINTER}, ptr, i32)",
    "__memcpy_mm": f"void @__memcpy_mm({_POINTER}, {_POINTER}, i32)",
    "__memset_mram": f"void @__memset_mram({_POINTER}, i32, i32)",
}


def serve_mram_accesses(text: str) -> str:
    """Return LLVM IR whose accesses to MRAM are calls, where that is possible."""
    if _SPACE not in text:
        return text
    lines: list[str] = []
    used: set[str] = set()
    for number, line in enumerate(text.split("\n")):
        new = _rewritten(line, f"%mram{number}.", used) if _SPACE in line else None
        lines += new if new is not None else [line]
    # A program that calls these itself declares them already.
    missing = [name for name in sorted(used) if not re.search(rf"^de\w+ .*@{name}\(", text, re.M)]
    return "\n".join([*lines, *(f"declare {_DECLARATIONS[name]}" for name in missing), ""])


def split_operands(text: str) -> list[str]:
    """Split a text at the commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()]


def _rewritten(line: str, name: str, used: set[str]) -> list[str] | None:
    match = _LOAD.match(line)
    if match:
        return _load(match[1], split_operands(match[2]), name, used)
    match = _STORE.match(line)
    if match:
        return _store(split_operands(match[1]), name, used)
    match = _COPY.match(line)
    if match:
        return _copy(match, name, used)
    return None


def _address(operand: str, name: str) -> list[str]:
    return [f"  {name}address = ptrtoint {operand} to i32"]


def _debug(operands: list[str]) -> str:
    match = _DEBUG.search(", " + ", ".join(operands))
    return match[1] if match else ""


def _parts(kind: str, operands: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the offset and size, in bits, of each part of a datum that is accessed at once."""
    size = _SIZES[kind]
    alignment = next((int(m[1]) for m in map(_ALIGN.fullmatch, operands) if m), 1)
    unit = min(size, 8 * alignment)
    return ((shift, unit) for shift in range(0, size, unit))


def _load(result: str, operands: list[str], name: str, used: set[str]) -> list[str] | None:
    kind, pointer = operands[0], operands[1]
    if kind not in _SIZES or not pointer.startswith(_SPACE):
        return None
    debug, size = _debug(operands), _SIZES[kind]
    code = _address(pointer, name)
    whole = "i64" if size == 64 else "i32"
    total = ""
    for shift, unit in _parts(kind, operands):
        function = f"__mram_load{unit}"
        used.add(function)
        place, part = _at(name, shift, code), f"{name}part{shift}"
        read = "i64" if unit == 64 else "i32"
        code.append(f"  {part} = call {read} @{function}(i32 {place}){debug}")
        if read != whole:
            code.append(f"  {part}w = zext {read} {part} to {whole}")
            part += "w"
        if shift:
            code.append(f"  {part}s = shl {whole} {part}, {shift}")
            code.append(f"  {part}o = or {whole} {total}, {part}s")
            part += "o"
        total = part

    if kind == whole:
        # This only gives the value its name; instruction selection drops it.
        code.append(f"  {result} = or {whole} {total}, 0")
    elif kind in ("i8", "i16"):
        code.append(f"  {result} = trunc i32 {total} to {kind}")
    else:
        change = "inttoptr" if kind.startswith("ptr") else "bitcast"
        code.append(f"  {result} = {change} {whole} {total} to {kind}")

    return code


def _at(name: str, shift: int, code: list[str]) -> str:
    """Return the address of a part."""
    if shift == 0:
        return f"{name}address"
    code.append(f"  {name}address{shift} = add i32 {name}address, {shift // 8}")
    return f"{name}address{shift}"


def _store(operands: list[str], name: str, used: set[str]) -> list[str] | None:
    pointer = operands[1]
    if not pointer.startswith(_SPACE):
        return None
    kind = next((k for k in sorted(_SIZES, key=len)[::-1] if operands[0].startswith(k + " ")), "")
    if not kind:
        return None
    debug, size = _debug(operands), _SIZES[kind]
    code, value = _address(pointer, name), f"{name}value"
    whole = "i64" if size == 64 else "i32"
    given = operands[0].removeprefix(kind + " ")
    if kind == whole:
        code.append(f"  {value} = or {whole} {given}, 0")
    else:
        change = "zext" if size < 32 else "ptrtoint" if kind.startswith("ptr") else "bitcast"
        code.append(f"  {value} = {change} {kind} {given} to {whole}")

    for shift, unit in _parts(kind, operands):
        function = f"__mram_store{unit}"
        used.add(function)
        place, part = _at(name, shift, code), value
        if shift:
            part = f"{name}part{shift}"
            code.append(f"  {part} = lshr {whole} {value}, {shift}")
        if whole == "i64" and unit < 64:
            code.append(f"  {name}low{shift} = trunc i64 {part} to i32")
            part = f"{name}low{shift}"
        write = "i64" if unit == 64 else "i32"
        code.append(f"  call void @{function}(i32 {place}, {write} {part}){debug}")

    return code


def _copy(match: re.Match[str], name: str, used: set[str]) -> list[str] | None:
    kind, to, source, text = match[1], match[2], match[3], match[4]
    function = _COPIES.get((kind, to, source))
    operands = [_ATTRIBUTES.sub("", operand) for operand in split_operands(text)]
    if function is None or len(operands) != 4:
        return None
    used.add(function)
    found = _DEBUG.search(match[6] or "")
    debug, code = found[1] if found else "", []
    if kind == "memset":
        code.append(f"  {name}value = zext {operands[1]} to i32")
        operands[1] = f"i32 {name}value"
    return [*code, f"  call void @{function}({', '.join(operands[:3])}){debug}"]
