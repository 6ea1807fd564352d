# SPDX-License-Identifier: BSD-3-Clause
"""The commands do what projects for the vendor's tools expect of them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu import DpuSet
from dpu.cli import pkg_config
from dpu.elf.reader import ElfFile
from dpu.toolchain import Toolchain, ToolchainError
from dpu.toolchain.arguments import Goal, parse
from dpu.toolchain.command import main
from dpu.toolchain.compilers import find_toolchain

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
MAIN = "int main(void) { return 0; }\n"
TOTAL = """#include <defs.h>
#include "value.h"
__host int total;
int main(void) { if (me() == NR_TASKLETS - 1) total = VALUE; return 0; }
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    toolchain: Toolchain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Run:
    """Run the compiler's command in an empty folder, where texts are files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UPMEM_HOME", raising=False)
    if find_toolchain().kind is not toolchain.kind:
        pytest.skip("the vendor's compiler would be run")

    def run(*words: str, **texts: str) -> tuple[int, str, str]:
        for name, text in texts.items():
            Path(name.replace("_", ".")).write_text(text)
        capfd.readouterr()
        status = main(words)
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.mark.parametrize("option", ["-c", "-S"])
def test_a_device_is_written_to_and_not_replaced(run: Run, null_device: Path, option: str) -> None:
    mode = null_device.stat().st_mode
    assert run(option, "a.c", "-o", str(null_device), a_c=MAIN)[0] == 0
    assert null_device.stat().st_mode == mode


def test_nothing_is_written_to_check_a_file(run: Run) -> None:
    assert run("-fsyntax-only", "a.c", a_c=MAIN)[0] == 0
    assert os.listdir() == ["a.c"]
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
@pytest.mark.parametrize(("option", "begin"), [("-S", "\t"), ("-c", "\x7fELF"), ("", "\x7fELF")])
def test_outputs_go_to_the_standard_output(run: Run, option: str, begin: str, output: str) -> None:
    words = [word for word in (option, "a.c", "-o", output) if word]
    Path("a.c").write_text(MAIN)
    command = [sys.executable, "-P", "-m", "dpu.toolchain.command", *words]
    for shell in ('"$@" | cat', '"$@" > out && cat out'):
        done = subprocess.run(
            ["sh", "-c", shell, "sh", *command], capture_output=True, encoding="latin-1"
        )
        assert done.returncode == 0 and done.stdout.startswith(begin), done.stderr
    assert not Path("-").exists() and Path("/dev/stdout").is_symlink()


def test_the_compiler_answers_what_build_systems_ask(run: Run, toolchain: Toolchain) -> None:
    assert run("-dumpmachine") == (0, "dpu-upmem-dpurte\n", "")
    assert run("-O2", "-print-target-triple") == (0, "dpu-upmem-dpurte\n", "")
    assert run("-dumpversion") == (0, ".".join(map(str, toolchain.version)) + "\n", "")
    assert run("-print-file-name=nowhere.a") == (0, "nowhere.a\n", "")
    status, shown, _ = run("--print-search-dirs")
    assert status == 0 and shown.startswith("programs: =")


def test_commands_are_shown_and_not_run(run: Run) -> None:
    status, shown, said = run("-###", "-O2", "-DVALUE=1", "a.c", a_c=MAIN)
    assert (status, shown) == (0, "") and "Target: dpu-upmem-dpurte\n" in said
    assert '"-DVALUE=1"' in said and '"a.c"' in said
    assert os.listdir() == ["a.c"]


def found(program: str) -> int:
    with DpuSet(nr_dpus=1, binary=program) as dpus:
        dpus.exec()
        value: int = dpus.total.int32()
        return value


def test_program_from_several_sources(run: Run) -> None:
    words = ["-O2", "-g", "-Wall", "-Werror", "-std=c99", "-DNR_TASKLETS=3", "-I", "inc"]
    Path("inc").mkdir()
    Path("inc/value.h").write_text("int far(void);\n#define VALUE far()\n")
    sources = {"a_c": TOTAL, "b_c": "int far(void);\nint far(void) { return 75; }\n"}
    assert run(*words, "a.c", "b.c", "-o", "out", **sources) == (0, "", "")
    assert found("out") == 75
    symbols = {symbol.name: symbol.value for symbol in ElfFile(Path("out").read_bytes()).symbols}
    assert symbols["NR_TASKLETS"] == 3


def test_macros_take_effect_in_their_order(run: Run) -> None:
    words = ["-DVALUE=1", "-UVALUE", "-D", "VALUE=(2 + 3)", "-include", "defs.h"]
    words.append("-DNR_TASKLETS")
    assert run(*words, "-o", "out", "a.c", a_c=TOTAL, value_h="") == (0, "", "")
    assert found("out") == 5


def test_objects_and_archives_are_linked(run: Run) -> None:
    sources = {"a_c": TOTAL, "b_c": "int far(void);\nint far(void) { return 9; }\n"}
    headers = {"value_h": "int far(void);\n#define VALUE far()\n"}
    assert run("-c", "-O1", "-DNR_TASKLETS=2", "a.c", "b.c", **sources, **headers)[0] == 0
    subprocess.run(["ar", "rc", "libfar.a", "b.o"], check=True)
    link = ["a.o", "-DNR_TASKLETS=2", "-L.", "-lfar", "-o", "out"]
    assert run(*link) == (0, "", "")
    assert found("out") == 9
    # Output that was built before is not what would be built now.
    assert run("-c", "b.c", b_c=sources["b_c"].replace("9", "-5"))[0] == 0
    subprocess.run(["ar", "rc", "libfar.a", "b.o"], check=True)
    assert run(*link) == (0, "", "")
    assert found("out") == -5


def test_undefined_symbol_is_named_with_its_place(run: Run) -> None:
    text = "int far(int);\nint main(void) { return far(3); }\n"
    status, _, err = run("a.c", a_c=text)
    assert status == 1
    assert "undefined symbol: far" in err
    assert "a.c:2" in err
    assert not Path("a.out").exists()


def test_warnings_are_shown_every_time(run: Run) -> None:
    text = "int main(void) { int unused; return 0; }\n"
    for _ in range(2):
        status, _, err = run("-Wall", "a.c", a_c=text)
        assert status == 0
        assert "a.c:1:22: warning: unused variable" in err


def test_preprocessed_text_and_assembly(run: Run) -> None:
    status, out, _ = run("-E", "-DX=long", "a.c", a_c="X value = __dpu__;\n")
    assert status == 0
    assert "long value = 1;" in out
    assert run("-S", "a.c", a_c=MAIN)[0] == 0
    assert "main:" in Path("a.s").read_text()
    assert run("-fsyntax-only", "a.c", a_c="int x = y;\n")[0] == 1


def test_dependencies(run: Run) -> None:
    assert run("-MMD", "-MP", "-c", "a.c", "-o", "x.o", a_c=TOTAL, value_h="")[0] == 1
    text = TOTAL.replace("VALUE", "1").replace("NR_TASKLETS", "1")
    assert run("-MMD", "-MP", "-c", "a.c", "-o", "x.o", a_c=text, value_h="")[0] == 0
    rule = Path("x.d").read_text()
    assert rule.startswith("x.o:")
    assert "value.h" in rule
    assert "defs.h" not in rule
    assert run("-MD", "-MF", "y.d", "-MT", "goal", "a.c")[0] == 0
    assert "goal:" in Path("y.d").read_text()
    assert "defs.h" in Path("y.d").read_text()
    assert "a.o: a.c value.h" in run("-MM", "a.c")[1]


def test_source_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("text").write_text(MAIN)
    with open("text") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert run("-x", "c", "-", "-o", "out") == (0, "", "")
    assert Path("out").read_bytes().startswith(b"\x7fELF")


def test_words_of_a_file(run: Run) -> None:
    Path("words").write_text("-o 'an output'\n")
    assert run("@words", "a.c", a_c=MAIN)[0] == 0
    assert Path("an output").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no input files"),
        (["-o"], "-o requires a value"),
        (["missing.c"], "missing.c"),
        (["-mcpu=v2", "a.c"], "chip must be v1A or v1B, not 'v2'"),
        (["--target=x86_64-linux", "a.c"], "target must be dpu-upmem-dpurte"),
        (["-shared", "a.c"], "-shared is not supported: DPU programs are linked statically"),
        (["-T", "script", "a.c"], "-T is not supported"),
        (["-DNR_TASKLETS=25", "a.c"], "NR_TASKLETS must be 1 to 24, not 25"),
        (["-DNR_TASKLETS=many", "a.c"], "NR_TASKLETS must be a number"),
        (["-c", "a.c", "b.c", "-o", "x"], "-o with -c requires a single source"),
        (["-c", "a.o"], "a.o: objects cannot be used with -c"),
        (["a.s"], "cannot read a.s: No such file"),
        (["-lnothing", "a.c"], "unable to find library -lnothing"),
        (["-o", "no/folder", "a.c"], "cannot write no/folder"),
        (["-Wnonsense", "-Werror", "a.c"], "unknown warning option"),
    ],
)
def test_mistakes_are_told(run: Run, words: list[str], message: str) -> None:
    status, _, err = run(*words, a_c=MAIN, b_c="")
    assert status == 1
    assert message in err


def test_version_names_the_compiler(run: Run, toolchain: Toolchain) -> None:
    status, out, _ = run("--version")
    assert status == 0
    assert toolchain.describe() in out
    assert run("--help")[1].startswith("usage: dpu-clang")


def test_options_are_told_apart() -> None:
    arguments = parse(["-Ofast", "-Lx", "-L", "y", "-la", "-Wl,-u,b", "-nostdlib", "-flto", "f.c"])
    assert arguments.goal is Goal.PROGRAM
    assert arguments.inputs == ["f.c"]
    assert not arguments.runtime
    assert arguments.options.level == "-O3"
    assert arguments.options.options == []
    assert arguments.options.link_options == ["-Lx", "-Ly", "-la", "-u", "b"]
    with pytest.raises(ToolchainError, match="-march=rv64 is not supported"):
        parse(["-march=rv64"])


def test_project_with_its_own_makefile(toolchain: Toolchain, tmp_path: Path) -> None:
    if not (BIN / "dpu-upmem-dpurte-clang").exists() or shutil.which("make") is None:
        pytest.skip("the commands or make are not installed")
    shutil.copytree(HERE / "project", tmp_path / "project")
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "CC": os.environ.get("CC", "gcc")}
    environment.pop("UPMEM_HOME", None)

    def run(*command: str) -> str:
        done = subprocess.run(
            command,
            cwd=tmp_path / "project",
            env=environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("make")
    lines = run("bin/host", "bin/dpu").splitlines()
    assert lines[-1] == "equal"
    assert sum(line.startswith("11 tasklets: ") for line in lines) == 4
    assert "common.h" in (tmp_path / "project" / "bin" / "main.d").read_text()


def test_pkg_config_says_where_the_library_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UPMEM_HOME", raising=False)
    assert pkg_config.main(["--libs", "--cflags", "dpu"]) == 0
    words = shlex.split(capsys.readouterr().out)
    assert Path(words[0].removeprefix("-I"), "dpu.h").is_file()
    assert Path(words[1].removeprefix("-L"), "libdpu.so").exists()
    assert words[2] == f"-Wl,-rpath,{words[1][2:]}"
    assert words[3:] == ["-Wl,--no-as-needed", "-ldpu"]
    assert pkg_config.main(["--libs-only-l", "dpu"]) == 0
    assert capsys.readouterr().out == "-ldpu\n"
    assert pkg_config.main(["--exists", "dpu"]) == 0
    assert pkg_config.main(["--variable=libdir", "dpu"]) == 0
    assert capsys.readouterr().out.strip() == words[1][2:]


@pytest.mark.parametrize("module", ["dpu.toolchain.command", "dpu.cli.pkg_config"])
def test_commands_of_the_vendor_are_preferred(tmp_path: Path, module: str) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("dpu-upmem-dpurte-clang", "dpu-pkg-config"):
        script = tmp_path / "bin" / name
        script.write_text('#!/bin/sh\necho "$0" "$@"\n')
        script.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-P", "-m", module, "--libs", "x"],
        env={**os.environ, "UPMEM_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(f"{tmp_path}/bin/dpu-")
    assert done.stdout.endswith(" --libs x\n")
