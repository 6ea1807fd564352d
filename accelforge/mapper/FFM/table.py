# SPDX-License-Identifier: BSD-3-Clause
"""A table of results, whose columns have names of several parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, Self

from accelforge.mapper.FFM.frame import Frame
from accelforge.model.columns import SEPARATOR
from offchip.lazy import find

__all__ = ["Table"]


class Table:
    """Rows and columns; names of columns are parts with ``<SEP>`` between.

    Parameters
    ----------
    data : pandas.DataFrame, optional
        The rows.
    columns : dict, optional
        Instead of `data`, the rows of each column: lists or arrays of the same length.
    """

    def __init__(self, data: Any = None, columns: dict[str, Any] | None = None) -> None:
        self._data = data
        self._columns: dict[str, list[Any]] | None = None
        if data is None:
            self._columns = {n: _as_list(rows) for n, rows in (columns or {}).items()}
            lengths = {len(rows) for rows in self._columns.values()}
            if len(lengths) > 1:
                raise ValueError(f"columns have different numbers of rows: {sorted(lengths)}")

    def _update(self, **kwargs: Any) -> Self:
        """Return a copy with other columns."""
        return type(self)(**kwargs)

    @property
    def data(self) -> Any:
        """The table, whose rows are numbered; changing it changes this object.

        It is a pandas.DataFrame, or a `Frame` if pandas is not installed.
        """
        if self._data is None:
            columns, pandas = self._columns or {}, find("pandas")
            self._data = Frame(columns) if pandas is None else pandas.DataFrame(columns)
            self._columns = None
        return self._data

    @data.setter
    def data(self, value: Any) -> None:
        self._data, self._columns = value, None

    def _table(self) -> dict[str, list[Any]]:
        """Return the rows of each column."""
        if self._columns is not None:
            return self._columns
        return {name: list(self._data[name]) for name in self._data.columns}

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns if self._columns is not None else self._data.columns)

    def __len__(self) -> int:
        if self._columns is None:
            return len(self._data)
        return len(next(iter(self._columns.values()), ()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, key: Any) -> Any:
        """Get a column as a pandas.Series, or a row as a table of its own.

        Other keys are those of `data`.
        """
        if isinstance(key, Integral):
            table = self._table()
            if not -len(self) <= int(key) < len(self):
                raise IndexError(f"there are {len(self)} mappings, and no number {key}")
            return self._update(columns={name: [rows[int(key)]] for name, rows in table.items()})
        return self.data[key]

    def to_dict(self, list_if_one_mapping: bool = False) -> dict[str, Any]:
        """Return the columns as a dictionary.

        Parameters
        ----------
        list_if_one_mapping : bool
            Whether values are lists also if there is one mapping.
        """
        table = self._table()
        if len(self) == 1 and not list_if_one_mapping:
            return {name: rows[0] for name, rows in table.items()}
        return {name: list(rows) for name, rows in table.items()}

    def items(self, list_if_one_mapping: bool = False) -> Any:
        """Return pairs of name and value of the columns.

        Parameters
        ----------
        list_if_one_mapping : bool
            Whether values are lists also if there is one mapping.
        """
        return self.to_dict(list_if_one_mapping).items()

    # --- picking columns ------------------------------------------------------------------------

    def access(self, *keys: str, col_idx: int | None = None, keep_key_index: bool = False) -> Self:
        """Return the columns whose name has a part, without that part.

        Parameters
        ----------
        *keys : str
            Parts of names; each one is looked for in what the ones before left.
        col_idx : int, optional
            The place of the part in the name.
        keep_key_index : bool
            Whether the part stays in the names.

        Examples
        --------
        Of ``A<SEP>energy`` and ``A<SEP>latency``, ``access("energy")`` leaves ``A``.
        """
        table = self._table()
        for key in keys:
            index = _index_of(key, table, col_idx)
            found: dict[str, list[Any]] = {}
            for name, rows in table.items():
                parts = name.split(SEPARATOR)
                if index is None or index >= len(parts) or parts[index] != key:
                    continue
                if not keep_key_index:
                    del parts[index]
                new = SEPARATOR.join(parts)
                if new in found:
                    raise ValueError(f"without {key}, two columns would be called {new}")
                found[new] = rows
            table = found
        return self._update(columns=table)

    def drop(self, *keys: str) -> Self:
        """Return the columns whose name does not have a part.

        Parameters
        ----------
        *keys : str
            Parts of names.
        """
        table = self._table()
        for key in keys:
            _index_of(key, table, None)
            table = {n: rows for n, rows in table.items() if key not in n.split(SEPARATOR)}
        return self._update(columns=table)

    def drop_zeros(self) -> Self:
        """Return the columns that are not zero in all rows."""
        table = self._table()
        return self._update(
            columns={n: rows for n, rows in table.items() if any(_not_zero(v) for v in rows)}
        )

    def drop_components(
        self, keep: Iterable[str] | None = None, drop: Iterable[str] | None = None
    ) -> Self:
        """Return the columns without those of some components.

        Parameters
        ----------
        keep : iterable of str, optional
            The components to leave in.
        drop : iterable of str, optional
            The components to take out.
        """
        if keep is not None and drop is not None:
            raise ValueError("Specify either keep or drop, not both")
        kept = None if keep is None else set(keep)
        dropped = set(drop or ())

        def stays(name: str) -> bool:
            component = _component_of(name)
            if component is None:
                return True
            return component in kept if kept is not None else component not in dropped

        return self._update(columns={n: r for n, r in self._table().items() if stays(n)})

    def sum(self, keep_key_index: list[int] | int | None = None) -> Self:
        """Return sums of columns.

        Parameters
        ----------
        keep_key_index : int or list of int, optional
            The parts of names that columns of one sum have in common; without it, all columns are
            summed.
        """
        table = self._table()
        if len(table) == 1:
            return self
        lengths = {len(name.split(SEPARATOR)) for name in table}
        if len(lengths) > 1:
            raise ValueError(
                "names with different numbers of parts are not summed; pick columns with access() "
                "or drop() first"
            )
        kept = [keep_key_index] if isinstance(keep_key_index, int) else list(keep_key_index or ())
        if any(not 0 <= index < max(lengths, default=0) for index in kept):
            raise ValueError(f"keep_key_index is from 0 to {max(lengths, default=0) - 1}")
        groups: dict[str, list[list[Any]]] = {}
        for name, rows in table.items():
            parts = name.split(SEPARATOR)
            groups.setdefault(SEPARATOR.join(parts[index] for index in kept), []).append(rows)
        sums = {
            target: [sum(values) for values in zip(*members, strict=True)]
            for target, members in groups.items()
        }
        return self._update(columns=sums)


def _as_list(rows: Any) -> list[Any]:
    # Arrays give numbers of Python, which print as such.
    return list(rows.tolist() if hasattr(rows, "tolist") else rows)


def _index_of(key: str, table: dict[str, list[Any]], col_idx: int | None) -> int | None:
    """Find out at which place names have a part; it must be the same everywhere."""
    if col_idx is not None:
        return col_idx
    places = set()
    for name in table:
        parts = name.split(SEPARATOR)
        if parts.count(key) > 1:
            raise ValueError(f"{key} is more than once in {name}; say which with col_idx")
        if key in parts:
            places.add(parts.index(key))
    if len(places) > 1:
        raise ValueError(f"{key} is at different places in the names; say which with col_idx")
    return places.pop() if places else None


def _component_of(name: str) -> str | None:
    parts = name.split(SEPARATOR)
    if len(parts) >= 3 and parts[1] in ("energy", "action", "latency"):
        return parts[2]
    return None


def _not_zero(value: Any) -> bool:
    return not isinstance(value, (int, float)) or value != 0
