# SPDX-License-Identifier: BSD-3-Clause
"""The program: a cascade of Einsums."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, ClassVar

from accelforge.expressions import InvertibleSet
from accelforge.fields import (
    EvalableDict,
    EvalableList,
    EvalableModel,
    Expression,
    Fixed,
    Items,
    Part,
    Table,
    Text,
    field,
)
from accelforge.frontend.einsum import Einsum, Shape, TensorAccess, WorkloadNames
from accelforge.frontend.einsum_notation import (
    ImpliedProjection,
    check_rank,
    identifiers,
    isl_expression_has_variable,
    parse_einsum_entry,
    parse_einsum_string,
    parse_projection,
    projection_factory,
)
from accelforge.frontend.iteration_space import (
    MAX_RANK_SIZE,
    count_points,
    parse_affine,
    solve_bounds,
    values_of,
)
from accelforge.frontend.renames import EinsumName, Rank, RankVariable, Renames, TensorName
from accelforge.util.exceptions import EvaluationError, Place, ValidationError
from accelforge.util.oset import oset
from accelforge.yaml.sections import Section, Sequence, place_of

__all__ = [
    "Einsum",
    "EinsumName",
    "ImpliedProjection",
    "Rank",
    "RankVariable",
    "Shape",
    "TensorAccess",
    "TensorName",
    "Workload",
    "isl_expression_has_variable",
]

# Names of these in today's package.
_parse_einsum_entry = parse_einsum_entry
_parse_einsum_string = parse_einsum_string
_parse_projection = parse_projection
_projection_factory = projection_factory

MAX_EINSUMS = 100_000


class Workload(EvalableModel):
    """A cascade of Einsums, each of which is one step of the program."""

    einsums: EvalableList[Einsum] = field(Items(Part(Einsum)), EvalableList())
    """The Einsums, in order. Each is text such as ``Z[m, n] = A[m, k] * B[k, n]``, a mapping with
    such text under ``einsum``, or the fields of an `Einsum`; lists of these may be nested."""

    iteration_space_shape: EvalableDict[RankVariable, str] = field(Table(Text()), EvalableDict())
    """Conditions by rank variable, such as ``m: 0 <= m < 10``, for all Einsums that have it."""

    rank_sizes: EvalableDict[Rank, int] = field(
        Table(Expression(int, most=MAX_RANK_SIZE)), EvalableDict()
    )
    """Sizes of ranks: indices are at least 0 and less than this."""

    n_instances: int = field(Fixed(int, above=0), 1)
    """Number of times that the workload is executed. Actions, energy, latency and the memory of
    persistent tensors are multiplied by it."""

    bits_per_value: EvalableDict[str, int] = field(Table(Expression(int, above=0)), EvalableDict())
    """Bits of a value, by set expression: ``{Inputs: 8, Outputs: 16}``. What a tensor access says
    comes before it."""

    persistent_tensors: str | None = field(Text(optional=True), None)
    """Set expression for the tensors that stay in their backing storage all the time, such as
    ``weight - Intermediates``."""

    _expression_names: ClassVar[frozenset[str]] = EvalableModel._expression_names | {
        "einsum_names",
        "get_tensor_shape",
        "get_tensor_size",
        "n_computes",
        "rank_variables",
        "tensor_names",
    }

    _old: ClassVar[dict[str, str]] = {
        "version": "leave it out",
        "shape": "call it iteration_space_shape",
    }

    @classmethod
    def _prepare(cls, data: dict[str, Any]) -> dict[str, Any]:
        einsums = data.get("einsums")
        if not isinstance(einsums, (list, tuple)):
            return data
        result = Sequence(place=place_of(einsums))
        for number, (entry, place) in enumerate(_flatten(einsums)):
            try:
                if isinstance(entry, str):
                    entry = Section({"einsum": entry}, place=place)
                if not isinstance(entry, Einsum):
                    entry = parse_einsum_entry(entry)
            except EvaluationError as error:
                error.add_field(number)
                error.add_field("einsums")
                raise
            except (TypeError, ValueError) as error:
                wrapped = ValidationError(str(error), source_field=number)
                wrapped.add_field("einsums")
                wrapped.locate(place_of(entry) or place)
                raise wrapped from error
            result.append(entry)

        return {**data, "einsums": result}

    def _complete(self) -> None:
        for variable in self.iteration_space_shape:
            if str(variable)[:1].isupper():
                raise ValidationError(
                    f"Rank variable '{variable}' in workload iteration_space_shape must start with "
                    f"a lowercase letter; ranks begin with a capital",
                    source_field="iteration_space_shape",
                )
        for rank in self.rank_sizes:
            try:
                check_rank(str(rank), "workload rank_sizes")
            except ValueError as error:
                raise ValidationError(str(error), source_field="rank_sizes") from None
        self._validate()

    def _validate(self) -> None:
        """Check that Einsums have names of their own, and agree on the ranks of tensors."""
        names: set[str] = set()
        ranks: dict[str, list[Rank]] = {}
        for einsum in self.einsums:
            if einsum.name in names:
                raise _in_einsum(einsum, f"Einsum name {einsum.name} is not unique")
            names.add(einsum.name)
            for access in einsum.tensor_accesses:
                own = list(access.projection)
                first = ranks.setdefault(access.name, own)
                if sorted(first) != sorted(own):
                    pairs = zip(first, access.projection.values(), strict=False)
                    named = ", ".join(f"{rank}: {index}" for rank, index in pairs)
                    remedy = (
                        f"A rank is named after its variable; if these are the same ranks, name "
                        f"them in {einsum.name}: {access.name}[{named}]"
                        if len(first) == len(own)
                        else "A tensor has as many ranks in each Einsum"
                    )
                    raise _in_einsum(
                        einsum,
                        f"the tensor {access.name} has inconsistent ranks: {sorted(first)} and, in "
                        f"the Einsum {einsum.name}, {sorted(own)}. {remedy}",
                    )

    # --- names ----------------------------------------------------------------------------------

    @property
    def einsum_names(self) -> list[EinsumName]:
        """The names of the Einsums."""
        return [einsum.name for einsum in self.einsums]

    @property
    def tensor_names(self) -> set[TensorName]:
        """The names of all tensors."""
        return oset(access.name for e in self.einsums for access in e.tensor_accesses)

    @property
    def rank_variables(self) -> set[RankVariable]:
        """The names of all rank variables."""
        return oset(self._names().rank_variables)

    @property
    def tensor_names_used_in_multiple_einsums(self) -> set[TensorName]:
        """The names of the tensors that more than one Einsum accesses."""
        return oset(name for name, count in self._names().users.items() if count > 1)

    def _names(self) -> WorkloadNames:
        """Collect the names in the Einsums."""
        accesses = [access for einsum in self.einsums for access in einsum.tensor_accesses]
        return WorkloadNames(
            frozenset(access.name for access in accesses if not access.output),
            frozenset(access.name for access in accesses if access.output),
            Counter(
                name for e in self.einsums for name in {access.name for access in e.tensor_accesses}
            ),
            sorted(
                {name for a in accesses for t in a.projection.values() for name in identifiers(t)}
            ),
        )

    def einsums_with_tensor(self, tensor: TensorName) -> list[Einsum]:
        """Return the Einsums that access a tensor, in order.

        Parameters
        ----------
        tensor : str
            Name of the tensor.
        """
        return [einsum for einsum in self.einsums if tensor in einsum.tensor_names]

    def einsums_with_tensor_as_input(self, tensor: TensorName) -> list[Einsum]:
        """Return the Einsums that read a tensor, in order.

        Parameters
        ----------
        tensor : str
            Name of the tensor.
        """
        return [einsum for einsum in self.einsums if tensor in einsum.input_tensor_names]

    def einsums_with_tensor_as_output(self, tensor: TensorName) -> list[Einsum]:
        """Return the Einsums that write a tensor, in order.

        Parameters
        ----------
        tensor : str
            Name of the tensor.
        """
        return [einsum for einsum in self.einsums if tensor in einsum.output_tensor_names]

    def accesses_for_tensor(self, tensor: TensorName) -> list[TensorAccess]:
        """Return all accesses to a tensor, in the order of the Einsums.

        Parameters
        ----------
        tensor : str
            Name of the tensor.
        """
        return [a for e in self.einsums for a in e.tensor_accesses if a.name == tensor]

    def tensor_ranks(self, tensor: TensorName) -> set[Rank]:
        """Return the ranks of a tensor.

        Parameters
        ----------
        tensor : str
            Name of the tensor.
        """
        return oset(
            rank for access in self.accesses_for_tensor(tensor)[:1] for rank in access.ranks
        )

    def get_tensor_copies(self) -> dict[TensorName, set[TensorName]]:
        """Return, for each tensor that a copy Einsum has, the tensors that are copies of it.

        Copies of copies are among them.
        """
        result: dict[str, set[str]] = {}
        for einsum in self.einsums:
            if einsum.is_copy_operation:
                group = {einsum.copy_source_tensor() or "", *einsum.output_tensor_names}
                for name in list(group):
                    group |= result.get(name, set()) | {name}
                for name in group:
                    result[name] = oset(group - {name})
        return result

    # --- sizes ----------------------------------------------------------------------------------

    def _conditions(self, einsum_name: str) -> list[str]:
        """Collect the conditions on the rank variables of an Einsum."""
        einsum = self.einsums[einsum_name]
        variables = einsum.rank_variables
        sizes = self._rank_sizes()
        own = einsum.__dict__["rank_sizes"]
        if any(isinstance(size, str) for size in own.values()):
            own = type(self)._fields["rank_sizes"].kind.evaluate(own, dict(sizes), True)
        sizes = {**sizes, **own}
        result = list(einsum.iteration_space_shape)
        result += [text for name, text in self.iteration_space_shape.items() if name in variables]
        for access in einsum.tensor_accesses:
            for rank, text in access.projection.items():
                if rank in sizes:
                    result.append(f"0 <= {text} < {sizes[rank]}")
        return result

    def _rank_sizes(self) -> dict[str, Any]:
        sizes: dict[str, Any] = self.__dict__["rank_sizes"]
        if any(isinstance(size, str) for size in sizes.values()):
            sizes = type(self)._fields["rank_sizes"].kind.evaluate(sizes, {}, True)
        return sizes

    def get_iteration_space_shape_isl_string(self, einsum_name: str) -> str:
        """Return the conditions on the rank variables of an Einsum, in the notation of ISL.

        Parameters
        ----------
        einsum_name : str
            Name of the Einsum.
        """
        return " and ".join(self._conditions(einsum_name))

    def _variable_ranges(self, einsum_name: str) -> dict[str, tuple[int, int]]:
        conditions = self._conditions(einsum_name)
        try:
            return solve_bounds(sorted(self.einsums[einsum_name].rank_variables), conditions)
        except ValueError as error:
            wrapped = EvaluationError(str(error), source_field=einsum_name)
            wrapped.add_field("workload.einsums")
            wrapped.locate(self.einsums[einsum_name]._place)
            raise wrapped from None

    def _rank_variable_bounds(self, einsum_name: str) -> dict[str, int]:
        """Return how many values each rank variable of an Einsum takes."""
        ranges = self._variable_ranges(einsum_name)
        return {name: high - low + 1 for name, (low, high) in ranges.items()}

    def _tensor_values(self, tensor: TensorName) -> dict[Rank, Any]:
        """Return the indices of each rank of a tensor that its Einsums access."""
        users = self.einsums_with_tensor_as_output(tensor)
        users = users or self.einsums_with_tensor_as_input(tensor)
        if not users:
            raise KeyError(f"no Einsum has the tensor {tensor}")
        result: dict[str, Any] = {}
        for einsum in users:
            ranges = self._variable_ranges(einsum.name)
            sizes = {**self._rank_sizes(), **einsum.rank_sizes}
            for rank, text in einsum.tensor_accesses[tensor].projection.items():
                values = values_of(parse_affine(text), ranges)
                if rank in sizes:
                    values = _common(values, range(int(sizes[rank])))
                result[rank] = _common(result[rank], values) if rank in result else values
        return result

    def get_tensor_shape(self, tensor: TensorName) -> dict[Rank, int]:
        """Return the extent of each rank of a tensor.

        Parameters
        ----------
        tensor : str
            Name of the tensor.
        """
        values = self._tensor_values(tensor)
        return {rank: max(v) - min(v) + 1 if v else 0 for rank, v in values.items()}

    def get_tensor_size(self, tensor: TensorName) -> int:
        """Return the number of values of a tensor.

        Parameters
        ----------
        tensor : str
            Name of the tensor.
        """
        return math.prod(len(values) for values in self._tensor_values(tensor).values())

    def n_computes(self, einsum_name: str | None = None) -> int:
        """Return how many computations an Einsum has, or all of them together.

        Parameters
        ----------
        einsum_name : str, optional
            Name of the Einsum.
        """
        if einsum_name is None:
            return sum(self.n_computes(name) for name in self.einsum_names)
        ranges = self._variable_ranges(einsum_name)
        return count_points(ranges, self._conditions(einsum_name))

    num_computes = n_computes

    def get_compute_intensity(self, einsum_name: str) -> float:
        """Return the number of computations of an Einsum for each value of its tensors.

        Parameters
        ----------
        einsum_name : str
            Name of the Einsum.
        """
        sizes = [self.get_tensor_size(name) for name in self.einsums[einsum_name].tensor_names]
        return self.n_computes(einsum_name) / sum(sizes)

    # --- evaluation -----------------------------------------------------------------------------

    def empty_renames(self) -> dict[str, InvertibleSet]:
        """Return the names that all Einsums have, as empty sets."""
        return Einsum.empty_renames()

    def _for_einsum(self, einsum_name: EinsumName) -> Workload:
        new = self.model_copy()
        new.einsums = EvalableList(e for e in self.einsums if e.name == einsum_name)
        return new

    def _evaluate(self, symbols: dict[str, Any], must: bool = False) -> Workload:
        return self._evaluate_with(symbols, Renames())

    def _evaluate_with(self, symbols: dict[str, Any], renames: Renames) -> Workload:
        """Return a copy with everything evaluated."""
        draft = self.model_copy()
        draft.__dict__["einsums"] = EvalableList()
        try:
            new = EvalableModel._evaluate(draft, symbols)
        except EvaluationError as error:
            error.locate(self._place)
            raise

        names = self._names()
        evaluated = EvalableList[Einsum]()
        for einsum in self.einsums:
            more = renames.get_renames_for_einsum(einsum.name)
            try:
                evaluated.append(
                    einsum._evaluate_in(
                        new, names, [*more.tensor_accesses, *more.rank_variables], symbols
                    )
                )
            except EvaluationError as error:
                error.add_field(einsum.name)
                error.add_field("einsums")
                error.locate(einsum._place)
                raise

        new.__dict__["einsums"] = evaluated
        new._share_bits()
        return new

    def _share_bits(self) -> None:
        """Check that Einsums agree about each tensor, and tell the sets its bits per value."""
        known: dict[str, TensorAccess] = {}
        for einsum in self.einsums:
            for access in einsum.tensor_accesses:
                first = known.setdefault(access.name, access)
                for name in ("bits_per_value", "persistent"):
                    if first[name] != access[name]:
                        raise EvaluationError(
                            f"the tensor {access.name} has {name} {first[name]} in one Einsum and "
                            f"{access[name]} in {einsum.name}",
                            source_field="einsums",
                        )
        for einsum in self.einsums:
            for rename in einsum.renames:
                source: Any = rename.source
                if len(source) == 1:
                    member = next(iter(source.instance))
                    if source.space_type == "tensors" and member in known:
                        source.bits_per_value = known[member].bits_per_value

    def render(self) -> str:
        """Draw the Einsums and their tensors; the result is the text of an SVG picture."""
        from accelforge.frontend.workload_picture import render_workload

        return render_workload(self)

    def _repr_svg_(self) -> str:
        return self.render()


def _in_einsum(einsum: Einsum, reason: str) -> ValidationError:
    error = ValidationError(reason, source_field="einsums")
    error.locate(einsum._place)
    return error


def _flatten(entries: Any) -> list[tuple[Any, Place | None]]:
    """Flatten nested lists, and say where each entry stands."""
    result: list[tuple[Any, Place | None]] = []
    waiting = [(entries, enumerate(entries))]
    while waiting:
        holder, rest = waiting[-1]
        for number, entry in rest:
            if isinstance(entry, (list, tuple)):
                waiting.append((entry, enumerate(entry)))
                break
            result.append((entry, place_of(holder, number)))
            if len(result) > MAX_EINSUMS:
                raise ValidationError(f"more than {MAX_EINSUMS} Einsums", source_field="einsums")
        else:
            waiting.pop()
    return result


def _common(a: Any, b: Any) -> Any:
    """Return the common members of ranges or sets of numbers."""
    if isinstance(a, range) and isinstance(b, range):
        if a == b or not a:
            return a
        if a.step == 1 and b.step == 1:
            return range(max(a.start, b.start), min(a.stop, b.stop))
        if b.step == 1:
            inside = [a[i] for i in (0, -1) if a[i] in b]
            if len(inside) == 2:
                return a
    return frozenset(a) & frozenset(b)
