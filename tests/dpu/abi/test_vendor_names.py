# SPDX-License-Identifier: BSD-3-Clause
"""Programs that were linked with UPMEM's SDK find libdpu.so under the names they ask for."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import STANDARD

Run = Callable[..., str]

HOST = """
#include <dpu.h>
#include <stdio.h>
int main(void)
{
    struct dpu_set_t set, dpu;
    uint32_t count, value = 0, found = 0;
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    DPU_ASSERT(dpu_get_nr_dpus(set, &count));
    DPU_ASSERT(dpu_load(set, PROGRAM, NULL));
    DPU_ASSERT(dpu_copy_to(set, "cmd", 0, &value, sizeof(value)));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_FOREACH (set, dpu) {
        DPU_ASSERT(dpu_copy_from(dpu, "counter", 0, &value, sizeof(value)));
        found += value;
    }
    DPU_ASSERT(dpu_free(set));
    printf("%u DPUs, sum %u\\n", count, found);
    return 0;
}
"""


LIBRARIES = ("libdpu", "libdpuverbose", "libdpujni")


def run_host(program: Path, installed: Any, folder: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(program)],
        cwd=folder,
        env={
            **os.environ,
            "LD_LIBRARY_PATH": str(installed.library.parent),
            "DPU_SOFT_QUIET": "1",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.nosanitize
@pytest.mark.parametrize("release", ["0.0", "2020.3", "2021.4", "2023.2", "2025.1"])
def test_a_program_runs_that_asks_for_a_release(
    release: str, installed: Any, compiler: str, dpu_programs: Path, tmp_path: Path, run: Run
) -> None:
    """Linked with a library that has the vendor's name and no more than the vendor's symbols."""
    source = tmp_path / "host.c"
    source.write_text(HOST)
    program = tmp_path / "host"
    vendor = tmp_path / "vendor.c"
    used = set(re.findall(r"dpu_\w+(?=\()", HOST)) | {"dpu_error_to_string"}
    used |= {"dpu_set_dpu_iterator_from", "dpu_set_dpu_iterator_next"}
    vendor.write_text("".join(f"void {name}(void) {{}}\n" for name in sorted(used)))
    stand_in = tmp_path / f"libdpu.so.{release}"
    run([compiler, "-shared", "-fPIC", f"-Wl,-soname,{stand_in.name}", vendor, "-o", stand_in])

    others = [f"-l:{name}.so.{release}" for name in LIBRARIES[1:]]
    command = [compiler, *STANDARD, f"-I{installed.include}", '-DPROGRAM="count.dpu"', source]
    command += [stand_in, f"-L{installed.library.parent}", "-Wl,--no-as-needed", *others]
    run([*command, "-o", program])
    needed = re.findall(r"NEEDED.*\[(libdpu.*?)\]", run(["readelf", "-dW", program]))
    assert needed == [f"{name}.so.{release}" for name in LIBRARIES]
    assert run_host(program, installed, dpu_programs) == (0, "2 DPUs, sum 2\n", "")


@pytest.mark.nosanitize
@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_programs_link_with_a_library_named_after_a_release(
    library: str,
    linker: str,
    installed: Any,
    compiler: str,
    dpu_programs: Path,
    tmp_path: Path,
    run: Run,
) -> None:
    if shutil.which(f"ld.{linker}") is None:
        pytest.skip(f"there is no ld.{linker}")
    source = tmp_path / "host.c"
    source.write_text(HOST)
    program = tmp_path / "host"
    named = installed.library.parent / f"{library}.so.2023.2"
    command = [compiler, *STANDARD, f"-I{installed.include}", '-DPROGRAM="count.dpu"', source]
    run([*command, "-o", program, f"-fuse-ld={linker}", named])
    needed = re.findall(r"NEEDED.*\[(libdpu.*?)\]", run(["readelf", "-dW", program]))
    assert named.name in needed
    assert run_host(program, installed, dpu_programs) == (0, "2 DPUs, sum 2\n", "")


def test_functions_behind_such_a_name_are_those_of_libdpu(installed: Any) -> None:
    """So that there is one libdpu in a process, whatever names lead to it."""
    own = ctypes.CDLL(str(installed.library))
    other = ctypes.CDLL(str(installed.library.parent / "libdpu.so.2023.2"))
    for name in ("dpu_alloc", "dpu_free", "dpusoft_version"):
        addresses = [
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value for library in (own, other)
        ]
        assert addresses[0] == addresses[1], name


def exported(library: Path, run: Run) -> set[str]:
    shown = run(["nm", "-D", "--defined-only", library])
    return {line.split()[-1] for line in shown.splitlines()}


def test_such_a_library_has_the_names_of_libdpu(installed: Any, run: Run) -> None:
    folder = installed.library.parent
    releases = {path.name.partition(".so.")[2] for path in folder.glob("libdpu.so.*")}
    assert {"0.0", "2020.3", "2021.3", "2023.1", "2024.2", "2025.1"} <= releases
    for path in (folder / f"{name}.so.{release}" for name in LIBRARIES for release in releases):
        shown = run(["readelf", "-dW", path])
        assert f"[{path.name}]" in shown
        assert "[$ORIGIN]" in shown
        assert re.search(r"NEEDED.*\[libdpu\.so\]", shown)
        assert re.search(r"Filter library: \[libdpu\.so\]", shown)
        assert exported(path, run) == exported(installed.library, run)


def test_the_package_recognises_itself_behind_such_a_name(installed: Any) -> None:
    import dpu

    info = dpu.library_info(str(installed.library.parent / "libdpu.so.2023.2"))
    assert info["kind"] == "soft"


@pytest.mark.parametrize(("option", "file"), [("--libdir", "libdpu.so"), ("--includedir", "dpu.h")])
def test_the_command_tells_the_folders(
    option: str, file: str, installed: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from dpu.__main__ import main

    assert main([option]) == 0
    folder = Path(capsys.readouterr().out.rstrip("\n"))
    assert folder in (installed.library.parent, installed.include)
    assert (folder / file).is_file()
