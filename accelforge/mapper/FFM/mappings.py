# SPDX-License-Identifier: BSD-3-Clause
"""Results: one row for each mapping, one column for each number."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index as as_index
from typing import TYPE_CHECKING, Any, Self

from accelforge.mapper.FFM.breakdown import Breakdown, combine
from accelforge.mapper.FFM.stacking import stack
from accelforge.mapper.FFM.table import Table
from accelforge.model.columns import SEPARATOR

if TYPE_CHECKING:
    from accelforge.explanation.explanation import Explanation
    from accelforge.frontend.spec import Spec
    from accelforge.mapper.FFM.difference import Difference

__all__ = ["Mappings"]

_MAPPING = f"Total{SEPARATOR}mapping"


class Mappings(Table):
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
    bounds : dict, optional
        Lower bounds by column such as ``Total<SEP>energy``, if the mapper stopped at a limit; None
        if no mapping is better than these.
    columns : dict, optional
        Instead of `data`, the rows of each column: lists or arrays.
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
        bounds: dict[str, float] | None = None,
        *,
        columns: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, columns)
        self.spec = spec
        self.einsum_names = einsum_names
        self.total_mappings = total_mappings
        self.valid_mappings = valid_mappings
        self.flattened_arches = flattened_arches
        self.evaluated_specs = evaluated_specs
        self.bounds = bounds

    def _update(self, **kwargs: Any) -> Self:
        """Return a copy with other columns, or other fields."""
        fields: dict[str, Any] = {
            "spec": self.spec,
            "einsum_names": self.einsum_names,
            "total_mappings": self.total_mappings,
            "valid_mappings": self.valid_mappings,
            "flattened_arches": self.flattened_arches,
            "evaluated_specs": self.evaluated_specs,
            "bounds": self.bounds,
        }
        if "columns" not in kwargs and "data" not in kwargs:
            fields["columns"] = self._table()
        fields.update(kwargs)
        return type(self)(**fields)

    @classmethod
    def concat(cls, parts: Iterable[Mappings]) -> Self:
        """Put results of one specification into one table.

        Parameters
        ----------
        parts : iterable of Mappings
            At least one. Columns that a part does not have are 0 in its rows. Numbers of mappings
            that were looked at are added; everything else is that of the first part.
        """
        parts = list(parts)
        if not parts:
            raise ValueError("concat() needs at least one Mappings")
        first = parts[0]
        return cls(
            spec=first.spec,
            einsum_names=first.einsum_names,
            columns=stack([part._table() for part in parts]),
            total_mappings=sum(part.total_mappings for part in parts),
            valid_mappings=sum(part.valid_mappings for part in parts),
            flattened_arches=first.flattened_arches,
            evaluated_specs=first.evaluated_specs,
            bounds=first.bounds,
        )

    def __repr__(self) -> str:
        from accelforge.mapper.FFM.summary import summarize

        return summarize(self)

    def drop_components_with_zero_energy_and_latency(self) -> Self:
        """Return the columns without those of components that take neither energy nor time."""
        used = {
            name
            for result in (self.energy(per_component=True), self.latency(per_component=True))
            for name, value in result.items()
            if (any(value) if isinstance(value, list) else value)
        }
        return self.drop_components(keep=used)

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
        keep = per_einsum, per_component, per_tensor, per_action
        return self._combine(parts, keep, list_if_one_mapping)

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
        keep = per_einsum, per_component, per_tensor, True
        return self._combine(parts, keep, list_if_one_mapping)

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
        parts = self._latencies()
        if not per_component:
            largest: Breakdown = {}
            for (einsum, _), rows in parts.items():
                known = largest.get((einsum,), rows)
                largest[(einsum,)] = [max(a, b) for a, b in zip(known, rows, strict=True)]
            return self._combine(largest, (per_einsum,), list_if_one_mapping)
        return self._combine(parts, (per_einsum, True), list_if_one_mapping)

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
        return self._combine(usage, (True,), list_if_one_mapping)

    def _combine(self, parts: Breakdown, keep: tuple[bool, ...], list_if_one_mapping: bool) -> Any:
        return combine(parts, keep, len(self), len(self) != 1 or list_if_one_mapping)

    def _latencies(self) -> Breakdown:
        """Return the latencies by Einsum and component."""
        parts: Breakdown = {}
        for name, rows in self._table().items():
            split = name.split(SEPARATOR)
            if len(split) == 3 and split[1] == "latency" and split[0] in self.einsum_names:
                parts[split[0], split[2]] = rows
        return parts

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

        Instances of Einsums and of the workload do not count.

        Parameters
        ----------
        einsum_name : str, optional
            Name of the Einsum.
        """
        names = self.einsum_names if einsum_name is None else [einsum_name]
        workload = self._workload()
        return sum(workload.n_computes(name) for name in names)

    def _workload(self) -> Any:
        evaluated = next(iter((self.evaluated_specs or {}).values()), None)
        return (evaluated or self.spec).workload

    def per_compute(self, per_einsum: bool = False) -> Self:
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

    def cost_sources(self) -> dict[str, dict[str, str]]:
        """Return where the costs of each component come from.

        Returns
        -------
        dict
            By component and cost, such as ``energy of read``: ``given``, ``Dummy``, ``offchip:
            SRAM`` for our own models, or the package and class of another one.
        """
        found: dict[str, dict[str, str]] = {}
        for spec in (self.evaluated_specs or {}).values():
            for component, _ in spec.arch.iterate_hierarchically():
                sources = getattr(component, "cost_sources", None)
                if sources:
                    found.setdefault(component.name, {}).update(sources)
        return found

    # --- why ------------------------------------------------------------------------------------

    def explain(self, index: int | None = None) -> Explanation:
        """Say what limits a mapping, and what would change that.

        Parameters
        ----------
        index : int, optional
            Its number; it is needed if there are several.
        """
        from accelforge.explanation.explanation import explain_problem

        problem = getattr(self._mapping_maker(index), "problem", None)
        if problem is None:
            raise ValueError("only what evaluate_mapping() or the mapper returned can be explained")
        return explain_problem(problem)

    def difference(self, other: Mappings) -> Difference:
        """Compare a mapping with another one, term by term.

        Parameters
        ----------
        other : Mappings
            One row, as this must have.
        """
        from accelforge.mapper.FFM.difference import difference_of

        if not isinstance(other, Mappings):
            raise TypeError(f"a difference is of two Mappings, not of {type(other).__name__}")
        return difference_of(self, other)

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

    def _repr_svg_(self) -> str | None:
        return self.render() if len(self) == 1 and _MAPPING in self.columns else None

    def _repr_html_(self) -> str:
        """Make a table; the picture of a single mapping stands below it."""
        from accelforge.mapper.FFM.summary import to_html

        return to_html(self) + (self._repr_svg_() or "")

    def _mapping_maker(self, index: int | None) -> Any:
        if index is None and len(self) != 1:
            raise ValueError(
                f"there are {len(self)} mappings, and this needs a single one: say mappings[i] "
                f"for an i from 0 to {len(self) - 1}"
            )
        rows = self._table().get(_MAPPING)
        if rows is None:
            raise ValueError(f"the column {_MAPPING} was taken out; call this before access()")
        number = 0 if index is None else as_index(index)
        if not -len(rows) <= number < len(rows):
            raise IndexError(f"there are {len(rows)} mappings, and no number {index}")
        return rows[number]
