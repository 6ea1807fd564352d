# SPDX-License-Identifier: BSD-3-Clause
"""Records the types of functions in objects, for calls between C and assembly.

The two have different calling conventions, and only C knows the types. Section `.dpu_signatures`
has strings `name=result:arguments`, with a letter per value: `i` of 32 bits, `l` of 64, `v` none,
`?` another one, of which the translator knows nothing, such as a structure by value.
"""

from __future__ import annotations

import re

from .soft_cache import split_operands

__all__ = ["record_signatures"]

_FUNCTION = re.compile(r"^(declare|define)\b([^@\n]*)@([\w.$]+)\(([^\n]*)$", re.MULTILINE)
_LETTERS = {"void": "v", "i64": "l", "double": "l"}
_LETTERS |= dict.fromkeys(("i1", "i8", "i16", "i32", "float", "ptr"), "i")
_PARENTHESES = re.compile(r"\([^()]*\)")
# Attribute of a pointer to a structure by value. Clang before 21 does not say `dead_on_return`.
_BY_VALUE = re.compile(r"\b(?:byval|sret|dead_on_return)\b")
# Functions that no other file knows, and those of the compiler.
_INTERNAL = re.compile(r"\b(?:internal|private)\b")


def record_signatures(text: str) -> str:
    """Return LLVM IR with the types of the functions that other files define or call."""
    found = []
    for kind, result, name, rest in _FUNCTION.findall(text):
        if not name.startswith("llvm.") and not _INTERNAL.search(result):
            arguments = _arguments(rest, is_declared=kind == "declare")
            found.append(f"{name}={_result(result)}:{arguments}")
    if not found:
        return text
    lines = [".pushsection .dpu_signatures,\\22MS\\22,@progbits,1"]
    lines += [f".asciz \\22{one}\\22" for one in found]
    lines.append(".popsection")
    return "\n".join([text, *(f'module asm "{line}"' for line in lines), ""])


def _result(text: str) -> str:
    last = _without_attributes(text).split()[-1:]
    return _LETTERS.get(last[0], "?") if last else "?"


def _arguments(text: str, *, is_declared: bool) -> str:
    """Return the letters of arguments, from the text after their opening parenthesis."""
    inside = _inside(text)
    letters = []
    for argument in split_operands(inside) if inside else []:
        kind = argument.split()[0]
        # Integers that stand for structures may be undefined. In definitions the optimiser drops
        # the attribute of what is not used.
        is_structure = is_declared and kind in ("i32", "i64") and "noundef" not in argument
        if is_structure or _BY_VALUE.search(argument) or argument == "...":
            return "?"
        letters.append(_LETTERS.get(kind, "?"))
    return "".join(letters)


def _inside(text: str) -> str:
    """Return what is before the closing parenthesis."""
    depth = 1
    for end, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[:end].strip()
    return "..."


def _without_attributes(text: str) -> str:
    while _PARENTHESES.search(text):
        text = _PARENTHESES.sub("", text)
    return text
