# SPDX-License-Identifier: BSD-3-Clause
"""Signatures of functions from debug info, and checks of the program's types against them."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import inspect

__all__ = [
    "SPELLING",
    "DebugInfo",
    "check_arguments",
    "check_result",
    "missing_arguments",
    "parse",
    "prototype",
    "spell",
    "to_signature",
]

#: C type by the letter of `veosoft_args_set_signature()`; ``?`` is our own.
SPELLING: dict[str, str] = {
    "b": "signed char",
    "B": "unsigned char",
    "h": "short",
    "H": "unsigned short",
    "i": "int",
    "I": "unsigned int",
    "l": "long",
    "L": "unsigned long",
    "p": "void *",
    "f": "float",
    "d": "double",
    "?": "bool",
    "v": "void",
}


class DebugInfo(NamedTuple):
    """The signature of a function.

    Parameters
    ----------
    result : str
        Letter of the result's type.
    kinds : str
        Letters of the parameters' types.
    pointees : tuple of str
        For the result and each parameter the letter of what a pointer refers to; "" for what is no
        pointer to a number.
    names : tuple of str
        Names of the parameters, "" for one without a name.
    variadic : bool
        Whether more arguments may follow.
    refusal : str
        Why the function cannot be called, usually "".
    """

    result: str
    kinds: str
    pointees: tuple[str, ...]
    names: tuple[str, ...]
    variadic: bool
    refusal: str

    def label(self, i: int) -> str:
        """Name parameter `i` (from 0), by its number where it has no name."""
        return self.names[i] or f"number {i + 1}"


def parse(text: str) -> DebugInfo | None:
    """Read the text of `veosoft_signature()`; None for an empty one."""
    if not text:
        return None
    if text[0] == "!":
        return DebugInfo("v", "", ("",), (), False, text[1:])
    lines = text.split("\n")
    variadic = lines[-1:] == ["..."]
    if variadic:
        lines.pop()
    types, names = zip(*(line.partition(" ")[::2] for line in lines), strict=True)
    return DebugInfo(
        result=types[0][0],
        kinds="".join(type_[0] for type_ in types[1:]),
        pointees=tuple(type_[1:] for type_ in types),
        names=names[1:],
        variadic=variadic,
        refusal="",
    )


def spell(kind: str, pointee: str) -> str:
    """Spell a type as C does.

    Parameters
    ----------
    kind : str
        Its letter.
    pointee : str
        The letter of what a pointer refers to, or "".
    """
    if kind != "p" or not pointee:
        return SPELLING[kind]
    # Of all characters.
    return "char *" if pointee == "b" else f"{SPELLING[pointee]} *"


def _class_of(kind: str) -> str:
    """Return what must match: widths of integers may differ."""
    return kind if kind in "fdv" else "integer"


def check_arguments(
    function: str, info: DebugInfo | None, kinds: str, stated: Sequence[str | bytes]
) -> None:
    """Compare the types of ``args_type()`` with debug info.

    Parameters
    ----------
    function : str
        Its name.
    info : DebugInfo or None
        From debug info; None if there is none.
    kinds : str
        Letters of the types stated.
    stated : sequence of str or bytes
        The types as the program spells them.

    Raises
    ------
    TypeError
        The number of types is wrong, an integer is stated for a floating-point parameter or the
        reverse, or the function cannot be called at all. The message names the parameter.
    """
    if info is None:
        return
    if info.refusal:
        raise TypeError(f"{function}() cannot be called: {info.refusal}")
    expected = len(info.kinds)
    if len(kinds) < expected or (len(kinds) > expected and not info.variadic):
        raise TypeError(
            f"args_type{tuple(stated)!r} does not fit {prototype(function, info)}: "
            f"{_difference(info, len(kinds), 'type')}"
        )
    for i, (said, known) in enumerate(zip(kinds, info.kinds, strict=False)):
        if _class_of(said) != _class_of(known):
            raise TypeError(
                f"parameter {info.label(i)} of {prototype(function, info)} has type "
                f"{SPELLING[known]}, not {SPELLING[said]} as args_type{tuple(stated)!r} states"
            )


def check_result(function: str, info: DebugInfo | None, kind: str, stated: str | bytes) -> None:
    """Compare the type of ``ret_type()`` with debug info, as `check_arguments()` does.

    ``"void"`` may be stated for any function, and any type for one that returns nothing.
    """
    if info is None:
        return
    if info.refusal:
        raise TypeError(f"{function}() cannot be called: {info.refusal}")
    if "v" not in (kind, info.result) and _class_of(kind) != _class_of(info.result):
        raise TypeError(
            f"the result of {prototype(function, info)} has type {SPELLING[info.result]}, not "
            f"{SPELLING[kind]} as ret_type({stated!r}) states"
        )


def missing_arguments(info: DebugInfo | None, count: int) -> str:
    """Describe which parameters of a call lack an argument, or how many arguments are excess."""
    return "" if info is None or info.variadic else f": {_difference(info, count, 'argument')}"


def _difference(info: DebugInfo, count: int, what: str) -> str:
    expected = len(info.kinds)
    if count > expected:
        return f"{count - expected} {what}{'s' if count - expected > 1 else ''} too many"
    names = ", ".join(info.label(i) for i in range(count, expected))
    return f"no {what} for {names}"


def prototype(function: str, info: DebugInfo) -> str:
    """Spell the function as C declares it."""
    result, *types = map(spell, info.result + info.kinds, info.pointees)
    parameters = [
        f"{type_}{'' if type_.endswith('*') else ' '}{name}".strip()
        for type_, name in zip(types, info.names, strict=True)
    ]
    if info.variadic:
        parameters.append("...")
    gap = "" if result.endswith("*") else " "
    return f"{result}{gap}{function}({', '.join(parameters) or 'void'})"


def to_signature(
    context: type, info: DebugInfo | None, types: Sequence[str], result: str
) -> inspect.Signature:
    """Make the signature of a call.

    Parameters
    ----------
    context : type
        The class of the first argument.
    info : DebugInfo or None
        Has the names.
    types : sequence of str
        The types of the arguments, as C spells them.
    result : str
        The type of the result.
    """
    import inspect

    names = {"ctx"}
    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_ONLY, annotation=context),
    ]
    for i, type_ in enumerate(types):
        name = info.names[i] if info is not None and i < len(info.names) else ""
        if not name.isidentifier() or keyword.iskeyword(name) or name in names:
            name = f"arg{i}"
        names.add(name)
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY, annotation=type_)
        )
    return inspect.Signature(parameters, return_annotation=result)
