# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of what other Einsums cost, beside a choice of memories for shared tensors."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from accelforge.mapper.FFM.costs import Costs, least_beside

MEMORIES = ("Main", "Buffer")


def random_costs(generator: random.Random, tensors: list[str]) -> Costs:
    """Return costs of an Einsum for some choices of memories."""
    choices = list(itertools.product(MEMORIES, repeat=len(tensors)))
    kept = generator.sample(choices, generator.randint(1, len(choices)))
    return {
        tuple(zip(sorted(tensors), memories, strict=True)): np.array(
            [generator.uniform(0, 9), generator.choice((generator.uniform(0, 9), np.inf))]
        )
        for memories in kept
    }


def by_brute_force(einsums: list[Costs], number: int) -> Costs:
    tensors = sorted({tensor for costs in einsums for backing in costs for tensor, _ in backing})
    result = {backing: np.full(2, np.inf) for backing in einsums[number]}
    for memories in itertools.product(MEMORIES, repeat=len(tensors)):
        places = dict(zip(tensors, memories, strict=True))
        chosen = [
            next((c for c in costs if all(places[t] == m for t, m in c)), None) for costs in einsums
        ]
        own = chosen[number]
        others = [(e, c) for e, c in enumerate(chosen) if e != number]
        if own is not None and all(c is not None for _, c in others):
            total = np.sum([einsums[e][c] for e, c in others if c is not None] or [[0, 0]], axis=0)
            result[own] = np.minimum(result[own], total)
    return result


@pytest.mark.parametrize("seed", range(40))
def test_the_least_is_that_of_all_choices_of_memories(seed: int) -> None:
    generator = random.Random(seed)
    tensors = [f"T{n}" for n in range(5)]
    einsums = [
        random_costs(generator, generator.sample(tensors, generator.randint(0, 3)))
        for _ in range(generator.randint(1, 5))
    ]
    for number, found in enumerate(least_beside(einsums, 2)):
        expected = by_brute_force(einsums, number)
        assert found.keys() == expected.keys()
        for backing, least in found.items():
            assert np.allclose(least, expected[backing])


def test_many_tensors_are_told_apart_less_but_never_cost_more() -> None:
    generator = random.Random(1)
    names = [f"T{n}" for n in range(9)]
    # Each tensor is used at the start and at the end, so that all of them are of interest between.
    einsums = [random_costs(generator, names[n : n + 3]) for n in (0, 3, 6)]
    einsums += [random_costs(generator, [names[0]])]
    einsums += [random_costs(generator, names[n : n + 3]) for n in (6, 3, 0)]
    for number, found in enumerate(least_beside(einsums, 2)):
        expected = by_brute_force(einsums, number)
        for backing, least in found.items():
            assert (least <= expected[backing] * (1 + 1e-12)).all()
