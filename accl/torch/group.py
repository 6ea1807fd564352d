# SPDX-License-Identifier: BSD-3-Clause
"""A process group of torch.distributed over an `accl`."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from accl.errors import ACCLArgumentError
from accl.torch.arguments import (
    check_parts,
    check_whole,
    chosen_op,
    chosen_root,
    cut,
    list_and_tensor,
    one_tensor,
)
from accl.torch.carrier import Carrier
from accl.torch.kinds import check_alike, flatten, moved_type, row_of, writable
from accl.torch.senders import Senders
from accl.torch.work import FromAny, Lane, Message, Work

if TYPE_CHECKING:
    from torch import Tensor

    from accl.accl import accl

__all__ = ["ProcessGroupACCL"]

_CPU = torch.device("cpu")


class ProcessGroupACCL(Carrier, dist.ProcessGroup):
    """The ranks of a group, and their collectives.

    `torch.distributed.init_process_group("accl")` and `new_group()` make it; functions of
    torch.distributed call its methods.

    Parameters
    ----------
    device : accl
        Has the ranks of the group, and unified memory; the group closes it.
    store : torch.distributed.Store
        The store of the group.
    timeout : datetime.timedelta
        How long operations wait for other ranks.
    """

    # Capabilities that PyTorch looks up in a backend.
    supports_splitting = False
    supports_coalescing = False

    def __init__(self, device: accl, store: Any, timeout: timedelta) -> None:
        self._open(device)
        dist.ProcessGroup.__init__(self, self._rank, self._size)
        self._store = store
        self._names = ["", ""]
        self._senders = Senders(device, self._rank, self._size)
        # Receives from any rank wait here, in their order, and not before collectives.
        self._from_any = Lane(f"accl-torch-any-{self._rank}")
        self.set_timeout(timeout)
        _live.add(self)

    # --- what torch.distributed asks ---------------------------------------------------------

    def name(self) -> str:
        """Return the name of the backend."""
        return "accl"

    getBackendName = _get_backend_name = name

    def rank(self) -> int:
        """Return this process's rank in the group."""
        return self._rank

    def size(self) -> int:
        """Return the number of ranks."""
        return self._size

    getRank, getSize = rank, size

    @property
    def group_name(self) -> str:
        """Its name, which torch.distributed gives it."""
        return self._names[0]

    @property
    def group_desc(self) -> str:
        """Its description, likewise."""
        return self._names[1]

    def getGroupName(self) -> str:  # noqa: D102
        return self._names[0]

    def getGroupDesc(self) -> str:  # noqa: D102
        return self._names[1]

    def _set_group_name(self, name: str) -> None:
        self._names[0] = name

    def _set_group_desc(self, text: str) -> None:
        self._names[1] = text

    setGroupName, setGroupDesc = _set_group_name, _set_group_desc

    def get_group_store(self) -> Any:
        """Return the store of the group."""
        return self._store

    @property
    def _device_types(self) -> list[torch.device]:
        return [_CPU]

    def _get_backend(self, device: torch.device) -> ProcessGroupACCL:
        if torch.device(device).type != "cpu":
            raise RuntimeError(f"the backend accl has no tensors on {device}")
        return self

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long operations wait for other ranks."""
        self._limit = timeout.total_seconds()
        self._device.set_timeout(max(1, round(self._limit * 1000)))

    _set_default_timeout = set_timeout

    def _set_sequence_number_for_group(self) -> None:
        """Do nothing: the engine numbers the calls itself."""

    def shutdown(self) -> None:
        """Close it. Operations that are not done fail, here and on ranks that wait for this one."""
        _live.discard(self)
        self._lane.close(self._device.deinit)
        self._from_any.close(self._senders.close)
        self._stage.close()

    abort = shutdown

    # --- collectives -------------------------------------------------------------------------

    def allreduce(self, tensors: Any, opts: Any = None, op: Any = None, **_: Any) -> Work | None:
        """Reduce a tensor over all ranks, in place."""
        (tensor,) = one_tensor(tensors, "all_reduce")

        def call(first: Any, _second: Any, n: int, function: Any) -> None:
            self._device.allreduce(first, first, n, function)

        return self._reduce(
            "all_reduce",
            opts,
            chosen_op(opts, op),
            [tensor],
            [tensor],
            tensor.numel(),
            call,
            self._gathered,
        )

    def reduce(
        self, tensors: Any, opts: Any = None, root: int = 0, op: Any = None, **_: Any
    ) -> Work | None:
        """Reduce a tensor over all ranks; the root gets the result."""
        (tensor,) = one_tensor(tensors, "reduce")
        root = chosen_root(self._size, opts, root, "reduce")

        def call(first: Any, _second: Any, n: int, function: Any) -> None:
            self._device.reduce(first, first, n, root, function)

        def gather(first: Any, second: Any, n: int) -> None:
            self._device.gather(first, second, n, root)

        outputs = [tensor] if root == self._rank else []
        return self._reduce(
            "reduce",
            opts,
            chosen_op(opts, op),
            [tensor],
            outputs,
            tensor.numel(),
            call,
            gather,
            root=root,
        )

    def broadcast(self, tensors: Any, opts: Any = None, root: int = 0, **_: Any) -> Work | None:
        """Send the root's tensor to all ranks."""
        (tensor,) = one_tensor(tensors, "broadcast")
        root = chosen_root(self._size, opts, root, "broadcast")

        def call(first: Any, _second: Any, n: int) -> None:
            self._device.bcast(first, n, root)

        at_root = root == self._rank
        return self._move(
            "broadcast",
            opts,
            call,
            [tensor] if at_root else [],
            [] if at_root else [tensor],
            tensor.numel(),
            1,
            root=root,
            in_place=True,
            given=[tensor],
        )

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None, **_: Any) -> Work | None:
        """Gather a tensor of each rank on all ranks, into a list of tensors."""
        parts, (tensor,) = list_and_tensor(outputs, inputs, "all_gather")
        check_parts(self._size, parts, tensor, "all_gather")
        return self._gather_all(opts, tensor, parts)

    def all_gather_single(self, output: Tensor, tensor: Tensor, opts: Any = None) -> Work | None:
        """Gather a tensor of each rank on all ranks, into one tensor."""
        check_whole(self._size, output, tensor, "all_gather")
        return self._gather_all(opts, tensor, [output])

    _allgather_base = all_gather_single

    def _gather_all(self, opts: Any, tensor: Tensor, outputs: Sequence[Tensor]) -> Work | None:
        return self._move(
            "all_gather",
            opts,
            self._gathered,
            [tensor],
            outputs,
            tensor.numel(),
            self._size,
            given=[tensor],
        )

    def gather(
        self, outputs: Any, inputs: Any, opts: Any = None, root: int = 0, **_: Any
    ) -> Work | None:
        """Gather a tensor of each rank on the root."""
        (tensor,) = one_tensor(inputs, "gather")
        root = chosen_root(self._size, opts, root, "gather")
        parts: list[Tensor] = []
        if root == self._rank:
            parts, _tensor = list_and_tensor(outputs, inputs, "gather")
            check_parts(self._size, parts, tensor, "gather")

        def call(first: Any, second: Any, n: int) -> None:
            self._device.gather(first, second, n, root)

        return self._move(
            "gather",
            opts,
            call,
            [tensor],
            parts,
            tensor.numel(),
            self._size,
            root=root,
            given=[tensor],
        )

    def scatter(
        self, outputs: Any, inputs: Any, opts: Any = None, root: int = 0, **_: Any
    ) -> Work | None:
        """Give each rank one of the root's tensors."""
        (tensor,) = one_tensor(outputs, "scatter")
        root = chosen_root(self._size, opts, root, "scatter")
        parts: list[Tensor] = []
        if root == self._rank:
            parts, _tensor = list_and_tensor(inputs, outputs, "scatter")
            check_parts(self._size, parts, tensor, "scatter")

        def call(first: Any, second: Any, n: int) -> None:
            self._device.scatter(first, second, n, root)

        return self._move(
            "scatter",
            opts,
            call,
            parts,
            [tensor],
            tensor.numel(),
            self._size,
            root=root,
            given=[tensor],
        )

    def reduce_scatter(
        self, outputs: Any, inputs: Any, opts: Any = None, op: Any = None, **_: Any
    ) -> Work | None:
        """Reduce a list of tensors over all ranks; each rank gets one of them."""
        parts, (tensor,) = list_and_tensor(inputs, outputs, "reduce_scatter")
        check_parts(self._size, parts, tensor, "reduce_scatter")
        return self._scatter_sums(opts, chosen_op(opts, op), parts, tensor)

    def reduce_scatter_single(
        self, output: Tensor, tensor: Tensor, opts: Any = None
    ) -> Work | None:
        """Reduce a tensor over all ranks; each rank gets a part of it."""
        check_whole(self._size, tensor, output, "reduce_scatter")
        return self._scatter_sums(opts, chosen_op(opts, None), [tensor], output)

    _reduce_scatter_base = reduce_scatter_single

    def _scatter_sums(
        self, opts: Any, op: Any, inputs: Sequence[Tensor], output: Tensor
    ) -> Work | None:
        def call(first: Any, second: Any, n: int, function: Any) -> None:
            self._device.reduce_scatter(first, second, n, function)

        return self._reduce(
            "reduce_scatter", opts, op, inputs, [output], output.numel(), call, self._exchanged
        )

    def all_to_all_single(
        self,
        output: Tensor,
        tensor: Tensor,
        out_splits: Sequence[int] = (),
        in_splits: Sequence[int] = (),
        opts: Any = None,
        **_: Any,
    ) -> Work | None:
        """Send a part of a tensor to each rank, and receive a part of each."""
        check_alike([tensor, output], "all_to_all_single")
        if out_splits or in_splits:
            sent = cut(tensor, in_splits, self._size, "input_split_sizes")
            got = cut(output, out_splits, self._size, "output_split_sizes")
            return self._exchange("all_to_all_single", opts, got, sent)
        if output.numel() != tensor.numel() or tensor.numel() % self._size:
            raise ACCLArgumentError(
                f"all_to_all_single: {tensor.numel()} elements cannot be exchanged for "
                f"{output.numel()} in equal parts by {self._size} ranks: pass split sizes"
            )
        return self._move(
            "all_to_all",
            opts,
            self._exchanged,
            [tensor],
            [output],
            tensor.numel() // self._size,
            self._size,
            given=[tensor],
        )

    alltoall_base = all_to_all_single

    def alltoall(self, outputs: Any, inputs: Any, opts: Any = None, **_: Any) -> Work | None:
        """Send a tensor to each rank, and receive one of each; they may differ in size."""
        if len(outputs) != self._size or len(inputs) != self._size:
            raise ACCLArgumentError(
                f"all_to_all: lists must have {self._size} tensors, one for each rank, not "
                f"{len(outputs)} and {len(inputs)}"
            )
        check_alike([*inputs, *outputs], "all_to_all")
        return self._exchange("all_to_all", opts, outputs, inputs)

    def barrier(self, opts: Any = None, **_: Any) -> Work | None:
        """Wait until all ranks are here."""
        self._counter.add_collective("barrier", 0)
        return self._run("barrier", opts, lambda: self._device.barrier() and None, [])

    def allreduce_coalesced(self, tensors: Sequence[Tensor], opts: Any = None) -> Work | None:
        """Reduce several tensors over all ranks, in place."""
        return self._last(tensors, opts, [self.allreduce([one], opts) for one in tensors])

    def all_gather_single_coalesced(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], opts: Any = None
    ) -> Work | None:
        """Gather several tensors, each into one of all ranks'."""
        pairs = zip(outputs, inputs, strict=True)
        works = [self.all_gather_single(out, one, opts) for out, one in pairs]
        return self._last(outputs, opts, works)

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def allgather_coalesced(
        self, lists: Any, inputs: Sequence[Tensor], opts: Any = None
    ) -> Work | None:
        """Gather several tensors, each into a list."""
        works = [
            self.allgather([[row[i] for row in lists]], [one], opts) for i, one in enumerate(inputs)
        ]
        return self._last([one for row in lists for one in row], opts, works)

    def reduce_scatter_single_coalesced(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], opts: Any = None
    ) -> Work | None:
        """Reduce several tensors; each rank gets a part of each."""
        pairs = zip(outputs, inputs, strict=True)
        works = [self.reduce_scatter_single(out, one, opts) for out, one in pairs]
        return self._last(outputs, opts, works)

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def _last(
        self, results: Sequence[Tensor], opts: Any, works: Sequence[Work | None]
    ) -> Work | None:
        """Give a work that ends with those before it, with the first of their errors."""

        def job() -> None:
            for work in works:
                if work is not None:
                    work.wait()

        return self._run("coalesced", opts, job, results)

    def _start_coalescing(self, _device: Any) -> None:
        """Do nothing: operations are carried out one after the other."""

    def _end_coalescing(self, _device: Any) -> Work:
        return self._lane.start("coalesced", lambda: None, [])

    # --- messages ----------------------------------------------------------------------------

    def send(self, tensors: Any, peer: int, tag: int = 0) -> Work:
        """Send a tensor to a rank."""
        (tensor,) = one_tensor(tensors, "send")
        row = row_of(flatten(tensor), moved_type(tensor.dtype))
        handle = self._device.send(row, None, self._peer(peer, "send"), tag, run_async=True)
        self._counter.add("send", row.nbytes, 0)
        return Message("send", handle, lambda: None, [tensor], self._rank)

    def recv(self, tensors: Any, peer: int, tag: int = 0) -> Work:
        """Receive a tensor from a rank."""
        (tensor,) = one_tensor(tensors, "recv")
        row, finish = self._received(tensor)
        handle = self._device.recv(row, None, self._peer(peer, "recv"), tag, run_async=True)
        self._senders.take_from(peer, handle)
        self._counter.add("recv", 0, row.nbytes)
        return Message("recv", handle, finish, [tensor], peer)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Work:
        """Receive a tensor from the next rank that sends one."""
        (tensor,) = one_tensor(tensors, "recv")
        if self._size == 2:
            return self.recv([tensor], 1 - self._rank, tag)
        row, finish = self._received(tensor)

        def receive() -> int:
            source = self._senders.wait(tag, self._limit)
            self._device.recv(row, None, source, tag)
            finish()
            return source

        self._counter.add("recv", 0, row.nbytes)
        return self._from_any.put(FromAny("recv", receive, [tensor]))

    def _received(self, tensor: Tensor) -> tuple[Any, Callable[[], None]]:
        """Give the memory for a message, and what moves it to a tensor that is not contiguous."""
        made = writable(tensor, "recv")
        row = row_of(flatten(tensor if made is None else made), moved_type(tensor.dtype))

        def finish() -> None:
            if made is not None:
                tensor.detach().copy_(made)

        return row, finish

    def _peer(self, peer: int, name: str) -> int:
        if not 0 <= peer < self._size or peer == self._rank:
            raise ACCLArgumentError(
                f"{name}: the other rank must be one of 0 to {self._size - 1}, and not this one "
                f"({self._rank}), but is {peer}"
            )
        return peer


_live: weakref.WeakSet[ProcessGroupACCL] = weakref.WeakSet()


@atexit.register
def _shut_all() -> None:
    """Close what the program has left open, while its threads can still end."""
    for group in list(_live):
        group.shutdown()
