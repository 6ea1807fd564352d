# SPDX-License-Identifier: BSD-3-Clause
"""The mapper: looks for the best mappings of a workload."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from accelforge.frontend.renames import EinsumName
from accelforge.util.exceptions import MapperInterrupt
from accelforge.util.parallel import get_n_parallel_jobs
from accelforge.util.progress import say

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from accelforge.frontend.mapper.metrics import Metrics
    from accelforge.frontend.spec import Spec
    from accelforge.mapper.FFM.limits import Limits
    from accelforge.mapper.FFM.mappings import Mappings
    from accelforge.mapper.FFM.pmappings import MultiEinsumPmappings

__all__ = ["join_pmappings", "make_pmappings", "map_workload_to_arch"]

RowFilter = Callable[[Any], Any]


def map_workload_to_arch(
    spec: Spec,
    einsum_names: list[EinsumName] | None = None,
    can_combine_multiple_runs: bool = False,
    cache_dir: str | None = None,
    one_pbar_only: bool = False,
    print_progress: bool = True,
    print_number_of_pmappings: bool = False,
    eval_in_detail: bool = True,
    _pmapping_row_filter_function: RowFilter | None = None,
    *,
    executor: Executor | None = None,
) -> Mappings:
    """Look for the best mappings of a workload onto an architecture.

    Parameters
    ----------
    spec : Spec
        Not evaluated. ``spec.mapper`` has the settings, ``spec.mapper.metrics`` the objectives.
    einsum_names : list of str, optional
        The Einsums to map; without it, all of them.
    can_combine_multiple_runs : bool
        For `make_pmappings`; it changes nothing here.
    cache_dir : str, optional
        Folder for what the searches of Einsums find, so that later ones need not search again.
    one_pbar_only : bool
        Show one progress bar, and print nothing.
    print_progress : bool
        Show progress bars, with the best so far and the bound on what is left, and say what was
        found: on stderr, if that is a terminal or a notebook.
    print_number_of_pmappings : bool
        Print the numbers of pmappings of each Einsum.
    eval_in_detail : bool
        Whether results have all columns that ``spec.mapper.info_metrics`` asks for, or only those
        of the objectives.
    executor : Executor, optional
        Executes the searches of Einsums, for example a ``ProcessPoolExecutor`` or the one that
        ``mpi4py.futures.MPICommExecutor`` gives.

    Returns
    -------
    Mappings
        The Pareto-optimal mappings, in the order of the objectives.

    Raises
    ------
    ValueError
        An Einsum has no pmappings, for example because a memory is too small, or none of them
        fit together.
    EvaluationError
        The specification is wrong or incomplete.
    MapperInterrupt
        Ctrl-C, as a KeyboardInterrupt whose ``best()`` returns the best mappings so far.

    Warns
    -----
    MapperLimitWarning
        The mapper stopped at ``time_limit`` or ``memory_limit``. ``bounds`` of the result says how
        much better than those found a mapping can be at most.
    """
    from accelforge.mapper.FFM.limits import Limits

    if one_pbar_only:
        print_progress = print_number_of_pmappings = False
    limits = Limits.of(spec.mapper)
    pmappings: MultiEinsumPmappings | None = None

    def join(limits: Limits, print_progress: bool) -> Mappings:
        assert pmappings is not None
        return _join(
            pmappings,
            spec.mapper.metrics,
            False,
            _pmapping_row_filter_function,
            print_progress,
            spec.mapper.info_metrics if eval_in_detail else spec.mapper.metrics,
            limits,
        )

    def join_what_is_left(seconds: float) -> Mappings | None:
        try:
            return join(Limits(seconds, limits.memory, interrupted=True), False)
        except ValueError:
            return None

    try:
        pmappings = _make(
            spec,
            einsum_names,
            can_combine_multiple_runs,
            cache_dir,
            print_progress,
            print_number_of_pmappings,
            one_pbar_only,
            executor,
            limits,
            joined_at_once=not can_combine_multiple_runs,
        )
        if limits.stopped:
            raise KeyboardInterrupt
        return join(limits, print_progress)
    except KeyboardInterrupt:
        if pmappings is None:
            raise
        raise MapperInterrupt(join_what_is_left) from None


def make_pmappings(
    spec: Spec,
    einsum_names: list[EinsumName] | None = None,
    can_combine_multiple_runs: bool = False,
    cache_dir: str | None = None,
    print_progress: bool = True,
    print_number_of_pmappings: bool = False,
    one_pbar_only: bool = False,
    *,
    executor: Executor | None = None,
) -> MultiEinsumPmappings:
    """Look for the pmappings of each Einsum; `join_pmappings` makes mappings of them.

    Parameters
    ----------
    spec : Spec
        Not evaluated.
    einsum_names : list of str, optional
        The Einsums; without it, all of them.
    can_combine_multiple_runs : bool
        Whether ``|`` may add the result to that of another call.
    cache_dir : str, optional
        Folder for what the searches find, so that later ones need not search again.
    print_progress : bool
        Show a progress bar on stderr, and say what was found, if that is a terminal or a notebook.
    print_number_of_pmappings : bool
        Print the numbers of pmappings of each Einsum.
    one_pbar_only : bool
        Show the progress bar without `print_progress`, too.
    executor : Executor, optional
        Executes the searches.

    Raises
    ------
    ValueError
        No template fits the constraints for an Einsum.
    """
    from accelforge.mapper.FFM.limits import Limits

    limits = Limits.of(spec.mapper)
    result = _make(
        spec,
        einsum_names,
        can_combine_multiple_runs,
        cache_dir,
        print_progress,
        print_number_of_pmappings,
        one_pbar_only,
        executor,
        limits,
    )
    if limits.stopped:
        raise KeyboardInterrupt
    return result


def join_pmappings(
    pmappings: MultiEinsumPmappings,
    metrics: Metrics | None = None,
    require_all_einsums: bool = True,
    _pmapping_row_filter_function: RowFilter | None = None,
    print_progress: bool = True,
) -> Mappings:
    """Join the pmappings of all Einsums to mappings.

    Parameters
    ----------
    pmappings : MultiEinsumPmappings
        What `make_pmappings` returned.
    metrics : Metrics, optional
        The objectives; without it, those of the mapper of the specification. The pmappings must
        have been made for them.
    require_all_einsums : bool
        Whether every Einsum of the workload must have pmappings; else, those are mapped that have.
    print_progress : bool
        Print progress.

    Raises
    ------
    ValueError
        An Einsum has no pmappings, or none of them fit together.
    """
    from accelforge.mapper.FFM.limits import Limits

    mapper = pmappings.spec.mapper
    return _join(
        pmappings,
        mapper.metrics if metrics is None else metrics,
        require_all_einsums,
        _pmapping_row_filter_function,
        print_progress,
        mapper.info_metrics,
        Limits.of(mapper),
    )


def _make(
    spec: Spec,
    einsum_names: list[EinsumName] | None,
    can_combine_multiple_runs: bool,
    cache_dir: str | None,
    print_progress: bool,
    print_number_of_pmappings: bool,
    one_pbar_only: bool,
    executor: Executor | None,
    limits: Limits,
    *,
    joined_at_once: bool = False,
) -> MultiEinsumPmappings:
    from accelforge.mapper.FFM.mapspace import list_mapspaces, objectives_of
    from accelforge.mapper.FFM.outcome import Searched
    from accelforge.mapper.FFM.pmappings import MultiEinsumPmappings
    from accelforge.mapper.FFM.rounds import search_in_rounds, two_rounds_pay_off
    from accelforge.mapper.FFM.searches import search_spaces

    assert not spec._evaluated, (
        "Spec must not be evaluated before it is mapped. Was this spec returned by "
        "spec.calculate_component_costs()?"
    )
    spaces = list_mapspaces(spec, einsum_names, track_all=can_combine_multiple_runs)
    names = spec.workload.einsum_names if einsum_names is None else einsum_names
    jobs: dict[EinsumName, list[Searched]] = {
        name: [] for name in spec.workload.einsum_names if name in names
    }
    label = "Searching Einsums" if print_progress or one_pbar_only else None
    if joined_at_once and cache_dir is None and two_rounds_pay_off(spec, spaces):
        outcomes = search_in_rounds(
            spec,
            spaces,
            threads=get_n_parallel_jobs(),
            limits=limits,
            executor=executor,
            label=label,
        )
    else:
        outcomes = search_spaces(
            spaces,
            threads=get_n_parallel_jobs(),
            limits=limits,
            executor=executor,
            cache_dir=cache_dir,
            label=label,
        )
    for space, outcome in zip(spaces, outcomes, strict=True):
        jobs[space.einsum].append(Searched(space, outcome))
    result = MultiEinsumPmappings(
        spec,
        {
            name: [group for job in found for group in job.outcome.groups]
            for name, found in jobs.items()
        },
        jobs,
        objectives_of(spec.mapper.metrics),
        can_combine_multiple_runs,
    )

    for name, found in jobs.items():
        templates = sum(job.outcome.templates for job in found)
        if print_progress:
            say(f"Einsum {name}: {templates} pmapping templates, {_rows(result, name)} kept")
        if not templates and not can_combine_multiple_runs and not limits.stopped:
            result._raise_without_pmappings(name)
    if print_number_of_pmappings:
        print(result.n_pmapping_string())
    return result


def _rows(pmappings: MultiEinsumPmappings, name: EinsumName) -> int:
    return sum(len(group) for group in pmappings.einsum2pmappings[name])


def _join(
    pmappings: MultiEinsumPmappings,
    metrics: Metrics,
    require_all_einsums: bool,
    row_filter: RowFilter | None,
    print_progress: bool,
    info_metrics: Metrics,
    limits: Limits,
) -> Mappings:
    from accelforge.mapper.FFM.joining import join

    return join(
        pmappings,
        metrics,
        require_all_einsums=require_all_einsums,
        row_filter=row_filter,
        print_progress=print_progress,
        info_metrics=info_metrics,
        limits=limits,
    )
