# SPDX-License-Identifier: BSD-3-Clause
"""Results: one row for each mapping, one column for each number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any

from accelforge.mapper.FFM.breakdown import Breakdown, combine
from accelforge.util.lazy import need

if TYPE_CHECKING:
    from accelforge.frontend.spec import Spec

__all__ = ["SEPARATOR", "Mappings"]

SEPARATOR = "<SEP>"

Result = dict[Any, Any] | float | list[float]


class Mappings:
    """Mappings, and what their evaluation gave.

    Names of columns are parts with ``<SEP>`` between, such as ``Total<SEP>energy``.

    Parameters
    ----------
    spec : Spec
        What the mappings are of.
    einsum_names : list of str
        The Einsums that are mapped.
    data : pandas.DataFrame, optional
        One row for each mapping.
    total_mappings, valid_mappings : int
        How many mappings were looked at, and how many of them were valid.
    flattened_arches : dict
        The nodes on the way to the compute, by Einsum and compute.
    evaluated_specs : dict
        The evaluated specification for each Einsum.
    columns : dict, optional
        Instead of `data`, the rows of each column.
    """

    def __init__(
        self,
        spec: Spec,
        einsum_names: list[str],
        data: Any = None,
        total_mappings: int = 1,
        valid_mappings: int = 1,
        flattened_arches: dict[tuple[str, str], Any] | None = None,
        evaluated_specs: dict[str, Spec] | None = None,
        *,
        columns: dict[str, list[Any]] | None = None,
    ) -> None:
        self.spec = spec
        self.einsum_names = einsum_names
        self.total_mappings = total_mappings
        self.valid_mappings = valid_mappings
        self.flattened_arches = flattened_arches
        self.evaluated_specs = evaluated_specs
        self._data = data
        self._columns = columns if columns is not None or data is not None else {}

    # --- the table ------------------------------------------------------------------------------

    @property
    def data(self) -> Any:
        """The table, as a pandas.DataFrame; changing it changes this object."""
        if self._data is None:
            pandas = need("pandas", "The table of mappings as a DataFrame")
            self._data = pandas.DataFrame(self._columns)
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

    def _update(self, **kwargs: Any) -> Mappings:
        """Return a copy with other columns, or other fields."""
        fields: dict[str, Any] = {
            "spec": self.spec,
            "einsum_names": self.einsum_names,
            "total_mappings": self.total_mappings,
            "valid_mappings": self.valid_mappings,
            "flattened_arches": self.flattened_arches,
            "evaluated_specs": self.evaluated_specs,
        }
        fields.update(kwargs)
        return Mappings(**fields)

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
        """Get a column as a pandas.Series, or a row as `Mappings`."""
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

    def access(
        self, *keys: str, col_idx: int | None = None, keep_key_index: bool = False
    ) -> Mappings:
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

    def drop(self, *keys: str) -> Mappings:
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

    def drop_zeros(self) -> Mappings:
        """Return the columns that are not zero in all rows."""
        table = self._table()
        return self._update(
            columns={n: rows for n, rows in table.items() if any(_not_zero(v) for v in rows)}
        )

    def drop_components(
        self, keep: Iterable[str] | None = None, drop: Iterable[str] | None = None
    ) -> Mappings:
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

    def drop_components_with_zero_energy_and_latency(self) -> Mappings:
        """Return the columns without those of components that take neither energy nor time."""
        used = {
            name
            for result in (self.energy(per_component=True), self.latency(per_component=True))
            for name, value in result.items()
            if (any(value) if isinstance(value, list) else value)
        }
        return self.drop_components(keep=used)

    def sum(self, keep_key_index: list[int] | int | None = None) -> Mappings:
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
        sums: dict[str, list[Any]] = {}
        for name, rows in table.items():
            parts = name.split(SEPARATOR)
            target = SEPARATOR.join(parts[index] for index in kept)
            sums[target] = (
                [a + b for a, b in zip(sums[target], rows, strict=True)]
                if target in sums
                else list(rows)
            )
        return self._update(columns=sums)

    # --- numbers --------------------------------------------------------------------------------

    def energy(
        self,
        per_einsum: bool = False,
        per_component: bool = False,
        per_tensor: bool = False,
        per_action: bool = False,
        list_if_one_mapping: bool = False,
    ) -> Any:
        """Return the energy, in J.

        Parameters
        ----------
        per_einsum, per_component, per_tensor, per_action : bool
            What to tell apart. Leakage has the tensor None, computation the tensor ``"None"``.
        list_if_one_mapping : bool
            Whether values are lists also if there is one mapping.

        Returns
        -------
        float, list or dict
            With keys of what is told apart, in the order of the arguments; a key of several is a
            tuple. Several mappings give lists.
        """
        parts = self._breakdown("energy", True)
        return combine(
            parts,
            (per_einsum, per_component, per_tensor, per_action),
            self._many(list_if_one_mapping),
        )

    def actions(
        self,
        per_einsum: bool = False,
        per_component: bool = True,
        per_tensor: bool = False,
        list_if_one_mapping: bool = False,
    ) -> Any:
        """Return the numbers of actions.

        Parameters
        ----------
        per_einsum, per_component, per_tensor : bool
            What to tell apart, besides actions.
        list_if_one_mapping : bool
            Whether values are lists also if there is one mapping.

        Returns
        -------
        dict
            With keys that end with the name of the action.
        """
        parts = self._breakdown("action", False)
        return combine(
            parts, (per_einsum, per_component, per_tensor, True), self._many(list_if_one_mapping)
        )

    def latency(
        self,
        per_einsum: bool = False,
        per_component: bool = False,
        list_if_one_mapping: bool = False,
    ) -> Any:
        """Return the latency, in s.

        Parameters
        ----------
        per_einsum, per_component : bool
            What to tell apart. The latency of an Einsum is the largest of its components'; with
            `per_component` alone, that of each component is summed over the Einsums.
        list_if_one_mapping : bool
            Whether values are lists also if there is one mapping.
        """
        parts: Breakdown = {}
        for name, rows in self._table().items():
            split = name.split(SEPARATOR)
            if len(split) == 3 and split[1] == "latency" and split[0] in self.einsum_names:
                parts[split[0], split[2]] = rows
        if not per_component:
            largest: Breakdown = {}
            for (einsum, _), rows in parts.items():
                known = largest.get((einsum,), rows)
                largest[(einsum,)] = [max(a, b) for a, b in zip(known, rows, strict=True)]
            return combine(largest, (per_einsum,), self._many(list_if_one_mapping))
        return combine(parts, (per_einsum, True), self._many(list_if_one_mapping))

    def resource_usage(self, list_if_one_mapping: bool = False) -> Any:
        """Return the largest usage of each memory, as a fraction of its size.

        Parameters
        ----------
        list_if_one_mapping : bool
            Whether values are lists also if there is one mapping.
        """
        usage: Breakdown = {}
        for name, rows in self._table().items():
            split = name.split(SEPARATOR)
            if split[0] == "reservation" and len(split) == 4:
                known = usage.get((split[1],), rows)
                usage[(split[1],)] = [max(a, b) for a, b in zip(known, rows, strict=True)]
        if not usage:
            raise ValueError("there are no reservations among the columns")
        return combine(usage, (True,), self._many(list_if_one_mapping))

    def _many(self, list_if_one_mapping: bool) -> bool:
        return len(self) != 1 or list_if_one_mapping

    def _breakdown(self, family: str, with_leak: bool) -> Breakdown:
        """Return the columns of a family by Einsum, component, tensor and action."""
        parts: Breakdown = {}
        for name, rows in self._table().items():
            split: list[Any] = name.split(SEPARATOR)
            if len(split) < 4 or split[1] != family or split[0] not in self.einsum_names:
                continue
            if len(split) == 5:
                parts[split[0], split[2], split[3], split[4]] = rows
            elif with_leak and split[3] == "leak":
                parts[split[0], split[2], None, "leak"] = rows
        return parts

    # --- per computation ------------------------------------------------------------------------

    def n_computes(self, einsum_name: str | None = None) -> int:
        """Return how many computations an Einsum has, or all of them together.

        Parameters
        ----------
        einsum_name : str, optional
            Name of the Einsum.
        """
        names = self.einsum_names if einsum_name is None else [einsum_name]
        workload = self._workload()
        return sum(
            workload.n_computes(name) * workload.n_instances * workload.einsums[name].n_instances
            for name in names
        )

    def _workload(self) -> Any:
        evaluated = next(iter((self.evaluated_specs or {}).values()), None)
        return (evaluated or self.spec).workload

    def per_compute(self, per_einsum: bool = False) -> Mappings:
        """Return all numbers divided by the number of computations.

        Parameters
        ----------
        per_einsum : bool
            Whether the numbers of an Einsum are divided by its own computations, and
            reservations not at all.
        """
        total = self.n_computes()
        own = {name: self.n_computes(name) for name in self.einsum_names} if per_einsum else {}
        result = {}
        for name, rows in self._table().items():
            divisor = total
            if per_einsum:
                divisor = {**own, "Total": total, "reservation": 1}.get(name.split(SEPARATOR)[0], 0)
                if not divisor:
                    raise ValueError(f"the column {name} does not begin with an Einsum")
            result[name] = [
                value / divisor if isinstance(value, (int, float)) else value for value in rows
            ]
        return self._update(columns=result)

    def per_tensor_size(self, return_n_elements: bool = False) -> dict[str, int]:
        """Return the size of each tensor, in bits.

        Parameters
        ----------
        return_n_elements : bool
            Whether to return numbers of values instead.
        """
        workload = self._workload()
        sizes = {}
        for einsum in workload.einsums:
            for access in einsum.tensor_accesses:
                if access.name not in sizes:
                    bits = 1 if return_n_elements else access.bits_per_value
                    sizes[access.name] = workload.get_tensor_size(access.name) * bits
        return sizes

    # --- the mappings themselves ----------------------------------------------------------------

    def mapping(self, index: int | None = None) -> Any:
        """Return a mapping.

        Parameters
        ----------
        index : int, optional
            Its number; it is needed if there are several.
        """
        return self._mapping_maker(index)()

    def render(self, index: int | None = None, **kwargs: Any) -> str:
        """Draw a mapping; the result is the text of an SVG picture.

        Parameters
        ----------
        index : int, optional
            Its number; it is needed if there are several.
        **kwargs : object
            For ``render()`` of the mapping.
        """
        return str(self._mapping_maker(index).render(**kwargs))

    def _repr_svg_(self) -> str:
        return self.render()

    def _mapping_maker(self, index: int | None) -> Any:
        if index is None and len(self) != 1:
            raise ValueError(
                f"there are {len(self)} mappings; say which one, as in mappings[i].mapping()"
            )
        return self._table()[f"Total{SEPARATOR}mapping"][index or 0]


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
