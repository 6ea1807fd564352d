# SPDX-License-Identifier: BSD-3-Clause
"""Finds and reads the files that YAML files name."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable
from typing import Any

from accelforge.util.budget import current, spend
from accelforge.util.exceptions import EvaluationError, Place

__all__ = ["find_path", "find_paths", "read_text"]

MAX_BYTES = 8 << 20
# Where more steps are allowed, as many as they could pay for.
BYTES_OF_STEP = 8
# To find, open and close it.
STEPS_OF_FILE = 30
# Each part of a pattern with wildcards multiplies what is looked at.
MAX_WILD_PARTS = 2


def _candidates(name: str, file: str, folders: Iterable[str]) -> list[str]:
    if os.path.isabs(name):
        return [os.path.realpath(name)]
    beside = os.path.dirname(os.path.abspath(file))
    return [os.path.realpath(os.path.join(folder, name)) for folder in (beside, *folders)]


def find_path(name: str, file: str, folders: Iterable[str]) -> str:
    """Find a file or folder.

    Parameters
    ----------
    name : str
        Absolute, or relative to one of the folders.
    file : str
        File that names it; its folder comes first.
    folders : iterable of str
        Further folders.
    """
    searched = _candidates(name, file, folders)
    for path in searched:
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"{name} not found; searched for {', '.join(searched)}")


def find_paths(name: Any, file: str, folders: Iterable[str]) -> list[str]:
    """Find all files that match a pattern, or each of a list of patterns."""
    if isinstance(name, (list, tuple)):
        found = [path for item in name for path in find_paths(item, file, folders)]
    else:
        if sum(glob.has_magic(part) for part in str(name).split("/")) > MAX_WILD_PARTS:
            raise EvaluationError(f"{name} has wildcards in more than {MAX_WILD_PARTS} parts")
        searched = _candidates(str(name), file, folders)
        found = [path for pattern in searched for path in sorted(glob.glob(pattern))]
        if not found:
            raise FileNotFoundError(f"{name} not found; searched for {', '.join(searched)}")
    spend(10 * len(found))
    return list(dict.fromkeys(os.path.realpath(path) for path in found))


def read_text(path: str) -> str:
    """Read a regular file of text; devices and pipes may have no end, or never begin.

    Parameters
    ----------
    path : str
        The file.

    Raises
    ------
    EvaluationError
        It is no regular file, too large, not text, or cannot be read.
    """
    # Opening a socket or a terminal fails; a folder opens, and reading some files fails.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise EvaluationError(f"{path} is not a regular file, and is not read")
            most = max(MAX_BYTES, BYTES_OF_STEP * current().steps)
            with open(descriptor, "rb", closefd=False) as file:
                # None of /proc/kmsg, if the kernel has nothing to say.
                content = file.read(most + 1) or b""
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > most:
        raise EvaluationError(
            f"{path} has more than {most >> 20} MiB, and is not read; accelforge.limits() allows "
            f"for more, in a file that you trust"
        )
    spend(STEPS_OF_FILE + (len(content) >> 6))
    try:
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        located = EvaluationError(f"{path} is not UTF-8 text: {error.reason}")
        located.locate(Place(path, content.count(b"\n", 0, error.start) + 1))
        raise located from None
