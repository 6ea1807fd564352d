# SPDX-License-Identifier: BSD-3-Clause
"""Finds a library as the dynamic loader would, without loading it or starting a program."""

from __future__ import annotations

import os
import struct

__all__ = ["search_library"]

CACHE_PATH = "/etc/ld.so.cache"
CACHE_MAGIC = b"glibc-ld.so.cache1.1"
# After the magic: number of entries, size of the text, flags, offset of extensions, unused.
CACHE_HEADER = struct.Struct("=20s I I B 3x I 12x")
# Flags, name, path, unused, required features; name and path as offsets from the header.
CACHE_ENTRY = struct.Struct("=i I I I Q")
MACHINE = os.uname().machine
# Shared library of glibc, for this processor.
FLAGS = 0x0A03 if MACHINE == "aarch64" else 0x0303

DEFAULT_FOLDERS = (
    f"/lib/{MACHINE}-linux-gnu",
    f"/usr/lib/{MACHINE}-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
)


def search_library(name: str, *, cache_path: str = CACHE_PATH) -> tuple[str, str] | None:
    """Find a library as the dynamic loader does.

    Parameters
    ----------
    name : str
        A file name without a slash, such as ``libveo.so.1``.
    cache_path : str
        The cache that ldconfig writes.

    Returns
    -------
    tuple of str or None
        The path, and a description of where it was found.
    """
    for folder in os.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":"):
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path):
            return path, "LD_LIBRARY_PATH"
    path_or_none = _look_into_cache(name, cache_path)
    if path_or_none is not None:
        return path_or_none, "ldconfig's cache"
    for folder in DEFAULT_FOLDERS:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path, "system folder"
    return None


def _look_into_cache(name: str, cache_path: str) -> str | None:
    try:
        with open(cache_path, "rb") as file:
            data = file.read()
    except OSError:
        return None

    # On old systems a table in an older format precedes this one.
    start = data.find(CACHE_MAGIC)
    wanted = os.fsencode(name) + b"\0"
    if start < 0 or wanted not in data:
        return None

    try:
        count = CACHE_HEADER.unpack_from(data, start)[1]
        position = start + CACHE_HEADER.size
        for _ in range(count):
            flags, key, value, _, _ = CACHE_ENTRY.unpack_from(data, position)
            position += CACHE_ENTRY.size
            at = start + key
            if flags & 0xFFFF == FLAGS and data[at : at + len(wanted)] == wanted:
                end = data.index(b"\0", start + value)
                path = os.fsdecode(data[start + value : end])
                if os.path.isfile(path):
                    return path
    except (struct.error, ValueError):
        # A damaged cache is ignored.
        return None

    return None
