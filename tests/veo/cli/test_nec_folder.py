# SPDX-License-Identifier: BSD-3-Clause
"""Projects that use NEC's SDK build and run with the folder of `veo-env`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builds import clean_environment
from veo.cli.mk_veorun import main as mk_veorun_main
from veo.cli.nec_compiler import host_command
from veo.cli.nec_compiler import main as compiler_main
from veo.cli.nec_folder import main, write_folder

# Where there is no gcc, the ziglang wheel compiles what it needs when it is first used.
pytestmark = pytest.mark.timeout(600)

KERNEL = """
#ifndef __ve__
#error "not a compiler of kernels"
#endif
#include <math.h>
#include <veo_hmem.h>
double root(double x, int n)
{
    double sum = 0;
#pragma _NEC ivdep
    for (int i = 0; i < n; i++)
        sum += sqrt(x);
    return sum;
}
"""
HOST = """
#include <stdio.h>
#include <string.h>
#include <ve_offload.h>
int main(int argc, char **argv)
{
    struct veo_proc_handle *proc = veo_proc_create(0);
    if (proc == NULL)
        return 2;
    uint64_t library = argc > 1 ? veo_load_library(proc, argv[1]) : 0;
    struct veo_thr_ctxt *context = veo_context_open(proc);
    struct veo_args *args = veo_args_alloc();
    veo_args_set_double(args, 0, 9.0);
    veo_args_set_i32(args, 1, 4);
    uint64_t result = 0;
    uint64_t request = veo_call_async_by_name(context, library, "root", args);
    int state = veo_call_wait_result(context, request, &result);
    double root;
    memcpy(&root, &result, sizeof root);
    printf("%d %g\\n", state, root);
    veo_args_free(args);
    veo_context_close(context);
    return veo_proc_destroy(proc);
}
"""
MAKEFILE = """
NEC ?= /opt/nec/ve
NCC ?= $(NEC)/bin/ncc
NAR ?= $(NEC)/bin/nar
NCCFLAGS = -O4 -march=ve1 -mabi=1 -report-all -fdiag-vector=2 -finline-functions -Wall -Werror
VEOS = $(NEC)/veos

all: host libroot.so static.veorun
host: host.c
\t$(CC) -I$(VEOS)/include -o $@ $< -L$(VEOS)/lib64 -Wl,-rpath=$(VEOS)/lib64 -lveo
libroot.so: root.c
\t$(NCC) $(NCCFLAGS) -shared -fpic -ftrace -o $@ $< -lveohmem -laveoVE -lveftrace
root.o: root.c
\t$(NCC) $(NCCFLAGS) -c -o $@ $<
libroot.a: root.o
\t$(NAR) rcs $@ $<
static.veorun: libroot.a
\tmk_veorun_static -o $@ -traceback=verbose libroot.a
"""
SOURCES = {"root.c": KERNEL, "host.c": HOST, "Makefile": MAKEFILE}

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    result = tmp_path / "nec"
    write_folder(result)
    return result


@pytest.fixture
def shell(folder: Path, tmp_path: Path) -> Shell:
    """Run a line of shell with the folder's variables, where the sources are."""
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)

    def run(line: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = clean_environment()
        for name in ("NCC", "NAR", "NEC", "VEORUN_BIN"):
            environment.pop(name, None)
        return subprocess.run(
            ["/bin/sh", "-euc", f'. "{folder}/env.sh"; {line}'],
            cwd=tmp_path,
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )

    return run


def need(*programs: str) -> None:
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


# --- programs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["", "NEC"])
def test_a_makefile_for_necs_sdk_builds_what_runs(shell: Shell, folder: Path, where: str) -> None:
    need("make", "gcc", "ar", "nm")
    # As in /opt/nec, where Makefiles have paths; and with the variables alone.
    variable = f"NEC={folder}/ve" if where else ""
    done = shell(
        f"make CC=gcc {variable} >&2; ./host ./libroot.so; VEORUN_BIN=./static.veorun ./host"
    )
    assert (done.returncode, done.stdout) == (0, "0 12\n0 12\n"), done.stderr


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the ziglang wheel")
def test_kernels_are_compiled_without_a_compiler_of_the_system(
    shell: Shell, tmp_path: Path
) -> None:
    done = shell("ncc -O2 -shared -fpic -o libroot.so root.c", PATH="", CC="")
    assert done.returncode == 0, done.stderr
    assert b".debug_info" in (tmp_path / "libroot.so").read_bytes()

    (tmp_path / "old.c").write_text("f() { return undeclared(1); }\nint g() { return; }\n")
    done = shell("ncc -c old.c", PATH="", CC="")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("chosen", ["ncc", "{folder}/ve/bin/ncc -O1"])
def test_the_compiler_for_kernels_does_not_call_itself(
    shell: Shell, folder: Path, chosen: str
) -> None:
    need("gcc")
    done = shell("ncc -c root.c; nnm root.o", CC=chosen.format(folder=folder))
    assert done.returncode == 0, done.stderr
    assert " T root\n" in done.stdout


def test_c_that_necs_compilers_take_runs(shell: Shell, tmp_path: Path) -> None:
    """Two files define a variable, and a function that returns an address is not declared."""
    need("gcc")
    (tmp_path / "set.c").write_text("int shared;\nvoid set(int n) { shared = 3 * n; }\n")
    (tmp_path / "old.c").write_text(
        "int shared;\nvoid set(int);\ndouble root(double x, int n)\n{\n    set(n);\n"
        "    __builtin_vprefetch(&shared, sizeof shared);\n"
        "    char *p = (char *)veo_get_hmem_addr((char *)0x8800200100210000);\n"
        "    return p == (char *)0x200100210000 ? shared : 0;\n}\n"
    )
    words = "-shared -fpic -o libold.so old.c set.c"
    done = shell(
        f"gcc -o host host.c -lveo; ncc {words} -lveohmem; ./host ./libold.so; "
        f"! ncc -fno-common {words}",
        CC="gcc",
    )
    assert done.stdout == "0 12\n", done.stderr
    assert done.returncode == 0 and "multiple definition" in done.stderr


def test_the_compilers_say_what_they_are(shell: Shell) -> None:
    need("gcc")
    done = shell("ncc --version; ncc -dumpmachine", CC="gcc")
    assert done.stdout.startswith("ncc of offchip "), done.stderr
    assert "x86_64" in done.stdout.splitlines()[-1]


def test_help_of_the_compiler_names_the_engine(shell: Shell) -> None:
    need("gcc")
    done = shell("ncc --help", CC="gcc")
    assert done.stdout.startswith("ncc of offchip ") and "--target=ve" in done.stdout
    assert "\n\nUsage: gcc " in done.stdout


def test_messages_of_the_compiler_are_the_hosts(shell: Shell) -> None:
    need("gcc")
    done = shell("echo 'int f(void) { return x; }' > bad.c; ncc -c bad.c", CC="gcc")
    assert done.returncode == 1
    assert "bad.c:1" in done.stderr


def test_objects_with_openmp_need_no_option_of_the_link(shell: Shell, tmp_path: Path) -> None:
    need("gcc", "nm")
    probe = subprocess.run(
        ["gcc", "-fopenmp", "-x", "c", "-", "-o", tmp_path / "probe"],
        input="int main(void) { return 0; }\n",
        text=True,
        capture_output=True,
        env=clean_environment(),
    )
    if probe.returncode != 0:
        pytest.skip("gcc has no OpenMP here")
    (tmp_path / "omp.c").write_text(
        "#include <omp.h>\nint n;\nvoid f(void)\n{\n#pragma omp parallel\n"
        "    if (omp_get_thread_num() == 0)\n        n = omp_get_num_threads();\n}\n"
    )
    done = shell(
        "ncc -fopenmp -fpic -c omp.c; ncc -shared -Wl,-z,defs -o libomp.so omp.o", CC="gcc"
    )
    assert done.returncode == 0, done.stderr


# --- options ------------------------------------------------------------------------------------


@pytest.fixture
def host_is_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CC", "CXX", "FC"):
        monkeypatch.setenv(variable, "echo")


@pytest.mark.usefixtures("host_is_echo")
def test_options_are_translated() -> None:
    words = "-c -O4 -report-all -mno-vector-fma -minit-stack=zero -march=ve3 -I include -o a.o a.c"
    command = host_command("C", words.split())
    assert command[:2] == ["echo", "-fcommon"]
    assert command[3:5] == ["-D__NEC__=1", "-D__ve__=1"]
    assert command[5:12] == "-c -O3 -I include -o a.o a.c".split()
    assert {"-g", "-fPIC"} < set(command)
    assert "-lm" not in command
    assert "-O2" not in command

    fortran = host_command("F", "-shared -fpp -module mods -fextend-source a.f90 -lveio".split())
    assert fortran[:2] == ["echo", "-O2"]
    assert fortran[2:8] == "-shared -cpp -J mods -ffixed-line-length-132 a.f90".split()
    assert "-lm" in fortran


@pytest.mark.usefixtures("host_is_echo")
@pytest.mark.parametrize("words", [["-v"], ["-dumpmachine"], ["-x", "c"], ["-o", "a"], []])
def test_a_question_gets_no_input(words: list[str]) -> None:
    assert "-lm" not in host_command("C", words)


def test_a_missing_compiler_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FC", raising=False)
    assert compiler_main(["F", "-c", "a.f90"]) == 1
    assert "nfort: error: no F compiler found" in capsys.readouterr().err


def test_mk_veorun_static_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert mk_veorun_main(["-h"]) == 0
    assert "usage: mk_veorun_static" in capsys.readouterr().out
    for words in ([], ["-o"], ["-o", "out"], ["out"], ["-fopenmp"]):
        assert mk_veorun_main(words) == 2
    assert "usage: mk_veorun_static" in capsys.readouterr().err
    assert mk_veorun_main(["out", "none.o"]) == 1
    assert "no such object or archive: none.o" in capsys.readouterr().err


def test_files_without_symbols_are_linked(shell: Shell, tmp_path: Path) -> None:
    need("gcc", "nm")
    (tmp_path / "one.c").write_text("int two(void); int one(void) { return two() - 1; }\n")
    (tmp_path / "two.c").write_text("int two(void) { return 2; }\n")
    done = shell(
        "ncc -c one.c; ncc -c two.c; mk_veorun_static -v --link-nosym=two.o one.veorun -- one.o"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.veorun").is_file()


# --- the folder ---------------------------------------------------------------------------------


def test_the_folder_may_be_written_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.rglob("*"))
    assert main([str(folder)]) == 0
    assert sorted(folder.rglob("*")) == before
    assert capsys.readouterr().out == (folder / "env.sh").read_text()
    assert (folder / "bin" / "ncc").is_file()
    assert (folder / "ve" / "libexec" / "mk_veorun_static").is_file()
    assert (folder / "ve" / "veos" / "include" / "ve_offload.h").is_file()
    assert (folder / "ve" / "veos" / "lib64" / "libveo.so").is_file()
    assert (folder / "ve" / "lib" / "libveohmem.a").is_file()


def test_the_folder_is_in_the_users_data_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert main([]) == 0
    assert str(tmp_path / "data" / "offchip" / "nec-") in capsys.readouterr().out


@pytest.mark.parametrize("name", ["ve/bin/ncc", "ve/veos/lib64/libveo.so.1"])
def test_necs_own_sdk_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    own = tmp_path / name
    own.parent.mkdir(parents=True)
    own.write_text("NEC's")
    assert main([str(tmp_path)]) == 1
    assert f"{own} is not offchip's" in capsys.readouterr().err
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [own]


def test_python_takes_the_folders_library_for_the_twin(shell: Shell) -> None:
    done = shell(f"{sys.executable} -c 'import veo; print(veo.library_info()[\"kind\"])'")
    assert done.stdout == "soft\n", done.stderr


def test_the_command_is_installed() -> None:
    command = Path(sys.executable).parent / "veo-env"
    if not command.exists():
        pytest.skip("the commands are not installed")
    done = subprocess.run([command, "--help"], capture_output=True, text=True, check=True)
    assert "usage: veo-env" in done.stdout
    assert os.access(command, os.X_OK)


ASSEMBLER = """
#include <vedma.h>
#include <vhshm.h>
long move(long *to, const long *from)
{
    long value;
    int word;
    asm volatile("fencem 2" ::: "memory");
    asm volatile("lhm.l %0,0(%1)" : "=r"(value) : "r"(from) : "memory");
    asm volatile("shm.l %0,8(%1)" ::"r"(value + 1), "r"(to) : "memory");
    asm volatile("lhm.w %0,8(%1)" : "=r"(word) : "r"(to) : "memory");
    asm volatile("shm.w %0,0(%1)" ::"r"(word), "r"(to) : "memory");
    asm volatile("fencem 3" ::: "memory");
    return ve_dma_init();
}
"""
CALLER = """
#include <stdio.h>
long move(long *to, const long *from);
int main(void)
{
    long to[2] = {0, 0}, from = 41, done = move(to, &from);
    printf("%ld %ld %ld\\n", done, to[0], to[1]);
    return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "python -m ziglang cc"])
def test_host_memory_is_reached_by_inline_assembler(
    shell: Shell, tmp_path: Path, compiler: str
) -> None:
    if compiler == "gcc":
        need("gcc")
    elif importlib.util.find_spec("ziglang") is None:
        pytest.skip("needs the ziglang wheel")
    (tmp_path / "move.c").write_text(ASSEMBLER)
    (tmp_path / "caller.c").write_text(CALLER)
    chosen = compiler.replace("python", sys.executable)
    done = shell("ncc -O2 move.c caller.c -o moved -lsysve; ./moved", CC=chosen)
    assert (done.returncode, done.stdout) == (0, "0 42 42\n"), done.stderr


def test_preprocessed_files_are_compiled(shell: Shell) -> None:
    need("gcc")
    done = shell("ncc -E root.c -o root.i; ncc -c root.i -o root.o; nnm root.o", CC="gcc")
    assert " T root\n" in done.stdout, done.stderr


# --- links of Vector Engine code ----------------------------------------------------------------


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the ziglang wheel")
def test_inputs_of_a_ve_link_may_have_any_name(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int two(void);\nint main(void) { return two(); }\n")
    (tmp_path / "two.c").write_text("int two(void) { return 2; }\n")
    done = shell(
        "export VEBUILD_TARGET=ve; ncc -c two.c -o two.obj; ncc main.c two.obj -L . -o a.ve;"
        "veorun a.ve || echo $?; ncc main.c notes.txt || echo main >notes.txt; ncc main.c notes.txt"
    )
    assert done.stdout == "2\n", done.stderr
    missing, other = done.stderr.splitlines()
    assert missing.startswith("ncc: error: ") and "notes.txt" in missing
    assert other == "ncc: error: notes.txt is no object or archive for the Vector Engine"
