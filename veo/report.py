# SPDX-License-Identifier: BSD-3-Clause
"""Modelled time of Vector Engine code: lines of ``VEO_SOFT_REPORT``.

The figures are those of its performance tools, from counters that the soft twin models.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["CallReport", "read_report"]

_FORMAT = "# offchip veorun report 1:"


@dataclasses.dataclass(frozen=True)
class CallReport:
    """A call of Vector Engine code, or several.

    Attributes
    ----------
    event : str
        ``"call"``, or ``"total"`` for all code of a process.
    number : int
        Number of the call; of a total, how many calls there were.
    function : str
        Name of the function, ``""`` for a total.
    model : str
        The Vector Engine whose time it is.
    seconds, vector_seconds : float
        Modelled time, and the part of it with a vector instruction under way.
    cycles : int
        Cycles of the core.
    instructions, vector_instructions : int
        Executed instructions, and those of vectors.
    vector_elements, vector_load_elements, fma_elements : int
        Elements of vector instructions, of vector loads, and of those that multiply and add.
    flops : int
        Floating-point operations.
    vector_lengths : dict
        How many vector instructions there were of each length.
    """

    pid: int
    event: str
    number: int
    function: str
    model: str
    seconds: float
    vector_seconds: float
    cycles: int
    instructions: int
    vector_instructions: int
    vector_elements: int
    vector_load_elements: int
    fma_elements: int
    flops: int
    vector_lengths: dict[int, int]

    @property
    def average_vector_length(self) -> float:
        """Elements of a vector instruction, 0 without any."""
        return _ratio(self.vector_elements, self.vector_instructions)

    @property
    def operations(self) -> int:
        """Operations: scalar instructions, elements of vectors, and those of FMA again."""
        scalars = self.instructions - self.vector_instructions
        return scalars + self.vector_elements + self.fma_elements

    @property
    def vector_operation_ratio(self) -> float:
        """How many per cent of the operations are those of vectors."""
        scalars = self.instructions - self.vector_instructions
        return 100 * _ratio(self.vector_elements, scalars + self.vector_elements)

    @property
    def mops(self) -> float:
        """Million operations a second."""
        return 1e-6 * _ratio(self.operations, self.seconds)

    @property
    def mflops(self) -> float:
        """Million floating-point operations a second."""
        return 1e-6 * _ratio(self.flops, self.seconds)

    @property
    def vector_time_ratio(self) -> float:
        """How many per cent of the time a vector instruction was under way."""
        return 100 * _ratio(self.vector_seconds, self.seconds)

    def __str__(self) -> str:
        what = f"{self.function}(), call {self.number}" if self.function else f"{self.event}"
        lines = {
            f"Modelled Time (sec), {self.model}": f"{self.seconds:.9f}",
            "Vector Time (sec)": f"{self.vector_seconds:.9f}",
            "Inst. Count": f"{self.instructions}",
            "V. Inst. Count": f"{self.vector_instructions}",
            "V. Element Count": f"{self.vector_elements}",
            "V. Load Element Count": f"{self.vector_load_elements}",
            "FLOP Count": f"{self.flops}",
            "FMA Element Count": f"{self.fma_elements}",
            "MOPS": f"{self.mops:.1f}",
            "MFLOPS": f"{self.mflops:.1f}",
            "A. V. Length": f"{self.average_vector_length:.1f}",
            "V. Op. Ratio (%)": f"{self.vector_operation_ratio:.2f}",
        }
        return "\n".join([what, *(f"  {name:<30}: {value:>16}" for name, value in lines.items())])


def _lengths(text: str) -> dict[int, int]:
    pairs = (pair.split(":") for pair in text.split(";") if pair)
    return {int(length): int(count) for length, count in pairs}


_KINDS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "dict[int, int]": _lengths,
}


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def read_report(path: str | Path) -> list[CallReport]:
    """Read the calls and totals of a file that ``VEO_SOFT_REPORT`` named.

    Parameters
    ----------
    path : str or Path
        The file, of one process or of several.

    Raises
    ------
    ValueError
        It is no such file, or has a line that is not whole.
    """
    lines = Path(path).read_text(errors="replace").splitlines()
    if not lines or not lines[0].startswith(_FORMAT):
        raise ValueError(f"{path} is no report of Vector Engine code: it begins with another line")
    fields = dataclasses.fields(CallReport)
    names = ",".join(field.name for field in fields)
    found = []
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or line == names:
            continue
        words = line.split(",")
        if len(words) != len(fields):
            raise ValueError(f"{path}:{number} has {len(words)} values, not {len(fields)}")
        values: dict[str, Any] = {}
        for field, word in zip(fields, words, strict=True):
            try:
                values[field.name] = _KINDS[str(field.type)](word)
            except ValueError:
                raise ValueError(
                    f"{path}:{number} has a wrong {field.name}: {word!r:.60}"
                ) from None
        found.append(CallReport(**values))
    return found
