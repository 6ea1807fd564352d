# SPDX-License-Identifier: BSD-3-Clause
"""Values of program symbols, converted to the requested type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dpu._program import DpuProgram
    from dpu._symbol import DpuSymbol

__all__ = ["DpuVariable"]

_Value = Any


class DpuVariable:
    """The content of a symbol, on one DPU or several.

    There is a method per type. It returns a number for a symbol of that size, a memoryview of
    numbers for a larger one, and a list of these for several DPUs.

    Parameters
    ----------
    contents : list of memoryview
        The bytes on each DPU.
    symbol : DpuSymbol, optional
        The symbol.
    program : DpuProgram, optional
        The program that has its type.
    """

    def __init__(
        self,
        contents: list[memoryview],
        symbol: DpuSymbol | None = None,
        program: DpuProgram | None = None,
    ) -> None:
        self._contents = contents
        self._symbol = symbol
        self._program = program

    def data(self) -> memoryview | list[memoryview]:
        """Return the bytes: a view, or a list of views for several DPUs."""
        return self._contents[0] if len(self._contents) == 1 else self._contents

    def _cast(self, code: str) -> _Value:
        values = [self._take(view.cast("B"), code) for view in self._contents]
        return values[0] if len(values) == 1 else values

    @staticmethod
    def _take(view: Any, code: str) -> Any:
        numbers = view.cast(code)
        return numbers[0] if len(numbers) == 1 else numbers

    def int8(self) -> _Value:
        """Return it as signed 8-bit integers."""
        return self._cast("b")

    def uint8(self) -> _Value:
        """Return it as unsigned 8-bit integers."""
        return self._cast("B")

    def int16(self) -> _Value:
        """Return it as signed 16-bit integers."""
        return self._cast("h")

    def uint16(self) -> _Value:
        """Return it as unsigned 16-bit integers."""
        return self._cast("H")

    def int32(self) -> _Value:
        """Return it as signed 32-bit integers."""
        return self._cast("i")

    def uint32(self) -> _Value:
        """Return it as unsigned 32-bit integers."""
        return self._cast("I")

    def int64(self) -> _Value:
        """Return it as signed 64-bit integers."""
        return self._cast("q")

    def uint64(self) -> _Value:
        """Return it as unsigned 64-bit integers."""
        return self._cast("Q")

    def float(self) -> _Value:
        """Return it as 32-bit floating-point numbers."""
        return self._cast("f")

    def double(self) -> _Value:
        """Return it as 64-bit floating-point numbers."""
        return self._cast("d")

    def array(self, dtype: npt.DTypeLike | None = None) -> np.ndarray[Any, Any]:
        """Copy it to an array: for several DPUs, of one more dimension, which counts them.

        Parameters
        ----------
        dtype : dtype-like, optional
            Type of the elements, which may be structured; the variable then has one dimension. By
            default the type and the shape that the program's debug information says.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        TypeError
            The elements would be Python objects, or no type was given and there is no debug
            information.
        ValueError
            The variable is not a whole number of elements.
        """
        import numpy as np

        kind, shape = self._layout() if dtype is None else (np.dtype(dtype), (-1,))
        if kind.hasobject:
            raise TypeError(f"a DPU has no Python objects, which {kind} has")
        size = len(self._contents[0].cast("B"))
        if kind.itemsize == 0 or size % kind.itemsize:
            raise ValueError(
                f"the variable has {size} bytes, which is not a multiple of the "
                f"{kind.itemsize} bytes of {kind}"
            )
        rows = np.stack([np.frombuffer(view, np.uint8) for view in self._contents]).view(kind)
        return rows[0].reshape(shape) if len(rows) == 1 else rows.reshape(len(rows), *shape)

    def _layout(self) -> tuple[np.dtype[Any], tuple[int, ...]]:
        if self._symbol is None or self._program is None:
            raise TypeError("what type have the elements? Use array(dtype) or asarray(..., dtype)")
        from dpu.dtypes import types_of

        return types_of(self._program).layout(self._symbol)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a DpuVariable cannot be an array uncopied")
        return self.array(dtype)

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(view)) for view in self._contents[:4])
        more = ", ..." if len(self._contents) > 4 else ""
        return f"<DpuVariable of {len(self._contents)} DPU(s): {sizes}{more} bytes>"
