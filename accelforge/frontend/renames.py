# SPDX-License-Identifier: BSD-3-Clause
"""Names by which architectures refer to the tensors and rank variables of any workload."""

from __future__ import annotations

from typing import Any, TypeAlias

from accelforge.expressions import InvertibleSet
from accelforge.fields import (
    EvalableList,
    EvalableModel,
    Expression,
    Items,
    Members,
    Part,
    Text,
    field,
)
from accelforge.util.exceptions import EvaluationError

__all__ = [
    "EinsumName",
    "EinsumRename",
    "Rank",
    "RankVariable",
    "Rename",
    "RenameList",
    "Renames",
    "TensorName",
    "rename_list_factory",
]

TensorName: TypeAlias = str
RankVariable: TypeAlias = str
Rank: TypeAlias = str
EinsumName: TypeAlias = str


class Rename(EvalableModel):
    """A further name for tensors or rank variables."""

    name: str = field(Text())
    """The new name."""

    source: str | InvertibleSet = field(Members(None))
    """Set that it stands for."""

    expected_count: int | str | None = field(Expression(int, optional=True), None)
    """Number of members that it must have; without it, any number."""

    @classmethod
    def known(cls, name: str, source: InvertibleSet) -> Rename:
        """Make a rename that is evaluated already."""
        new = cls.__new__(cls)
        new.__dict__.update(name=name, source=source, expected_count=None, _evaluated=True)
        return new

    def _evaluate(self, symbols: dict[str, Any], must: bool = False) -> Rename:
        new = super()._evaluate(symbols, must)
        count = new.expected_count
        if count is not None and isinstance(new.source, InvertibleSet) and len(new.source) != count:
            raise EvaluationError(
                f"it stands for {len(new.source)} members, and {count} are expected: "
                f"{', '.join(new.source) or 'none'}",
                source_field="source",
            )
        return new


class RenameList(EvalableList[Rename]):
    """A list of renames."""


def rename_list_factory(rename_list: Any) -> RenameList:
    """Make a list of renames.

    Parameters
    ----------
    rename_list : list or dict
        Renames, or ``{new name: source}``.
    """
    if isinstance(rename_list, dict):
        return RenameList(Rename(name=str(k), source=v) for k, v in rename_list.items())
    if isinstance(rename_list, (list, tuple)):
        return RenameList(
            Rename.from_data(item) if isinstance(item, dict) else item for item in rename_list
        )
    raise TypeError(f"renames are a list or a mapping, not {rename_list!r}")


def _add_symbol(rename: Rename, symbols: dict[str, Any]) -> None:
    symbols[rename.name] = rename.source


def rename_items() -> Items:
    """Make the kind of a field for renames, each of which can use those before it."""
    return Items(Part(Rename), RenameList, after=_add_symbol)


class EinsumRename(EvalableModel):
    """Renames for one Einsum."""

    name: str = field(Text())
    """Name of the Einsum. Renames of ``default`` are for all Einsums that have no own rename of
    that name."""

    tensor_accesses: RenameList = field(rename_items(), RenameList())
    """Renames of tensors: ``{new name: set expression}``, or a list of `Rename`."""

    rank_variables: RenameList = field(rename_items(), RenameList())
    """Renames of rank variables, in the same form."""

    @classmethod
    def _prepare(cls, data: dict[str, Any]) -> dict[str, Any]:
        data = dict(data)
        for name in ("tensor_accesses", "rank_variables"):
            if name in data:
                data[name] = rename_list_factory(data[name])
        return data


class Renames(EvalableModel):
    """Renames for the Einsums of a workload."""

    einsums: EvalableList[EinsumRename] = field(Items(Part(EinsumRename)), EvalableList())
    """One entry for each Einsum that has renames, and ``default`` for the others."""

    def get_renames_for_einsum(self, einsum_name: EinsumName) -> EinsumRename:
        """Return the renames of an Einsum, with those of ``default`` that it does not override.

        Parameters
        ----------
        einsum_name : str
            Name of the Einsum.
        """
        result = EinsumRename(name=einsum_name)
        for entry in (self.einsums.get_by_name(einsum_name), self.einsums.get_by_name("default")):
            if entry is None:
                continue
            for own, given in (
                (result.tensor_accesses, entry.tensor_accesses),
                (result.rank_variables, entry.rank_variables),
            ):
                known = {rename.name for rename in own}
                own.extend(rename for rename in given if rename.name not in known)
        return result

    def _for_einsum(self, einsum_name: EinsumName) -> Renames:
        new = self.model_copy()
        new.einsums = EvalableList(
            entry for entry in self.einsums if entry.name in (einsum_name, "default")
        )
        return new

    def _evaluate(self, symbols: dict[str, Any], must: bool = False) -> Renames:
        """Return a copy; renames are evaluated with the Einsum that they are for."""
        new = self.model_copy()
        new._evaluated = True
        return new
