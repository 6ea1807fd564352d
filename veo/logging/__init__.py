# SPDX-License-Identifier: BSD-3-Clause
"""Log handlers for what the package does: processes, memory, transfers and calls.

Everything goes to the standard logger ``"veo"``, which stays silent until a handler is set here
or the program configures :mod:`logging` itself. Processes, contexts, allocations, transfers and
calls are logged at INFO.

>>> import veo.logging
>>> logger = veo.logging.set_stream_handler(veo.logging.VEO)
"""

from __future__ import annotations

# This package is called logging too; the import is absolute, so it finds the standard one.
import logging as _logging
import os as _os
import sys as _sys
from logging import INFO, WARN, Logger
from typing import TextIO

__all__ = ["VEO", "reset_handler", "set_file_handler", "set_stream_handler"]

#: Name of the package's logger.
VEO = "veo"

DEFAULT_FORMAT = "%(asctime)s %(levelname)s %(name)s[%(process)d]: %(message)s"

_loggers: dict[str, Logger] = {VEO: _logging.getLogger(VEO)}
_ours: dict[str, list[_logging.Handler]] = {VEO: []}
_loggers[VEO].addHandler(_logging.NullHandler())


def _install(name: str, handler: _logging.Handler, level: int | str, format: str | None) -> Logger:
    logger = _loggers[name]
    handler.setLevel(level)
    handler.setFormatter(_logging.Formatter(format or DEFAULT_FORMAT))
    logger.addHandler(handler)
    _ours[name].append(handler)
    # Several handlers may want different levels: the logger must let the lowest through.
    logger.setLevel(min(h.level for h in _ours[name]))
    return logger


def set_stream_handler(
    logger_name: str,
    stream: TextIO | None = None,
    level: int | str = INFO,
    format: str | None = None,
) -> Logger:
    """Write the log to a stream.

    Calling it again for the same stream changes level and format; it does not print twice.

    Parameters
    ----------
    logger_name : str
        :data:`VEO`.
    stream : text file, optional
        ``sys.stderr`` unless given.
    level : int or str
        Least level that is written.
    format : str, optional
        Format of :class:`logging.Formatter`.

    Returns
    -------
    logging.Logger

    Raises
    ------
    KeyError
        There is no logger of this name.
    """
    _loggers[logger_name]
    target = _sys.stderr if stream is None else stream
    for handler in list(_ours[logger_name]):
        if type(handler) is _logging.StreamHandler and handler.stream is target:
            _remove(logger_name, handler)
    return _install(logger_name, _logging.StreamHandler(target), level, format)


def set_file_handler(
    logger_name: str,
    filename: str | _os.PathLike[str],
    mode: str = "a",
    encoding: str | None = None,
    delay: bool = False,
    level: int | str = INFO,
    format: str | None = None,
) -> Logger:
    """Write the log to a file.

    Parameters
    ----------
    logger_name : str
        :data:`VEO`.
    filename, mode, encoding, delay
        As for :class:`logging.FileHandler`.
    level : int or str
        Least level that is written.
    format : str, optional
        Format of :class:`logging.Formatter`.

    Returns
    -------
    logging.Logger

    Raises
    ------
    KeyError
        There is no logger of this name.
    """
    _loggers[logger_name]
    path = _os.path.abspath(_os.fspath(filename))
    for handler in list(_ours[logger_name]):
        if isinstance(handler, _logging.FileHandler) and handler.baseFilename == path:
            _remove(logger_name, handler)
    handler = _logging.FileHandler(path, mode=mode, encoding=encoding, delay=delay)
    return _install(logger_name, handler, level, format)


def reset_handler(logger_name: str, level: int | str = WARN) -> Logger:
    """Remove and close the handlers set by this module, and set the logger's level.

    Handlers that the program added to the logger by itself stay.

    Returns
    -------
    logging.Logger

    Raises
    ------
    KeyError
        There is no logger of this name.
    """
    logger = _loggers[logger_name]
    for handler in list(_ours[logger_name]):
        _remove(logger_name, handler)
    logger.setLevel(level)
    return logger


def _remove(name: str, handler: _logging.Handler) -> None:
    _loggers[name].removeHandler(handler)
    _ours[name].remove(handler)
    # Closes files; a stream is flushed and left to its owner.
    handler.close()
