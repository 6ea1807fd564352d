# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of accl between ranks on this host, predicted from transfers and additions."""

from __future__ import annotations

from accelforge.devices import host_ranks
from accelforge.frontend.mapping import Toll
from accelforge.frontend.spec import Spec
from accelforge.kernels.accl_calibration import RankFigures, calibrate_ranks, time_calls
from accelforge.prediction import (
    Kernel,
    Measurement,
    compute,
    hold,
    loop,
    make_spec,
    phases,
    spread,
)

__all__ = ["AcclAllreduce", "accl_allreduce"]

# Up to here, contributions are in the post that every rank reads.
POST_BYTES = 4096
# Additions are made in blocks, whose operands are in a near cache.
BLOCK_BYTES = 8192
# All ranks wait for each other before they read, and again before their memory may change.
WAITS = 2
BITS = 32


class AcclAllreduce(Kernel):
    """A sum of float32 over ranks; `accl_allreduce` makes one.

    Every rank fetches what it adds, adds it, and with much data writes its part of the result into
    the memory of the others. One core does all of that, so these are Einsums, one after the other.

    Parameters
    ----------
    size : int
        Bytes of the vector.
    ranks : int
        How many ranks.
    figures : RankFigures, optional
        What the prediction is made from; by default what `calibrate_ranks` measures.
    """

    def __init__(self, size: int, ranks: int, figures: RankFigures | None = None) -> None:
        super().__init__(
            f"allreduce {size} bytes, {ranks} ranks",
            "what is received is added while it is in the cache; cache lines move between cores",
        )
        self.size, self.ranks, self.figures = size, ranks, figures

    def spec(self) -> Spec:
        """Return the specification."""
        figures = self.figures or calibrate_ranks(self.ranks)
        direct = self.size > POST_BYTES
        part = self.size // self.ranks if direct else self.size
        link = figures.transfer.rate(part)
        add = figures.addition.rate(min(part, BLOCK_BYTES))
        others = self.ranks - 1
        results = ["R"] if direct else []
        einsums = ["F[r, q, i] = V[r, q, i]", "S[r, i] = F[r, q, i] * M[r, i]"]
        moves = [
            spread("r", "Rank", "ranks"),
            Toll(component="Link", tensors=["V", *results]),
            hold("Local", "F", "S"),
            loop("q"),
            loop("i"),
        ]
        adds = [
            spread("r", "Rank", "ranks"),
            hold("Local", "F", "M", "S"),
            loop("q"),
            loop("i"),
            compute("Adder", "S"),
        ]
        branches = [[*moves, compute("Mover", "F")], adds]
        if direct:
            einsums.append("R[r, q, i] = S[r, i]")
            branches.append([*moves, compute("Mover", "R")])
        return make_spec(
            host_ranks(self.ranks, sync=WAITS * figures.barrier, link=link, add=add),
            einsums,
            {"R": self.ranks, "Q": others, "I": part // 4},
            BITS,
            [hold("World", "V", "M", "F", "S", *results), phases(*branches)],
        )

    def run(self) -> Measurement:
        """Run it on ranks that are started for it; each checks the sum."""
        (seconds,) = time_calls(self.ranks, [("allreduce", self.size)])
        return Measurement(seconds, "ranks on this host, fastest round")


def accl_allreduce(
    size: int = 64 << 10, *, ranks: int = 2, figures: RankFigures | None = None
) -> AcclAllreduce:
    """Return a sum of float32 over ranks.

    Parameters
    ----------
    size : int
        Bytes of the vector, a multiple of four times the ranks.
    ranks : int
        How many ranks, at least 2.
    figures : RankFigures, optional
        What the prediction is made from; by default what `calibrate_ranks` measures.
    """
    if ranks < 2:
        raise ValueError(f"an allreduce takes 2 ranks or more, not {ranks}")
    if size < 4 * ranks or size % (4 * ranks):
        raise ValueError(f"size must be a multiple of {4 * ranks}, not {size}")
    return AcclAllreduce(size, ranks, figures)
