# SPDX-License-Identifier: BSD-3-Clause
"""What the package raises; each class is also the builtin that a py-veo program expects."""

from __future__ import annotations

from offchip.errors import OffchipError, RequestTimeoutError

__all__ = [
    "VeoClosedError",
    "VeoError",
    "VeoKernelException",
    "VeoMemoryError",
    "VeoSymbolError",
    "VeoTimeoutError",
    "VeoUnfinished",
]


class VeoError(OffchipError, RuntimeError):
    """A function of libveo failed."""


class VeoKernelException(VeoError, ArithmeticError):
    """A kernel was ended by a signal; ``code`` is its number and ``name`` its name."""


class VeoMemoryError(VeoError, MemoryError):
    """There is not enough memory on the VE."""


class VeoSymbolError(VeoError, AttributeError):
    """A library has no symbol of this ``name``."""


class VeoUnfinished(VeoError, NameError):
    """`peek_result()` was asked for a request that still runs or waits for its turn."""


class VeoTimeoutError(RequestTimeoutError, VeoError):
    """A wait reached its limit. The request goes on."""


class VeoClosedError(VeoError, ValueError):
    """The process, context or library was closed, or belongs to the parent of this process."""
