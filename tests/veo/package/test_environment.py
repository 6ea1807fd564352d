# SPDX-License-Identifier: BSD-3-Clause
"""What environment variables and the current folder may and may not decide."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import veo
from tests.support.builds import clean_environment

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
