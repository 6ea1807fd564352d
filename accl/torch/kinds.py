# SPDX-License-Identifier: BSD-3-Clause
"""Tensors as the engine sees them: flat, and of a type that it moves or reduces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.distributed import ReduceOp

from accl.constants import ACCLReduceFunctions
from accl.errors import ACCLArgumentError, ACCLDtypeError, ACCLUnsupportedError

__all__ = [
    "Reduction",
    "check_alike",
    "flatten",
    "moved_type",
    "reduction_of",
    "row_of",
    "writable",
]

_FUNCTIONS = {
    ReduceOp.SUM: ACCLReduceFunctions.SUM,
    ReduceOp.AVG: ACCLReduceFunctions.SUM,
    ReduceOp.MAX: ACCLReduceFunctions.MAX,
    ReduceOp.MIN: ACCLReduceFunctions.MIN,
    ReduceOp.PRODUCT: ACCLReduceFunctions.PROD,
}
# Of truth values; those that the engine has for integers too.
_OF_BOOLS = {
    ReduceOp.BOR: ACCLReduceFunctions.MAX,
    ReduceOp.BAND: ACCLReduceFunctions.MIN,
}
_BITWISE = {
    ReduceOp.BAND: np.bitwise_and,
    ReduceOp.BOR: np.bitwise_or,
    ReduceOp.BXOR: np.bitwise_xor,
}
# Types that NumPy has too: the engine reduces them. Elements of others are moved as so many bytes.
_NUMBERS: dict[Any, Any] = {
    torch.float16: np.float16,
    torch.float32: np.float32,
    torch.float64: np.float64,
    torch.int8: np.int8,
    torch.int16: np.int16,
    torch.int32: np.int32,
    torch.int64: np.int64,
    torch.uint8: np.uint8,
    torch.uint16: np.uint16,
    torch.uint32: np.uint32,
    torch.uint64: np.uint64,
    torch.bool: np.bool_,
    torch.complex64: np.complex64,
    torch.complex128: np.complex128,
}
# Types that are reduced as others, which have all of their values: sums are rounded once.
_WIDENED: dict[Any, Any] = {torch.bfloat16: np.float32}


class Reduction(NamedTuple):
    """Plan of a reduction.

    Attributes
    ----------
    kind : numpy.dtype
        The type in which the engine has the elements.
    converts : bool
        Whether that is another one than the tensors'.
    function : ACCLReduceFunctions or None
        The engine's function; None if it has none.
    fold : numpy.ufunc or None
        Combines the ranks' elements where the engine has no function.
    average : bool
        Whether elements are divided by the number of ranks first.
    """

    kind: np.dtype[Any]
    converts: bool
    function: ACCLReduceFunctions | None
    fold: np.ufunc | None
    average: bool


def reduction_of(op: Any, dtype: torch.dtype, name: str) -> Reduction:
    """Find how to reduce elements of a type.

    Parameters
    ----------
    op : torch.distributed.ReduceOp
        The operation.
    dtype : torch.dtype
        The type of the tensors.
    name : str
        The collective, for messages.

    Raises
    ------
    ACCLUnsupportedError, ACCLDtypeError
        The operation is not supported, or not for this type.
    """
    chosen = getattr(op, "op", op)
    if chosen not in _FUNCTIONS and chosen not in _BITWISE:
        raise ACCLUnsupportedError(
            f"{name}: {chosen} is not supported; there are SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR "
            "and BXOR"
        )
    if dtype is torch.bool and chosen in _OF_BOOLS:
        return Reduction(np.dtype(np.bool_), False, _OF_BOOLS[chosen], None, False)
    floating = dtype.is_floating_point or dtype.is_complex
    if chosen in _BITWISE:
        if floating or dtype not in _NUMBERS:
            raise ACCLDtypeError(f"{name}: {chosen} is of integers and bool, not of {dtype}")
        return Reduction(np.dtype(_NUMBERS[dtype]), False, None, _BITWISE[chosen], False)
    if dtype.is_complex and chosen in (ReduceOp.MAX, ReduceOp.MIN):
        raise ACCLDtypeError(f"{name}: {dtype} has no {chosen}: its numbers have no order")
    average = chosen == ReduceOp.AVG
    if average and not floating:
        raise ACCLDtypeError(
            f"{name}: AVG is of floating-point types, not of {dtype}: use SUM, and divide"
        )
    if average and dtype is torch.float16:
        # One rounding, not one for each rank.
        return Reduction(np.dtype(np.float32), True, _FUNCTIONS[chosen], None, True)
    kind = _NUMBERS.get(dtype) or _WIDENED.get(dtype)
    if kind is None:
        raise ACCLDtypeError(
            f"{name}: no reduction of {dtype}; there are "
            f"{', '.join(str(one).removeprefix('torch.') for one in (*_NUMBERS, *_WIDENED))}"
        )
    return Reduction(np.dtype(kind), dtype in _WIDENED, _FUNCTIONS[chosen], None, average)


def moved_type(dtype: torch.dtype) -> np.dtype[Any]:
    """Give the type in which the engine moves elements."""
    return np.dtype(_NUMBERS.get(dtype) or f"V{dtype.itemsize}")


def check_alike(tensors: Sequence[Any], name: str, dtype: torch.dtype | None = None) -> None:
    """Check that tensors are in the memory of the host, dense, and of one type."""
    for tensor in tensors:
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name}: a tensor is required, not {type(tensor).__name__}")
        if tensor.device.type != "cpu":
            raise ACCLArgumentError(
                f"{name}: the backend accl has tensors in the memory of the host, and this one is "
                f"on {tensor.device}: pass tensor.cpu()"
            )
        if tensor.layout is not torch.strided:
            raise ACCLArgumentError(
                f"{name}: tensors must be dense, not {tensor.layout}: pass tensor.to_dense()"
            )
        if tensor.dtype is not (dtype or tensors[0].dtype):
            raise ACCLDtypeError(
                f"{name}: all tensors must have one type, not {dtype or tensors[0].dtype} and "
                f"{tensor.dtype}"
            )


def _is_plain(tensor: torch.Tensor) -> bool:
    return tensor.is_contiguous() and not tensor.is_neg() and not tensor.is_conj()


def flatten(tensor: torch.Tensor) -> torch.Tensor:
    """Give the elements in order: the same memory if it is contiguous, or else a copy."""
    plain = tensor.detach()
    if not _is_plain(tensor):
        plain = plain.resolve_conj().resolve_neg().contiguous()
    return plain.view(-1)


def writable(tensor: torch.Tensor, name: str) -> torch.Tensor | None:
    """Give what a result is written to if the tensor itself cannot be: memory of its own.

    Returns
    -------
    Tensor or None
        None if the tensor itself can be.

    Raises
    ------
    ACCLArgumentError
        Several elements are at the same place.
    """
    if _is_plain(tensor):
        return None
    if any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape, strict=True)):
        raise ACCLArgumentError(
            f"{name}: several elements of a tensor are at the same place (a stride is 0, as after "
            "expand()), but it receives the result: pass tensor.contiguous()"
        )
    return torch.empty(tensor.shape, dtype=tensor.dtype)


def row_of(flat: torch.Tensor, kind: np.dtype[Any], converts: bool = False) -> Any:
    """Give a flat tensor as what pieces of it are copied from and to: an array, or the tensor.

    The memory of a tensor whose `numpy()` was called cannot be resized any more, as FSDP does.
    """
    if converts:
        return flat
    return np.asarray(_Memory(flat, kind)) if flat.numel() else np.empty(0, kind)


class _Memory:
    """A flat tensor's memory, as NumPy asks for it; the array keeps the tensor."""

    def __init__(self, tensor: torch.Tensor, kind: np.dtype[Any]) -> None:
        self.tensor = tensor
        self.__array_interface__ = {
            "data": (tensor.data_ptr(), False),
            "shape": (tensor.numel(),),
            "typestr": kind.str,
            "version": 3,
        }
