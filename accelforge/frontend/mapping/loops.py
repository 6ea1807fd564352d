# SPDX-License-Identifier: BSD-3-Clause
"""Loops over tiles, in time or in space."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from accelforge.fields import Expression, Kind, Text, field
from accelforge.frontend.mapping.nodes import MappingNode
from accelforge.util.exceptions import ValidationError
from accelforge.util.oset import oset

__all__ = ["Loop", "Spatial", "Temporal", "TilePattern"]


class TilePattern(NamedTuple):
    """Tiles that a loop cuts a rank variable into.

    Parameters
    ----------
    tile_shape : int or str
        Extent of each tile; ``symbol`` if it is not chosen yet.
    initial_tile_shape : int, str or None
        Extent of the first tile, if it differs.
    calculated_n_iterations : int, str or None
        Number of tiles; it is a result.
    """

    tile_shape: Any = "symbol"
    initial_tile_shape: Any = "symbol"
    calculated_n_iterations: Any = None

    @staticmethod
    def _symbol_attrs() -> tuple[str, ...]:
        return ("tile_shape", "initial_tile_shape", "calculated_n_iterations")

    def as_str(self, with_initial_tile_shape: bool = True, with_tile_shape: bool = True) -> str:
        """Describe it.

        Parameters
        ----------
        with_initial_tile_shape, with_tile_shape : bool
            Whether to say these.
        """
        parts = []
        if self.calculated_n_iterations not in (None, "symbol"):
            parts.append(f"in [0..{self.calculated_n_iterations})")
        if with_initial_tile_shape and self.initial_tile_shape not in (None, "symbol"):
            parts.append(f"initial={self.initial_tile_shape}")
        if with_tile_shape and self.tile_shape not in (None, "symbol"):
            parts.append(f"shape={self.tile_shape}")
        return " ".join(parts)

    def __str__(self) -> str:
        return self.as_str()

    def update(self, **kwargs: Any) -> TilePattern:
        """Return a copy with some fields changed."""
        return self._replace(**kwargs)

    def _clear_symbols(self) -> TilePattern:
        own = self._asdict()
        return self.update(**{k: None for k, v in own.items() if isinstance(v, str)})


class _RankVariables(Kind):
    """A rank variable, or those that fused Einsums have for one loop."""

    def accept(self, value: Any) -> Any:
        """Take text, a collection of texts, or a text for each Einsum."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
            return dict(value)
        if isinstance(value, (set, frozenset, list, tuple)) and all(
            isinstance(item, str) for item in value
        ):
            return oset(value)
        raise ValidationError(f"expected a rank variable, not {value!r}")


class Loop(MappingNode):
    """A loop over tiles of a rank variable. This class is abstract."""

    rank_variable: str | set[str] | dict[str, str] | None = field(_RankVariables(), None)
    """The rank variable; a set if fused Einsums call it differently, or what each Einsum calls it
    if one of them has two of that set."""

    tile_shape: int | str = field(Expression(int, lazy=True), "symbol")
    """Extent of a tile. The loop runs over as many tiles as the enclosing tile has."""

    initial_tile_shape: int | str | None = field(Expression(int, optional=True, lazy=True), None)
    """Extent of the first tile, if it differs from the others."""

    _abstract: ClassVar[bool] = True
    _calculated_n_iterations: Any = None

    def __init__(self, **data: Any) -> None:
        super().__init__(**data)
        self._einsum_to_rank_variable: dict[str, str] = {}

    @property
    def calculated_n_iterations(self) -> Any:
        """Number of iterations; it is a result."""
        return self._calculated_n_iterations

    @calculated_n_iterations.setter
    def calculated_n_iterations(self, value: Any) -> None:
        self._calculated_n_iterations = value

    @property
    def tile_pattern(self) -> TilePattern:
        """Tiles that the loop cuts its rank variable into."""
        return TilePattern(self.tile_shape, self.initial_tile_shape, self._calculated_n_iterations)

    @tile_pattern.setter
    def tile_pattern(self, value: TilePattern) -> None:
        self.tile_shape = value.tile_shape
        self.initial_tile_shape = value.initial_tile_shape
        self._calculated_n_iterations = value.calculated_n_iterations

    def _variable_str(self) -> str:
        name = self.rank_variable
        if isinstance(name, dict):
            name = oset(name.values())
        return name if isinstance(name, str) else ",".join(name or ())

    def __str__(self) -> str:
        return f"for {self._variable_str()} {self.tile_pattern}"

    def compact_str(self) -> str:
        """Describe the loop in a few characters."""
        return f"{self._variable_str()} {self.tile_pattern}".rstrip()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Loop)
            and type(other) is type(self)
            and self.rank_variable == other.rank_variable
            and self.tile_pattern == other.tile_pattern
        )

    def _check_merge(self, other: Any) -> None:
        if type(other) is not type(self):
            raise ValueError(f"{type(self).__name__} and {type(other).__name__} do not merge")
        if self.tile_pattern != other.tile_pattern:
            raise ValueError(f"the tiles differ: {self.tile_pattern}, {other.tile_pattern}")

    def _merge(self, other: Any) -> Any:
        self._check_merge(other)
        new = self.model_copy()
        names = [
            {value} if isinstance(value, str) else set(value or ())
            for value in (self.rank_variable, other.rank_variable)
        ]
        new.rank_variable = oset(names[0] | names[1])
        return new

    def _render_node_color(self) -> str:
        return "#f6dcee"

    def _render_node_label(self, **kwargs: Any) -> str:
        return f"for {self._named_variables()}: {self._tiles(**kwargs)}"

    def _named_variables(self) -> str:
        return self._variable_str().replace(",", ", ")

    def _tiles(self, with_tile_shape: bool = True) -> str:
        """Say how many tiles there are, and of which extent, as far as it is known."""
        shape, first, count = self.tile_pattern._clear_symbols()
        text = "tiles" if count is None else f"{count} tile" + "s" * (count != 1)
        if with_tile_shape and self.tile_shape != "symbol":
            text += f" of {self.tile_shape}"
            if first not in (None, shape):
                text += f", the first of {first}"
        return text


class Temporal(Loop):
    """A loop whose iterations follow one another."""

    _yaml_tag: ClassVar[str] = "Temporal"

    def compact_str(self) -> str:
        """Describe the loop in a few characters."""
        return f"T-{super().compact_str()}"


class Spatial(Loop):
    """A loop whose iterations are done side by side, by the instances of a fan-out."""

    name: str | int | None = field(Text(optional=True, number=True), None)
    """The dimension of the fan-out."""

    component: str | None = field(Text(optional=True), None)
    """The node that has the fan-out."""

    component_object: Any = field(Kind(), None)
    """That node itself; it is a result."""

    _yaml_tag: ClassVar[str] = "Spatial"

    def _render_node_label(self, **kwargs: Any) -> str:
        return f"for {self._named_variables()} across {self.name}: {self._tiles(**kwargs)}"

    def _render_node_color(self) -> str:
        return "#e4ddf7"

    def __str__(self) -> str:
        return f"S-{self.name} {super().__str__()}"

    def compact_str(self) -> str:
        """Describe the loop in a few characters."""
        return f"S-{self.name}-{super().compact_str()}"

    def __eq__(self, other: object) -> bool:
        return (
            super().__eq__(other)
            and isinstance(other, Spatial)
            and (self.name, self.component) == (other.name, other.component)
        )

    def _check_merge(self, other: Any) -> None:
        super()._check_merge(other)
        if (self.name, self.component) != (other.name, other.component):
            raise ValueError(
                f"the dimensions differ: {self.name} of {self.component}, "
                f"{other.name} of {other.component}"
            )
