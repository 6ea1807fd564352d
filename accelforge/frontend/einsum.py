# SPDX-License-Identifier: BSD-3-Clause
"""One Einsum of a workload, and how it accesses tensors."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar, NamedTuple

from accelforge.expressions import (
    RANK_VARIABLES,
    TENSORS,
    InvertibleSet,
    evaluate_set,
    evaluate_set_keys,
)
from accelforge.fields import (
    EvalableDict,
    EvalableList,
    EvalableModel,
    Expression,
    Fixed,
    Items,
    Kind,
    Part,
    Table,
    Text,
    field,
)
from accelforge.frontend.einsum_notation import (
    IDENTIFIER,
    ImpliedProjection,
    check_rank,
    identifiers,
    projection_factory,
)
from accelforge.frontend.iteration_space import MAX_RANK_SIZE
from accelforge.frontend.renames import (
    EinsumName,
    Rank,
    RankVariable,
    Rename,
    RenameList,
    TensorName,
    rename_items,
    rename_list_factory,
)
from accelforge.util.exceptions import EvaluationError, ValidationError
from accelforge.util.oset import oset

__all__ = ["Einsum", "Shape", "TensorAccess", "WorkloadNames"]


class _Projection(Kind):
    def accept(self, value: Any) -> Any:
        """Take a list of rank variables, or a mapping of ranks to expressions."""
        try:
            return projection_factory(value)
        except (TypeError, ValueError) as error:
            raise ValidationError(str(error)) from None


class TensorAccess(EvalableModel):
    """Access of an Einsum to a tensor."""

    name: TensorName = field(Text())
    """The tensor."""

    projection: dict[Rank, str] = field(_Projection())
    """Places where rank variables index the tensor: expressions by rank, such as
    ``{P: 2 * p + r}``, or a list of rank variables, whose ranks are their names in capitals."""

    output: bool = field(Fixed(bool), False)
    """True if the Einsum writes the tensor."""

    persistent: bool = field(Fixed(bool), False)
    """True if a copy of the tensor stays in its backing storage while the workload runs."""

    backing_storage_size_scale: float = field(Fixed(float, int), 1.0)
    """Factor for its size in its backing storage."""

    bits_per_value: int | str | None = field(Expression(int, optional=True, above=0), None)
    """Bits of a value; by default those of the workload."""

    _expression_names: ClassVar[frozenset[str]] = EvalableModel._expression_names | {
        "ranks",
        "rank_variables",
    }

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """The ranks of the tensor."""
        return tuple(self.projection)

    @property
    def rank_variables(self) -> set[RankVariable]:
        """All rank variables that index the tensor."""
        return oset(name for text in self.projection.values() for name in identifiers(text))

    @property
    def rank2rank_variables(self) -> dict[Rank, set[RankVariable]]:
        """The rank variables that index each rank."""
        return {rank: oset(identifiers(text)) for rank, text in self.projection.items()}

    @property
    def rank_variable2ranks(self) -> dict[RankVariable, set[Rank]]:
        """The ranks that each rank variable indexes."""
        result: dict[RankVariable, set[Rank]] = {}
        for rank, text in self.projection.items():
            for name in identifiers(text):
                result.setdefault(name, oset()).add(rank)
        return result

    @property
    def directly_indexing_rank_variables(self) -> set[RankVariable]:
        """Rank variables that index a rank alone, as in ``M: m``."""
        return oset(text for text in self.projection.values() if IDENTIFIER.fullmatch(text))

    @property
    def expression_indexing_rank_variables(self) -> set[RankVariable]:
        """Rank variables that index in expressions only, as in ``M: m + n``."""
        return oset(self.rank_variables - self.directly_indexing_rank_variables)

    def _to_formatted_string(self) -> str:
        implied = isinstance(self.projection, ImpliedProjection)
        index = ",".join(
            text if implied or text == rank.lower() else f"{rank}:{text}"
            for rank, text in self.projection.items()
        )
        return f"{self.name}<sub>{index}</sub>"


class Shape(EvalableList[str]):
    """Conditions on rank variables, all of which hold."""

    @property
    def rank_variables(self) -> set[str]:
        """All rank variables in the conditions."""
        return oset(name for text in self for name in identifiers(text))


class WorkloadNames(NamedTuple):
    """The names in a workload.

    Parameters
    ----------
    read, written : frozenset of str
        The tensors that any Einsum reads, and writes.
    users : Counter
        All tensors, each with the number of Einsums that access it.
    rank_variables : list of str
        All rank variables.
    """

    read: frozenset[str]
    written: frozenset[str]
    users: Counter[str]
    rank_variables: list[str]


class Einsum(EvalableModel):
    """One step of a workload.

    ``Z[m, n] = A[m, k] * B[k, n]`` visits all values of ``m``, ``n`` and ``k``, and for each of
    them multiplies a value of ``A`` with one of ``B`` and adds the product to a value of ``Z``.
    """

    name: EinsumName = field(Text())
    """Its name."""

    tensor_accesses: EvalableList[TensorAccess] = field(Items(Part(TensorAccess)))
    """The tensors, inputs before outputs."""

    iteration_space_shape: Shape = field(Items(Text(), Shape), Shape())
    """Conditions on rank variables, such as ``0 <= m < 10``, besides those of the workload."""

    rank_sizes: EvalableDict[Rank, int] = field(
        Table(Expression(int, most=MAX_RANK_SIZE)), EvalableDict()
    )
    """Sizes of ranks, which come before those of the workload."""

    is_copy_operation: bool = field(Fixed(bool), False)
    """True if it only puts its input where its outputs are."""

    renames: RenameList = field(rename_items(), RenameList())
    """Further names of its tensors and rank variables: ``{new name: set expression}``, or a list
    of `Rename`."""

    n_instances: int = field(Fixed(int, above=0), 1)
    """Number of times that it is executed each time the workload is."""

    _expression_names: ClassVar[frozenset[str]] = EvalableModel._expression_names | {
        "input_tensor_names",
        "output_tensor_names",
        "rank_variables",
        "ranks",
        "tensor_names",
    }

    @classmethod
    def _prepare(cls, data: dict[str, Any]) -> dict[str, Any]:
        if "renames" in data:
            data = {**data, "renames": rename_list_factory(data["renames"])}
        return data

    def _complete(self) -> None:
        if self.name == "Total":
            raise ValidationError(
                'the name "Total" is reserved for the sum over all Einsums', source_field="name"
            )
        for rank in self.rank_sizes:
            try:
                check_rank(rank, f"rank_sizes of the Einsum {self.name}")
            except ValueError as error:
                raise ValidationError(str(error), source_field="rank_sizes") from None

    # --- names ----------------------------------------------------------------------------------

    @property
    def rank_variables(self) -> set[RankVariable]:
        """All rank variables."""
        return oset(v for access in self.tensor_accesses for v in access.rank_variables)

    @property
    def ranks(self) -> set[Rank]:
        """All ranks."""
        return oset(rank for access in self.tensor_accesses for rank in access.ranks)

    @property
    def input_tensor_names(self) -> set[TensorName]:
        """The tensors that it reads."""
        return oset(access.name for access in self.tensor_accesses if not access.output)

    @property
    def output_tensor_names(self) -> set[TensorName]:
        """The tensors that it writes."""
        return oset(access.name for access in self.tensor_accesses if access.output)

    @property
    def tensor_names(self) -> set[TensorName]:
        """All tensors."""
        return oset(access.name for access in self.tensor_accesses)

    def copy_source_tensor(self) -> TensorName | None:
        """Return the tensor that is copied, or None if this is not a copy."""
        if not self.is_copy_operation:
            return None
        names = self.input_tensor_names
        if len(names) != 1:
            raise ValueError(
                f"the copy Einsum {self.name} has {len(names)} input tensors, and needs one"
            )
        return next(iter(names))

    # --- what indexes what ----------------------------------------------------------------------

    @property
    def tensor2rank_variables(self) -> dict[TensorName, set[RankVariable]]:
        """The rank variables that index each tensor."""
        return {access.name: access.rank_variables for access in self.tensor_accesses}

    @property
    def tensor2directly_indexing_rank_variables(self) -> dict[TensorName, set[RankVariable]]:
        """The rank variables that index a rank of each tensor alone."""
        return {
            access.name: access.directly_indexing_rank_variables for access in self.tensor_accesses
        }

    @property
    def tensor2expression_indexing_rank_variables(self) -> dict[TensorName, set[RankVariable]]:
        """The rank variables that index each tensor in expressions only."""
        return {
            access.name: access.expression_indexing_rank_variables
            for access in self.tensor_accesses
        }

    @property
    def tensor2irrelevant_rank_variables(self) -> dict[TensorName, set[RankVariable]]:
        """The rank variables that do not index each tensor."""
        variables = self.rank_variables
        return {
            access.name: oset(variables - access.rank_variables) for access in self.tensor_accesses
        }

    @property
    def rank_variable2ranks(self) -> dict[RankVariable, set[Rank]]:
        """The ranks that each rank variable indexes."""
        result: dict[RankVariable, set[Rank]] = {}
        for access in self.tensor_accesses:
            for name, ranks in access.rank_variable2ranks.items():
                result.setdefault(name, oset()).update(ranks)
        return result

    @property
    def indexing_expressions(self) -> set[str]:
        """All expressions that index tensors."""
        return oset(text for access in self.tensor_accesses for text in access.projection.values())

    def _to_formatted_string(self, compress: bool = False) -> str:
        left = [a._to_formatted_string() for a in self.tensor_accesses if a.output]
        right = [a._to_formatted_string() for a in self.tensor_accesses if not a.output]
        if compress:
            return ",\n".join(left) + "=\n" + " \n ".join(right)
        return " , ".join(left) + " = " + " * ".join(right)

    # --- evaluation -----------------------------------------------------------------------------

    @staticmethod
    def empty_renames() -> dict[str, InvertibleSet]:
        """Return the names that all Einsums have, as empty sets."""
        names = ("All", "Tensors", "Nothing", "Inputs", "Outputs")
        return {name: InvertibleSet() for name in names}

    def _sets(self, names: WorkloadNames) -> dict[str, InvertibleSet]:
        """Return the sets that expressions of this Einsum begin with."""
        inputs, outputs = frozenset(self.input_tensor_names), frozenset(self.output_tensor_names)
        all_tensors = inputs | outputs
        variables = frozenset(self.rank_variables)
        spaces = {
            access.name: InvertibleSet(access.rank_variables, variables, RANK_VARIABLES)
            for access in self.tensor_accesses
        }
        members = {
            "All": all_tensors,
            "Tensors": all_tensors,
            "Nothing": frozenset(),
            "Inputs": inputs,
            "Outputs": outputs,
            "Intermediates": all_tensors & names.read & names.written,
            "Shared": frozenset(t for t in all_tensors if names.users[t] > 1),
            "Persistent": frozenset(a.name for a in self.tensor_accesses if a.persistent),
        }
        for tensor in all_tensors:
            members[tensor] = frozenset((tensor,))
        result = {
            name: InvertibleSet(instance, all_tensors, TENSORS, spaces)
            for name, instance in members.items()
        }
        for variable in variables:
            result[variable] = InvertibleSet((variable,), variables, RANK_VARIABLES)
        return result

    def _evaluate_in(
        self,
        evaluated: Any,
        names: WorkloadNames,
        more_renames: list[Rename],
        symbols: dict[str, Any],
    ) -> Einsum:
        """Return a copy with everything evaluated, and with all names among the renames.

        Parameters
        ----------
        evaluated : Workload
            The workload with everything but its Einsums evaluated.
        names : WorkloadNames
            The names in it.
        more_renames : list of Rename
            Those that are not in the Einsum itself.
        symbols : dict
            What expressions can use besides.
        """
        sets = self._sets(names)
        nothing, no_variable = sets["Nothing"], InvertibleSet((), (), RANK_VARIABLES)
        elsewhere = {
            **dict.fromkeys(names.users, nothing),
            **dict.fromkeys(names.rank_variables, no_variable),
        }
        scope = {**evaluated.rank_sizes, **elsewhere, **sets, **symbols}
        own = {rename.name for rename in self.renames}
        draft = self.model_copy()
        draft.__dict__["renames"] = RenameList(
            [*self.renames, *(rename for rename in more_renames if rename.name not in own)]
        )
        new = draft._evaluate(scope, must=True)
        renames: RenameList = new.__dict__["renames"]
        known = {rename.name for rename in renames}
        renames.extend(Rename.known(k, v) for k, v in sets.items() if k not in known)
        known.update(sets)
        renames.extend(Rename.known(k, v) for k, v in elsewhere.items() if k not in known)
        scope.update({rename.name: rename.source for rename in renames})
        new._set_bits(evaluated, scope)
        return new

    def _set_bits(self, workload: Any, scope: dict[str, Any]) -> None:
        """Give each tensor its bits per value, and mark the persistent ones."""
        table = {
            tensor: value
            for _, members, value in evaluate_set_keys(
                workload.bits_per_value, scope, "bits_per_value"
            )
            for tensor in members
        }
        persistent: Any = ()
        if workload.persistent_tensors:
            persistent = evaluate_set(
                workload.persistent_tensors, scope, TENSORS, "workload.persistent_tensors"
            )

        for access in self.tensor_accesses:
            if access.bits_per_value is None:
                if access.name not in table:
                    raise EvaluationError(
                        f"the tensor {access.name} has no bits per value. Give them in "
                        f"workload.bits_per_value, for example All: 8, or with the tensor",
                        source_field=f"tensor_accesses.{access.name}.bits_per_value",
                    )
                access.__dict__["bits_per_value"] = table[access.name]
            if access.name in persistent:
                access.__dict__["persistent"] = True
