# SPDX-License-Identifier: BSD-3-Clause
"""The settings of the environment that accl reads, in one table.

The reader, its errors and ``docs/reference/environment.md`` follow from it. The engine in C reads
``ACCL_JOB`` and ``ACCL_TRANSPORT`` itself, for programs in C; a test compares their words.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from accl.errors import ACCLArgumentError

__all__ = ["SETTINGS", "Setting", "read_setting"]


class Setting(NamedTuple):
    """An environment variable of accl.

    Parameters
    ----------
    words : tuple of str
        The values that are allowed, the default first; empty if any is.
    values, default, meaning : str
        The same in Markdown, and what it does. Without `values` they are the words.
    """

    words: tuple[str, ...]
    values: str
    default: str
    meaning: str

    @property
    def columns(self) -> tuple[str, str, str]:
        """The allowed values, the default and the meaning, in Markdown."""
        allowed = self.values or ", ".join(f"`{word}`" for word in self.words)
        default = self.default or f"`{self.words[0]}`"
        return allowed, default, self.meaning


SETTINGS = {
    "ACCL_LIBRARY": Setting(
        (), "`soft`, `vendor`, or a path", "the first that works", "the library"
    ),
    "ACCL_MEMORY": Setting(
        ("separate", "unified"), "", "", "whether buffers of the host and the device are the same"
    ),
    "ACCL_JOB": Setting(
        (), "a name", "the launcher's", "name of the job, by which ranks find each other"
    ),
    "ACCL_TRANSPORT": Setting(
        ("auto", "shared", "packets"), "", "", "how ranks on this host are reached"
    ),
    "ACCL_PROCESS_MEMORY": Setting(
        ("auto", "never"), "", "", "whether ranks read NumPy arrays in each other's processes"
    ),
    "ACCL_MPI_REDUCTIONS": Setting(
        (),
        "`all`, or `allreduce`, `reduce` and `reduce_scatter` with commas between them",
        "none",
        "reductions that MPI makes itself between hosts; see"
        " [order of sums](../accl.md#order-of-sums)",
    ),
    "ACCL_HOST": Setting((), "a name", "none", "ranks share memory only if theirs is the same"),
}

_told: set[str] = set()


def read_setting(name: str) -> str:
    """Return the value of a variable; without one, or an empty one, the default word.

    Raises
    ------
    ACCLArgumentError
        The value is not one of the words of the table.
    """
    _tell_of_slips()
    words = SETTINGS[name].words
    value = os.environ.get(name, "")
    if not value:
        return words[0] if words else ""
    if words and value not in words:
        allowed = ", ".join(words[:-1]) + f" or {words[-1]}"
        raise ACCLArgumentError(f"{name} is {value!r}: it can be {allowed}")
    return value


def _tell_of_slips() -> None:
    """Name variables that are probably ours and misspelt; the vendor has others of this prefix."""
    unknown = {name for name in os.environ if name.startswith("ACCL_")} - set(SETTINGS) - _told
    if not unknown:
        return
    import logging
    from difflib import get_close_matches

    _told.update(unknown)
    for name in sorted(unknown):
        for meant in get_close_matches(name, SETTINGS, 1, 0.8):
            logging.getLogger("accl").warning("%s is not read: is %s meant?", name, meant)
