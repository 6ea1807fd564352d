# SPDX-License-Identifier: BSD-3-Clause
"""VeBuild: sources to kernel libraries, and the choice of compilers."""

from __future__ import annotations

import ctypes
import importlib.util
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import veo
from veo import compilers, static_worker, vebuild
from veo.cli.nec_folder import write_folder
from veo.compilers import Toolchain, select_toolchain
from veo.vebuild import VeBuild, VeCObj, VeObj, VeoBuildError

# Where there is no g++ the ziglang wheel compiles its C++ library when first used.
pytestmark = pytest.mark.timeout(600)

HOST = Toolchain("host", "test")
VE = Toolchain("ve", "test")
TWICE = "long twice(long x) { return 2 * x; }\n"


@pytest.fixture(autouse=True)
def _plain_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    # A sanitizer that is preloaded would look for leaks in the compiler.
    monkeypatch.delenv("LD_PRELOAD", raising=False)


@pytest.fixture
def build(tmp_path: Path) -> VeBuild:
    result = VeBuild(target="host")
    result.set_build_dir(tmp_path / "out")
    return result


# --- what is built ----------------------------------------------------------------------------


def test_build_so_gives_a_loadable_library(
    build: VeBuild, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build.set_c_src("twice", TWICE)
    path = build.build_so()
    assert path == f"{tmp_path}/out/twice.so"
    assert ctypes.CDLL(path).twice(21) == 42
    assert capsys.readouterr().out == "compile twice -> ok\n"
    assert sorted(os.listdir(tmp_path / "out")) == ["twice.c", "twice.o", "twice.so"]


def test_path_is_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    build = VeBuild(target="host")
    build.set_c_src("twice", TWICE)
    assert build.build_so() == "twice.so"
    assert build.build_so("other") == "other.so"
    build.set_build_dir("sub/dir")
    assert build.build_so() == "sub/dir/twice.so"
    assert Path.cwd() == tmp_path


def test_label_names_the_library_else_the_first_source(build: VeBuild) -> None:
    build.set_c_src("a", "int a(void) { return 1; }")
    build.set_c_src("b", "int a(void); int b(void) { return a() + 1; }")
    assert Path(build.build_so() or "").name == "a.so"
    path = build.build_so("named")
    assert path is not None
    assert Path(path).name == "named.so"
    assert ctypes.CDLL(path).b() == 2


def test_same_label_replaces_the_source(build: VeBuild) -> None:
    build.set_c_src("k", "int k(void) { return 1; }")
    build.set_c_src("k", "int k(void) { return 2; }")
    assert ctypes.CDLL(build.build_so() or "").k() == 2


def test_cpp_and_c_together_link_as_cpp(build: VeBuild) -> None:
    build.set_c_src("c", "int one(void) { return 1; }")
    build.set_cpp_src(
        "cpp",
        "#include <string>\n"
        'extern "C" int one(void);\n'
        'extern "C" int digits(int x) { return (int)std::to_string(x).size() + one(); }',
    )
    assert ctypes.CDLL(build.build_so() or "").digits(12345) == 6


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="no Fortran compiler")
@pytest.mark.parametrize("with_cpp", [False, True])
def test_fortran(build: VeBuild, with_cpp: bool) -> None:
    build.set_ftn_src(
        "f",
        "integer(8) function add(a, b)\n  integer(8) :: a, b\n"
        "  character(40) :: text\n  write(text, *) a + b\n  read(text, *) add\nend function\n",
    )
    if with_cpp:
        build.set_cpp_src("cpp", 'extern "C" int one(void) { return 1; }')
    add = ctypes.CDLL(build.build_so() or "").add_
    add.restype = ctypes.c_int64
    assert add(ctypes.byref(ctypes.c_int64(40)), ctypes.byref(ctypes.c_int64(2))) == 42


def test_host_code_has_debug_info(build: VeBuild) -> None:
    build.set_c_src("twice", TWICE, flags="-O3")
    sections = subprocess.run(
        ["readelf", "-S", "-W", build.build_so() or ""], capture_output=True, text=True, check=True
    ).stdout
    assert ".debug_info" in sections


def test_libs_are_linked(build: VeBuild) -> None:
    build.set_c_src("m", "#include <math.h>\nint m(int x) { return (int)cbrt(x); }")
    path = build.build_so(libs=["-lm"])
    needed = subprocess.run(["readelf", "-d", path or ""], capture_output=True, text=True).stdout
    assert "libm.so" in needed


MATH = """
#include <math.h>
double mix(double x) { return sqrt(x) + pow(x, 0.25) + exp(-x); }
"""


def test_mathematical_functions_need_no_option(
    build: VeBuild, make_proc: Callable[..., veo.VeoProc]
) -> None:
    build.set_c_src("mix", MATH)
    path = build.build_so()
    proc = make_proc()
    function = proc.load_library(path).find_function("mix")
    function.args_type("double")
    function.ret_type("double")
    expected = math.sqrt(2) + 2**0.25 + math.exp(-2)
    assert function(proc.open_context(), 2.0).wait_result(10) == pytest.approx(expected)


def test_headers_and_libraries_for_kernels_are_found(
    build: VeBuild, make_proc: Callable[..., veo.VeoProc]
) -> None:
    build.set_c_src(
        "plain",
        "#include <stdint.h>\n#include <veo_hmem.h>\n"
        "uint64_t plain(void *p) { return (uint64_t)veo_get_hmem_addr(p); }",
    )
    proc = make_proc()
    plain = proc.load_library(build.build_so(libs=["-lveohmem"])).plain
    assert plain(proc.open_context(), 0x77 | 1 << 63).wait_result(10) == 0x77


def _needed(path: str | Path) -> str:
    command = ["readelf", "--dynamic", "--wide", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.nosanitize  # the sanitized archive wants a compiler that sanitizes
@pytest.mark.parametrize("worker", ["own", "static"])
def test_worker_has_libm_for_kernels_linked_without_it(
    build: VeBuild, tmp_path: Path, make_proc: Callable[..., veo.VeoProc], worker: str
) -> None:
    # As a C host's user links them: NEC's compilers add libm by themselves.
    (tmp_path / "mix.c").write_text(MATH)
    compiler = [*HOST.compiler("C"), "-O2", "-g", "-shared", "-fPIC"]
    kernels = str(tmp_path / "mix.so")
    subprocess.run([*compiler, "-o", kernels, str(tmp_path / "mix.c")], check=True)
    assert "libm.so" not in _needed(kernels)
    program = None
    if worker == "static":
        build.set_c_src("twice", TWICE)
        program = build.build_veorun("twice", flags="-Wl,--as-needed")
        assert program is not None
    proc = make_proc(veorun_bin=program) if program else make_proc()
    function = proc.load_library(kernels).find_function("mix")
    function.args_type("double")
    function.ret_type("double")
    assert function(proc.open_context(), 1.0).wait_result(10) == pytest.approx(2 + math.exp(-1))


def test_openmp_flag_reaches_the_link(build: VeBuild) -> None:
    source = (
        "int total(int n) { int s = 0;\n#pragma omp parallel for reduction(+:s)\n"
        "for (int i = 1; i <= n; i++) s += i; return s; }"
    )
    build.set_c_src("omp", source, flags="-O2 -fopenmp -mparallel")
    # In a process of its own because OpenMP keeps its threads.
    program = f"import ctypes; print(ctypes.CDLL({build.build_so()!r}).total(100))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"5050\n"


def test_verbose_prints_commands(build: VeBuild, capsys: pytest.CaptureFixture[str]) -> None:
    build.set_c_src("twice", TWICE)
    build.build_so(verbose=True)
    assert " -c twice.c -o twice.o" in capsys.readouterr().out


def test_directory_with_spaces(tmp_path: Path) -> None:
    build = VeBuild(target="host")
    build.set_build_dir(f"{tmp_path}/a b/$c")
    build.set_c_src("twice", TWICE)
    assert build.build_so() == f"{tmp_path}/a b/$c/twice.so"


def test_loaded_library_may_be_rebuilt(build: VeBuild) -> None:
    build.set_c_src("k", "int k(void) { return 1; }")
    first = ctypes.CDLL(build.build_so() or "")
    build.set_c_src("k", "int k(void) { return 2; }")
    build.build_so()
    assert first.k() == 1


# --- failures ---------------------------------------------------------------------------------


def test_compile_error_prints_and_returns_none(
    build: VeBuild, capfd: pytest.CaptureFixture[str]
) -> None:
    build.set_c_src("bad", "int bad( {")
    assert build.build_so() is None
    out, err = capfd.readouterr()
    assert out == "compile bad -> failed\n"
    assert "bad.c:1:" in err
    assert "error:" in err


@pytest.mark.parametrize("where", ["constructor", "call"])
def test_check_raises_with_the_compilers_text(tmp_path: Path, where: str) -> None:
    build = VeBuild(target="host", check=where == "constructor")
    build.set_build_dir(tmp_path)
    build.set_c_src("bad", "int bad( {")
    with pytest.raises(VeoBuildError, match=r"bad\.c:1:") as info:
        build.build_so(check=None if where == "constructor" else True)
    assert "error:" in info.value.output
    assert info.value.command.endswith("-c bad.c -o bad.o")


def test_call_may_turn_check_off(tmp_path: Path) -> None:
    build = VeBuild(target="host", check=True)
    build.set_build_dir(tmp_path)
    build.set_c_src("bad", "int bad( {")
    assert build.build_so(check=False) is None


def test_link_error_returns_none(build: VeBuild, capfd: pytest.CaptureFixture[str]) -> None:
    build.set_c_src("twice", TWICE)
    assert build.build_so(libs=["-lno_such_library_here"]) is None
    assert "no_such_library_here" in capfd.readouterr().err


def test_missing_compiler_names_the_package(
    build: VeBuild, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build.set_ftn_src("f", "subroutine f\nend subroutine\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FC", raising=False)
    with pytest.raises(VeoBuildError, match="install the package gfortran"):
        build.build_so()


def _hide_host_compilers(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("PATH", str(folder))
    for variable in ("CC", "CXX", "FC"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the ziglang wheel")
def test_ziglang_serves_where_there_is_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_proc: Callable[..., veo.VeoProc]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    _hide_host_compilers(monkeypatch, empty)
    # A module of that name in the current folder is not the wheel's.
    (tmp_path / "ziglang.py").write_text("raise SystemExit('taken from the current folder')")
    monkeypatch.chdir(tmp_path)
    build = VeBuild(target="host", check=True)
    build.set_build_dir(tmp_path / "out")
    build.set_c_src("mix", MATH)
    path = build.build_so()
    proc = make_proc()
    function = proc.load_library(path).find_function("mix")
    function.args_type("double")
    function.ret_type("double")
    assert function(proc.open_context(), 1.0).wait_result(10) == pytest.approx(2 + math.exp(-1))
    assert "c++" in HOST.compiler("C++")


@pytest.mark.nosanitize  # the sanitized archive wants a compiler that sanitizes
@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the ziglang wheel")
def test_ziglang_links_workers(
    build: VeBuild, monkeypatch: pytest.MonkeyPatch, make_proc: Callable[..., veo.VeoProc]
) -> None:
    monkeypatch.setenv("CC", f"{sys.executable} -P -m ziglang cc")
    build.set_c_src("mix", MATH)
    mix = make_proc(veorun_bin=build.build_veorun(check=True)).static_library().mix
    assert mix(mix.lib.proc.open_context(), 1.0).wait_result(10) == pytest.approx(2 + math.exp(-1))


def test_missing_nm_names_the_package(
    build: VeBuild, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiler = HOST.compiler("C")[0]
    monkeypatch.setenv("CC", compiler)
    build.set_c_src("twice", TWICE)
    build.build_so()
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(VeoBuildError, match="install the package binutils"):
        static_worker.build_static_worker(
            tmp_path / "out.veorun", [tmp_path / "out" / "twice.o"], compiler=[compiler]
        )


def test_missing_compiler_names_what_serves(
    build: VeBuild, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _hide_host_compilers(monkeypatch, tmp_path)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    build.set_c_src("twice", TWICE)
    with pytest.raises(VeoBuildError, match="install the package gcc, or the ziglang wheel"):
        build.build_so()


@pytest.mark.parametrize("language", ["C", "C++"])
def test_the_stand_in_of_veo_env_is_not_necs_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    # As after `veo-env --at`, which is where NEC's would be.
    write_folder(tmp_path / "nec")
    name = {"C": "ncc", "C++": "nc++"}[language]
    compiler = tmp_path / "nec" / "ve" / "bin" / name
    monkeypatch.setitem(veo.COMPILER, language, str(compiler))
    monkeypatch.setitem(veo.COMPILER, "C", str(compiler.with_name("ncc")))
    assert select_toolchain("ve").by_clang == (importlib.util.find_spec("ziglang") is not None)
    with pytest.raises(VeoBuildError, match="NEC's SDK"):
        Toolchain("ve", "").compiler(language)

    for one in "ncc", "nc++":
        compiler.with_name(one).write_text("#!/bin/sh\n")
    assert not select_toolchain("ve").by_clang
    assert Toolchain("ve", "").compiler(language) == [str(compiler)]


@pytest.mark.skipif(os.path.exists("/opt/nec/ve/bin/ncc"), reason="NEC's compilers are here")
def test_missing_nec_compiler_names_the_sdk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ziglang", None)
    build = VeBuild(target="ve")
    build.set_build_dir(tmp_path)
    build.set_c_src("twice", TWICE)
    with pytest.raises(VeoBuildError, match="NEC's SDK"):
        build.build_so()


def test_no_sources_is_value_error(build: VeBuild) -> None:
    with pytest.raises(ValueError, match="no sources"):
        build.build_so()
    with pytest.raises(ValueError, match="no sources"):
        build.build_veorun("name")


@pytest.mark.parametrize("label", ["", "a/b", "a\0b"])
def test_label_must_be_a_file_name(build: VeBuild, label: str) -> None:
    with pytest.raises(ValueError, match="label"):
        build.set_c_src(label, TWICE)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable_build_dir_is_os_error(build: VeBuild, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o500)
    build.set_c_src("twice", TWICE)
    with pytest.raises(OSError, match="not readable and writable"):
        build.build_so()


def test_build_dir_that_is_a_file_is_os_error(build: VeBuild, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    build.set_c_src("twice", TWICE)
    with pytest.raises(OSError):
        build.build_so()


# --- cleaning ---------------------------------------------------------------------------------


def test_clean_keeps_the_library(build: VeBuild, tmp_path: Path) -> None:
    build.set_c_src("twice", TWICE)
    build.build_so()
    build.clean()
    assert os.listdir(tmp_path / "out") == ["twice.so"]
    build.clean()


def test_clear_forgets_sources_and_directory(build: VeBuild, tmp_path: Path) -> None:
    build.set_c_src("twice", TWICE)
    build.build_so()
    build.clear()
    assert os.listdir(tmp_path / "out") == ["twice.so"]
    with pytest.raises(ValueError):
        build.build_so()


def test_realclean_removes_the_directory_it_made(build: VeBuild, tmp_path: Path) -> None:
    build.set_c_src("twice", TWICE)
    build.build_so()
    build.realclean()
    assert not (tmp_path / "out").exists()
    build.realclean()


def test_realclean_spares_what_was_there(build: VeBuild, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("x")
    build.set_c_src("twice", TWICE)
    build.build_so()
    build.realclean()
    assert os.listdir(tmp_path / "out") == ["precious"]


def test_realclean_removes_a_directory_that_is_empty_then(build: VeBuild, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    build.set_c_src("twice", TWICE)
    build.build_so()
    assert os.listdir(tmp_path / "out") != []
    build.realclean()
    assert not (tmp_path / "out").exists()


def test_realclean_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    build = VeBuild(target="host")
    build.set_build_dir(".")
    build.set_c_src("twice", TWICE)
    build.build_so()
    build.realclean()
    assert os.listdir(tmp_path) == []


def test_objects_do_not_share_what_they_built(tmp_path: Path) -> None:
    one, two = VeBuild(target="host"), VeBuild(target="host")
    for name, build in (("one", one), ("two", two)):
        build.set_build_dir(tmp_path)
        build.set_c_src(name, TWICE)
        build.build_so()
    one.realclean()
    assert (tmp_path / "two.so").exists()


# --- compilers --------------------------------------------------------------------------------


def test_constants_are_py_veos() -> None:
    assert veo.COMPILER["C++"] == "/opt/nec/ve/bin/nc++"
    assert veo.SUFFIX == {"C": ".c", "C++": ".cpp", "F": ".f90"}
    assert set(veo.FLAGS) == set(veo.COMPILER)
    assert veo.GLOBAL_SO_FLAGS == "-shared -pthread"
    assert veo.MK_VEORUN_STATIC.endswith("/mk_veorun_static")


def test_auto_follows_the_library_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(compilers.TARGET_VARIABLE, raising=False)
    kind = veo.library_info()["kind"]
    assert VeBuild().toolchain.target == ("host" if kind == "soft" else "ve")


@pytest.mark.parametrize("target", ["ve", "host"])
def test_environment_wins_over_auto_only(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    monkeypatch.setenv(compilers.TARGET_VARIABLE, target)
    assert select_toolchain().target == target
    assert compilers.TARGET_VARIABLE in select_toolchain().reason
    assert select_toolchain("host").target == "host"


def test_unknown_target_is_value_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="gpu"):
        VeBuild(target="gpu")
    monkeypatch.setenv(compilers.TARGET_VARIABLE, "gpu")
    with pytest.raises(ValueError, match="gpu"):
        select_toolchain()


def test_ve_flags_are_untouched() -> None:
    assert VE.compile_flags("C") == veo.FLAGS["C"].split()
    assert VE.compile_flags("C", "-O4 -mparallel") == ["-O4", "-mparallel"]


@pytest.mark.parametrize("language", ["C", "C++", "F"])
def test_default_flags_compile_on_the_host(language: str) -> None:
    flags = HOST.compile_flags(language)
    assert "-g" in flags
    assert "-fpic" in flags
    assert not any(f.startswith(("-report", "-fdiag")) for f in flags)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("-report-all -fdiag-vector=3 -O2", "-O2"),
        ("-finline -finline-functions", "-finline -finline-functions"),
        ("-finline-max-depth=4 -fno-inline-attribute", ""),
        ("-mvector-packed -mno-vector -mparallel-outerloop-strip-mine", ""),
        ("-march=native -mavx2 -mtune=native", "-march=native -mavx2 -mtune=native"),
        ("-floop-collapse -fouterloop-unroll -ffast-math", "-ffast-math"),
        ("-proginf -ftrace -traceback=verbose", ""),
        ("-O4 -DX='a b' -I/x", "-O3 '-DX=a b' -I/x"),
    ],
)
def test_host_flags(given: str, kept: str) -> None:
    import shlex

    assert HOST.compile_flags("C", given) == [*shlex.split(kept), "-g", "-fPIC"]


def test_nfort_spelling_becomes_gfortrans() -> None:
    assert HOST.compile_flags("F", "-fdefault-real=8 -fpp -g -fPIC") == [
        "-fdefault-real-8",
        "-cpp",
        "-g",
        "-fPIC",
    ]


def test_g0_is_overruled_for_argument_classes() -> None:
    assert HOST.compile_flags("C", "-g0")[-2:] == ["-g", "-fPIC"]


def test_necs_compiler_is_replaced_and_others_are_not(tmp_path: Path) -> None:
    assert HOST.compiler("C", "/opt/nec/ve/bin/ncc")[0].rpartition("/")[2] in ("gcc", "cc", "clang")
    mine = tmp_path / "mycc"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    assert HOST.compiler("C", f"{mine} -v") == [str(mine), "-v"]


def test_cc_variable_names_the_host_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "env gcc")
    assert HOST.compiler("C")[:3] == ["env", "gcc", "-fcommon"]
    assert HOST.compiler("C++")[0] != "env"


def test_changed_compiler_table_is_honoured(
    build: VeBuild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vebuild.COMPILER, "C", "no-such-compiler-here")
    build.set_c_src("twice", TWICE)
    with pytest.raises(VeoBuildError, match="no-such-compiler-here not found"):
        build.build_so()


def test_ve_target_runs_necs_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Scripts in place of NEC's tools write down how they were called.
    tools = {}
    for name in ("ncc", "mk_veorun_static"):
        tools[name] = tmp_path / name
        tools[name].write_text(f'#!/bin/sh\necho {name} "$@" "CFLAGS=$CFLAGS" >>{tmp_path}/log\n')
        tools[name].chmod(0o755)
    monkeypatch.setitem(vebuild.COMPILER, "C", str(tools["ncc"]))
    monkeypatch.setattr(vebuild, "MK_VEORUN_STATIC", str(tools["mk_veorun_static"]))
    monkeypatch.delenv("CFLAGS", raising=False)
    build = VeBuild(target="ve", check=True)
    build.set_build_dir(tmp_path / "out")
    build.set_c_src("k", TWICE)
    assert build.build_veorun(flags="-O1", libs=["-lx"]) == f"{tmp_path}/out/k.veorun"
    assert build.build_so(flags="-shared") == f"{tmp_path}/out/k.so"
    compiled = f"ncc {veo.FLAGS['C']} -c k.c -o k.o CFLAGS="
    out = f"{tmp_path}/out/k"
    assert (tmp_path / "log").read_text().splitlines() == [
        compiled,
        f"mk_veorun_static {out}.veorun {out}.o -lx CFLAGS=-O1",
        compiled,
        f"ncc -shared -o {out}.so {out}.o CFLAGS=",
    ]


def test_missing_mk_veorun_static_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vebuild.COMPILER, "C", "true")
    monkeypatch.setattr(vebuild, "MK_VEORUN_STATIC", str(tmp_path / "mk_veorun_static"))
    build = VeBuild(target="ve")
    build.set_build_dir(tmp_path)
    build.set_c_src("k", TWICE)
    with pytest.raises(VeoBuildError, match="mk_veorun_static not found"):
        build.build_veorun()


# --- VeObj ------------------------------------------------------------------------------------


def test_veobj_compiles_and_cleans(tmp_path: Path) -> None:
    obj = VeCObj(TWICE, target="host")
    assert obj.get_type() == "C"
    assert obj.get_compiler() == veo.COMPILER["C"]
    assert obj.build("name", dir=str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == ["name.c", "name.o"]
    obj.clean(tmp_path / "name")
    assert os.listdir(tmp_path) == []


def test_veobj_failure_is_false_with_a_message(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    obj = VeCObj(TWICE, target="host")
    obj.set_flags("-Werror -Dtwice=(")
    assert obj.build("name", tmp_path) is False
    assert "error" in capfd.readouterr().err
    obj.set_compiler("gcc")
    assert obj.get_compiler() == "gcc"


def test_veobj_itself_has_no_language() -> None:
    with pytest.raises(TypeError, match="VeCObj"):
        VeObj(TWICE)


# --- with a process ---------------------------------------------------------------------------


def test_built_library_runs_on_the_ve(tmp_path: Path) -> None:
    build = VeBuild(check=True)
    build.set_build_dir(tmp_path)
    build.set_c_src("scale", "double scale(double x, float f) { return x * f; }")
    proc = veo.VeoProc(0)
    lib = proc.load_library(build.build_so())
    lib.scale.args_type("double", "float")
    lib.scale.ret_type("double")
    assert lib.scale(proc.open_context(), 3.0, 0.5).wait_result() == 1.5
    proc.proc_destroy()
