# SPDX-License-Identifier: BSD-3-Clause
"""Work of the demonstration: its text, and how it is shared out."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np

__all__ = ["BYTES_PER_DPU", "DPUS", "RANKS", "read_text"]

RANKS = 4
#: DPUs of each rank.
DPUS = 4
BYTES_PER_DPU = 256 << 10


def read_text(ranks: int = RANKS) -> np.ndarray:
    """Read the sources of Python's standard library, as many bytes as all DPUs hold.

    Parameters
    ----------
    ranks : int
        How many ranks share the text.

    Returns
    -------
    numpy.ndarray of uint8
        If the library is shorter, its text is repeated.
    """
    size = ranks * DPUS * BYTES_PER_DPU
    parts: list[bytes] = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        parts.append(path.read_bytes())
        if sum(map(len, parts)) >= size:
            break
    text = b"".join(parts)
    return np.frombuffer((text * (size // len(text) + 1))[:size], np.uint8)
