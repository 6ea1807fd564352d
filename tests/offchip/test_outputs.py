# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that are not files stay what they are, whatever a compiler does to its output."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from offchip.outputs import make_executable, written_file
from veo.cli.nec_compiler import _find_output

MODE = 0o640
# As some compilers do it: what is there is replaced, and its mode is not asked for.
REPLACES = f"""#!{sys.executable} -P
import os, sys
output = sys.argv[sys.argv.index("-o") + 1]
with open(output + ".new", "wb") as file:
    file.write(b"made")
os.chmod(output + ".new", 0o755)
os.replace(output + ".new", output)
"""


@contextmanager
def pipe(path: Path) -> Iterator[list[bytes]]:
    """Make a named pipe, which stands for any device, and note what is written into it."""
    os.mkfifo(path, MODE)
    path.chmod(MODE)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    try:
        yield got
    finally:
        if not got:
            # The reader may still wait for somebody to open it.
            with path.open("r+b", buffering=0):
                reader.join(0.2)
        reader.join()
    status = path.stat()
    assert stat.S_ISFIFO(status.st_mode)
    assert stat.S_IMODE(status.st_mode) == MODE


@pytest.mark.parametrize("there", [True, False])
def test_a_file_is_written_by_the_compiler_itself(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "out"
    if there:
        path.write_text("old")
    with written_file(path) as file:
        assert file == path


def test_a_link_stays_and_its_file_gets_the_contents(tmp_path: Path) -> None:
    """A compiler that renames would replace it: /dev/stdout, where that is a file."""
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("file")
    with written_file(tmp_path / "link") as file:
        assert file != tmp_path / "link"
        file.write_bytes(b"contents")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "contents"


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_the_standard_output_gets_the_contents(
    capfdbinary: pytest.CaptureFixture[bytes], name: str
) -> None:
    print("before")
    with written_file(name) as file:
        file.write_bytes(b"contents\n")
    assert capfdbinary.readouterr().out == b"before\ncontents\n"


def test_what_is_no_file_gets_the_contents(tmp_path: Path) -> None:
    with pipe(tmp_path / "out") as got, written_file(tmp_path / "out") as file:
        assert file != tmp_path / "out"
        file.write_bytes(b"contents")
    assert got == [b"contents"]
    assert not file.parent.exists()


def test_nothing_is_copied_of_a_compiler_that_failed(tmp_path: Path) -> None:
    with pipe(tmp_path / "out") as got:
        with pytest.raises(ValueError, match="no"), written_file(tmp_path / "out") as file:
            file.write_bytes(b"half")
            raise ValueError("no")
        assert got == []
        with written_file(tmp_path / "out"):
            pass  # Nor of one that wrote nothing.
        assert got == []


@pytest.mark.parametrize(
    ("umask", "before", "after"),
    [(0o022, 0o644, 0o755), (0o077, 0o600, 0o700), (0o022, 0o4640, 0o4751), (0o027, 0o604, 0o714)],
)
def test_bits_of_a_mode_stay(tmp_path: Path, umask: int, before: int, after: int) -> None:
    path = tmp_path / "program"
    path.touch()
    path.chmod(before)
    old = os.umask(umask)
    try:
        make_executable(path)
        assert os.umask(umask) == umask
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == after


def test_the_mode_of_what_is_no_file_stays(tmp_path: Path) -> None:
    with pipe(tmp_path / "out"):
        make_executable(tmp_path / "out")
    make_executable(tmp_path / "absent")
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize("words", [["-o", "out"], ["-oout"]])
def test_ncc_keeps_what_a_compiler_would_replace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(REPLACES)
    compiler.chmod(0o755)
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    command = [sys.executable, "-m", "veo.cli.nec_compiler", "C", "-c", "a.c", *words]
    environment = {**os.environ, "CC": str(compiler)}
    with pipe(tmp_path / "out") as got:
        assert subprocess.run(command, cwd=tmp_path, env=environment).returncode == 0
    assert got == [b"made"]

    # As /dev/stdout is one, where that is a file.
    (tmp_path / "out").unlink()
    (tmp_path / "out").symlink_to("file")
    (tmp_path / "file").touch()
    assert subprocess.run(command, cwd=tmp_path, env=environment).returncode == 0
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"made"


def test_the_output_is_the_last_word_that_names_one() -> None:
    assert _find_output(["cc", "a.c", "-o", "x", "-O2"]) == (2, 4, "x")
    assert _find_output(["cc", "-ox", "a.c"]) == (1, 2, "x")
    assert _find_output(["cc", "-o", "x", "-oy"]) == (3, 4, "y")
    assert _find_output(["cc", "a.c", "-o"]) == _find_output(["cc", "a.c"]) == (0, 0, "")


def test_a_dpu_program_may_go_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpu.toolchain.command import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UPMEM_HOME", raising=False)
    Path("a.c").write_text("int main(void) { return 0; }\n")
    for option in ("-O2", "-c", "-S"):
        place = Path(f"out{option}")
        with pipe(place) as got:
            assert main([option, "a.c", "-o", str(place)]) == 0
        assert got[0].startswith(b"\x7fELF") or b".text" in got[0]
    with pipe(Path("list")) as got:
        assert main(["-c", "-MMD", "-MF", "list", "a.c", "-o", "./a.o"]) == 0
    assert got[0].startswith(b"./a.o: a.c")
    with pipe(Path("object")):
        assert main(["-c", "-MMD", "-MF", "a.d", "a.c", "-o", "object"]) == 0
    assert Path("a.d").read_text().startswith("object: a.c")
    Path("old").touch(MODE)
    Path("old").chmod(MODE)
    assert main(["a.c", "-o", "old"]) == 0
    assert stat.S_IMODE(Path("old").stat().st_mode) & MODE == MODE
    assert os.access("old", os.X_OK)


def test_a_worker_may_go_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from veo.static_worker import build_static_worker

    compiler = tmp_path / "cc"
    compiler.write_text(REPLACES)
    compiler.chmod(0o755)
    with pipe(tmp_path / "out") as got:
        build_static_worker(tmp_path / "out", ["-lm"], compiler=[str(compiler)])
    assert got == [b"made"]
