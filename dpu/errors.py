# SPDX-License-Identifier: BSD-3-Clause
"""What the package raises."""

from __future__ import annotations

from offchip.errors import OffchipError, RequestTimeoutError

__all__ = ["DpuError", "DpuTimeoutError", "DpuWarning"]


class DpuWarning(RuntimeWarning):
    """A launch did not fail, but something is wrong with the program.

    Tasklets sleep at a barrier, a semaphore or a handshake, and nobody wakes them: the text says
    which ones, where, and who is missing.
    """


class DpuError(OffchipError):
    """A function of libdpu failed, or was refused.

    ``str(error)`` is the short text that UPMEM's library has for the error, which programs
    compare. What exactly went wrong is in ``detail``, and shown in tracebacks.

    Parameters
    ----------
    message : str
        The short text.
    code : int, optional
        The number that the library gave.
    name : str, optional
        Its name, such as ``DPU_ERR_DPU_FAULT``.
    function : str, optional
        The C function that failed.
    detail : str, optional
        The explanation: for a fault the DPU, the tasklet, where it was and why.
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
            self.add_note(detail)


class DpuTimeoutError(RequestTimeoutError, DpuError):
    """A wait reached its limit. The request goes on."""
