# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions and warnings of the package."""

from __future__ import annotations

from offchip.errors import OffchipError, RequestTimeoutError

__all__ = ["DpuError", "DpuTimeoutError", "DpuWarning"]


class DpuWarning(RuntimeWarning):
    """A launch completed, but the program has an error.

    Tasklets still wait at a barrier, a semaphore or a handshake: the text says which ones, where,
    and for which tasklets.
    """


class DpuError(OffchipError):
    """A call of libdpu failed, or was rejected before it was made.

    ``str(error)`` is the short text of UPMEM's library for the error, which programs compare. The
    explanation is in ``detail``, which tracebacks show.

    Parameters
    ----------
    message : str
        The short text.
    code : int, optional
        The error code of libdpu.
    name : str, optional
        Its name, such as ``DPU_ERR_DPU_FAULT``.
    function : str, optional
        The C function that failed.
    detail : str, optional
        The explanation; for a fault the DPU, the tasklet, its location and the reason.
    """

    name: str | None
    detail: str

    def __init__(
        self,
        message: str = "",
        *,
        code: int | None = None,
        name: str | None = None,
        function: str | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(message, code=code, name=name, function=function)
        self.detail = detail
        if detail:
            # Before the note with the page, which comes last.
            self.__notes__ = [detail, *self.__notes__]


class DpuTimeoutError(RequestTimeoutError, DpuError):
    """A wait timed out. The request continues."""
