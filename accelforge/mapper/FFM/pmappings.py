# SPDX-License-Identifier: BSD-3-Clause
"""The pmappings of all Einsums: what `make_pmappings` returns, and `join_pmappings` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from accelforge.frontend.renames import EinsumName
from accelforge.mapper.FFM.counting import count_pmappings
from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.outcome import Searched
from accelforge.mapper.FFM.reasons import why_none
from accelforge.util.oset import oset

if TYPE_CHECKING:
    from accelforge.frontend.spec import Spec

__all__ = ["MultiEinsumPmappings"]

Counts = float | dict[EinsumName, float]


class MultiEinsumPmappings:
    """Pmappings of each Einsum; `make_pmappings` makes it.

    Parameters
    ----------
    spec : Spec
        What the pmappings are of.
    einsum2pmappings : dict
        The groups of pmappings of each Einsum.
    einsum2jobs : dict
        The searches of each Einsum.
    objectives : list of str
        What the pmappings were chosen by.
    can_combine_multiple_runs : bool
        Whether ``|`` may add others.
    """

    def __init__(
        self,
        spec: Spec,
        einsum2pmappings: dict[EinsumName, list[PmappingGroup]],
        einsum2jobs: dict[EinsumName, list[Searched]],
        objectives: list[str],
        can_combine_multiple_runs: bool = False,
    ) -> None:
        self.spec = spec
        self.einsum2pmappings = einsum2pmappings
        self.einsum2jobs = einsum2jobs
        self.objectives = objectives
        self.can_combine_multiple_runs = can_combine_multiple_runs
        self.einsums_with_pmappings_generated: set[EinsumName] = oset(einsum2jobs)

    @property
    def flattened_arches(self) -> dict[tuple[EinsumName, str], Any]:
        """The way to the compute, by Einsum and compute."""
        return {
            (name, job.space.compute): job.space.way
            for name, jobs in self.einsum2jobs.items()
            for job in jobs
        }

    @property
    def evaluated_specs(self) -> dict[EinsumName, Spec]:
        """The evaluated specification for each Einsum."""
        return {name: jobs[-1].space.spec for name, jobs in self.einsum2jobs.items() if jobs}

    def __or__(self, other: MultiEinsumPmappings) -> MultiEinsumPmappings:
        """Return the pmappings of both."""
        if not (self.can_combine_multiple_runs and other.can_combine_multiple_runs):
            raise ValueError(
                "pmappings of several runs combine only if each was made with "
                "make_pmappings(..., can_combine_multiple_runs=True)"
            )
        if self.objectives != other.objectives:
            raise ValueError(
                f"pmappings that were chosen by {', '.join(self.objectives)} do not combine with "
                f"others by {', '.join(other.objectives)}; give both runs the same mapper.metrics"
            )
        return MultiEinsumPmappings(
            self.spec,
            _merged(self.einsum2pmappings, other.einsum2pmappings),
            _merged(self.einsum2jobs, other.einsum2jobs),
            self.objectives,
            can_combine_multiple_runs=True,
        )

    def drop_einsums(self, *einsums_with_pmappings_generated: EinsumName) -> None:
        """Remove Einsums.

        Parameters
        ----------
        *einsums_with_pmappings_generated : str
            Their names.
        """
        for name in einsums_with_pmappings_generated:
            del self.einsum2pmappings[name]
            del self.einsum2jobs[name]
            self.einsums_with_pmappings_generated.remove(name)

    def _raise_without_pmappings(self, name: EinsumName) -> NoReturn:
        """Raise the error for an Einsum without pmappings."""
        jobs = self.einsum2jobs.get(name)
        if jobs is None:
            raise ValueError(
                f"Einsum {name} has no pmappings generated: make_pmappings() was called for other "
                f"einsum_names. Pass require_all_einsums=False to map those that have pmappings"
            )
        raise ValueError(f"Einsum {name} has no pmappings: {why_none(jobs)}")

    # --- numbers --------------------------------------------------------------------------------

    def n_total_pmappings(self, per_einsum: bool = False) -> Any:
        """Return how many pmappings the mapspaces have.

        Parameters
        ----------
        per_einsum : bool
            Whether to tell Einsums apart.
        """
        counts = {
            name: sum(count_pmappings(job.space.mapspace) for job in jobs)
            for name, jobs in self.einsum2jobs.items()
        }
        return counts if per_einsum else sum(counts.values())

    def n_valid_pmappings(self, per_einsum: bool = False) -> Any:
        """Return how many of the evaluated pmappings fit in memories and fan-outs.

        Parameters
        ----------
        per_einsum : bool
            Whether to tell Einsums apart.
        """
        return self._count("valid", per_einsum)

    def n_evaluated_pmappings(self, per_einsum: bool = False) -> Any:
        """Return how many pmappings, whole or in part, were evaluated.

        Parameters
        ----------
        per_einsum : bool
            Whether to tell Einsums apart.
        """
        return self._count("evaluated", per_einsum)

    def n_pareto_optimal_pmappings(self, per_einsum: bool = False) -> Any:
        """Return how many pmappings there are here.

        Parameters
        ----------
        per_einsum : bool
            Whether to tell Einsums apart.
        """
        counts = {
            name: sum(len(group) for group in groups)
            for name, groups in self.einsum2pmappings.items()
        }
        return counts if per_einsum else sum(counts.values())

    def _count(self, what: str, per_einsum: bool) -> Any:
        counts = {
            name: sum(getattr(job.outcome, what) for job in jobs)
            for name, jobs in self.einsum2jobs.items()
        }
        return counts if per_einsum else sum(counts.values())

    def pmapping_keep_rates(self, per_einsum: bool = False) -> dict[str, Any]:
        """Return the share of pmappings that are left, by what excludes the others.

        Parameters
        ----------
        per_einsum : bool
            Whether to tell Einsums apart.

        Returns
        -------
        dict
            With the keys ``valid``, those that fit, and ``Pareto-optimal``, those that are here;
            or such a dictionary for each Einsum.
        """
        total = self.n_total_pmappings(per_einsum=True)
        kept = {
            "valid": self.n_valid_pmappings(per_einsum=True),
            "Pareto-optimal": self.n_pareto_optimal_pmappings(per_einsum=True),
        }
        if not per_einsum:
            every = sum(total.values())
            return {
                cause: sum(counts.values()) / every if every else 0.0
                for cause, counts in kept.items()
            }
        return {
            name: {cause: kept[cause].get(name, 0) / n if n else 0.0 for cause in kept}
            for name, n in total.items()
        }

    def n_pmapping_string(self) -> str:
        """Return the numbers of pmappings as text, a line for each Einsum and one for all."""
        columns = [
            self.n_total_pmappings(per_einsum=True),
            self.n_valid_pmappings(per_einsum=True),
            self.n_evaluated_pmappings(per_einsum=True),
            self.n_pareto_optimal_pmappings(per_einsum=True),
        ]
        rows = {name: [column.get(name, 0) for column in columns] for name in columns[0]}
        rows["Total"] = [sum(row[number] for row in rows.values()) for number in range(4)]
        return "\n".join(_line(name, *row) for name, row in rows.items())


def _merged(first: dict[str, list[Any]], second: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: [*first.get(name, ()), *second.get(name, ())] for name in oset((*first, *second))}


def _line(name: str, total: float, valid: float, evaluated: float, optimal: float) -> str:
    shares = [
        f"{_short(count)} (1/{_short(total / count) if count else 'inf'}) {what}"
        for count, what in ((valid, "valid"), (evaluated, "evaluated"), (optimal, "Pareto-Optimal"))
    ]
    return f"{name}: {_short(total)} total, {', '.join(shares)}"


def _short(number: float) -> str:
    whole = round(number)
    return str(whole) if whole < 1000 else f"{whole:.2e}".replace("e+", "e")
