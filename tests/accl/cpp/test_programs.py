# SPDX-License-Identifier: BSD-3-Clause
"""C++ programs that include accl.hpp compile without warnings and give the expected results."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.examples.test_docs import read_blocks
from tests.support.builds import clean_environment

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SANITIZER = ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
# zig gives its clang options that it does not use.
STRICT += ["-Wno-unused-command-line-argument"]
# The ziglang wheel compiles its C++ library when it is first used.
pytestmark = pytest.mark.timeout(600)

Run = Callable[..., str]


def pkg_config(*words: str) -> list[str]:
    command = [sys.executable, "-m", "accl.pkg_config", *words, "accl"]
    return shlex.split(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.fixture(scope="module")
def build(
    cxx_compiler: list[str], tmp_path_factory: pytest.TempPathFactory, run: Run
) -> Callable[[str], Path]:
    """Compile a program of this folder, once."""
    folder = tmp_path_factory.mktemp("programs")
    # Not with the library of the sanitizer that another compiler has.
    sanitizer = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    checked = cxx_compiler == ["g++"] and "LD_PRELOAD" not in os.environ

    def build(name: str) -> Path:
        program = folder / name
        if not program.exists():
            words = [*cxx_compiler, "-std=c++17", "-O0", "-g1", *STRICT, str(HERE / f"{name}.cpp")]
            words += [*pkg_config("--cflags", "--libs"), *(sanitizer if checked else [])]
            run([*words, "-pthread", "-o", program])
        return program

    return build


def environment() -> dict[str, str]:
    """Give that of a program; an instrumented library needs what the sanitizer has set."""
    kept = {name: os.environ[name] for name in SANITIZER if name in os.environ}
    return {k: v for k, v in clean_environment().items() if not k.startswith("ACCL_")} | kept


def execute(program: Path, *words: str, folder: Path) -> None:
    done = subprocess.run(
        [program, *words],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=folder,
        env=environment(),
    )
    assert done.returncode == 0 and done.stdout == "ok\n", done.stdout + done.stderr


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_each_header_stands_alone(
    standard: str, cxx_compiler: list[str], tmp_path: Path, run: Run
) -> None:
    include = Path(pkg_config("--variable=includedir")[0])
    headers = [path.relative_to(include) for path in include.rglob("*.h*")]
    assert len(headers) > 25
    # One file for each would take a minute: they are included twice instead, from either end.
    for order in (sorted(headers), sorted(headers, reverse=True)):
        source = tmp_path / "program.cpp"
        source.write_text("".join(f"#include <{header}>\n" for header in [*order, *order]))
        made = ["-c", source, "-o", tmp_path / "program.o"]
        run([*cxx_compiler, f"-std={standard}", *STRICT, f"-I{include}", *made])


@pytest.mark.parametrize("ranks", ["1", "2", "3"])
def test_each_call_gives_the_expected_result(
    build: Callable[[str], Path], ranks: str, tmp_path: Path
) -> None:
    execute(build("calls"), ranks, folder=tmp_path)


@pytest.mark.parametrize(
    ("case", "ranks"),
    [
        ("requests", "1"),
        ("requests", "2"),
        ("many_requests", "1"),
        ("failures", "1"),
        ("buffers", "1"),
        ("outlive", "1"),
        ("communicators", "1"),
        ("communicators", "3"),
        ("engines", "1"),
        ("boards", "1"),
        ("files", "1"),
    ],
)
def test_objects_keep_their_promises(
    build: Callable[[str], Path], case: str, ranks: str, tmp_path: Path
) -> None:
    execute(build("objects"), case, ranks, folder=tmp_path)


def test_xrt_of_the_system_is_used_where_it_is_installed(
    cxx_compiler: list[str], tmp_path: Path, run: Run
) -> None:
    (tmp_path / "xrt").mkdir()
    for name in ("xrt/xrt_device.h", "xrt/xrt_kernel.h"):
        (tmp_path / name).write_text(f"#define FOUND_{name[8:11]} 1\n")
    source = tmp_path / "program.cpp"
    source.write_text(
        "#include <xrt/xrt_device.h>\n#include <xrt/xrt_kernel.h>\n"
        "#if !FOUND_dev || !FOUND_ker || defined(ACCL_XRT_STAND_IN)\n#error not it\n#endif\n"
    )
    words = [*cxx_compiler, *STRICT, *pkg_config("--cflags"), f"-I{tmp_path}"]
    run([*words, "-c", source, "-o", tmp_path / "program.o"])


def test_a_cmake_project_finds_the_package(
    cxx_compiler: list[str], tmp_path: Path, run: Run
) -> None:
    cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if cmake is None or len(cxx_compiler) > 1:
        pytest.skip("needs cmake, and a compiler whose name is one word")
    (tmp_path / "program.cpp").write_text(
        "#include <accl.hpp>\nint main() { return accl_abi_version() - ACCL_ABI_VERSION; }\n"
    )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(program LANGUAGES CXX)\n"
        "set(CMAKE_CXX_STANDARD 17)\nfind_package(accl REQUIRED)\n"
        "add_executable(program program.cpp)\ntarget_link_libraries(program accl::accl)\n"
    )
    (folder,) = pkg_config("--variable=cmakedir")
    run([cmake, "-S", tmp_path, "-B", tmp_path / "build", f"-Daccl_DIR={folder}"])
    run([cmake, "--build", tmp_path / "build"])
    run([tmp_path / "build" / "program"])


def test_the_page_runs_and_prints_what_it_says(cxx_compiler: list[str], tmp_path: Path) -> None:
    blocks = read_blocks((ROOT / "docs/accl_cpp.md").read_text())
    assert [block.language for block in blocks] == ["ring.cpp", "sh"]
    (tmp_path / blocks[0].language).write_text(blocks[0].text)
    done = subprocess.run(
        ["sh", "-euc", blocks[1].text.replace("g++", shlex.join(cxx_compiler))],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **environment(),
            "ACCL_JOB": str(tmp_path),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert blocks[1].expected is not None
    assert sorted(done.stdout.splitlines()) == sorted(blocks[1].expected.splitlines())
