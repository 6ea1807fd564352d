# SPDX-License-Identifier: BSD-3-Clause
"""Predicts and measures kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from accelforge.prediction.kernel import Kernel
from accelforge.prediction.results import Results, Row

if TYPE_CHECKING:
    from accelforge.mapper.FFM.mappings import Mappings

__all__ = ["measure", "predict"]


def predict(kernels: Kernel | Iterable[Kernel]) -> Results:
    """Predict how long kernels take, from architecture, workload and mapping; nothing is run.

    Parameters
    ----------
    kernels : Kernel or iterable of Kernel
        Those of `accelforge.kernels`, or your own.

    Returns
    -------
    Results
        A row for each kernel.
    """
    return Results(_predict(kernel) for kernel in _list(kernels))


def measure(kernels: Kernel | Iterable[Kernel]) -> Results:
    """Run kernels, check what they compute, and compare the time with the prediction.

    Kernels of DPUs take the cycles of the simulator, which are the same in each run. Kernels of a
    Vector Engine and collectives run on this host, and are predicted for it.

    Parameters
    ----------
    kernels : Kernel or iterable of Kernel
        Those of `accelforge.kernels`, or your own.

    Returns
    -------
    Results
        A row for each kernel, with the error of the prediction.

    Raises
    ------
    RuntimeError
        A kernel computed something wrong.
    """
    return Results(_measure(kernel) for kernel in _list(kernels))


def _list(kernels: Kernel | Iterable[Kernel]) -> list[Kernel]:
    found = [kernels] if isinstance(kernels, Kernel) else list(kernels)
    for kernel in found:
        if not isinstance(kernel, Kernel):
            raise TypeError(
                f"{kernel!r} is not a Kernel; functions of accelforge.kernels make kernels"
            )
    return found


def _measure(kernel: Kernel) -> Row:
    row = _predict(kernel)  # which says at once if the kernel does not fit
    measurement = kernel.run()
    return row._replace(measured=measurement.seconds, source=measurement.source)


def _predict(kernel: Kernel) -> Row:
    result = kernel.spec().evaluate_mapping()
    return Row(kernel.name, float(result.latency()), None, _bounds(result), "", kernel.note)


def _bounds(result: Mappings) -> str:
    """Name the slowest component of each Einsum, once."""
    slowest: dict[str, tuple[float, str]] = {}
    latencies = result.latency(per_einsum=True, per_component=True)
    for (einsum, component), seconds in latencies.items():
        slowest[einsum] = max(slowest.get(einsum, (0.0, component)), (seconds, component))
    return ", ".join(dict.fromkeys(component for _, component in slowest.values()))
