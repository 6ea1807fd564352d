# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for pandas.DataFrame where pandas is not installed: the operations used most."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

__all__ = ["Column", "Frame"]


def _missing(what: str, name: str) -> NoReturn:
    # numpy and pickle ask for such names, and take the error for a no.
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"{name} of a {what} needs pandas, which is not installed. Install offchip[forge]; in a "
        "checkout: pip install '.[forge]'"
    )


def _spread(values: Any, count: int) -> list[Any]:
    """Return one value per row."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values] * count
    rows = list(values)
    if len(rows) != count:
        raise ValueError(f"there are {count} rows, and {len(rows)} values")
    return rows


def _operation(function: Callable[[Any, Any], Any], swapped: bool = False) -> Any:
    def apply(self: Column, other: Any) -> Column:
        others = _spread(other, len(self))
        pairs = zip(others, self, strict=True) if swapped else zip(self, others, strict=True)
        return Column([function(a, b) for a, b in pairs], self.index, self.name)

    return apply


class Column:
    """One column of a `Frame`, like a pandas.Series.

    Parameters
    ----------
    values : sequence
        The rows.
    index : sequence
        The label of each row.
    name : object
        The name of the column.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Iterable[Any], index: Sequence[Any], name: Any = None) -> None:
        self.values = list(values)
        self.index = list(index)
        self.name = name

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, label: Any) -> Any:
        return self.values[_place(self.index, label)]

    def __getattr__(self, name: str) -> NoReturn:
        _missing("column", name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        return numpy.array(self.values, dtype=dtype)

    def __repr__(self) -> str:
        lines = [f"{label}  {value}" for label, value in zip(self.index, self.values, strict=True)]
        return "\n".join([*lines, f"Name: {self.name}"])

    __add__ = __radd__ = _operation(operator.add)
    __mul__ = __rmul__ = _operation(operator.mul)
    __sub__ = _operation(operator.sub)
    __rsub__ = _operation(operator.sub, swapped=True)
    __truediv__ = _operation(operator.truediv)
    __rtruediv__ = _operation(operator.truediv, swapped=True)
    __lt__ = _operation(operator.lt)
    __le__ = _operation(operator.le)
    __gt__ = _operation(operator.gt)
    __ge__ = _operation(operator.ge)
    __eq__ = _operation(operator.eq)
    __ne__ = _operation(operator.ne)

    @property
    def iloc(self) -> Any:
        """The rows by their number."""
        return self.values

    def tolist(self) -> list[Any]:
        """Return the rows as a list."""
        return list(self.values)

    to_list = tolist

    def min(self) -> Any:
        """Return the smallest value."""
        return min(self.values)

    def max(self) -> Any:
        """Return the largest value."""
        return max(self.values)

    def sum(self) -> Any:
        """Return the sum of the values."""
        return sum(self.values)

    def mean(self) -> Any:
        """Return the average of the values."""
        return sum(self.values) / len(self.values)

    def argmin(self) -> int:
        """Return the number of the row with the smallest value."""
        return min(range(len(self)), key=self.values.__getitem__)

    def argmax(self) -> int:
        """Return the number of the row with the largest value."""
        return max(range(len(self)), key=self.values.__getitem__)

    def idxmin(self) -> Any:
        """Return the label of the row with the smallest value."""
        return self.index[self.argmin()]

    def idxmax(self) -> Any:
        """Return the label of the row with the largest value."""
        return self.index[self.argmax()]


class _Places:
    """Picks rows of a frame, by number or by label."""

    def __init__(self, frame: Frame, number: Callable[[Any], int]) -> None:
        self._frame = frame
        self._number = number

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            if self._number is not operator.index:
                _missing("table", "a slice of labels")
            return self._frame._pick(range(len(self._frame))[key])
        if isinstance(key, Iterable) and not isinstance(key, str):
            return self._frame._pick([self._number(one) for one in key])
        return self._frame._row(self._number(key))


class Frame:
    """A table of named columns, with the most used of what a pandas.DataFrame can do.

    Parameters
    ----------
    columns : dict
        The rows of each column.
    index : sequence, optional
        The label of each row; without it, rows are numbered.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, columns: dict[Any, Any], index: Sequence[Any] | None = None) -> None:
        self._columns = {name: list(rows) for name, rows in columns.items()}
        rows = len(next(iter(self._columns.values()), ()))
        self.index = list(range(rows) if index is None else index)

    def __getattr__(self, name: str) -> NoReturn:
        _missing("table", name)

    @property
    def columns(self) -> list[Any]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self), len(self._columns)

    @property
    def empty(self) -> bool:
        """True if there is no value."""
        return not len(self) or not self._columns

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._columns)

    def __contains__(self, name: Any) -> bool:
        return name in self._columns

    def __getitem__(self, key: Any) -> Any:
        """Get a column, several columns by a list of names, or rows by a column of truth values."""
        if isinstance(key, Column):
            return self._pick([number for number, wanted in enumerate(key) if wanted])
        if isinstance(key, list):
            return Frame({name: self._columns[name] for name in key}, self.index)
        return Column(self._columns[key], self.index, key)

    def __setitem__(self, name: Any, values: Any) -> None:
        self._columns[name] = _spread(values, len(self))

    def __repr__(self) -> str:
        return f"<table of {len(self)} rows and {len(self._columns)} columns>"

    def _pick(self, numbers: Iterable[int]) -> Frame:
        numbers = list(numbers)
        return Frame(
            {name: [rows[i] for i in numbers] for name, rows in self._columns.items()},
            [self.index[i] for i in numbers],
        )

    def _row(self, number: int) -> Column:
        return Column(
            [rows[number] for rows in self._columns.values()], self.columns, self.index[number]
        )

    @property
    def iloc(self) -> Any:
        """The rows by their number; one row is a column whose labels are the names."""
        return _Places(self, operator.index)

    @property
    def loc(self) -> Any:
        """The rows by their label."""
        return _Places(self, lambda label: _place(self.index, label))

    def iterrows(self) -> Iterator[tuple[Any, Column]]:
        """Go through the rows: pairs of label and row."""
        for number, label in enumerate(self.index):
            yield label, self._row(number)

    def items(self) -> Iterator[tuple[Any, Column]]:
        """Go through the columns: pairs of name and column."""
        for name in self._columns:
            yield name, self[name]

    def copy(self) -> Frame:
        """Return a copy."""
        return Frame(self._columns, self.index)

    def head(self, n: int = 5) -> Frame:
        """Return the first rows.

        Parameters
        ----------
        n : int
            How many.
        """
        return self._pick(range(len(self))[:n])

    def drop(self, *, columns: Any) -> Frame:
        """Return the table without some columns.

        Parameters
        ----------
        columns : str or list of str
            Their names.
        """
        names = [columns] if isinstance(columns, str) else list(columns)
        for name in names:
            self._columns[name]
        return Frame({n: rows for n, rows in self._columns.items() if n not in names}, self.index)

    def sort_values(
        self, by: Any, *, ascending: bool = True, inplace: bool = False
    ) -> Frame | None:
        """Sort the rows.

        Parameters
        ----------
        by : str or list of str
            The columns to sort by; the first counts most.
        ascending : bool
            Whether the smallest value comes first.
        inplace : bool
            Whether this table is sorted, rather than a copy.
        """
        names = [by] if isinstance(by, str) else list(by)
        keys = list(zip(*(self._columns[name] for name in names), strict=True))
        order = sorted(range(len(self)), key=keys.__getitem__, reverse=not ascending)
        result = self._pick(order)
        if not inplace:
            return result
        self._columns, self.index = result._columns, result.index
        return None

    def to_dict(self, orient: str = "dict") -> Any:
        """Return the table as a dictionary, or a list of them.

        Parameters
        ----------
        orient : str
            ``dict`` (name, label, value), ``list`` (name, rows) or ``records`` (one dictionary
            per row).
        """
        if orient == "list":
            return {name: list(rows) for name, rows in self._columns.items()}
        if orient == "records":
            return [dict(zip(row.index, row, strict=True)) for _, row in self.iterrows()]
        if orient == "dict":
            return {
                name: dict(zip(self.index, rows, strict=True))
                for name, rows in self._columns.items()
            }
        _missing("table", f"to_dict({orient!r})")


def _place(index: list[Any], label: Any) -> int:
    try:
        return index.index(label)
    except ValueError:
        raise KeyError(label) from None
