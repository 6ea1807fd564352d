# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of loaded programs, which are read again only if someone asks for their types."""

from __future__ import annotations

import os

__all__ = ["ProgramImage"]

_Stamp = tuple[int, int, int, int]


class ProgramImage:
    """The file of a program at the time when it was loaded.

    Parameters
    ----------
    path : str
        The file.
    """

    def __init__(self, path: str | bytes) -> None:
        self._path = os.path.abspath(os.fsdecode(path))
        try:
            self._stamp: _Stamp | None = _stamp(os.stat(self._path))
        except (OSError, ValueError):
            # That is for the library to report.
            self._stamp = None

    def read(self) -> bytes:
        """Return its contents.

        Raises
        ------
        TypeError
            The file has changed since then, or cannot be read.
        """
        try:
            with open(self._path, "rb") as stream:
                data = stream.read()
                after = _stamp(os.fstat(stream.fileno()))
        except OSError as error:
            raise TypeError(
                f"the types of variables are in {self._path}, which cannot be read any more "
                f"({error.strerror}); pass a dtype"
            ) from error
        if after != self._stamp:
            raise TypeError(
                f"{self._path} has changed since it was loaded, so that the types of its variables "
                "are not known; load it again, or pass a dtype"
            )
        return data


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
