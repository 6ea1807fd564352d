# SPDX-License-Identifier: BSD-3-Clause
"""Names of symbols as sources have them."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

__all__ = ["readable_name"]


@lru_cache(maxsize=1)
def _demangler() -> Any:
    """Return abi::__cxa_demangle() and free(), or None where there is no libstdc++."""
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return None
    demangle.restype = ctypes.c_void_p
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    release = ctypes.CDLL(None).free
    release.argtypes = [ctypes.c_void_p]
    return demangle, release


@lru_cache(maxsize=1000)
def readable_name(name: str) -> str:
    """Return the name of a symbol; that of C++ with its namespaces and types.

    Where the machine has no libstdc++, such a name stays as it is.
    """
    found = _demangler() if name.startswith("_Z") else None
    if found is None:
        return name
    demangle, release = found
    text = demangle(name.encode(), None, None, ctypes.byref(ctypes.c_int()))
    if text is None:
        return name
    readable = ctypes.string_at(text).decode()
    release(text)
    return readable
