# SPDX-License-Identifier: BSD-3-Clause
"""Number of threads or processes that long jobs use."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from accelforge.util.progress import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

__all__ = [
    "delayed",
    "get_n_parallel_jobs",
    "is_using_parallel_processing",
    "parallel",
    "results_in_time",
    "set_n_parallel_jobs",
    "sweep",
]

Job = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

_jobs: int | None = None


def set_n_parallel_jobs(n_jobs: int, print_message: bool = False) -> None:
    """Set how many jobs are done at a time.

    Parameters
    ----------
    n_jobs : int
        At least 1.
    print_message : bool
        Whether to print the number.
    """
    global _jobs
    if n_jobs < 1:
        raise ValueError(f"the number of jobs is at least 1, not {n_jobs}")
    _jobs = n_jobs
    if print_message:
        print(f"Using {n_jobs} parallel job{'s' if n_jobs > 1 else ''}")


def get_n_parallel_jobs() -> int:
    """Return how many jobs are done at a time; at first, one for each core."""
    return _jobs if _jobs is not None else len(os.sched_getaffinity(0))


def is_using_parallel_processing() -> bool:
    """Say whether more than one job is done at a time."""
    return get_n_parallel_jobs() > 1


def delayed(function: Callable[..., Any]) -> Callable[..., Job]:
    """Make jobs of a function: ``delayed(f)(x)`` is the call ``f(x)``, to be done later."""

    def make(*args: Any, **kwargs: Any) -> Job:
        return function, args, kwargs

    return make


def parallel(
    jobs: Iterable[Job] | dict[Any, Job],
    n_jobs: int | None = None,
    pbar: str | None = None,
    pbar_position: int = 0,
    return_as: str | None = None,
) -> Any:
    """Do jobs, several at a time, in threads.

    Parameters
    ----------
    jobs : list or dict of jobs
        What `delayed` makes.
    n_jobs : int, optional
        How many at a time; without it, what `set_n_parallel_jobs` was told.
    pbar : str, optional
        Label of a progress bar on stderr.
    pbar_position : int
        Line of the progress bar.
    return_as : str, optional
        ``list``, ``generator`` or ``generator_unordered``.

    Returns
    -------
    list, dict or generator
        The results, in the order of the jobs.
    """
    if isinstance(jobs, dict):
        results = parallel(list(jobs.values()), n_jobs, pbar, pbar_position)
        return dict(zip(jobs, results, strict=True))
    if return_as not in (None, "list", "generator", "generator_unordered"):
        raise ValueError(f"return_as is list, generator or generator_unordered, not {return_as}")
    count = n_jobs if n_jobs is not None else get_n_parallel_jobs()
    listed = list(jobs)
    results_of = _run(
        listed,
        count if count > 0 else len(os.sched_getaffinity(0)),
        return_as == "generator_unordered",
    )
    bar = _progress(results_of, len(listed), pbar, pbar_position) if pbar else results_of
    return bar if return_as in ("generator", "generator_unordered") else list(bar)


def _run(jobs: list[Job], count: int, unordered: bool) -> Iterator[Any]:
    if count == 1 or len(jobs) < 2:
        for function, args, kwargs in jobs:
            yield function(*args, **kwargs)
        return
    from concurrent.futures import ThreadPoolExecutor, as_completed

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(function, *args, **kwargs) for function, args, kwargs in jobs]
        for future in as_completed(futures) if unordered else futures:
            yield future.result()


def results_in_time(
    futures: Collection[Future[Any]], timeout: float | None, what: str
) -> Iterator[Future[Any]]:
    """Yield what an executor is done with, in the order in which it is.

    Parameters
    ----------
    futures : collection of Future
        Its work.
    timeout : float or None
        Seconds for all of it.
    what : str
        What is done, for the error.

    Raises
    ------
    TimeoutError
        The time is over. What runs is left to the executor.
    """
    from concurrent.futures import as_completed

    try:
        yield from as_completed(futures, timeout=timeout)
    except TimeoutError:
        running = sum(future.running() for future in futures)
        left = sum(not future.done() for future in futures)
        raise TimeoutError(
            f"{left} of {len(futures)} {what}, did not end within {timeout:g} s: {running} are "
            "with workers of the executor, which hang or are slow, and the others have not begun. "
            "executor.shutdown(wait=False, cancel_futures=True) gives up what has not begun"
        ) from None


def _progress(results: Iterator[Any], total: int, label: str, position: int) -> Iterator[Any]:
    with Progress(total, label, position) as progress:
        for result in results:
            progress.update()
            yield result


def sweep(
    function: Callable[[Any], Any],
    specs: Iterable[Any] | dict[Any, Any],
    *,
    executor: Executor | None = None,
    pbar: str | None = None,
    timeout: float | None = None,
) -> Any:
    """Call a function for each of many specifications, on many processes or machines.

    Parameters
    ----------
    function : callable
        For example one that maps a Spec and returns the energy. An executor with processes must be
        able to pickle it, and what it returns: it must be defined in a module.
    specs : list or dict
        What it is called with, for example Specs that differ in the size of a memory.
    executor : Executor, optional
        Executes the calls: a ``ProcessPoolExecutor``, or the one that
        ``mpi4py.futures.MPICommExecutor`` gives the first process. Without it, they are executed
        here, one after the other.
    pbar : str, optional
        Label of a progress bar on stderr.
    timeout : float, optional
        Seconds that an executor may take for all calls.

    Returns
    -------
    list or dict
        The results, in the order of `specs`, whatever the number of processes.
    """
    if isinstance(specs, dict):
        results = sweep(
            function, list(specs.values()), executor=executor, pbar=pbar, timeout=timeout
        )
        return dict(zip(specs, results, strict=True))
    items = list(specs)
    found: list[Any] = [None] * len(items)
    with Progress(len(items), pbar) as progress:
        if executor is None:
            for number, item in enumerate(items):
                found[number] = function(item)
                progress.update()
            return found

        numbers = {executor.submit(function, item): n for n, item in enumerate(items)}
        try:
            for future in results_in_time(numbers, timeout, "calls of a sweep"):
                found[numbers[future]] = future.result()
                progress.update()
        except BaseException:
            for future in numbers:
                future.cancel()
            raise
    return found
