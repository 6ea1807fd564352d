# SPDX-License-Identifier: BSD-3-Clause
"""Names of atomic bits, of which locks are made."""

from __future__ import annotations

from collections.abc import Iterable

from .format import ATOMIC_BASE
from .reader import ElfSymbol

__all__ = ["lock_name"]

# As libdpu names them: the first prefix that fits.
_KINDS = (
    ("__atomic_bit_mutex_", "mutex"),
    ("__atomic_bit_barrier_", "the guard of barrier"),
    ("__atomic_bit_rwlock_", "rwlock"),
    ("__atomic_bit_semaphore_", "the guard of semaphore"),
    ("hw_mutexes_", "a mutex of the pool"),
    ("__atomic_bit_", "atomic bit"),
    ("", "atomic bit"),
)


def lock_name(symbols: Iterable[ElfSymbol], bit: int | None) -> str:
    """Return the name of an atomic bit of a program with these symbols, as a user knows it."""
    if bit is None:
        return "an atomic bit"
    found = [
        symbol
        for symbol in symbols
        if symbol.value >= ATOMIC_BASE and 0 <= bit - (symbol.value & 0xFF) < symbol.size
    ]
    if not found:
        return f"atomic bit {bit}"
    name = min(found, key=lambda symbol: symbol.size).name
    prefix, kind = next(item for item in _KINDS if name.startswith(item[0]))
    return f"{kind} '{name[len(prefix) :]}'"
