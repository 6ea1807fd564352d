# SPDX-License-Identifier: BSD-3-Clause
"""Projects that look into the folder of UPMEM's SDK find what they need in that of `dpu-env`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.cli import pkg_config
from dpu.cli.upmem_home import main, write_home
from dpu.elf.reader import ElfFile
from dpu.toolchain import Toolchain
from dpu.toolchain.compilers import Kind, find_toolchain
from offchip.pkg_config import link_flags

KERNEL = "#include <defs.h>\n__host int last;\nint main(void) { last = NR_TASKLETS; return 0; }\n"
HOST = """#include <dpu.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct dpu_set_t set, dpu;
    int last = argc;
    DPU_ASSERT(dpu_alloc(1, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_FOREACH (set, dpu)
        DPU_ASSERT(dpu_copy_from(dpu, "last", 0, &last, sizeof last));
    DPU_ASSERT(dpu_free(set));
    printf("%d tasklets\\n", last);
    return 0;
}
"""
SYSTEM = os.pathsep.join(["/usr/bin", "/bin"])

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "a home"
    write_home(folder)
    return folder


@pytest.fixture
def shell(home: Path, tmp_path: Path) -> Shell:
    """Run a line of shell with the folder's variables."""

    def run(line: str, *, path: str = SYSTEM) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": path, "ASAN_OPTIONS": "detect_leaks=0"}
        for name in ("UPMEM_HOME", "PKG_CONFIG_PATH"):
            environment.pop(name, None)
        return subprocess.run(
            ["/bin/sh", "-c", f'. "{home}/upmem_env.sh"; {line}'],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    return run


def fake(folder: Path, name: str, *, code: int = 0) -> str:
    """Make a command that says what it is given."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "{name}:" "$@"\nexit {code}\n')
    path.chmod(0o755)
    return str(folder)


def test_the_folder_may_be_written_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(home.rglob("*"))
    assert main([str(home)]) == 0
    assert sorted(home.rglob("*")) == before
    said = capsys.readouterr().out
    assert said == (home / "upmem_env.sh").read_text()
    assert f"export UPMEM_HOME='{home}'\n" in said
    assert (home / "include" / "dpu" / "dpu.h").is_file()
    assert (home / "lib" / "libdpu.so").is_file()
    assert (home / "share" / "upmem" / "include" / "syslib" / "mram.h").is_file()


def test_the_folder_is_in_the_users_data_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert main([]) == 0
    assert str(tmp_path / "data" / "offchip" / "upmem-") in capsys.readouterr().out
    (tmp_path / "file").touch()
    assert main([str(tmp_path / "file" / "folder")]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_own_commands_are_not_taken_for_the_vendors(toolchain: Toolchain, home: Path) -> None:
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    assert find_toolchain({"PATH": path, "UPMEM_HOME": str(home)}) == toolchain


@pytest.mark.parametrize("target", ["--target=dpu-upmem-dpurte", "-target dpu-upmem-dpurte"])
def test_clang_compiles_for_dpus(
    toolchain: Toolchain, shell: Shell, tmp_path: Path, target: str
) -> None:
    if toolchain.kind is not Kind.ZIG:
        pytest.skip("the compiler is found by PATH, which is another one here")
    (tmp_path / "a.c").write_text(KERNEL)
    done = shell(f"clang {target} -DNR_TASKLETS=3 -O2 a.c -o 'a program'")
    assert done.returncode == 0, done.stderr
    program = ElfFile((tmp_path / "a program").read_bytes())
    assert program.symbol("NR_TASKLETS").value == 3


@pytest.mark.parametrize("words", ["-O2 'a b.c' -o x", "--target=x86_64-linux x.c", "-target arm"])
def test_clang_leaves_other_targets_to_the_next_one(
    shell: Shell, home: Path, tmp_path: Path, words: str
) -> None:
    clangs = fake(tmp_path / "later", "clang", code=3)
    # Another way to the folder's own command is no other compiler.
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "clang").symlink_to(home / "bin" / "clang")
    path = os.pathsep.join([str(tmp_path / "links"), clangs, SYSTEM])
    done = shell(f"clang {words}", path=path)
    assert (done.stdout, done.returncode) == (f"clang: {words.replace(chr(39), '')}\n", 3)


def test_clang_is_another_compiler_where_there_is_no_clang(shell: Shell, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("dirname", "readlink"):
        (tools / name).symlink_to(str(shutil.which(name)))
    done = shell("clang a.c", path=str(tools))
    assert done.returncode == 127
    assert "there has to be clang or cc or gcc on PATH" in done.stderr
    fake(tools, "gcc")
    fake(tools, "c++")
    assert shell("clang a.c", path=str(tools)).stdout == "gcc: a.c\n"
    assert shell("clang++ a.cc", path=str(tools)).stdout == "c++: a.cc\n"


def compiler() -> str:
    command = os.environ.get("CC", "gcc")
    if shutil.which(command) is None:
        pytest.skip(f"{command} is not installed")
    return command


@pytest.fixture
def built(toolchain: Toolchain, tmp_path: Path) -> Path:
    """Sources of a program and of its host."""
    (tmp_path / "kernel.c").write_text(KERNEL)
    (tmp_path / "host.c").write_text(HOST)
    return tmp_path


def test_the_library_may_stand_before_the_sources(built: Path, shell: Shell) -> None:
    flags = (
        " ".join(link_flags("dpu", "$UPMEM_HOME/lib")).replace("$", '"$').replace("/lib", '"/lib')
    )
    done = shell(
        f'{compiler()} -Wl,--as-needed -I"$UPMEM_HOME/include/dpu" {flags} host.c -o host && '
        "dpu-upmem-dpurte-clang -DNR_TASKLETS=5 kernel.c -o kernel && ./host kernel"
    )
    assert done.stdout == "5 tasklets\n", done.stderr


def test_pkg_config_finds_the_library(built: Path, shell: Shell) -> None:
    if shutil.which("pkg-config", path=SYSTEM) is None:
        pytest.skip("pkg-config is not installed")
    done = shell("pkg-config --modversion dpu; pkg-config --cflags --libs dpu")
    assert done.stdout.startswith(f"{pkg_config.VERSION}\n")
    assert done.stdout.index("--no-as-needed") < done.stdout.index("-ldpu")


CMAKE = """cmake_minimum_required(VERSION 3.5...3.30)
project(both C)
if(NOT DEFINED UPMEM_HOME)
  set(UPMEM_HOME $ENV{UPMEM_HOME})
endif()
add_subdirectory(host)
add_subdirectory(dpu)
"""
CMAKE_HOST = """include("${UPMEM_HOME}/share/upmem/cmake/include/host/DpuHost.cmake")
link_directories("${DPU_HOST_LINK_DIRECTORIES}")
add_executable(host ../host.c)
target_include_directories(host PUBLIC ${DPU_HOST_INCLUDE_DIRECTORIES})
target_link_libraries(host ${DPU_HOST_LIBRARIES})
"""
CMAKE_DPU = """cmake_minimum_required(VERSION 3.5...3.30)
project(kernel C)
include("$ENV{UPMEM_HOME}/share/upmem/cmake/dpu.cmake")
set(CMAKE_C_FLAGS_RELEASE "-Wall -Wextra -g0 -O3")
add_executable(kernel ../kernel.c)
target_compile_definitions(kernel PUBLIC NR_TASKLETS=7)
target_link_options(kernel PUBLIC -DNR_TASKLETS=7)
"""


@pytest.mark.parametrize("is_included", [True, False])
def test_cmake_builds_programs_and_hosts(built: Path, shell: Shell, is_included: bool) -> None:
    cmake = shutil.which("cmake")
    if cmake is None or shutil.which("make") is None:
        pytest.skip("cmake or make is not installed")
    for name in ("host", "dpu"):
        (built / name).mkdir()
    (built / "CMakeLists.txt").write_text(CMAKE)
    (built / "host" / "CMakeLists.txt").write_text(CMAKE_HOST)
    (built / "dpu" / "CMakeLists.txt").write_text(CMAKE_DPU)
    path = os.pathsep.join([str(Path(cmake).parent), os.environ["PATH"]])
    make = "cmake -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Release"
    if is_included:
        # As `dpu-env --at` makes /usr/share/upmem, for projects that take UPMEM_HOME for /usr.
        linked = 'mkdir -p usr/share && ln -s "$UPMEM_HOME/share/upmem" usr/share/upmem'
        done = shell(
            f"{linked} && export UPMEM_HOME=$PWD/usr && {make} -S . -B out "
            "&& cmake --build out && out/host/host out/dpu/kernel",
            path=path,
        )
    else:
        file = '-DCMAKE_TOOLCHAIN_FILE="$UPMEM_HOME/share/upmem/cmake/dpu.cmake"'
        done = shell(f"{make} {file} -S dpu -B out && cmake --build out", path=path)
    assert done.returncode == 0, done.stdout + done.stderr
    kernel = built / "out" / ("dpu/kernel" if is_included else "kernel")
    assert ElfFile(kernel.read_bytes()).symbol("NR_TASKLETS").value == 7
    if is_included:
        assert done.stdout.endswith("7 tasklets\n")


def test_the_command_is_installed() -> None:
    command = Path(sys.executable).parent / "dpu-env"
    if not command.exists():
        pytest.skip("the commands are not installed")
    done = subprocess.run([command, "--help"], capture_output=True, text=True, check=True)
    assert "usage: dpu-env" in done.stdout
