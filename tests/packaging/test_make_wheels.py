# SPDX-License-Identifier: BSD-3-Clause
"""Checks that `make wheels` does before it begins, and how it hands on names with spaces."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

import pytest

# Programs that the checks of the Makefile run; no compiler.
TOOLS = ("sh", "make", "find", "sed", "nproc", "env")


@pytest.fixture
def bare(tmp_path, root):
    """A folder with our Makefile and scripts that say they were reached, and a PATH of TOOLS."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    tree = tmp_path / "a tree"
    (tree / "buildtools").mkdir(parents=True)
    (tree / "include").mkdir()
    (tree / "csrc").mkdir()
    shutil.copy(root / "Makefile", tree)
    for name in ("manylinux.sh", "wheel.sh"):
        (tree / "buildtools" / name).write_text('echo "reached with <$1>"\n')
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in TOOLS:
        if (found := shutil.which(name)) is not None:
            (programs / name).symlink_to(found)

    def run(target: str, python: str) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if k not in ("CC", "MAKEFLAGS")}
        return subprocess.run(
            ["make", "-C", str(tree), target, f"PYTHON={python}"],
            env={**environment, "PATH": str(programs)},
            capture_output=True,
            text=True,
        )

    return run


def test_wheels_need_no_compiler_but_zig(bare):
    done = bare("wheels", sys.executable)
    assert done.returncode == 0, done.stderr
    assert f"reached with <{sys.executable}>" in done.stdout


def test_wheel_for_this_machine_needs_one(bare):
    done = bare("wheel", sys.executable)
    assert done.returncode != 0
    assert "no C compiler (gcc)" in done.stderr
    assert "reached" not in done.stdout


def test_wheels_need_a_python(bare):
    done = bare("wheels", "/no/such/python3")
    assert done.returncode != 0
    assert "/no/such/python3 was not found" in done.stderr
    assert "reached" not in done.stdout


def test_wheels_need_headers_of_python(bare, tmp_path):
    # An interpreter whose headers are elsewhere, as where only python3 is installed.
    script = tmp_path / "python-without-headers"
    script.write_text(
        '#!/bin/sh\ncase "$2" in *Python.h*) exit 1 ;; esac\n'
        f'exec {shlex.quote(sys.executable)} "$@"\n'
    )
    script.chmod(0o755)
    done = bare("wheels", str(script))
    assert done.returncode != 0
    assert "Python.h was not found" in done.stderr


def test_script_s_commands_survive_folders_with_spaces(root, tmp_path):
    """The function `program` of the script makes one word of any command."""
    text = (root / "buildtools/manylinux.sh").read_text()
    start = text.index("program() {")
    function = text[start : text.index("\n}\n", start) + 3]
    tools = tmp_path / "it's a folder"
    tools.mkdir()
    (tools / "python").symlink_to(sys.executable)
    show = tools / "show it.py"
    show.write_text("import sys; print(sys.argv[1:])")
    script = f'tools=$1\n{function}program "$2" "$tools/python" "$3" "a b"'
    made = tmp_path / "made"
    subprocess.run(["sh", "-euc", script, "sh", tools, made, show], check=True)
    done = subprocess.run([made, "c d", "-e"], capture_output=True, text=True, check=True)
    assert done.stdout == "['a b', 'c d', '-e']\n"
