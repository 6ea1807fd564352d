# SPDX-License-Identifier: BSD-3-Clause
"""Effects that environment variables and the current folder may and may not have."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import veo
from offchip.environment import VARIABLES
from tests.support.builds import clean_environment
from veo.compilers import select_toolchain

PACKAGE = Path(veo.__file__).resolve().parent


def run_python(program: str, cwd: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        timeout=60,
    )


OPEN_TWICE = """
import veo
for _ in range(2):
    with veo.VeoProc(0, library="soft") as proc:
        assert proc.pid > 0
"""


@pytest.mark.parametrize(
    "name", ["/opt/nec/ve/no-such-folder/aveorun_ve1", "{here}/libexec/aveorun-ftrace_ve3"]
)
def test_absent_worker_of_the_vendor_means_our_own(tmp_path: Path, name: str) -> None:
    path = name.format(here=tmp_path)
    done = run_python(OPEN_TWICE, tmp_path, VEORUN_BIN=path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "VEORUN_BIN" in line]
    assert len(lines) == 1
    assert path in lines[0]


def test_other_absent_worker_is_an_error(tmp_path: Path) -> None:
    done = run_python(OPEN_TWICE, tmp_path, VEORUN_BIN=str(tmp_path / "my.veorun"))
    assert "my.veorun': No such file" in done.stderr


def test_worker_of_the_vendor_that_is_there_is_tried(tmp_path: Path) -> None:
    (tmp_path / "aveorun_ve1").write_text("not a program")
    done = run_python(OPEN_TWICE, tmp_path, VEORUN_BIN=str(tmp_path / "aveorun_ve1"))
    assert "aveorun_ve1' cannot be executed" in done.stderr


@pytest.mark.parametrize("path", ["", "."])
def test_current_folder_is_not_searched_for_libraries(tmp_path: Path, path: str) -> None:
    (tmp_path / "py_veo.libs").mkdir()
    (tmp_path / "py_veo.libs" / "libveo-planted.so.1").write_text("")
    program = f"import sys; sys.path.insert(0, {path!r}); import veo; print(veo.library_info())"
    done = run_python(program, tmp_path, VEO_LIBRARY="")
    assert done.returncode == 0, done.stderr
    assert "planted" not in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a program away")
@pytest.mark.nosanitize
def test_program_with_more_rights_than_its_caller_ignores_the_environment(tmp_path: Path) -> None:
    compiler = os.environ.get("CC", "gcc")
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    for folder in (PACKAGE / "lib").parents:
        if not folder.stat().st_mode & 0o001:
            pytest.skip(f"other users cannot enter {folder}")
    source = tmp_path / "host.c"
    source.write_text(
        "#include <stdio.h>\n#include <sys/auxv.h>\n#include <ve_offload.h>\n"
        "int main(void) {\n"
        "    struct veo_proc_handle *proc = veo_proc_create(0);\n"
        '    printf("secure %lu opened %d\\n", getauxval(AT_SECURE), proc != NULL);\n'
        "    return proc ? veo_proc_destroy(proc) : 1;\n}\n"
    )
    program = tmp_path / "host"
    command = [compiler, "-o", program, source, f"-I{PACKAGE}/include", "-L", PACKAGE / "lib"]
    subprocess.run(
        [*command, "-l:libveo.so.1", f"-Wl,-rpath,{PACKAGE}/lib"],
        env=clean_environment(),
        check=True,
    )
    os.chown(program, 65534, 65534)
    program.chmod(0o6755)
    done = subprocess.run(
        [program],
        env={**os.environ, "VEORUN_BIN": "/nowhere/veorun"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    if "secure 0" in done.stdout:
        pytest.skip("this file system does not honour set-user-id")
    assert done.stdout == "secure 1 opened 1\n", done.stderr


# --- values that are not allowed ---------------------------------------------------------------

WRONG = {
    "VEO_SOFT_NODES": [("two", "a whole number from 1 to 1024"), ("0", "1 to 1024")],
    "VEO_SOFT_ARCH": [("2", "1 or 3")],
    "VEO_SOFT_MEMORY": [("4X", "a number of bytes"), ("M", "bytes"), ("0", "such as 512M")],
    "VEO_SOFT_SPIN_US": [("-1", "a whole number from 0 to 1000000"), ("1e3", "0 to")],
    "VEO_SOFT_TRANSFERS": [("unorderd", "ordered or unordered"), ("|", "ordered or unordered")],
    "VEO_SOFT_ENGINE": [("fast", "auto or interpreter or translated")],
    "VEO_SOFT_MODEL": [("VE1", "VE10B or VE20B")],
    "VEO_CHECK": [
        (
            "race",
            "words with commas between them: there is no check 'race'; there are uninitialised",
        ),
        ("exit=x", "0 to"),
    ],
    "VEO_DEBUG": [("gdb", "console or xterm")],
    "VEORUN_UNDEFINED": [("calls", "it takes call")],
    "VE_CORE_NUMBER": [("a", "a whole number from 0 to 1048576")],
}
TRY = """
import veo
for attempt in (lambda: veo.VeoProc(0, library="soft"), lambda: veo.library_info("soft")):
    try:
        attempt()
    except veo.VeoError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [(name, value, allowed) for name, cases in WRONG.items() for value, allowed in cases],
)
def test_a_value_that_is_not_allowed_is_an_error(tmp_path, name, value, allowed):
    done = run_python(TRY, tmp_path, **{name: value})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert f"{name}='{value}' is not allowed: it takes " in line
        assert allowed in line


def test_every_variable_of_the_list_is_tried():
    header = (Path(__file__).resolve().parents[3] / "csrc/veo/lib/variables.h").read_text()
    names = re.findall(r"^    (?:NUMBER|SIZE|CHOICE|CHECKS)\((\w+)", header, re.MULTILINE)
    assert sorted(names) == sorted(WRONG)
    assert set(names) <= {item.name for item in VARIABLES}


def test_a_name_of_our_prefix_that_is_unknown_is_told_once(tmp_path):
    done = run_python(OPEN_TWICE, tmp_path, VEO_SOFT_NODE="2")
    assert done.returncode == 0
    assert done.stderr.count("VEO_SOFT_NODE is set, which is no variable of the soft libveo") == 1


def test_the_node_of_kernels_is_a_number(monkeypatch):
    monkeypatch.setenv("VE_NODE_NUMBER", "one")
    with pytest.raises(veo.VeoError, match="VE_NODE_NUMBER='one' is not allowed"):
        veo.shared_process()


@pytest.mark.parametrize("value", ["one", "-1", "1x", "99999999"])
def test_a_wrong_node_number_does_not_mean_the_first(monkeypatch, make_proc, value):
    # No other variable may be the reason.
    monkeypatch.delenv("_VENODELIST", raising=False)
    monkeypatch.setenv("VE_NODE_NUMBER", value)
    with pytest.raises(veo.VeoError, match=f"VE_NODE_NUMBER='{value}' is not a VE node number"):
        make_proc(-1)
    # A node that is named is not asked for.
    assert make_proc(0).alive


def test_empty_variables_are_as_if_not_set(tmp_path):
    done = run_python(OPEN_TWICE, tmp_path, **dict.fromkeys(WRONG, ""))
    assert done.returncode == 0, done.stderr


def test_a_slip_is_told_beside_a_value_that_is_not_allowed(tmp_path):
    slips = {"VEO_SOFT_NODES": "two", "VEO_SOFT_NODE": "2"}
    done = run_python(OPEN_TWICE, tmp_path, **slips)
    assert "VEO_SOFT_NODES='two' is not allowed" in done.stderr
    assert "VEO_SOFT_NODE is set, which is no variable of the soft libveo" in done.stderr


def test_a_wrong_target_of_compilers_is_named(monkeypatch):
    monkeypatch.setenv("VEBUILD_TARGET", "hots")
    with pytest.raises(ValueError, match="VEBUILD_TARGET='hots' is not allowed: it takes ve, host"):
        select_toolchain()
