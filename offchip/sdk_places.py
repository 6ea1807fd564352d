# SPDX-License-Identifier: BSD-3-Clause
"""Places where projects look for vendors' SDKs, and what to say if nothing is there."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["PLACES", "own_path", "place_hint"]

# By the command that makes them: each place, and which part of the command's folder is there. The
# first may be elsewhere too.
PLACES = {
    "veo-env": {"/opt/nec/ve": "ve"},
    "dpu-env": {
        "/usr/share/upmem": "share/upmem",
        "/usr/include/dpu": "include/dpu",
        "/usr/lib/libdpu.so": "lib/libdpu.so",
    },
}


def place_hint(words: Sequence[str], command: str) -> str:
    """Say how to make the vendor's usual places, if words of a compiler name one in vain.

    Parameters
    ----------
    words : sequence of str
        Arguments of the compiler.
    command : str
        The command that makes the places, one of `PLACES`.

    Returns
    -------
    str
        A sentence, or "".
    """
    for place in PLACES[command]:
        if any(place in word for word in words) and not os.path.exists(place):
            return f"{place} does not exist: 'sudo {own_path(command)} --at' makes it"
    return ""


def own_path(prog: str) -> str:
    """Return the path of a command, as sudo does not know that of an environment."""
    path = Path(sys.executable).parent / prog
    return shlex.quote(str(path)) if path.exists() else prog
