# SPDX-License-Identifier: BSD-3-Clause
"""Commands like pkg-config have what C programs are compiled and linked with."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from offchip.pkg_config import CLibrary, run_pkg_config

SANITIZER = ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS")
PROGRAMS = {
    "veo": "#include <ve_offload.h>\nint main(void) { return veo_api_version() < 0; }",
    "dpu": "#include <dpu.h>\nint main(void) { return dpu_error_to_string(DPU_OK) == 0; }",
    "accl": "#include <accl.h>\nint main(void) { return accl_version() == 0; }",
}


@pytest.mark.parametrize("library", PROGRAMS)
def test_a_program_is_linked_and_runs_without_library_path(library: str, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    command = Path(sys.executable).with_name(f"{library}-pkg-config")
    words = [str(command), "--cflags", "--libs", library]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (tmp_path / "program.c").write_text(PROGRAMS[library])
    flags = shlex.split(printed)
    subprocess.run(["gcc", *flags, "program.c", "-o", "program"], cwd=tmp_path, check=True)
    # Instrumented libraries need what the sanitizer has set.
    sanitizer = {name: os.environ[name] for name in SANITIZER if name in os.environ}
    subprocess.run([tmp_path / "program"], env=sanitizer, check=True)


@pytest.mark.parametrize("name", ["plain-1.2", "a folder", "it's $HOME (x86)", 'a "b" \\ `c`'])
def test_what_a_shell_would_split_or_expand_is_marked(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / name
    assert run_pkg_config(CLibrary("x", package, "1"), ["--cflags", "--libs", "x"]) == 0
    shown = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {capsys.readouterr().out}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert shown[:3] == [f"-I{package}/include", f"-L{package}/lib", f"-Wl,-rpath,{package}/lib"]
    assert "-lx" in shown


def test_other_packages_are_pkg_configs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    library = CLibrary("x", Path("/x"), "1")
    assert run_pkg_config(library, ["--libs", "nothing"]) == 1
    message = "x-pkg-config: error: nothing requires pkg-config, which is not on PATH\n"
    assert capsys.readouterr().err == message
    assert run_pkg_config(library, ["--libs", "x", "nothing"]) == 1
    assert capsys.readouterr().err == "x-pkg-config: error: query x and nothing separately\n"


def test_cmake_files_are_named_where_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = CLibrary("x", tmp_path, "1")
    assert run_pkg_config(library, ["--variable=cmakedir", "x"]) == 0
    folder = tmp_path / "lib/cmake/x"
    folder.mkdir(parents=True)
    assert run_pkg_config(library, ["--variable=cmakedir", "x"]) == 0
    assert capsys.readouterr().out == f"\n{folder}\n"
