# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates the mappings that the mapper found, and makes a table of them."""

from __future__ import annotations

import math
from typing import Any

from accelforge.frontend.mapper.metrics import Metrics
from accelforge.frontend.mapping import Mapping
from accelforge.frontend.mapping.annotations import annotate
from accelforge.frontend.workload import Workload
from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.mappings import Mappings
from accelforge.mapper.FFM.pmappings import MultiEinsumPmappings
from accelforge.mapper.FFM.tree import build_tree
from accelforge.model.columns import columns_of
from accelforge.model.problem_nodes import mapping_of_nodes
from accelforge.util.exceptions import MapperError

__all__ = ["FoundMapping", "ResultTable"]

# Sums of many numbers in different orders.
_TOLERANCE = 1e-7


class FoundMapping:
    """Returns a mapping that was found when it is called.

    Parameters
    ----------
    nodes : list of dict
        The nodes, in the format of a problem.
    tolls : frozenset of str
        The components that are tolls.
    workload : Workload
        Evaluated.
    problem : dict, optional
        What was evaluated, if it is a mapping of the whole workload.
    """

    def __init__(
        self,
        nodes: list[dict[str, Any]],
        tolls: frozenset[str],
        workload: Workload,
        problem: dict[str, Any] | None = None,
    ) -> None:
        self._nodes = nodes
        self._tolls = tolls
        self._workload = workload
        self.problem = problem

    def __call__(self, _for_model: bool = False) -> Mapping:
        """Return the mapping, with numbers of iterations and reservations."""
        return annotate(self._plain(), self._workload)

    def _plain(self) -> Mapping:
        variables = {einsum.name: einsum.rank_variables for einsum in self._workload.einsums}
        return mapping_of_nodes(self._nodes, self._tolls, variables)

    def render(self, **kwargs: Any) -> str:
        """Draw the mapping."""
        return self().render(**kwargs)

    def _repr_svg_(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return f"<mapping {self._plain().compact_str()[:60]}>"


class ResultTable:
    """Makes the table of mappings whose Einsums were mapped together.

    Parameters
    ----------
    pmappings : MultiEinsumPmappings
        What the rows are made of.
    groups : list of list of PmappingGroup
        The groups of pmappings of each Einsum.
    einsum_names : list of str
        The Einsums, in order.
    metrics : Metrics
        What is reported.
    """

    def __init__(
        self,
        pmappings: MultiEinsumPmappings,
        groups: list[list[PmappingGroup]],
        einsum_names: list[str],
        metrics: Metrics,
    ) -> None:
        self.pmappings = pmappings
        self.groups = groups
        self.names = einsum_names
        self.metrics = metrics
        self.entries: dict[tuple[str, str], dict[str, Any]] = {}
        self.components: dict[str, dict[str, Any]] = {}
        self.n_instances: float = 1
        for name in einsum_names:
            for job in pmappings.einsum2jobs[name]:
                problem = job.space.mapspace["problem"]
                self.entries[name, job.space.compute] = problem["einsums"][0]
                self.components.update({c["name"]: c for c in problem["components"]})
                self.n_instances = problem["n_instances"]
        self.tolls = frozenset(
            level["component"]
            for entry in self.entries.values()
            for level in entry["levels"]
            if level["kind"] == "toll"
        )
        self.workload = next(iter(pmappings.evaluated_specs.values())).workload

    def problem(self, computes: list[str] | None = None) -> dict[str, Any]:
        """Return the problem of all Einsums, without a mapping.

        Parameters
        ----------
        computes : list of str, optional
            The compute of each Einsum; without it, the first one that can execute it.
        """
        first = dict(reversed(self.entries))
        chosen = [first[name] for name in self.names] if computes is None else computes
        return {
            "format": "accelforge-problem",
            "version": 1,
            "n_instances": self.n_instances,
            "components": list(self.components.values()),
            "einsums": [self.entries[key] for key in zip(self.names, chosen, strict=True)],
            "mapping": [],
        }

    def row(self, picks: list[tuple[int, int]], claimed: dict[str, float]) -> Mappings:
        """Evaluate one mapping.

        Parameters
        ----------
        picks : list of tuple
            Group and row of the pmapping of each Einsum.
        claimed : dict
            What the mapper takes the totals to be, by the names of the engine's columns.

        Raises
        ------
        MapperError
            The model finds something else.
        """
        from accelforge import _model

        pmappings = {
            name: groups[group].mapping(row)
            for name, groups, (group, row) in zip(self.names, self.groups, picks, strict=True)
        }
        problem = self.problem([nodes[-1]["compute"] for nodes in pmappings.values()])
        problem["mapping"] = build_tree(self.groups, picks, problem)
        result = _model.evaluate(problem)
        if not result.valid:
            raise MapperError(
                f"the mapper returned a mapping that the model refuses: {result.reason}. This is "
                f"an error of the package; please report it with the specification"
            )
        self._compare(result, claimed)
        cells = {name: self._found(nodes) for name, nodes in pmappings.items()}
        mapping = self._found(problem["mapping"], problem)
        return Mappings(
            spec=self.pmappings.spec,
            einsum_names=self.names,
            columns=columns_of(result, self.metrics, self.names, mapping, cells),
            flattened_arches=self.pmappings.flattened_arches,
            evaluated_specs=self.pmappings.evaluated_specs,
        )

    def _found(
        self, nodes: list[dict[str, Any]], problem: dict[str, Any] | None = None
    ) -> FoundMapping:
        return FoundMapping(nodes, self.tolls, self.workload, problem)

    def _compare(self, result: Any, claimed: dict[str, float]) -> None:
        values = result.as_dict()
        for name, value in claimed.items():
            found = values["total", name]
            if not math.isclose(found, value, rel_tol=_TOLERANCE, abs_tol=1e-300):
                raise MapperError(
                    f"the mapper takes the {name} of a mapping to be {value:.9g}, and the model "
                    f"{found:.9g}. This is an error of the package; please report it with the "
                    f"specification"
                )
