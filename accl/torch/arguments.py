# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the arguments that torch.distributed gives a process group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from accl.errors import ACCLArgumentError
from accl.torch.kinds import check_alike

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "check_parts",
    "check_whole",
    "chosen_op",
    "chosen_root",
    "cut",
    "list_and_tensor",
    "one_tensor",
    "split",
]


def one_tensor(tensors: Any, name: str) -> list[Tensor]:
    """Check the tensor that a rank has, which PyTorch puts into a list."""
    found = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
    if len(found) != 1:
        raise ACCLArgumentError(f"{name}: one tensor is required, not {len(found)}")
    check_alike(found, name)
    return found


def list_and_tensor(many: Any, single: Any, name: str) -> tuple[list[Tensor], list[Tensor]]:
    """Check a list of tensors, and the tensor that it belongs to."""
    own = one_tensor(single, name)
    parts = list(many)
    if parts and not isinstance(parts[0], torch.Tensor):
        if len(parts) != 1:
            raise ACCLArgumentError(f"{name}: one list is required, not {len(parts)}")
        parts = list(parts[0])
    check_alike([*own, *parts], name)
    return parts, own


def chosen_op(opts: Any, op: Any) -> Any:
    """Give the operation of a reduction: an argument, or one of the options; SUM by default."""
    if op is not None:
        return op
    if opts is None:
        return dist.ReduceOp.SUM
    return getattr(opts, "reduceOp", opts)


def split(row: Any, count: int) -> list[Any]:
    """Cut a row into those of `count` elements that it consists of."""
    return [row[at : at + count] for at in range(0, len(row), count)] if count else []


def cut(tensor: Tensor, sizes: Sequence[int], ranks: int, name: str) -> list[Tensor]:
    """Cut a tensor along its first dimension, into parts of the sizes, or into equal ones."""
    length = tensor.shape[0] if tensor.dim() else 0
    wanted = list(sizes) or [length // ranks] * ranks
    if len(wanted) != ranks or sum(wanted) != length or min(wanted) < 0:
        raise ACCLArgumentError(
            f"all_to_all_single: {name} must be {ranks} sizes whose sum is {length}, the length "
            f"of the first dimension, not {wanted}"
        )
    return list(tensor.split(wanted))


def chosen_root(size: int, opts: Any, root: int, name: str) -> int:
    """Give the root of a collective: an argument, or one of the options."""
    found: int = getattr(opts, "rootRank", opts if isinstance(opts, int) else root)
    if not 0 <= found < size:
        raise ACCLArgumentError(
            f"{name}: the root is {found}, and the group has the ranks 0 to {size - 1}"
        )
    return found


def check_parts(size: int, parts: Sequence[Tensor], tensor: Tensor, name: str) -> None:
    """Check that there is a tensor for each rank, of the size of this rank's."""
    if len(parts) != size:
        raise ACCLArgumentError(
            f"{name}: the list must have {size} tensors, one for each rank, not {len(parts)}"
        )
    for rank, part in enumerate(parts):
        if part.numel() != tensor.numel():
            raise ACCLArgumentError(
                f"{name}: tensors must have {tensor.numel()} elements, as that of this rank, "
                f"and that of rank {rank} has {part.numel()}"
            )


def check_whole(size: int, whole: Tensor, part: Tensor, name: str) -> None:
    """Check that a tensor has the elements of all ranks."""
    check_alike([whole, part], name)
    if whole.numel() != size * part.numel():
        raise ACCLArgumentError(
            f"{name}: the tensor of all ranks must have {size} times the "
            f"{part.numel()} elements of a rank, not {whole.numel()}"
        )
