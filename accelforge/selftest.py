# SPDX-License-Identifier: BSD-3-Clause
"""Check that accelforge works on this machine: ``python -m accelforge.selftest``."""

from __future__ import annotations

import importlib.util
import math
import sys
import time

import accelforge as af
from accelforge import problem
from offchip.checks import Check, Skipped, main, require

__all__ = ["CHECKS"]

M, KN, BITS = 64, 32, 8
MAIN_MEMORY = 100  # energy of a bit; of all else it is 1


def _engine() -> str:
    require(callable(problem.evaluate), "the engine has no evaluate()")
    return problem.evaluate.__module__


def _needs_yaml() -> None:
    for name in ("yaml", "jinja2"):
        if importlib.util.find_spec(name) is None:
            raise Skipped(
                f"{name} is not installed: install offchip[forge]; "
                "in a checkout: pip install '.[forge]'"
            )


def _spec(*more: str) -> af.Spec:
    return af.Spec.from_yaml(
        af.examples.arches.simple,
        af.examples.workloads.basic.matmuls,
        *more,
        N_EINSUMS=1,
        M=M,
        KN=KN,
        MainMemoryEnergy=MAIN_MEMORY,
    )


def _evaluation() -> str:
    _needs_yaml()
    result = _spec(af.examples.mappings.unfused_matmuls_to_simple).evaluate_mapping()
    energy = result.energy(per_component=True)
    products = M * KN * KN
    require(
        math.isclose(energy["MAC"], products),
        f"{energy['MAC']:g} multiplications, there are {products}",
    )
    least = MAIN_MEMORY * BITS * (2 * M * KN + KN * KN)
    require(
        math.isclose(energy["MainMemory"], least),
        f"main memory takes {energy['MainMemory']:g}; moving each matrix once takes {least}",
    )
    return f"one matrix product: {products} multiplications, as it has"


def _mapper() -> str:
    _needs_yaml()
    spec = _spec()
    spec.mapper.metrics = af.Metrics.ENERGY
    start = time.perf_counter()
    result = spec.map_workload_to_arch(print_progress=False)
    seconds = time.perf_counter() - start
    energy = result.energy(per_component=True)
    # Each matrix crosses main memory once in the best mapping, as the buffer has no limit.
    least = MAIN_MEMORY * BITS * (2 * M * KN + KN * KN)
    require(
        math.isclose(energy["MainMemory"], least),
        f"main memory takes {energy['MainMemory']:g} in the best mapping; {least} suffices",
    )
    return f"the best mapping of {M} x {KN} x {KN} in {seconds * 1e3:.0f} ms"


#: The checks by what they check.
CHECKS: dict[str, Check] = {
    "the engine is there": _engine,
    "a mapping is evaluated": _evaluation,
    "the best mapping is found": _mapper,
}

if __name__ == "__main__":
    sys.exit(main("accelforge", CHECKS))
