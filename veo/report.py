# SPDX-License-Identifier: BSD-3-Clause
"""Modelled time of Vector Engine code: lines of ``VEO_SOFT_REPORT``.

The figures are those of its performance tools, from counters that the soft twin models.
``python -m veo.report FILE`` prints them.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from offchip.closed_pipe import ends_at_closed_pipe

__all__ = ["CallReport", "main", "read_report"]

_FORMAT = "# offchip veorun report 2:"


@dataclasses.dataclass(frozen=True)
class CallReport:
    """A call of Vector Engine code, or several.

    Attributes
    ----------
    event : str
        ``"call"``, ``"calls"`` for all of a function, or ``"total"`` for all code of a process.
    number : int
        Number of the call; of others, how many calls there were.
    function : str
        Name of the function, ``""`` for a total.
    model : str
        The Vector Engine whose time it is.
    seconds : float
        Modelled time from the beginning to the end, with what several cores did at the same time.
    vector_seconds : float
        The part of `core_seconds` with a vector instruction under way.
    cycles : int
        Cycles in `seconds`.
    instructions, vector_instructions : int
        Executed instructions, and those of vectors.
    vector_elements, vector_load_elements, fma_elements : int
        Elements of vector instructions, of vector loads, and of those that multiply and add.
    flops : int
        Floating-point operations.
    vector_lengths : dict
        How many vector instructions there were of each length.
    core_seconds : float
        Modelled time of all cores that took part, without what they waited for each other.
    vector_bytes : int
        Bytes that loads and stores of vectors moved.
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
    core_seconds: float
    vector_bytes: int

    @property
    def average_cores(self) -> float:
        """Cores that worked at the same time, on average."""
        return _ratio(self.core_seconds, self.seconds)

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
        """How many per cent of the time of its cores a vector instruction was under way."""
        return 100 * _ratio(self.vector_seconds, self.core_seconds)

    def __str__(self) -> str:
        what = self.event
        if self.function:
            calls = f"{self.number} calls" if self.event == "calls" else f"call {self.number}"
            what = f"{self.function}(), {calls}"
        lines = {
            f"Modelled Time (sec), {self.model}": f"{self.seconds:.9f}",
            "Core Time (sec)": f"{self.core_seconds:.9f}",
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


def _by_function(calls: Sequence[CallReport]) -> list[CallReport]:
    """Add up the calls of each function, the most expensive function first."""
    groups: dict[tuple[str, str], list[CallReport]] = {}
    for call in calls:
        groups.setdefault((call.function, call.model), []).append(call)
    found = []
    for group in groups.values():
        if len(group) == 1:
            found += group
            continue
        lengths: Counter[int] = Counter()
        for call in group:
            lengths.update(call.vector_lengths)
        sums: dict[str, Any] = {
            field.name: sum(getattr(call, field.name) for call in group)
            for field in dataclasses.fields(CallReport)
            if field.type in ("int", "float") and field.name not in ("pid", "number")
        }
        sums.update(event="calls", number=len(group), vector_lengths=dict(lengths))
        found.append(dataclasses.replace(group[0], **sums))
    return sorted(found, key=lambda one: -one.seconds)


def _as_object(one: CallReport) -> dict[str, Any]:
    ratios = ("average_vector_length", "vector_operation_ratio", "mops", "mflops", "average_cores")
    return {**dataclasses.asdict(one), **{name: getattr(one, name) for name in ratios}}


@ends_at_closed_pipe
def main(arguments: Sequence[str] | None = None) -> int:
    """Print a report; return the status."""
    parser = argparse.ArgumentParser(
        prog="python -m veo.report",
        description="Print what VEO_SOFT_REPORT=FILE wrote: each function, and each process.",
        epilog="Example: python -m veo.report report.csv",
    )
    parser.add_argument("file", help="what VEO_SOFT_REPORT named")
    parser.add_argument("--json", action="store_true", help="print a list, one object per line")
    options = parser.parse_args(arguments)
    try:
        found = read_report(options.file)
    except FileNotFoundError:
        print(
            f"{parser.prog}: there is no {options.file}. A program that runs with "
            f"VEO_SOFT_REPORT={options.file} and calls Vector Engine code writes it",
            file=sys.stderr,
        )
        return 2
    except (OSError, ValueError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2

    if options.json:
        print(json.dumps([_as_object(one) for one in found]))
        return 0
    functions = _by_function([one for one in found if one.event == "call"])
    totals = [one for one in found if one.event == "total"]
    # The total of one function says nothing more, but for what its threads did.
    if len(functions) == 1 and sum(one.cycles for one in totals) == functions[0].cycles:
        totals = []
    print("\n".join(str(one) for one in [*functions, *totals]))
    if found and not any(one.vector_instructions for one in found):
        print(
            "note: no vector instruction was executed, so that these are times of scalar code. "
            "clang\nvectorises no loops for the Vector Engine, as NEC's compilers do: write them "
            "with velintrin.h"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
