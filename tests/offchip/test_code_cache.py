# SPDX-License-Identifier: BSD-3-Clause
"""Cached files are used if they are whole and this user's; anything else is made again."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from offchip import code_cache as cache

NAME = "thing-0123"
NOBODY = 65534


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_temporary", None)
    return cache.cache_folder("dpu")


class Maker:
    """Fills entries, and counts how often."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, folder: Path) -> None:
        self.count += 1
        (folder / "program").write_bytes(b"content" * 100)
        (folder / "part").mkdir()
        (folder / "part" / "more").write_bytes(b"more")

    def get(self, name: str = NAME) -> bytes:
        entry = cache.keep("dpu", name, self)
        return (entry / "program").read_bytes() + (entry / "part" / "more").read_bytes()


WHOLE = b"content" * 100 + b"more"


def truncate(entry: Path) -> None:
    os.truncate(entry / "program", 10)


def empty(entry: Path) -> None:
    os.truncate(entry / "part" / "more", 0)


def change(entry: Path) -> None:
    (entry / "program").write_bytes(b"Content" * 100)


def lose(entry: Path) -> None:
    (entry / "part" / "more").unlink()


def add(entry: Path) -> None:
    (entry / "another").touch()


def lose_the_list(entry: Path) -> None:
    (entry / ".contents").unlink()


def lose_all(entry: Path) -> None:
    shutil.rmtree(entry)
    entry.mkdir()


def replace_by_another(entry: Path) -> None:
    other = cache.keep("dpu", "thing-4567", Maker())
    shutil.rmtree(entry)
    shutil.copytree(other, entry)


def replace_by_a_file(entry: Path) -> None:
    shutil.rmtree(entry)
    entry.write_bytes(b"")


def replace_by_a_link(entry: Path) -> None:
    entry.rename(entry.with_name("elsewhere"))
    entry.symlink_to("elsewhere")


def link_a_file(entry: Path) -> None:
    (entry / "program").rename(entry.parent / "elsewhere")
    (entry / "program").symlink_to(entry.parent / "elsewhere")


def make_a_pipe(entry: Path) -> None:
    (entry / "program").unlink()
    os.mkfifo(entry / "program")


def make_the_list_a_pipe(entry: Path) -> None:
    (entry / ".contents").unlink()
    os.mkfifo(entry / ".contents")


def replace_by_a_pipe(entry: Path) -> None:
    shutil.rmtree(entry)
    os.mkfifo(entry)


DAMAGE = [
    *(make_a_pipe, make_the_list_a_pipe, replace_by_a_pipe),
    *(truncate, empty, change, lose, add, lose_the_list, lose_all),
    *(replace_by_another, replace_by_a_file, replace_by_a_link, link_a_file),
]


def entries(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".lock"}


def test_an_entry_is_made_once(folder: Path) -> None:
    maker = Maker()
    assert maker.get() == maker.get() == WHOLE
    assert maker.count == 1
    assert entries(folder) == {NAME}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_made_again(folder: Path, damage: Callable[[Path], None]) -> None:
    maker = Maker()
    maker.get()
    damage(folder / NAME)
    assert maker.get() == maker.get() == WHOLE
    assert maker.count == 2
    assert not [name for name in entries(folder) if name.startswith(".")]


WAITERS = """
import os, sys
from offchip import code_cache as cache
def make(folder):
    with open(sys.argv[1], "a") as log:
        log.write("made\\n")
    (folder / "program").write_bytes(b"x")
    open(sys.argv[2]).read()
print("ready", flush=True)
cache.keep("dpu", "thing-0", make)
"""


def test_one_process_makes_an_entry_and_others_wait(folder: Path, tmp_path: Path) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    os.mkfifo(gate)
    command = [sys.executable, "-P", "-c", WAITERS, str(log), str(gate)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    # Opens when one of them has begun to make it.
    gate.open("w").close()
    statuses = [process.wait(100) for process in processes]
    for process in processes:
        assert process.stdout is not None
        process.stdout.close()
    assert statuses == [0] * 4 and log.read_text() == "made\n"


@pytest.mark.parametrize("name", ["offchip", "offchip/dpu"])
def test_a_link_in_the_way_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    target.chmod(0o777)
    link = tmp_path / "cache" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_temporary", None)
    with pytest.warns(RuntimeWarning, match="is not a folder; what is compiled is not kept"):
        assert tmp_path not in cache.cache_folder("dpu").parents
    assert not list(target.iterdir()) and target.stat().st_mode & 0o777 == 0o777


def test_a_lock_that_is_a_link_or_a_pipe_is_not_used(folder: Path, tmp_path: Path) -> None:
    (folder / ".lock").symlink_to(tmp_path / "made by a link")
    assert Maker().get() == WHOLE
    (folder / ".lock").unlink()
    os.mkfifo(folder / ".lock")
    assert Maker().get("thing-1") == WHOLE
    assert not (tmp_path / "made by a link").exists()


def test_a_user_without_a_home_has_a_temporary_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_entry(_: int) -> None:
        raise KeyError

    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", no_entry)
    monkeypatch.setattr(cache, "_temporary", None)
    with pytest.warns(RuntimeWarning, match="no home folder; what is compiled is not kept"):
        assert Maker().get() == WHOLE
    # It is told once.
    assert cache.cache_folder("dpu").name.startswith("offchip-cache-")


FULL = """
import pathlib, warnings
from offchip import code_cache as cache
def make(folder):
    (folder / "program").write_bytes(b"x" * 300000)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    entry = cache.keep("dpu", "thing-0", make)
print((entry / "program").stat().st_size, len(said), said[0].message)
"""


def test_a_full_disk_costs_time_only(tmp_path: Path) -> None:
    shell = 'mount -t tmpfs -o size=64k none "$1" && XDG_CACHE_HOME=$1 exec "$2" -P -c "$3"'
    small = tmp_path / "small"
    small.mkdir()
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", shell, "sh", str(small), sys.executable, FULL],
        capture_output=True,
        text=True,
        timeout=100,
    )
    if done.returncode != 0 and ("unshare" in done.stderr or "mount" in done.stderr):
        pytest.skip(f"no file system of a few bytes: {done.stderr.strip()}")
    assert done.stdout.startswith("300000 1 ") and "No space left" in done.stdout, done.stderr
    assert "what is compiled is not kept" in done.stdout


def test_an_entry_that_another_process_puts_there_first_is_used(folder: Path) -> None:
    first, second = Maker(), Maker()

    def overtaken(fresh: Path) -> None:
        second(fresh)
        # It has not waited, as on a file system without locks.
        cache._make(folder / NAME, first)

    entry = cache.keep("dpu", NAME, overtaken)
    assert (first.count, second.count) == (1, 1)
    assert (entry / "program").read_bytes() == b"content" * 100


def give_away(path: Path, mode: int) -> None:
    if os.geteuid() != 0:
        pytest.skip("only the superuser can give a folder away")
    os.chown(path, NOBODY, NOBODY)
    path.chmod(mode)


@pytest.mark.parametrize("name", ["", "offchip", "offchip/dpu"])
def test_a_folder_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    foreign = tmp_path / "cache" / name
    foreign.mkdir(parents=True)
    give_away(foreign, 0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_temporary", None)
    with pytest.warns(
        RuntimeWarning, match="belongs to another user; what is compiled is not kept"
    ):
        folder = cache.cache_folder("dpu")
    assert tmp_path not in folder.parents
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not list(foreign.glob("dpu/*"))


def test_a_base_that_everyone_can_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "cache"
    base.mkdir()
    base.chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(base))
    monkeypatch.setattr(cache, "_temporary", None)
    with pytest.warns(RuntimeWarning, match="is writable by everyone"):
        assert base not in cache.cache_folder("dpu").parents
    # As /tmp, where nobody can rename what is another's.
    base.chmod(0o1777)
    assert base in cache.cache_folder("dpu").parents


def test_an_own_folder_that_others_could_write_to_is_closed(folder: Path) -> None:
    folder.chmod(0o777)
    assert cache.cache_folder("dpu") == folder
    assert folder.stat().st_mode & 0o777 == 0o755


def test_an_entry_of_another_user_is_made_again(folder: Path) -> None:
    maker = Maker()
    maker.get()
    give_away(folder / NAME, 0o755)
    assert maker.get() == WHOLE
    assert maker.count == 2
    assert (folder / NAME).stat().st_uid == os.geteuid()


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_what_was_not_used_for_longest_is_forgotten(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = Maker()
    for number in range(4):
        maker.get(f"thing-{number}")
        age(folder / f"thing-{number}", 10_000 - number)
    maker.get("thing-1")
    for name in (".new-abandoned", ".old-abandoned", ".new-in-use"):
        (folder / name).mkdir()
        age(folder / name, 10 if name == ".new-in-use" else 10_000)

    monkeypatch.setattr(cache, "_LIMIT", 2)
    # Another process is at it.
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    maker.get("thing-4")
    assert len(entries(folder)) == 8
    os.close(descriptor)

    maker.get("thing-5")
    # Those that are in use stay, even if they are too many.
    assert entries(folder) == {*("thing-1", "thing-4", "thing-5", ".new-in-use")}


def test_processes_that_damage_entries_do_not_disturb_others(folder: Path) -> None:
    script = (
        "import os, sys\nfrom offchip import code_cache as cache\n"
        "cache._LIMIT, cache._IN_USE = 1, 30.0\n"
        "def make(folder):\n    (folder / 'program').write_bytes(b'x' * 5000)\n"
        "for turn in range(40):\n"
        "    entry = cache.keep('dpu', f'thing-{turn % 3}', make)\n"
        "    if sys.argv[1] == 'damage' and turn % 4 == 0:\n"
        "        try:\n            os.truncate(entry / 'program', 7)\n"
        "        except OSError:\n            pass\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-P", "-c", script, kind])
        for kind in ("damage", "use", "use")
    ]
    assert [process.wait(100) for process in processes] == [0, 0, 0]
    assert not [name for name in entries(folder) if name.startswith(".")]
