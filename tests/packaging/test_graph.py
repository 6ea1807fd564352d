# SPDX-License-Identifier: BSD-3-Clause
"""The build makes what has changed and nothing else, and says what failed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builds import STANDARD, STRICT, clean_environment

PROJECT = """
cmake_minimum_required(VERSION 3.26)
project(small LANGUAGES C)
option(WERROR "")
if(WERROR)
  add_compile_options(-Wall -Werror)
endif()
add_library(ab SHARED a.c b.c)
install(TARGETS ab DESTINATION p/lib)
file(GLOB headers p/*.h)
install(FILES ${headers} DESTINATION p/include)
"""
PRESETS = """{"version": 6, "configurePresets": [
    {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}]}"""

Build = Callable[..., tuple[int, str]]


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """A small project with our buildtools."""
    tree = tmp_path / "a tree"
    shutil.copytree(root / "buildtools", tree / "buildtools")
    (tree / "CMakeLists.txt").write_text(PROJECT)
    (tree / "CMakePresets.json").write_text(PRESETS)
    (tree / "p").mkdir()
    (tree / "p" / "one.h").write_text("")
    (tree / "p" / "two.h").write_text("")
    (tree / "a.h").write_text("int a(void);\n")
    (tree / "a.c").write_text('#include "a.h"\nint a(void) { return 1; }\n')
    (tree / "b.c").write_text("int b(void);\nint b(void) { return 2; }\n")
    return tree


@pytest.fixture
def build(tree: Path) -> Build:
    """Build the tree and copy it into itself; the status and what was said."""

    def build(*words: str, **changes: str) -> tuple[int, str]:
        environment = clean_environment(OFFCHIP_VERBOSE="0", OFFCHIP_WERROR="0")
        done = subprocess.run(
            [sys.executable, "-m", "buildtools.graph", *words],
            cwd=tree,
            env={**environment, **changes},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode, done.stdout

    return build


def times(tree: Path) -> dict[str, int]:
    folder = tree / "build/release"
    made = [*folder.rglob("*.o"), *folder.glob("*.so")]
    return {path.name: path.stat().st_mtime_ns for path in made}


def changed(before: dict[str, int], after: dict[str, int]) -> set[str]:
    return {name for name in after if after[name] != before.get(name)}


ALL = {"a.c.o", "b.c.o", "libab.so"}


def test_second_build_makes_nothing(tree: Path, build: Build) -> None:
    assert build() == (0, "")
    before = times(tree)
    assert set(before) == ALL
    assert build() == (0, "")
    assert times(tree) == before


@pytest.mark.parametrize("name", ["a.c", "a.h"])
def test_changed_file_makes_what_depends_on_it(tree: Path, build: Build, name: str) -> None:
    build()
    before = times(tree)
    (tree / name).write_text((tree / name).read_text() + "int c(void);\n")
    build()
    assert changed(before, times(tree)) == {"a.c.o", "libab.so"}


def test_other_flags_make_everything_again(tree: Path, build: Build) -> None:
    build()
    before = times(tree)
    assert build(CFLAGS="-DOTHER=1") == (0, "")
    assert changed(before, times(tree)) == ALL


def test_configuring_again_makes_nothing_again(tree: Path, build: Build) -> None:
    build()
    before = times(tree)
    record = (tree / "build/release/configured.json").read_text()
    # As with the tools of an installer's next environment: another record, the same commands.
    assert build(OFFCHIP_MACHINE="elsewhere") == (0, "")
    assert (tree / "build/release/configured.json").read_text() != record
    assert times(tree) == before


def test_failed_step_is_shown_and_done_again(tree: Path, build: Build) -> None:
    good = (tree / "b.c").read_text()
    (tree / "b.c").write_text("no C")
    status, said = build()
    assert status == 1
    assert said.startswith("error: ")
    assert "b.c:1" in said and "b.c.o" in said
    (tree / "b.c").write_text(good)
    assert build() == (0, "")


def test_warnings_are_shown_and_are_errors_if_asked_for(tree: Path, build: Build) -> None:
    (tree / "b.c").write_text("int b(void);\nint b(void) { int unused; return 1; }\n")
    assert build() == (0, "")
    (tree / "b.c").write_text("#warning look here\n" + (tree / "b.c").read_text())
    status, said = build()
    assert (status, "look here" in said) == (0, True)
    status, said = build(OFFCHIP_WERROR="1")
    assert status == 1
    assert "unused" in said


def test_all_commands_are_shown_if_asked_for(build: Build) -> None:
    status, said = build(OFFCHIP_VERBOSE="1")
    assert status == 0
    assert len(re.findall(r" -c .*/[ab]\.c", said)) == 2


def test_copies_of_what_is_gone_are_removed(tree: Path, build: Build) -> None:
    build()
    assert (tree / "p/include/two.h").exists()
    (tree / "p/include/other.h").write_text("of somebody else")
    (tree / "p/two.h").unlink()
    build("release", "--", "rebuild_cache")
    assert build() == (0, "")
    assert sorted(path.name for path in (tree / "p/include").iterdir()) == ["one.h", "other.h"]


def test_missing_tools_and_compilers_are_named(tree: Path, build: Build, tmp_path: Path) -> None:
    status, said = build(CC="no-such-compiler")
    assert status == 1
    assert "no-such-compiler" in said
    status, said = build("no-such-configuration")
    assert status == 1
    assert "no-such-configuration" in said
    program = "import buildtools.graph as g; g._tool('no_such_tool', 'BIN_DIR')"
    done = subprocess.run([sys.executable, "-c", program], cwd=tree, capture_output=True, text=True)
    assert "no_such_tool was not found: " in done.stderr
    assert f"{sys.executable} -m pip install no_such_tool" in done.stderr


# --- the .pyx files ---------------------------------------------------------------------------


@pytest.fixture
def translate(root: Path, tmp_path: Path) -> Callable[[], dict[str, int]]:
    """Translate two modules, of which one needs the declarations of the other: times of the C."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p/__init__.py").write_text("")
    (tmp_path / "p/one.pxd").write_text("cdef int add(int a, int b)\n")
    (tmp_path / "p/one.pyx").write_text("cdef int add(int a, int b):\n    return a + b\n")
    (tmp_path / "p/two.pyx").write_text("from p.one cimport add\nprint(add(1, 2))\n")
    made = tmp_path / "made"

    def translate() -> dict[str, int]:
        command = [sys.executable, "-P", root / "buildtools/translate.py", made]
        done = subprocess.run(
            [*command, "p/one.pyx", "p/two.pyx"], cwd=tmp_path, capture_output=True, text=True
        )
        if done.returncode:
            return {"": done.returncode}
        return {path.stem: path.stat().st_mtime_ns for path in made.glob("*.c")}

    return translate


def test_a_module_is_translated_again_when_its_contents_change(
    tmp_path: Path, translate: Callable[[], dict[str, int]]
) -> None:
    first = translate()
    assert set(first) == {"one", "two"}
    depends = (tmp_path / "made/depends").read_text()
    target, _, names = depends.partition(": ")
    assert target == str(tmp_path / "made/one.c")
    assert {Path(name).name for name in names.split()} >= {"one.pxd", "one.pyx", "two.pyx"}
    # Nothing of Cython's own, which may be elsewhere the next time.
    assert all(Path(name).is_relative_to(tmp_path) for name in names.split())

    for path in (tmp_path / "p").iterdir():
        os.utime(path)
    assert translate() == first
    (tmp_path / "p/two.pyx").write_text("from p.one cimport add\nprint(add(1, 3))\n")
    second = translate()
    assert changed(first, second) == {"two"}
    (tmp_path / "p/one.pxd").write_text("cdef long add(int a, int b)\n")
    (tmp_path / "p/one.pyx").write_text("cdef long add(int a, int b):\n    return a + b\n")
    assert changed(second, translate()) == {"one", "two"}


def test_files_of_cython_are_left_out_wherever_it_is() -> None:
    pytest.importorskip("Cython")
    from buildtools.translate import files_in

    words = ["p/a.pxd", "../env/Cython/b.pxd", "/env/Cython/c.pxd", "/tree/p/d.pxd"]
    assert files_in(Path("/tree"), words) == ["p/a.pxd", "p/d.pxd"]


def test_a_module_that_is_wrong_fails_until_it_is_right(
    tmp_path: Path, translate: Callable[[], dict[str, int]]
) -> None:
    (tmp_path / "p/two.pyx").write_text("cdef int x = 'text'\n")
    assert translate() == {"": 1}
    assert translate() == {"": 1}
    (tmp_path / "p/two.pyx").write_text("print(1)\n")
    assert set(translate()) == {"one", "two"}


# --- facts that stand twice -------------------------------------------------------------------


def test_flags_of_tests_are_those_of_the_build(root: Path) -> None:
    text = (root / "CMakeLists.txt").read_text()
    strict = re.search(r"target_compile_options\(strict INTERFACE ([^$)]*)", text)
    assert strict is not None
    assert [*strict[1].split(), "-Werror"] == STRICT
    assert "set(CMAKE_C_STANDARD 11)" in text and STANDARD[0] == "-std=gnu11"
    assert f"add_compile_definitions({STANDARD[1].removeprefix('-D')})" in text


def test_requirements_name_each_package_once(root: Path) -> None:
    words = [sys.executable, root / "buildtools/requirements.py"]
    done = subprocess.run([*words, "test"], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    names = [re.split(r"[<>=~]", line)[0] for line in lines]
    assert len(names) == len(set(names))
    assert {"pytest", "mpi4py", "ziglang", "matplotlib"} <= set(names)
    assert not [line for line in lines if line.startswith("offchip")]
    done = subprocess.run([*words, "nothing"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "error: pyproject.toml has no extra 'nothing'\n")
