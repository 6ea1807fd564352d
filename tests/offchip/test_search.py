# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import struct

import pytest

from offchip.search import search_library


@pytest.fixture(autouse=True)
def _no_search_path(monkeypatch):
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)


def cache_of(libraries, *, old_part=b"", flags=0x0303):
    """Make a cache as ldconfig writes it."""
    start = 48 + 24 * len(libraries)
    text, entries = b"", b""
    for name, path in libraries:
        # Names are the ends of paths where they can be, as the tool of glibc does it.
        path_at = start + len(text)
        name_at = path_at + len(path) - len(name)
        assert path.endswith(name)
        text += path.encode() + b"\0"
        entries += struct.pack("=iIIIQ", flags, name_at, path_at, 0, 0)
    head = b"glibc-ld.so.cache1.1" + struct.pack("=II20x", len(libraries), len(text))
    return old_part + head + entries + text


@pytest.mark.parametrize("old_part", [b"", b"ld.so-1.7.0\0 a table of the old kind \0"])
def test_cache_is_read(tmp_path, old_part):
    library = tmp_path / "libonly-here.so.1"
    library.touch()
    cache = tmp_path / "cache"
    others = [("libx.so", "/nowhere/libx.so")]
    cache.write_bytes(cache_of([*others, (library.name, str(library))], old_part=old_part))
    found = search_library(library.name, cache_path=str(cache))
    assert found == (str(library), "ldconfig's cache")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:60],
        lambda data: b"",
        lambda data: data.replace(b"1.1", b"2.0"),
        lambda data: data.rstrip(b"\0"),
    ],
    ids=["short", "empty", "version", "unterminated"],
)
def test_damaged_cache_is_no_cache(tmp_path, change):
    library = tmp_path / "libonly-here.so.1"
    library.touch()
    cache = tmp_path / "cache"
    cache.write_bytes(change(cache_of([(library.name, str(library))])))
    assert search_library(library.name, cache_path=str(cache)) is None


def test_entry_for_another_machine_or_a_lost_file_is_passed_over(tmp_path):
    library = tmp_path / "libonly-here.so.1"
    cache = tmp_path / "cache"
    cache.write_bytes(cache_of([(library.name, str(library))]))
    assert search_library(library.name, cache_path=str(cache)) is None
    library.touch()
    cache.write_bytes(cache_of([(library.name, str(library))], flags=0x0003))
    assert search_library(library.name, cache_path=str(cache)) is None


def test_search_path_comes_first(tmp_path, monkeypatch):
    for folder in ("empty", "first", "second"):
        (tmp_path / folder).mkdir()
    for folder in ("first", "second"):
        (tmp_path / folder / "libc.so.6").touch()
    value = ":".join(["", *(str(tmp_path / name) for name in ("empty", "first", "second"))])
    monkeypatch.setenv("LD_LIBRARY_PATH", value)
    assert search_library("libc.so.6") == (str(tmp_path / "first" / "libc.so.6"), "LD_LIBRARY_PATH")


def test_system_s_own_library_is_found():
    path, _ = search_library("libc.so.6")
    assert path.endswith("libc.so.6")


def test_unknown_name_is_not_found():
    assert search_library("libno-such-thing.so.9") is None
