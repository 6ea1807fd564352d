# SPDX-License-Identifier: BSD-3-Clause
"""The variables of a loaded program as a mapping."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpu._program import DpuProgram
    from dpu._set import DpuSet
    from dpu._symbol import DpuSymbol
    from dpu.variable import DpuVariable

__all__ = ["ProgramSymbols"]


class ProgramSymbols(MutableMapping[str, Any]):
    """The variables of the program of a set; reading an item copies it from the DPUs.

    Parameters
    ----------
    dpu_set : DpuSet
        The set.
    program : DpuProgram or None
        Its program.
    """

    def __init__(self, dpu_set: DpuSet, program: DpuProgram | None) -> None:
        self._set = dpu_set
        self._symbols = program.fetch_all_symbols() if program is not None else {}

    def find(self, name: str) -> DpuSymbol:
        """Return the symbol itself; KeyError if it does not exist."""
        return self._symbols[name]

    def __getitem__(self, name: str) -> DpuVariable:
        return self._set._read_symbol(self._symbols[name])

    def __setitem__(self, name: str, value: Any) -> None:
        self._set.copy(self._symbols[name], value)

    def __delitem__(self, name: str) -> None:
        raise TypeError("symbols belong to the program and cannot be deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._symbols)

    def __len__(self) -> int:
        return len(self._symbols)

    def __contains__(self, name: object) -> bool:
        return name in self._symbols

    def __repr__(self) -> str:
        return f"<ProgramSymbols: {', '.join(sorted(self._symbols))}>"
