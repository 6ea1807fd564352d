# SPDX-License-Identifier: BSD-3-Clause
"""`make demo` in a fresh clone: what is built first is shown first, and the rest may fail."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# Stands for the environment's interpreter: it notes what it is to do. `graph` without a target is
# the rest of the build.
PYTHON = """#!/bin/sh
case "$*" in *pip*) exit 0 ;; esac
echo "$*" >>said
if [ "$*" = "-m buildtools.graph" ]; then
    touch begun
    %s
fi
"""
FIRST = ["-m buildtools.graph release first", "examples/demo.py --part=first"]
REST = ["-m buildtools.graph", "examples/demo.py --part=rest"]


@pytest.fixture
def clone(root: Path, tmp_path: Path) -> Path:
    if not (root / "Makefile").exists() or shutil.which("make") is None:
        pytest.skip("needs make and a checkout")
    shutil.copy(root / "Makefile", tmp_path)
    shutil.copytree(root / "buildtools", tmp_path / "buildtools")
    shutil.copy(root / "pyproject.toml", tmp_path)
    shutil.copy(root / "setup.py", tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "made").touch()
    os.utime(tmp_path / "pyproject.toml", (0, 0))
    os.utime(tmp_path / "setup.py", (0, 0))
    return tmp_path


def start(clone: Path, rest: str = ":") -> subprocess.Popen[str]:
    """Start `make demo` as a terminal does, with a command in place of the rest of the build."""
    python = clone / ".venv" / "bin" / "python"
    python.write_text(PYTHON % rest)
    python.chmod(0o755)
    keep = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.Popen(
        ["make", "demo", f"PYTHON={sys.executable}"],
        cwd=clone,
        env=keep,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def said(clone: Path) -> list[str]:
    return (clone / "said").read_text().splitlines()


def test_first_part_is_shown_before_the_rest_is_built(clone: Path) -> None:
    make = start(clone)
    make.communicate(timeout=50)
    assert make.returncode == 0
    # Building for the editable installation asks for all once more.
    found = list(dict.fromkeys(said(clone)))
    assert found == FIRST + REST

    (clone / "said").unlink()
    make = start(clone)
    make.communicate(timeout=50)
    assert make.returncode == 0
    assert said(clone)[-1] == "examples/demo.py"
    assert set(said(clone)[:-1]) == {"-m buildtools.graph"}


def test_rest_that_cannot_be_built_ends_the_demo(clone: Path) -> None:
    make = start(clone, "echo planted: no compiler >&2; exit 3")
    output, _ = make.communicate(timeout=50)
    assert make.returncode == 2
    assert "planted: no compiler" in output
    assert said(clone) == [*FIRST, "-m buildtools.graph"]


def test_interrupt_ends_the_build_and_the_demo(clone: Path) -> None:
    os.mkfifo(clone / "latch")
    make = start(clone, "exec cat latch")
    with open(clone / "latch", "w"):  # waits for the rest to begin
        os.killpg(make.pid, signal.SIGINT)
        make.communicate(timeout=50)  # all that hold the pipe have ended
    assert make.returncode != 0
    assert said(clone) == [*FIRST, "-m buildtools.graph"]


# Run in the place of the demo, to tell what it has loaded.
SHOW = """if True:
    import runpy, sys
    sys.path.insert(0, "examples")
    try:
        runpy.run_path("examples/demo.py", run_name="__main__")
    except SystemExit as error:
        assert not error.code
    with open("/proc/self/maps") as maps:
        print("files", *{line.split()[-1] for line in maps if ".so" in line})
    foreign = {name.partition(".")[0] for name, module in sys.modules.items()
               if "-packages/" in (getattr(module, "__file__", None) or "")}
    print("foreign", *foreign)
"""


def test_first_part_needs_what_is_built_and_fetched_first(root: Path, tmp_path: Path) -> None:
    """Elsewhere the rest is there too: only a fresh clone would miss it."""
    built = re.search(r"add_dependencies\(first (.*)\)", (root / "CMakeLists.txt").read_text())
    assert built is not None
    command = [sys.executable, "-c", SHOW, "--part=first", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    words = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.strip()}

    loaded = [Path(file) for file in words["files"]]
    packages = ("offchip", "veo", "dpu", "accl", "accelforge")
    ours = {
        f"{file.parent.name}.{file.name.partition('.')[0]}"
        for file in loaded
        if str(file).startswith(tuple(f"{root}/{package}/" for package in packages))
    }
    assert ours == set(built[1].split())

    # setuptools puts a module of its own into every interpreter.
    assert set(words["foreign"]) - {"_distutils_hack"} == {"yaml", "jinja2", "markupsafe"}

    page = (tmp_path / "index.html").read_text()
    assert 'http-equiv="refresh"' in page
    assert [name for name in ("unfused.svg", "fused.svg") if name not in page] == []
    assert "<svg" in (tmp_path / "fused.svg").read_text()
