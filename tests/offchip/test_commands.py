# SPDX-License-Identifier: BSD-3-Clause
"""Every command that a package has: `python -m` of a module, and the console scripts."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("offchip", "veo", "dpu", "accl", "accelforge")
# Parts of a demonstration, a measurement or a compiler, which other processes start.
PARTS = {"offchip.demo.rank", "accelforge.kernels.accl_ranks", "veo.ve_structures"}


def find_modules() -> list[str]:
    """List the modules that can be run."""
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if '__name__ == "__main__"' in path.read_text():
                parts = path.relative_to(ROOT).with_suffix("").parts
                found.append(".".join(part for part in parts if part != "__main__"))
    return [module for module in found if module not in PARTS]


def test_modules_are_found():
    assert {"offchip", "veo", "dpu", "accl", "accl.as_pyaccl", "dpu.asm"} <= set(find_modules())


@functools.cache
def help_of(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*words, "--help"], capture_output=True, text=True, cwd="/")


@pytest.mark.parametrize("module", find_modules())
def test_help(module):
    done = help_of(*words_of(f"python -m {module}"))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert re.match(r"usage: \S+", done.stdout)
    assert len(done.stdout.splitlines()) > 2


# --- the table of commands ----------------------------------------------------------------------

# Commands that `python -m PACKAGE.selftest` and such are parts of, and commands of other names.
SHOWN_ELSEWHERE = {
    **{f"{package}.{part}": "offchip" for package in PACKAGES for part in ("selftest", "bench")},
    "offchip": "offchip info",
    "offchip.demo": "offchip demo",
    "veo.cli.nec_folder": "veo-env",
    "veo.cli.nec_compiler": "veo-env",
    "veo.cli.mk_veorun": "veo-env",
    "veo.cli.ve_sysfs": "ve-sysfs",
    **{f"{name}.pkg_config": "dpu-pkg-config" for name in ("dpu.cli", "veo.cli", "accl")},
    "dpu.cli.upmem_home": "dpu-env",
    "dpu.cli.profiling": "dpu-profiling",
    "dpu.toolchain.command": "dpu-clang",
    "dpu.lldb": "dpu-lldb",
    "dpu.debugger": "dpu-lldb",
    "accelforge.export_problem": "a tool of the tests",
}


def table() -> dict[str, str]:
    """Map commands of docs/commands.md to what it says of their JSON."""
    found = {}
    for line in (ROOT / "docs/commands.md").read_text().splitlines():
        if line.startswith("| `"):
            names, says = line.strip("|").split("|")[:2]
            found |= dict.fromkeys(re.findall(r"`([^`]+)`", names), says.strip())
    return found


def test_table_has_every_command():
    with (ROOT / "pyproject.toml").open("rb") as stream:
        scripts = set(tomllib.load(stream)["project"]["scripts"]) - {"offchip"}
    modules = {f"python -m {name}" for name in find_modules() if name not in SHOWN_ELSEWHERE}
    named = set(table())
    assert scripts - named == set()
    assert modules - named == set()
    assert {name for name in named if name.startswith("python")} <= modules


def words_of(command: str) -> list[str]:
    name, *rest = command.split()
    if name == "python":
        return [sys.executable, "-P", *rest]
    folder = Path(sys.executable).parent
    # Programs in C come with the trees that veo-env and dpu-env make.
    return [str(folder / name if (folder / name).exists() else ROOT / "veo/bin" / name), *rest]


@pytest.mark.parametrize("command", table())
def test_table_is_right_about_json(command):
    done = help_of(*words_of(command))
    assert ("--json" in done.stdout) == (not table()[command].startswith("no:")), command


MANUALS = ROOT / "docs/man"


def test_every_command_has_a_manual_page():
    named = {name.replace(" ", "-") for name in table() if not name.startswith("python ")}
    assert named | {"offchip"} == {path.stem for path in MANUALS.glob("*.1")}


@pytest.mark.parametrize("page", sorted(path.name for path in MANUALS.glob("*.1")))
def test_manual_page_has_what_the_help_says(page):
    name = page.removesuffix(".1")
    words = name.split("-", 1) if name.startswith("offchip-") else [name]
    text = (MANUALS / page).read_text().replace(r"\-", "-")
    headings = re.findall(r"^\.SH (.*)", text, re.MULTILINE)
    wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
    assert [heading for heading in headings if heading in wanted] == wanted
    help_text = help_of(*words_of(" ".join(words))).stdout
    assert set(re.findall(r"--\w[\w-]*", help_text)) <= set(re.findall(r"--\w[\w-]*", text))
    assert help_text.rstrip().splitlines()[-1].split(": ")[-1] in text


def test_manual_pages_are_read_without_warnings():
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    for page in sorted(MANUALS.glob("*.1")):
        command = [groff, "-man", "-Tutf8", "-ww", str(page)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), page.name


@pytest.mark.parametrize("command", table())
def test_help_ends_with_an_example(command):
    assert "Example" in help_of(*words_of(command)).stdout.splitlines()[-1], command


@pytest.mark.parametrize(
    "command", [name for name, says in table().items() if not says.startswith("no:")]
)
def test_wrong_options_are_status_2(command, tmp_path):
    done = subprocess.run(
        [*words_of(command), "--nonsense"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "usage: " in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "python -m dpu.objdump",
        "python -m dpu.stack",
        "python -m dpu.checks",
        "python -m veo.checks",
    ],
)
def test_table_is_right_about_a_file_that_cannot_be_read(command, tmp_path):
    text = (ROOT / "docs/commands.md").read_text()
    [line] = [line for line in text.splitlines() if line.startswith(f"| `{command}`")]
    [status] = [at for at, says in enumerate(line.split("|")[3:5], 1) if "cannot be read" in says]
    done = subprocess.run(
        [*words_of(command), str(tmp_path / "lost")], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == status, done.stderr


@pytest.mark.parametrize("package", ["veo", "dpu", "accl", "accelforge"])
def test_packages_describe_themselves_as_json(package, tmp_path):
    command = [sys.executable, "-P", "-m", package, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["devices"] is not None
    plain = subprocess.run(command[:-1], capture_output=True, text=True, cwd=tmp_path)
    assert plain.stdout.startswith("offchip ") and f"package {package}\n" in plain.stdout


@pytest.mark.parametrize("package", ["veo", "dpu", "accl"])
def test_missing_library_is_an_object_with_the_error(package, tmp_path):
    lost = str(tmp_path / "lost.so")
    command = [sys.executable, "-P", "-m", package, "--json", "--library", lost]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert lost in json.loads(done.stdout)["error"]
    assert lost in done.stderr
