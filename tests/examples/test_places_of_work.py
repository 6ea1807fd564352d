# SPDX-License-Identifier: BSD-3-Clause
"""The image of containers, and the settings of an editor: they name what exists."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dpu import asm

ROOT = Path(__file__).resolve().parents[2]
VSCODE = ROOT / "examples/vscode"

PROGRAM = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 1
    .text
    .globl main
main:
    stop
"""

# Keys of the extension ms-vscode.cpptools, as its documentation lists them.
CPPDBG = {
    *("name", "type", "request", "program", "cwd", "MIMode", "miDebuggerPath"),
    *("miDebuggerServerAddress", "debugServerPath", "debugServerArgs", "serverStarted"),
    *("filterStdout", "filterStderr", "processId", "args", "environment"),
}
TASK = {"label", "type", "command", "problemMatcher", "group", "dependsOn"}


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((VSCODE / name).read_text())
    return found


# --- the image ----------------------------------------------------------------------------------


def steps_of_image() -> list[list[str]]:
    text = (ROOT / "Containerfile").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [line.split(maxsplit=1) for line in lines]


def test_image_has_the_packages_of_the_readme_and_extras_that_exist() -> None:
    steps = steps_of_image()
    assert [name for name, _ in steps] == ["FROM", "RUN", "COPY", "RUN", "ENV", "CMD"]
    [named] = re.findall(r"^apt-get install (.*)", (ROOT / "README.md").read_text(), re.MULTILINE)
    [taken] = re.findall(r"--no-install-recommends ([\w .-]+?) &&", steps[1][1])
    assert taken.split() == named.partition("#")[0].split()
    [extras] = re.findall(r"/usr/src/offchip\[(.*?)\]", steps[3][1])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    assert json.loads(steps[5][1]) == ["offchip", "selftest"]


def test_image_takes_no_files_that_a_build_has_left() -> None:
    left_out = (ROOT / ".dockerignore").read_text().splitlines()
    ignored = (ROOT / ".gitignore").read_text()
    native = re.search(r"# Native artefacts.*\n((?:/.*\n)+)", ignored)
    assert native is not None
    assert {line.strip("/") for line in native[1].split()} <= set(left_out)


# --- the editor ---------------------------------------------------------------------------------


def test_keys_are_those_of_the_editor() -> None:
    for one in read("launch.json")["configurations"]:
        assert one["type"] == "cppdbg"
        assert one.keys() <= CPPDBG
    for task in read("tasks.json")["tasks"]:
        assert task.keys() <= TASK


def test_commands_of_tasks_are_installed() -> None:
    labels = {task["label"] for task in read("tasks.json")["tasks"]}
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    for task in read("tasks.json")["tasks"]:
        assert shlex.split(task["command"])[0] in scripts
        assert task.get("dependsOn") in {None, *labels}


def test_server_starts_as_the_editor_starts_it(tmp_path: Path) -> None:
    (tmp_path / "kernel.dpu").write_bytes(asm.assemble(io.StringIO(PROGRAM)))
    one = read("launch.json")["configurations"][0]
    port = one["miDebuggerServerAddress"].rpartition(":")[2]
    assert one["serverStarted"] == f"listening at {one['miDebuggerServerAddress']}"
    words = shlex.split(one["debugServerArgs"].replace("${workspaceFolder}", str(tmp_path)))
    assert words.count(port) == 1
    words[words.index(port)] = "0"  # another test may have that port
    with subprocess.Popen(
        [sys.executable, "-P", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
        finally:
            process.terminate()
    assert re.sub(r"\d+$", port, line.strip()) == one["serverStarted"]


def test_kernel_compiles_as_the_task_says(tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="the compiler of DPU programs (extra toolchain)")
    (tmp_path / "kernel.c").write_text("int main(void)\n{\n    return 0;\n}\n")
    words = shlex.split(read("tasks.json")["tasks"][0]["command"])
    command = shutil.which(words[0], path=str(Path(sys.executable).parent))
    assert command is not None
    subprocess.run([command, *words[1:]], cwd=tmp_path, check=True)
    assert (tmp_path / "kernel.dpu").is_file()
