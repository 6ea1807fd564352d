# SPDX-License-Identifier: BSD-3-Clause
"""`make check` finds what a change touches."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from buildtools import check

LAYOUT = "tests/test_layout.py"


@pytest.mark.parametrize(
    ("changed", "tested", "untested"),
    [
        ("csrc/accl/arithmetic/half.c", ["tests/accl/unit", "tests/accl/package"], "tests/dpu"),
        ("csrc/dpu/machine/x.c", ["tests/dpu/unit", "tests/dpu/reference"], "tests/accl"),
        (
            "csrc/formats/x.c",
            ["tests/formats/unit", "tests/dpu/abi", "tests/veo/abi"],
            "tests/accl",
        ),
        ("dpu/toolchain/build.py", ["tests/dpu/toolchain", "tests/offchip"], "tests/veo"),
        ("accelforge/mapper/x.py", ["tests/accelforge/mapper"], "tests/dpu"),
        ("tests/dpu/asm/test_forms.py", ["tests/dpu/asm/test_forms.py"], "tests/offchip"),
        ("tests/dpu/unit/test_queue.c", ["tests/dpu/unit"], "tests/offchip"),
        ("buildtools/graph.py", ["tests/packaging"], "tests/offchip"),
        ("CMakeLists.txt", ["tests/packaging"], "tests/offchip"),
        ("docs/install.md", ["tests/examples"], "tests/offchip"),
        ("LICENSE", [LAYOUT], "tests/offchip"),
    ],
)
def test_folders_say_which_tests_are_run(changed: str, tested: list[str], untested: str) -> None:
    chosen = check.choose_tests([changed])
    assert set(tested) <= set(chosen)
    assert LAYOUT in chosen
    assert "tests" not in chosen
    assert not [name for name in chosen if name.startswith(untested)]
    assert all((check.ROOT / name).exists() for name in chosen if "test_queue" not in name)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_files_that_differ_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        command = ["git", "-c", "user.name=n", "-c", "user.email=n@localhost", *words]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(check, "ROOT", tmp_path)
    git("init", "-b", "main")
    for name in ("kept", "changed", "gone", "committed"):
        (tmp_path / name).write_text(name)
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "work")
    (tmp_path / "committed").write_text("else")
    git("commit", "-a", "-m", "second")
    (tmp_path / "changed").write_text("else")
    (tmp_path / "fresh").write_text("")
    (tmp_path / "gone").unlink()
    (tmp_path / "ignored").write_text("")
    (tmp_path / ".git/info/exclude").write_text("ignored\n")
    assert check.changed_files(check.find_base()) == ["changed", "committed", "fresh"]
    assert check.changed_files("HEAD") == ["changed", "fresh"]


def test_linters_are_told_of_files_of_their_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def note(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append([Path(command[0]).name, *command[1:]])
        return subprocess.CompletedProcess(command, command[0].name == "ruff", "bad", "")  # type: ignore[attr-defined]

    monkeypatch.setattr(subprocess, "run", note)
    monkeypatch.setattr(Path, "exists", lambda _: True)
    files = ["a.py", "csrc/a.c", "csrc/a.h", "csrc/dpu/runtime/b.c", "tests/c.c", "d.pyx", "e.md"]
    assert check.lint(files) == 2
    assert [command[0] for command in commands] == [
        "ruff",
        "ruff",
        "mypy",
        "clang-format",
        "clang-tidy",
        "cython-lint",
    ]
    assert commands[3][-4:] == ["csrc/a.c", "csrc/a.h", "csrc/dpu/runtime/b.c", "tests/c.c"]
    assert commands[4][-2:] == ["build/release", "csrc/a.c"]
    assert commands[5][1:] == ["d.pyx"]
