# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of a process group, carried out over the calls of an `accl`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from accl.errors import ACCLArgumentError
from accl.torch.arguments import split
from accl.torch.kinds import flatten, moved_type, reduction_of, row_of, writable
from accl.torch.pieces import Stage
from accl.torch.traffic import Counter, Traffic
from accl.torch.work import Lane, Work

if TYPE_CHECKING:
    from torch import Tensor

    from accl.accl import accl

__all__ = ["Carrier"]

# Tells parts that differ in size from messages of the program, for receives from any rank.
PARTS_TAG = 0xFFFF_FFFE


class Carrier:
    """The part of a process group that has the device."""

    def _open(self, device: accl) -> None:
        world = device.communicators[0]
        self._device = device
        self._rank, self._size = world.local_rank, len(world.ranks)
        self._stage = Stage(device)
        # For parts that differ in size, whose messages must not meet those of the program.
        self._parts = device.split_communicator(range(self._size))
        self._lane = Lane(f"accl-torch-{self._rank}")
        self._counter = Counter(self._rank, self._size)

    def traffic(self) -> dict[str, Traffic]:
        """Return what went over links so far, by operation."""
        return self._counter.counts()

    def _run(
        self,
        name: str,
        opts: Any,
        job: Callable[[], None],
        results: Sequence[Tensor],
        targets: Sequence[tuple[Tensor, Tensor]] = (),
    ) -> Work | None:
        """Carry out a collective, now if the caller waits for it anyway.

        Parameters
        ----------
        name : str
            The collective.
        opts : object
            Its options, which say whether the caller waits.
        job : callable
            Carries it out.
        results : sequence of Tensor
            What the work gives.
        targets : sequence of (Tensor, Tensor)
            Tensors that are not contiguous, and the memory in which the job leaves their results.
        """

        def whole() -> None:
            job()
            for tensor, made in targets:
                tensor.detach().copy_(made)

        chosen = whole if targets else job
        if getattr(opts, "asyncOp", True):
            return self._lane.start(name, chosen, results)
        self._lane.run(name, chosen, results)
        return None

    def _move(
        self,
        name: str,
        opts: Any,
        call: Any,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        count: int,
        rows: int,
        *,
        root: int = 0,
        in_place: bool = False,
        given: Sequence[Tensor],
    ) -> Work | None:
        """Move elements: a collective whose operand and result are rows of `count` elements."""
        kind = moved_type(given[0].dtype)
        sources = [part for one in inputs for part in split(row_of(flatten(one), kind), count)]
        results, targets = self._results(outputs, name)
        parts = [part for one in results for part in split(row_of(flatten(one), kind), count)]
        self._counter.add_collective(name, count * kind.itemsize, root)

        def job() -> None:
            self._stage.carry(sources, parts, count, rows, kind, call, in_place=in_place)

        return self._run(name, opts, job, outputs or inputs, targets)

    def _results(
        self, outputs: Sequence[Tensor], name: str
    ) -> tuple[list[Tensor], list[tuple[Tensor, Tensor]]]:
        """Give what the results are written to, and what of it is to be copied afterwards."""
        made = [(tensor, writable(tensor, name)) for tensor in outputs]
        results = [tensor if own is None else own for tensor, own in made]
        return results, [(tensor, own) for tensor, own in made if own is not None]

    def _reduce(
        self,
        name: str,
        opts: Any,
        op: Any,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        count: int,
        call: Any,
        gather: Any,
        *,
        root: int = 0,
    ) -> Work | None:
        """Reduce: by `call(first, second, function)`, or by `gather` and a fold of the rows."""
        how = reduction_of(op, inputs[0].dtype, name)
        spread = name == "reduce_scatter"
        kind, size = how.kind, self._size
        sources = [
            part
            for one in inputs
            for part in split(row_of(flatten(one), kind, how.converts), count)
        ]
        results, targets = self._results(outputs, name)
        parts = [row_of(flatten(one), kind, how.converts) for one in results]
        self._counter.add_collective(name, count * inputs[0].element_size(), root)
        wanted = bool(parts)

        def reduce(first: Any, second: Any, n: int) -> None:
            call(first, second, n, how.function)

        def fold(first: Any, second: Any, n: int) -> None:
            gather(first, second, n)
            if wanted and how.fold is not None:
                rows = np.asarray(second[: n * size]).reshape(size, n)
                how.fold.reduce(rows, axis=0, out=np.asarray(first[:n]))

        def job() -> None:
            self._stage.carry(
                sources,
                parts,
                count,
                size if spread or how.fold is not None else 1,
                kind,
                reduce if how.fold is None else fold,
                converts=how.converts,
                in_place=how.fold is not None or not spread,
                divisor=size if how.average else 1,
            )

        return self._run(name, opts, job, outputs or inputs, targets)

    def _gathered(self, first: Any, second: Any, n: int) -> None:
        self._device.allgather(first, second, n)

    def _exchanged(self, first: Any, second: Any, n: int) -> None:
        self._device.alltoall(first, second, n)

    def _exchange(
        self, name: str, opts: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]
    ) -> Work | None:
        """Exchange parts that may differ in size, by messages."""
        kind = moved_type(inputs[0].dtype)
        results, targets = self._results(outputs, name)
        sent = [row_of(flatten(one), kind) for one in inputs]
        got = [row_of(flatten(one), kind) for one in results]
        me, others = self._rank, [r for r in range(self._size) if r != self._rank]
        if len(sent[me]) != len(got[me]):
            raise ACCLArgumentError(
                f"{name}: this rank sends {len(sent[me])} elements to itself, but receives "
                f"{len(got[me])}"
            )
        self._counter.add(
            "all_to_all", sum(sent[r].nbytes for r in others), sum(got[r].nbytes for r in others)
        )

        def job() -> None:
            handles = [
                self._device.recv(got[r], None, r, PARTS_TAG, comm_id=self._parts, run_async=True)
                for r in others
                if len(got[r])
            ]
            handles += [
                self._device.send(sent[r], None, r, PARTS_TAG, comm_id=self._parts, run_async=True)
                for r in others
                if len(sent[r])
            ]
            np.copyto(got[me], sent[me])
            for handle in handles:
                handle.wait()

        return self._run(name, opts, job, outputs, targets)
