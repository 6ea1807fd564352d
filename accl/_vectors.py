# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges whose parts differ in size, made of messages: sendrecv, gatherv, scatterv, allgatherv.

Messages of these calls are on a communicator of their own, so that they never meet the user's. It
has the same ranks, and is made by the first of these calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from accl._staging import as_array
from accl.constants import GLOBAL_COMM, TAG_ANY
from accl.errors import ACCLArgumentError

if TYPE_CHECKING:
    from accl._control import Control
    from accl._handle import ACCLHandle
    from accl.communicator import ACCLCommunicator

__all__ = ["Vectors"]

Counts = Sequence[int] | np.ndarray[Any, Any] | None


class Vectors:
    """The part of an `accl` whose calls have a count for each rank."""

    if TYPE_CHECKING:
        # Of the whole class.
        communicators: list[ACCLCommunicator]
        check_return_value_flag: bool
        send: Any
        recv: Any
        copy: Any
        allocate: Any
        _control: Control
        _twins: dict[int, int]
        _append: Any

    def sendrecv(
        self,
        sendbuf: Any,
        dst: int,
        recvbuf: Any,
        src: int,
        sendtag: int = TAG_ANY,
        recvtag: int = TAG_ANY,
        comm_id: int = GLOBAL_COMM,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: Any = None,
    ) -> None:
        """Send a message and receive one; neither waits for the other.

        Parameters
        ----------
        sendbuf, recvbuf : ACCLBuffer
            What is sent, and what receives; all of them. They must not overlap.
        dst, src : int
            The receiver, and the sender, as ranks of the communicator.
        sendtag, recvtag : int
            As for `send()` and `recv()`.
        comm_id, from_fpga, to_fpga, compress_dtype
            As for all calls.
        """
        if np.may_share_memory(sendbuf, recvbuf):
            raise ACCLArgumentError("sendrecv: sendbuf and recvbuf must not overlap")

        handle = self.send(
            sendbuf, None, dst, sendtag, comm_id, from_fpga, compress_dtype, run_async=True
        )
        self.recv(recvbuf, None, src, recvtag, comm_id, to_fpga, compress_dtype)
        self._end(handle)

    def gatherv(
        self,
        sbuf: Any,
        rbuf: Any,
        counts: Counts = None,
        displs: Counts = None,
        root: int = 0,
        comm_id: int = GLOBAL_COMM,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: Any = None,
    ) -> None:
        """Collect parts of different sizes at the root.

        Parameters
        ----------
        sbuf : ACCLBuffer
            This rank's part, all of it.
        rbuf : ACCLBuffer or None
            Receives the parts; required at the root only.
        counts : sequence of int, optional
            Number of elements of each rank's part; required at the root only.
        displs : sequence of int, optional
            Where each part begins in `rbuf`, in elements; one after the other by default. Parts
            must not overlap.
        root : int
            The rank that receives.
        comm_id, from_fpga, to_fpga, compress_dtype
            As for all collectives.

        Raises
        ------
        ACCLError
            A rank sent another number of elements (DMA_SIZE_ERROR).
        """
        twin, me, n = self._begin("gatherv", comm_id)
        root = _check_rank("gatherv", "root", root, n)
        own = _flat("gatherv", "sbuf", sbuf)
        if me != root:
            self._send_part(own, root, twin, from_fpga, compress_dtype)
            return

        parts = _parts("gatherv", "rbuf", rbuf, counts, displs, n, disjoint=True)
        if own.size != parts[me].size:
            raise ACCLArgumentError(
                f"gatherv: sbuf has {own.size} elements, and counts[{me}] is {parts[me].size}"
            )
        self._copy_part(own, parts[me], from_fpga, to_fpga)
        for rank in range(n):
            if rank != me:
                self._receive_part(parts[rank], rank, twin, to_fpga, compress_dtype)

    def scatterv(
        self,
        sbuf: Any,
        rbuf: Any,
        counts: Counts = None,
        displs: Counts = None,
        root: int = 0,
        comm_id: int = GLOBAL_COMM,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: Any = None,
    ) -> None:
        """Send each rank its part of the root's data, where parts differ in size.

        Parameters
        ----------
        sbuf : ACCLBuffer or None
            The parts; required at the root only.
        rbuf : ACCLBuffer
            Receives this rank's part, which has all of its elements.
        counts : sequence of int, optional
            Number of elements of each rank's part; required at the root only.
        displs : sequence of int, optional
            Where each part begins in `sbuf`, in elements; one after the other by default.
        root : int
            The rank that sends.
        comm_id, from_fpga, to_fpga, compress_dtype
            As for all collectives.

        Raises
        ------
        ACCLError
            The root sent another number of elements (DMA_SIZE_ERROR).
        """
        twin, me, n = self._begin("scatterv", comm_id)
        root = _check_rank("scatterv", "root", root, n)
        own = _flat("scatterv", "rbuf", rbuf)
        if me != root:
            self._receive_part(own, root, twin, to_fpga, compress_dtype)
            return

        parts = _parts("scatterv", "sbuf", sbuf, counts, displs, n, disjoint=False)
        if own.size != parts[me].size:
            raise ACCLArgumentError(
                f"scatterv: rbuf has {own.size} elements, and counts[{me}] is {parts[me].size}"
            )
        for rank in range(n):
            if rank != me:
                self._send_part(parts[rank], rank, twin, from_fpga, compress_dtype)
        # At last, as it may overwrite other parts.
        self._copy_part(parts[me], own, from_fpga, to_fpga)

    def allgatherv(
        self,
        sbuf: Any,
        rbuf: Any,
        counts: Counts,
        displs: Counts = None,
        comm_id: int = GLOBAL_COMM,
        from_fpga: bool = False,
        to_fpga: bool = False,
        compress_dtype: Any = None,
    ) -> None:
        """Collect parts of different sizes at every rank.

        Parameters
        ----------
        sbuf : ACCLBuffer
            This rank's part, all of it. It may be at its place in `rbuf`.
        rbuf : ACCLBuffer
            Receives the parts.
        counts : sequence of int
            Number of elements of each rank's part; the same on all ranks.
        displs : sequence of int, optional
            Where each part begins in `rbuf`, in elements; one after the other by default. Parts
            must not overlap.
        comm_id, from_fpga, to_fpga, compress_dtype
            As for all collectives.

        Raises
        ------
        ACCLError
            A rank sent another number of elements (DMA_SIZE_ERROR).
        """
        twin, me, n = self._begin("allgatherv", comm_id)
        own = _flat("allgatherv", "sbuf", sbuf)
        parts = _parts("allgatherv", "rbuf", rbuf, counts, displs, n, disjoint=True)
        if own.size != parts[me].size:
            raise ACCLArgumentError(
                f"allgatherv: sbuf has {own.size} elements, and counts[{me}] is {parts[me].size}"
            )
        if any(np.may_share_memory(own, parts[rank]) for rank in range(n) if rank != me):
            raise ACCLArgumentError("allgatherv: sbuf overlaps the part of another rank in rbuf")

        self._copy_part(own, parts[me], from_fpga, to_fpga)
        for step in range(1, n):
            to, source = (me + step) % n, (me - step) % n
            handle = self._send_part(own, to, twin, from_fpga, compress_dtype, run_async=True)
            self._receive_part(parts[source], source, twin, to_fpga, compress_dtype)
            self._end(handle)

    def _begin(self, name: str, comm_id: int) -> tuple[int, int, int]:
        """Give the communicator for messages of COMM_ID, this rank and the number of ranks."""
        number = index(comm_id)
        if not 0 <= number < len(self.communicators):
            raise ACCLArgumentError(
                f"{name}: no communicator {comm_id}; there are {len(self.communicators)}"
            )
        comm = self.communicators[number]
        if comm.freed:
            raise ACCLArgumentError(f"{name}: communicator {number} was freed")

        ranks = range(len(comm.ranks))
        if number not in self._twins:
            made = comm.split(ranks, len(self.communicators))
            twin = self._control.split_communicator(number, list(ranks))[0]
            self._append(made, twin)
            self._twins[number] = twin
        return self._twins[number], comm.local_rank, len(ranks)

    def _end(self, handle: ACCLHandle) -> None:
        if self.check_return_value_flag:
            handle.wait()
        else:
            handle.exception()

    def _send_part(
        self, part: Any, to: int, comm: int, from_fpga: bool, compress: Any, run_async: bool = False
    ) -> Any:
        if part.size == 0:
            empty = self.allocate((1,), part.dtype)
            return self.send(empty, 0, to, TAG_ANY, comm, True, compress, run_async=run_async)
        return self.send(part, None, to, TAG_ANY, comm, from_fpga, compress, run_async=run_async)

    def _receive_part(
        self, part: Any, source: int, comm: int, to_fpga: bool, compress: Any
    ) -> None:
        if part.size == 0:
            empty = self.allocate((1,), part.dtype)
            self.recv(empty, 0, source, TAG_ANY, comm, True, compress)
        else:
            self.recv(part, None, source, TAG_ANY, comm, to_fpga, compress)

    def _copy_part(self, source: Any, result: Any, from_fpga: bool, to_fpga: bool) -> None:
        if source.size:
            self.copy(source, result, None, from_fpga, to_fpga)


def _check_rank(name: str, what: str, rank: int, n: int) -> int:
    number = index(rank)
    if not 0 <= number < n:
        raise ACCLArgumentError(f"{name}: {what} is {rank}, and the ranks are 0 to {n - 1}")
    return number


def _flat(name: str, what: str, buffer: Any) -> Any:
    """Give a view of one dimension of what a call has as a buffer."""
    if buffer is None:
        raise ACCLArgumentError(f"{name}: {what} is missing")
    array = as_array(buffer, what == "rbuf", what, name)
    if not array.flags.c_contiguous:
        raise ACCLArgumentError(f"{name}: {what} has gaps: use numpy.ascontiguousarray()")
    return array.reshape(-1)


def _numbers(name: str, what: str, values: Counts, n: int) -> list[int]:
    numbers = [] if values is None else [index(value) for value in values]
    if len(numbers) != n or any(number < 0 for number in numbers):
        raise ACCLArgumentError(
            f"{name}: {what} must be {n} numbers that are not negative, not {values!r}"
        )
    return numbers


def _parts(
    name: str, what: str, buffer: Any, counts: Counts, displs: Counts, n: int, *, disjoint: bool
) -> list[Any]:
    """Give the part of each rank in a buffer."""
    flat = _flat(name, what, buffer)
    sizes = _numbers(name, "counts", counts, n)
    starts = [sum(sizes[:rank]) for rank in range(n)]
    if displs is not None:
        starts = _numbers(name, "displs", displs, n)

    ranges = sorted(
        (start, start + size) for start, size in zip(starts, sizes, strict=True) if size
    )
    last = max((end for _, end in ranges), default=0)
    if last > flat.size:
        raise ACCLArgumentError(f"{name}: {what} has {flat.size} elements, but {last} are required")
    if disjoint and any(a[1] > b[0] for a, b in pairwise(ranges)):
        raise ACCLArgumentError(f"{name}: the parts in {what} overlap")
    return [flat[start : start + size] for start, size in zip(starts, sizes, strict=True)]
