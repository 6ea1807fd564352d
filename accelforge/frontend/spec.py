# SPDX-License-Identifier: BSD-3-Clause
"""The specification: everything that an evaluation takes, and what can be done with it.

Methods import the layers below when they are called: importing the package loads no engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from accelforge.expressions import user_functions
from accelforge.fields import EvalableModel, Part, field
from accelforge.frontend.arch import Arch, Component, Compute, FlattenedArch, Leaf
from accelforge.frontend.arch.model_failure import explain_failure
from accelforge.frontend.arch.spatial import Spatialable
from accelforge.frontend.config import Config
from accelforge.frontend.mapper.ffm import FFM
from accelforge.frontend.mapping import Mapping
from accelforge.frontend.model import Model
from accelforge.frontend.renames import EinsumName, Renames
from accelforge.frontend.variables import Variables
from accelforge.frontend.workload import Workload
from accelforge.util.budget import budget, unpaid
from accelforge.util.exceptions import EvaluationError
from offchip.lazy import find, need

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from collections.abc import Mapping as MappingOf
    from concurrent.futures import Executor

    from accelforge.exploration.result import Exploration
    from accelforge.mapper.FFM.mappings import Mappings

__all__ = ["Spec", "Specification"]


class Spec(EvalableModel):
    """The specification of an architecture, a workload, and how one is mapped onto the other."""

    arch: Arch = field(Part(Arch), Arch())
    """The hardware."""

    mapping: Mapping = field(Part(Mapping), Mapping())
    """Execution of the workload on it. The mapper looks for one by itself."""

    workload: Workload = field(Part(Workload), Workload())
    """The program."""

    variables: Variables = field(Part(Variables), Variables())
    """Variables for expressions everywhere."""

    config: Config = field(Part(Config), Config())
    """Settings."""

    renames: Renames = field(Part(Renames), Renames())
    """Names such as ``input``, ``output`` and ``weight`` by which the architecture refers to the
    tensors of any workload."""

    mapper: FFM = field(Part(FFM), FFM())
    """Settings of the mapper."""

    model: Model = field(Part(Model), Model())
    """Settings of the model."""

    _expression_names: ClassVar[frozenset[str]] = EvalableModel._expression_names

    # --- evaluation of expressions --------------------------------------------------------------

    def _evaluate_program(self) -> tuple[Self, dict[str, Any]]:
        """Evaluate variables and workload, which are the same for all Einsums.

        Returns
        -------
        Spec
            A copy with these evaluated.
        dict
            What expressions of the architecture can use, besides the names of an Einsum.
        """
        new = self.model_copy()
        values = new.__dict__
        values["_models"] = []
        symbols: dict[str, Any] = {"spec": self}
        with budget(), self._in("variables"):
            values["variables"] = self.variables._evaluate(symbols)
        symbols.update(values["variables"].shallow_model_dump(include_None=True))
        symbols["variables"] = values["variables"]
        values["renames"] = symbols["renames"] = self.renames._evaluate(symbols)
        with budget(), self._in("workload"):
            values["workload"] = self.workload._evaluate_with(symbols, self.renames)
        symbols["workload"] = values["workload"]
        return new, symbols

    def _in(self, name: str) -> _Within:
        return _Within(self, name)

    def _einsum_symbols(self, einsum_name: EinsumName | None) -> dict[str, Any]:
        if einsum_name is None:
            return dict(self.workload.empty_renames())
        return {rename.name: rename.source for rename in self.workload.einsums[einsum_name].renames}

    def _spec_eval_expressions(
        self,
        einsum_name: EinsumName | None = None,
        eval_arch: bool = True,
        eval_non_arch: bool = True,
    ) -> Self:
        """Return a copy with all expressions evaluated.

        Parameters
        ----------
        einsum_name : str, optional
            Einsum whose tensors and rank variables the architecture can use.
        eval_arch, eval_non_arch : bool
            Whether to evaluate the architecture, and everything else.
        """
        with user_functions(self.config.load_functions()), budget():
            new, symbols = self.model_copy(), {"spec": self}
            if eval_non_arch:
                new, symbols = self._evaluate_program()
            else:
                symbols.update({name: new[name] for name in ("variables", "renames", "workload")})
            if einsum_name is None or eval_non_arch:
                symbols.update(new._einsum_symbols(einsum_name))
            if eval_arch:
                new._evaluate_arch(symbols)
            if eval_non_arch:
                for name in ("config", "mapper", "model"):
                    with self._in(name):
                        new.__dict__[name] = new[name]._evaluate(symbols)
        new._evaluated = True
        return new

    def _evaluate_arch(self, symbols: dict[str, Any]) -> None:
        """Evaluate the architecture of this copy."""
        with self._in("arch"):
            self.__dict__["arch"] = self.arch._evaluate(symbols)

    # --- costs ----------------------------------------------------------------------------------

    def calculate_component_costs(
        self,
        einsum_name: EinsumName | None = None,
        area: bool = True,
        energy: bool = True,
        throughput: bool = True,
        leak: bool = True,
    ) -> Spec:
        """Return a copy with the costs of every component.

        These are ``area``, ``total_area``, ``leak_power`` and ``total_leak_power`` of components,
        and ``energy`` and ``throughput`` of their actions, all with their scales. Numbers that the
        specification gives are taken; what it does not give comes from hwcomponents, if that is
        installed, or else from our own models. ``cost_sources`` of components says which.

        Parameters
        ----------
        einsum_name : str, optional
            Einsum whose tensors the architecture can use; without it, the first one.
        area, energy, throughput, leak : bool
            What to calculate.

        Raises
        ------
        EvaluationError
            A cost is neither given nor known to a model; the error names the field.
        """
        if not (area or energy or throughput or leak):
            return self
        if einsum_name is None and len(self.workload.einsums):
            einsum_name = self.workload.einsums[0].name
        if self._evaluated:
            new = self.model_copy()
            new.__dict__["arch"] = self.arch.model_copy(deep=True)
        else:
            new = self._spec_eval_expressions(einsum_name)
        new._calculate_costs(area, energy, throughput, leak)
        return new

    def _calculate_costs(self, area: bool, energy: bool, throughput: bool, leak: bool) -> None:
        """Set the costs of the components of this copy, whose architecture is its own."""
        models: list[Any] | None = None
        with self._in("arch"), unpaid():
            for component, parents in self.arch.iterate_hierarchically():
                if not isinstance(component, Component):
                    continue
                if models is None and component.component_class is not None:
                    models = self._shared_models()
                values = component.__dict__
                values["component_modeling_log"] = list(component.component_modeling_log)
                values["cost_sources"] = dict(component.cost_sources)
                above = 1
                for parent in parents:
                    if isinstance(parent, Spatialable):
                        above *= parent.get_fanout()
                if area:
                    component.calculate_area(models, in_place=True)
                    values["total_area"] = values["area"] * above
                if energy:
                    component.calculate_action_energy(models, in_place=True)
                if throughput:
                    component.calculate_action_throughput(models, in_place=True)
                if leak:
                    component.calculate_leak_power(models, in_place=True)
                    values["total_leak_power"] = values["leak_power"] * above

    def _shared_models(self) -> list[Any] | None:
        """Return the same, and look for them once for the copies for all Einsums."""
        known: list[Any] | None = self.__dict__.get("_models")
        if known is None:
            return self._component_models()
        if not known:
            known.append(self._component_models())
        models: list[Any] | None = known[0]
        return models

    def _component_models(self) -> list[Any] | None:
        """Return the models that components may use; None for our own."""
        given = self.config.component_models
        for number, entry in enumerate(given):
            if isinstance(entry, str):
                self.config.check_file(entry, "component_models", number)
        hwcomponents = find("hwcomponents")
        if hwcomponents is None:
            if given:
                need("hwcomponents", "A component model of the user")
            return None if self.config.use_installed_component_models else []
        installed = self.config.use_installed_component_models
        try:
            return list(hwcomponents.get_models(given, include_installed=installed))
        except ImportError as error:
            raise explain_failure("of a component", error) from error

    def calculate_component_area_energy_latency_leak(
        self,
        einsum_name: EinsumName | None = None,
        area: bool = True,
        energy: bool = True,
        latency: bool = True,
        leak: bool = True,
    ) -> Spec:
        """Return a copy with the costs of every component, with latencies of actions.

        The same as `calculate_component_costs`, and ``latency`` of each action, in seconds, is set
        as well as its ``throughput``.

        Parameters
        ----------
        einsum_name : str, optional
            Einsum whose tensors the architecture can use; without it, the first one.
        area, energy, latency, leak : bool
            What to calculate.
        """
        new = self.calculate_component_costs(einsum_name, area, energy, latency, leak)
        if latency:
            for component in new.arch.get_nodes_of_type(Component):
                for action in component.actions:
                    rate = action.throughput
                    action.__dict__["latency"] = 1 / rate if rate else float("inf")
        return new

    # --- the way to a compute -------------------------------------------------------------------

    def _get_flattened_architecture(
        self,
        compute_node: str | Compute | None = None,
        einsum_name: EinsumName | None = None,
    ) -> Any:
        """Return the way from the root to one compute, or to each of them.

        Parameters
        ----------
        compute_node : str or Compute, optional
            The compute.
        einsum_name : str, optional
            Einsum to evaluate the architecture for.

        Raises
        ------
        AssertionError
            The specification is not evaluated.
        EvaluationError
            There is no such compute.
        """
        assert self._evaluated, "the Spec must be evaluated before its architecture is flattened"
        spec = self._spec_eval_expressions(einsum_name) if einsum_name is not None else self
        names = [node.name for node in spec.arch.get_nodes_of_type(Compute)]
        if compute_node is None:
            return [spec._way_to(name) for name in names]
        return spec._way_to(compute_node if isinstance(compute_node, str) else compute_node.name)

    def _way_to(self, compute: str) -> FlattenedArch:
        way = self.arch._flatten(compute)
        if not len(way) or way[-1].name != compute or not isinstance(way[-1], Leaf):
            names = ", ".join(node.name for node in self.arch.get_nodes_of_type(Compute))
            raise EvaluationError(
                f"Compute node {compute} not found in architecture; there are: {names or 'none'}",
                source_field="spec.arch",
            )
        return way

    # --- results --------------------------------------------------------------------------------

    def evaluate_mapping(self) -> Mappings:
        """Evaluate the mapping: energy, latency, actions and use of memory.

        Returns
        -------
        Mappings
            One row.

        Raises
        ------
        EvaluationError
            The specification is wrong or incomplete.
        InvalidMappingError
            The mapping does not fit, for example because a memory is too small.
        """
        from accelforge.model.main import evaluate_mapping

        return evaluate_mapping(self)

    def to_problem(self) -> dict[str, Any]:
        """Return the mapping's evaluation as a problem for the engine, which is plain data.

        `accelforge.problem` evaluates it, also for many values of its numbers at once.
        """
        from accelforge.model.problem import build_problem

        return build_problem(self).problem

    def explore(
        self,
        parameters: MappingOf[str, Any],
        objectives: str | Iterable[str] = ("energy", "latency"),
        *,
        method: str = "grid",
        count: int | None = None,
        seed: int = 0,
        file: str | os.PathLike[str] | None = None,
        executor: Executor | None = None,
        time_limit: float = float("inf"),
        pbar: str | None = None,
    ) -> Exploration:
        """Evaluate the specification with many values of its numbers.

        Without a mapping, the mapper looks for the best ones at each point.

        Parameters
        ----------
        parameters : dict
            By path, such as ``arch.Buffer.size`` or ``arch.DRAM.actions.read.energy``, a list of
            values, or an `accelforge.Range` of numbers.
        objectives : str or iterable of str
            Numbers that are to be small: ``energy``, ``latency``, ``energy_delay_product`` and
            other totals, ``area``, ``leak_power``, ``usage of Buffer``.
        method : str
            ``grid``: all combinations. ``random``: points spread over all. ``adaptive``: points
            near those that are the best so far.
        count : int
            How many points, for ``random`` and ``adaptive``.
        seed : int
            For random numbers; the same one gives the same points.
        file : path, optional
            A file of SQLite for what is found. An exploration that was stopped goes on with it.
        executor : Executor, optional
            Evaluates the points, on other processes or machines.
        time_limit : float
            Seconds after which what was found is returned.
        pbar : str, optional
            Label of a progress bar on stderr.

        Returns
        -------
        Exploration
            The points, whose order does not depend on the executor.

        Raises
        ------
        KeyError
            A path leads nowhere.
        ValueError
            An argument is wrong.
        StoreError
            The file has something else, or is in use.
        """
        from accelforge.exploration.explore import explore

        return explore(
            self,
            parameters,
            objectives,
            method=method,
            count=count,
            seed=seed,
            file=file,
            executor=executor,
            time_limit=time_limit,
            pbar=pbar,
        )

    def map_workload_to_arch(
        self,
        einsum_names: list[EinsumName] | None = None,
        one_pbar_only: bool = False,
        print_progress: bool = True,
        print_number_of_pmappings: bool = False,
        _pmapping_row_filter_function: Callable[[Any], bool] | None = None,
        *,
        executor: Executor | None = None,
    ) -> Mappings:
        """Look for the best mappings of the workload onto the architecture.

        The objectives are ``mapper.metrics``; `accelforge.mapper.FFM.map_workload_to_arch` says
        more.

        Parameters
        ----------
        einsum_names : list of str, optional
            The Einsums to map; without it, all of them.
        one_pbar_only : bool
            Show one progress bar, and print nothing.
        print_progress : bool
            Print progress, with progress bars on stderr.
        print_number_of_pmappings : bool
            Print the numbers of pmappings of each Einsum.
        executor : Executor, optional
            Executes the searches of Einsums, on other processes or machines.

        Returns
        -------
        Mappings
            The Pareto-optimal mappings.

        Raises
        ------
        ValueError
            An Einsum has no pmappings, for example because a memory is too small, or none of them
            fit together.
        EvaluationError
            The specification is wrong or incomplete.
        """
        from accelforge.mapper.FFM.main import map_workload_to_arch

        return map_workload_to_arch(
            self,
            einsum_names=einsum_names,
            one_pbar_only=one_pbar_only,
            print_progress=print_progress,
            print_number_of_pmappings=print_number_of_pmappings,
            _pmapping_row_filter_function=_pmapping_row_filter_function,
            executor=executor,
        )


class _Within:
    """Prepends a section to the path of an error, and finds the line that the path leads to."""

    def __init__(self, spec: Spec, name: str) -> None:
        self.spec = spec
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, EvaluationError):
            if error.path.partition(".")[0] not in type(self.spec)._fields:
                error.add_field(self.name)
            error.locate(self.spec._place_of_path(list(reversed(error._fields))))
            error.add_field("spec")


Specification = Spec
