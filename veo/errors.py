# SPDX-License-Identifier: BSD-3-Clause
"""The package's exceptions; each also derives from the builtin that py-veo raises."""

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
    """A function of libveo failed; of `VeoCtxt.call_many()`, the call number ``index``."""

    index: int | None = None


class VeoKernelException(VeoError, ArithmeticError):
    """A signal ended a kernel; ``code`` is its number and ``name`` its name."""


class VeoMemoryError(VeoError, MemoryError):
    """Out of memory on the VE."""


class VeoSymbolError(VeoError, AttributeError):
    """A library has no symbol of this ``name``."""


class VeoUnfinished(VeoError, NameError):
    """`peek_result()` was called for a request that is queued or running."""


class VeoTimeoutError(RequestTimeoutError, VeoError):
    """A wait timed out. The request continues, unless the message says that it does not."""


class VeoClosedError(VeoError, ValueError):
    """The process, context or library was closed, or belongs to the parent of this process."""
