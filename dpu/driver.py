# SPDX-License-Identifier: BSD-3-Clause
"""The classes that drive DPUs, under the names of UPMEM's ``dpu.driver``."""

from __future__ import annotations

import array
from collections.abc import Callable
from io import IOBase
from typing import Any, TypeAlias, TypeVar

from dpu._context import DpuContext, DpuThreadContext
from dpu._launch import DpuRequest
from dpu._program import DpuProgram
from dpu._set import ALLOCATE_ALL, DpuSet
from dpu._symbol import DpuSymbol
from dpu.errors import DpuError
from dpu.variable import DpuVariable

__all__ = [
    "ALLOCATE_ALL",
    "Buffer",
    "DpuBinaryProgram",
    "DpuCallbackFunction",
    "DpuConstructorLogObject",
    "DpuContext",
    "DpuCopyBuffer",
    "DpuError",
    "DpuExecLogObject",
    "DpuProgram",
    "DpuRequest",
    "DpuSet",
    "DpuSourceFile",
    "DpuSourceProgram",
    "DpuSymbol",
    "DpuThreadContext",
    "DpuVariable",
    "OneOrMore",
]

T = TypeVar("T")

# Arrays are generic at run time only from Python 3.12 on.
Buffer: TypeAlias = bytes | bytearray | memoryview | array.array  # type: ignore[type-arg]
OneOrMore: TypeAlias = T | list[T]
DpuCopyBuffer: TypeAlias = str | DpuSymbol | Buffer | list[Buffer | None]
DpuConstructorLogObject: TypeAlias = IOBase | list[IOBase]
DpuExecLogObject: TypeAlias = IOBase | list[IOBase] | dict[DpuSet, IOBase]
DpuBinaryProgram: TypeAlias = bytes | str
DpuSourceFile: TypeAlias = IOBase | str
DpuSourceProgram: TypeAlias = DpuSourceFile | list[DpuSourceFile]
DpuCallbackFunction: TypeAlias = Callable[[DpuSet, int, Any], None]
