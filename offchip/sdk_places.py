# SPDX-License-Identifier: BSD-3-Clause
"""Places where projects look for vendors' SDKs, and what to say if nothing is there."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["PLACES", "own_path", "place_hint"]

# By the command that can make the place.
PLACES = {"veo-env": "/opt/nec/ve", "dpu-env": "/usr/share/upmem"}


def place_hint(words: Sequence[str], command: str) -> str:
    """Say how to make the vendor's usual place, if words of a compiler name it in vain.

    Parameters
    ----------
    words : sequence of str
        Arguments of the compiler.
    command : str
        The command that makes the place, one of `PLACES`.

    Returns
    -------
    str
        A sentence, or "".
    """
    place = PLACES[command]
    if os.path.exists(place) or not any(place in word for word in words):
        return ""
    return f"{place} does not exist: 'sudo {own_path(command)} --at' makes it"


def own_path(prog: str) -> str:
    """Return the path of a command, as sudo does not know that of an environment."""
    path = Path(sys.executable).parent / prog
    return shlex.quote(str(path)) if path.exists() else prog
