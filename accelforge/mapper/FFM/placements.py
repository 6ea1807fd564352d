# SPDX-License-Identifier: BSD-3-Clause
"""Tensors that each memory and toll holds: all choices that an architecture leaves."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from accelforge.expressions import InvertibleSet, evaluate
from accelforge.frontend.arch import FlattenedArch, Memory, TensorHolder, Tensors, Toll
from accelforge.util.exceptions import EvaluationError

if TYPE_CHECKING:
    from accelforge.frontend.spec import Spec

__all__ = ["Placer"]

_ABOVE = "Above"


@dataclass(frozen=True)
class _Level:
    """Tensors that one component holds in a placement."""

    node: TensorHolder
    rules: Tensors
    keep: frozenset[str]
    holders: list[dict[str, Any]]


class Placer:
    """Lists the placements of the tensors of an Einsum.

    Each memory must hold the tensors of ``keep`` and ``back``, and holds any subset of those of
    ``may_keep``. The expressions can name what memories above hold, so they are evaluated for each
    choice made above.

    Parameters
    ----------
    spec : Spec
        The specification, evaluated for the Einsum.
    einsum : str
        Name of the Einsum.
    way : FlattenedArch
        The way to the compute.
    symbols : dict
        What expressions can use, besides the names of the Einsum.
    """

    def __init__(
        self, spec: Spec, einsum: str, way: FlattenedArch, symbols: dict[str, Any]
    ) -> None:
        self.einsum = spec.workload.einsums[einsum]
        self.way = way
        self.holders = [node for node in way if isinstance(node, TensorHolder)]
        variables = spec.arch.variables.shallow_model_dump()
        self.scope = {**symbols, **variables, **spec._einsum_symbols(einsum)}
        self.every: InvertibleSet = self.scope["All"]
        self.prefer_unfused = bool(spec.mapper.prioritize_reuse_of_unfused_tensors)
        self.known: dict[tuple[str, str, bool, bool], dict[str, Any]] = {}
        self.persistent = {a.name for a in self.einsum.tensor_accesses if a.persistent}

    def unforced(self) -> list[str]:
        """Return the components whose holders may stand above those of components above them."""
        return [n.name for n in self.holders if not n.tensors.force_memory_hierarchy_order]

    def placements(self) -> list[dict[str, Any]]:
        """Return the placements, as plain data; none if the compute is not enabled.

        Raises
        ------
        EvaluationError
            An expression of the architecture is wrong.
        ValueError
            A placement leaves a tensor without a memory.
        """
        if not any(isinstance(node, Memory) for node in self.way):
            raise ValueError(
                f"no memory is above the compute {self.way[-1].name}, so there is nowhere to keep "
                f"the tensors of the Einsum {self.einsum.name}"
            )
        if self.way[-1].enabled is False:
            return []
        spatial = self._spatial()
        result = []
        nothing = self.every.to_my_space(())
        for levels, scope in self._choose(0, {**self.scope, _ABOVE: nothing}, frozenset()):
            if self._enabled(self.way[-1], scope):
                self._check_held(levels)
                result.append(self._placement(levels, spatial))
        return result

    # --- choices --------------------------------------------------------------------------------

    def _choose(
        self, number: int, scope: dict[str, Any], seen: frozenset[str]
    ) -> Iterator[tuple[tuple[_Level, ...], dict[str, Any]]]:
        """Yield what this component and those below it hold, and the symbols that are then known.

        Parameters
        ----------
        number : int
            Number of the component among the holders.
        scope : dict
            Symbols, with what the components above hold.
        seen : frozenset of str
            The tensors that these hold.
        """
        if number == len(self.holders):
            yield (), scope
            return
        node = self.holders[number]
        if not self._enabled(node, scope):
            without = {**scope, node.name: self.every.to_my_space(())}
            yield from self._choose(number + 1, without, seen)
            return

        rules = self._rules(node, scope)
        must, may, back = (
            self.every.instance & _members(rules, name) for name in ("keep", "may_keep", "back")
        )
        if seen & back:
            return
        above: InvertibleSet = scope[_ABOVE]
        if isinstance(node, Toll):
            must, may = must & above.instance, may & above.instance
        may -= must
        if self.einsum.is_copy_operation:
            may -= seen

        names = sorted(may)
        subsets = chain.from_iterable(combinations(names, n) for n in range(len(names) + 1))
        for subset in subsets:
            keep = must | frozenset(subset)
            level = _Level(node, rules, keep, self._holders(node.name, keep, must, seen))
            held = self.every.to_my_space(keep)
            inner = {**scope, node.name: held, _ABOVE: above | held}
            for below, known in self._choose(number + 1, inner, seen | keep):
                yield (level, *below), known

    def _rules(self, node: TensorHolder, scope: dict[str, Any]) -> Tensors:
        """Evaluate what is said about the tensors of a component."""
        rules = node.tensors
        if self.prefer_unfused and not rules.tensor_order_options:
            rules = rules.model_copy()
            rules.tensor_order_options = [[_ABOVE, f"~{_ABOVE}"]]  # type: ignore[assignment]
        elif _is_evaluated(rules):
            return rules
        try:
            return rules._evaluate(scope, must=True)
        except EvaluationError as error:
            for part in ("tensors", node.name, "nodes", "arch", "spec"):
                error.add_field(part)
            error.locate(node._place)
            raise

    @staticmethod
    def _enabled(node: Any, scope: dict[str, Any]) -> bool:
        """Say whether a component is enabled; its expression may use what is held above."""
        enabled = node.enabled
        if isinstance(enabled, bool):
            return enabled
        try:
            return bool(evaluate(enabled, scope))
        except EvaluationError as error:
            for part in ("enabled", node.name, "nodes", "arch", "spec"):
                error.add_field(part)
            error.locate(node._place)
            raise

    def _check_held(self, levels: tuple[_Level, ...]) -> None:
        """Raise an error if there is a tensor that nothing holds."""
        held = frozenset().union(*(level.keep for level in levels))
        missing = sorted(self.every.instance - held)
        if missing:
            where = ", ".join(
                f"{level.node.name}: {', '.join(sorted(level.keep)) or 'nothing'}"
                for level in levels
            )
            raise ValueError(
                f"Einsum {self.einsum.name} has a placement that is missing tensors: no memory "
                f"holds {', '.join(missing)} ({where}). Let a memory keep what the ones above it "
                f"do not, for example tensors: {{keep: ~{self.holders[0].name}, may_keep: All}}"
            )

    # --- plain data -----------------------------------------------------------------------------

    def _placement(
        self, levels: tuple[_Level, ...], spatial: list[dict[str, Any]]
    ) -> dict[str, Any]:
        used = [level for level in levels if level.keep]
        return {
            "holders": [holder for level in used for holder in level.holders],
            "orders": {
                level.node.name: orders for level in used if (orders := self._orders(level.rules))
            },
            "no_refetch": _by_component(used, "no_refetch_from_above"),
            "no_resend": _by_component(used, "no_resend_to_below"),
            "tile_shape": [
                {"component": level.node.name, **_comparison(rule)}
                for level in used
                if isinstance(level.node, Memory)
                for rule in level.rules.tile_shape
            ],
            "spatial": spatial,
        }

    def _holders(
        self, component: str, keep: frozenset[str], must: frozenset[str], seen: frozenset[str]
    ) -> list[dict[str, Any]]:
        """Return the holders of a component; placements share those that are equal."""
        result = []
        for tensor in sorted(keep):
            backing = tensor not in seen
            key = component, tensor, backing, backing or tensor in must
            holder = self.known.get(key)
            if holder is None:
                holder = self.known[key] = {
                    "component": component,
                    "tensor": tensor,
                    "backing": backing,
                    "persistent": backing and tensor in self.persistent,
                    "must_keep": key[-1],
                }
            result.append(holder)
        return result

    def _orders(self, rules: Tensors) -> list[list[list[str]]]:
        """Return the orders that the holders of a component may have."""
        result = []
        for option in rules.tensor_order_options:
            groups = [sorted(self.every.instance & set(entry)) for entry in option]
            if any(groups):
                result.append([group for group in groups if group])
        return result

    def _bounds(self, rule: Any, dim: Any) -> dict[str, Any]:
        """Return a condition on the iterations of loops.

        AccelForge takes an expression that it cannot evaluate for a set of letters. Its Albireo has
        names of ranks there, ``{P, Q, N}``, which bound nothing.
        """
        if isinstance(rule.expression, InvertibleSet) or rule.operator.startswith("product"):
            return _comparison(rule)
        variables = sorted(set(rule.expression) & set(self.einsum.rank_variables))
        warnings.warn(
            f'loop_bounds of {dim.name}: the set expression "{rule.expression}" cannot be '
            f"evaluated; it bounds loops over {' and '.join(variables) or 'no variable'}, as in "
            "AccelForge, which reads its letters. Name rank variables with | between: m | n",
            UserWarning,
            stacklevel=2,
        )
        return {"variables": variables, "operator": rule.operator, "value": rule.value}

    def _spatial(self) -> list[dict[str, Any]]:
        """Return the conditions on spatial loops, for each dimension of a fan-out."""
        return [
            {
                "component": node.name,
                "dim": dim.name,
                "min_usage": 0.0 if self.einsum.is_copy_operation else float(dim.min_usage),
                "loop_bounds": [self._bounds(rule, dim) for rule in dim.loop_bounds]
                + _reused(node, dim),
            }
            for node in self.way
            for dim in getattr(node, "spatial", ())
        ]


def _is_evaluated(rules: Tensors) -> bool:
    """Say whether no expression is left in what is said about tensors."""
    values = rules.__dict__
    names = ("keep", "may_keep", "back", "no_refetch_from_above", "no_resend_to_below")
    return (
        all(isinstance(values[name], InvertibleSet) for name in names)
        and all(isinstance(rule.expression, InvertibleSet) for rule in rules.tile_shape)
        and all(isinstance(s, InvertibleSet) for o in rules.tensor_order_options for s in o)
    )


def _members(rules: Tensors, name: str) -> frozenset[str]:
    value: InvertibleSet = rules.__dict__[name]
    return value.instance


def _by_component(levels: list[_Level], name: str) -> dict[str, list[str]]:
    """Return the tensors of a condition, for each memory that has it."""
    return {
        level.node.name: sorted(_members(level.rules, name))
        for level in levels
        if isinstance(level.node, Memory) and _members(level.rules, name)
    }


def _comparison(rule: Any) -> dict[str, Any]:
    variables = rule.expression
    if not isinstance(variables, InvertibleSet):
        raise EvaluationError(f'the set expression "{variables}" cannot be evaluated')
    return {"variables": sorted(variables), "operator": rule.operator, "value": rule.value}


def _reused(node: Any, dim: Any) -> list[dict[str, Any]]:
    """Return the condition that a dimension's ``reuse`` makes: no loops over what is reused."""
    reuse = dim.reuse
    if not isinstance(reuse, InvertibleSet):
        error = EvaluationError(f'the set expression "{reuse}" cannot be evaluated')
        for part in ("reuse", dim.name, "spatial", node.name, "nodes", "arch", "spec"):
            error.add_field(part)
        error.locate(dim._place or node._place)
        raise error
    if not reuse:
        return []
    return [{"variables": sorted(reuse.rank_variables), "operator": "==", "value": 1}]
