# SPDX-License-Identifier: BSD-3-Clause
"""Flattens a problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accelforge._problem.einsum import EinsumFlattener
from accelforge._problem.format import ANY, POSITIVE
from accelforge._problem.mapping import MappingFlattener
from accelforge._problem.reader import Reader
from accelforge._problem.tables import ProblemError, Tables, path_text

__all__ = ["flatten"]


class _Flattener(Reader):
    """Flattens the parts in their order."""

    # -- the problem -----------------------------------------------------------------------

    def problem(self, problem: object) -> Tables:
        top = self.record(problem, "problem", None)
        if top.get("format") != "accelforge-problem" or top.get("version") != 1:
            raise ProblemError("'format' must be \"accelforge-problem\" and 'version' 1")
        self.tables.n_instances = self.number(top, "n_instances", POSITIVE, None, 1.0)
        for i, component in enumerate(self.sequence(top, "components", None, ())):
            self.component(component, ((None, "components"), i))
        listed = len(self.components)

        einsums = [
            EinsumFlattener(self, record, ((None, "einsums"), i), listed)
            for i, record in enumerate(self.sequence(top, "einsums", None))
        ]
        by_name = {einsum.name: einsum for einsum in einsums}
        if len(by_name) != len(einsums) or not einsums:
            raise ProblemError("must have Einsums of different names", "einsums")
        MappingFlattener(self, by_name).nodes(
            self.sequence(top, "mapping", None), (None, "mapping"), []
        )
        for einsum in einsums:
            einsum.finish()

        self.tables.tensor_names = list(self.tensors)
        self.parameters(self.mapping(top, "parameters", None, {}))
        return self.tables

    def parameters(self, parameters: Mapping[str, Any]) -> None:
        for name in parameters:
            path = ((None, "parameters"), name)
            slots = []
            for target in self.sequence(parameters, name, (None, "parameters")):
                slot = self.tables.slot(target) if isinstance(target, str) else None
                if slot is None or self.tables.numbers[slot] == ANY:
                    raise ProblemError(f"{target!r} does not name a number", path_text(path))
                slots.append(slot)
            self.tables.parameters[name] = slots


def flatten(problem: object) -> Tables:
    """Flatten a problem.

    Raises
    ------
    ProblemError
        For fields, types and names that the format does not have.
    """
    return _Flattener().problem(problem)
