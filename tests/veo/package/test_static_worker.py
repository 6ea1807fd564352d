# SPDX-License-Identifier: BSD-3-Clause
"""Kernels linked into the worker executable."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import veo
from veo import static_worker
from veo.static_worker import build_static_worker, symbol_table_source
from veo.vebuild import VeBuild, VeoBuildError

# Where there is no g++ the ziglang wheel compiles its C++ library when first used. The sanitized
# archive wants a compiler that sanitizes.
pytestmark = [pytest.mark.timeout(600), pytest.mark.nosanitize]

Compile = Callable[..., Path]


@pytest.fixture(autouse=True)
def _plain_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    # A sanitizer that is preloaded would look for leaks in the compiler.
    monkeypatch.delenv("LD_PRELOAD", raising=False)


@pytest.fixture
def compile_c(tmp_path: Path) -> Compile:
    def compile_(name: str, source: str, *flags: str) -> Path:
        path = tmp_path / f"{name}.c"
        path.write_text(source)
        out = path.with_suffix(".o")
        subprocess.run(["gcc", "-g", *flags, "-c", str(path), "-o", str(out)], check=True)
        return out

    return compile_


def defined(*files: Path) -> set[str]:
    return set(static_worker.read_symbols([str(f) for f in files]).defined)


# --- the table --------------------------------------------------------------------------------


def test_table_holds_global_definitions_only(compile_c: Compile) -> None:
    obj = compile_c(
        "kinds",
        """
        int text(void) { return 0; }
        static int hidden(void) { return 1; }
        int data = 1, bss, *use = &data;
        const int rodata = 2;
        __attribute__((weak)) int weak(void) { return hidden(); }
        __attribute__((weak)) int weakdata = 3;
        __thread int per_thread;
        extern int elsewhere;
        int uses(void) { return elsewhere + per_thread; }
        """,
    )
    assert defined(obj) == {
        "text", "data", "bss", "use", "rodata", "weak", "weakdata", "uses",
    }  # fmt: skip


def test_common_symbols_are_in_the_table(compile_c: Compile) -> None:
    assert defined(compile_c("c", "int common;", "-fcommon")) == {"common"}


def test_archive_members_are_in_the_table(compile_c: Compile, tmp_path: Path) -> None:
    members = [compile_c(n, f"int {n}(void) {{ return 0; }}") for n in ("one", "two")]
    archive = tmp_path / "libboth.a"
    subprocess.run(["ar", "rcs", str(archive), *map(str, members)], check=True)
    assert defined(archive) == {"one", "two"}


def test_table_compiles_cleanly_and_addresses_any_name(compile_c: Compile, tmp_path: Path) -> None:
    names = ["plain", "main_", "memcpy", "odd.name$1", "_ZN1nE", "\u00fcber"]
    body = "".join(
        f'extern int f{i}(void) __asm__("{n}");\nint f{i}(void) {{ return {i}; }}\n'
        for i, n in enumerate(names)
    )
    odd = compile_c("odd", body, "-fno-builtin")
    driver = (
        "#include <stdio.h>\n#include <string.h>\n"
        "struct veorun_symbol { const char *name; const void *address; };\n"
        "extern const struct veorun_symbol veorun_static_symbols[];\n"
        "int main(void) { for (const struct veorun_symbol *s = veorun_static_symbols; s->name; s++)"
        ' printf("%s=%d\\n", s->name, ((int (*)(void))s->address)()); }'
    )
    table = compile_c("table", symbol_table_source(names), "-Wall", "-Wextra", "-Werror")
    out = tmp_path / "driver"
    subprocess.run(
        ["gcc", "-no-pie", "-o", out, compile_c("driver", driver), table, odd], check=True
    )
    printed = subprocess.run([out], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == [f"{n}={i}" for i, n in enumerate(names)]


def test_empty_table_compiles(compile_c: Compile) -> None:
    compile_c("table", symbol_table_source([]), "-Wall", "-Wextra", "-Werror")


def test_runtime_libraries_follow_from_undefined_symbols() -> None:
    libraries = static_worker.runtime_libraries
    assert libraries(frozenset({"printf"})) == ["-lm"]
    assert libraries(frozenset({"GOMP_parallel"})) == ["-fopenmp", "-lm"]
    assert libraries(frozenset({"_gfortran_st_write"})) == ["-lgfortran", "-lm"]
    assert libraries(frozenset({"__gxx_personality_v0"})) == ["-lstdc++", "-lm"]


# --- refusals ---------------------------------------------------------------------------------


def test_missing_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.o"):
        build_static_worker(tmp_path / "out", [tmp_path / "nothing.o"])


def test_main_is_refused(compile_c: Compile, tmp_path: Path) -> None:
    obj = compile_c("m", "int main(void) { return 0; }")
    with pytest.raises(VeoBuildError, match=r"defines main\(\)"):
        build_static_worker(tmp_path / "out", [obj])


def test_garbage_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.o"
    bad.write_bytes(b"not an object")
    with pytest.raises(VeoBuildError, match=r"bad\.o"):
        build_static_worker(tmp_path / "out", [bad])


def test_unresolved_symbol_shows_the_linkers_text(compile_c: Compile, tmp_path: Path) -> None:
    obj = compile_c("u", "int nowhere(void); int f(void) { return nowhere(); }")
    with pytest.raises(VeoBuildError, match="nowhere"):
        build_static_worker(tmp_path / "out", [obj])


def test_the_workers_own_names_have_prefixes() -> None:
    # ve_ is for NEC's libsysve and Vector Engine code, which has ve3_, velink_ and verun_ too;
    # host_ is for what compiles for the host.
    prefixes = "veo_|veow_|veorun_|offchip_|ve_|ve3_|velink_|verun_|host_"
    ours = re.compile(rf"({prefixes})\w+|main|vh_shm\w+")
    assert [n for n in defined(static_worker.WORKER_ARCHIVE) if not ours.fullmatch(n)] == []


# --- running ----------------------------------------------------------------------------------

SOURCE = """
#include <math.h>
double hyp(double x, double y) { return sqrt(x * x + y * y); }
long counter = 5;
long count(long n) { return counter += n; }
"""


def call_all(out: Path) -> None:
    proc = veo.VeoProc(0, str(out).encode())
    lib = proc.static_library()
    ctx = proc.open_context()
    hyp = lib.find_function("hyp")
    hyp.args_type("double", "double")
    hyp.ret_type("double")
    assert hyp(ctx, 3.0, 4.0).wait_result() == 5.0
    count = lib.find_function("count")
    count.args_type("long")
    count.ret_type("long")
    assert count(ctx, 2).wait_result() == 7
    value = bytearray(8)
    proc.read_mem(value, lib.get_symbol("counter"), 8)
    assert int.from_bytes(value, "little") == 7
    with pytest.raises(RuntimeError):
        lib.get_symbol("not_there")
    proc.proc_destroy()


@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-fno-pic", "-fno-pie"), ("-fPIC",)])
def test_kernels_run_from_objects(compile_c: Compile, tmp_path: Path, flags: tuple[str]) -> None:
    out = tmp_path / "mine.veorun"
    build_static_worker(out, [compile_c("kernels", SOURCE, *flags)])
    call_all(out)


def test_kernels_run_from_an_archive(compile_c: Compile, tmp_path: Path) -> None:
    archive = tmp_path / "libk.a"
    obj = compile_c("kernels", SOURCE)
    subprocess.run(["ar", "rcs", str(archive), str(obj)], check=True)
    out = tmp_path / "mine.veorun"
    build_static_worker(out, [archive])
    call_all(out)


def test_functions_of_a_program_do_not_replace_the_workers(
    compile_c: Compile, tmp_path: Path
) -> None:
    own = """
    char block[4096];
    static int calls;
    void copy_many(void) { calls++; }
    int copy_is_large(void) { return calls++; }
    void *range_alloc_new(void) { calls++; return 0; }
    unsigned usable_cores(void) { return calls++; }
    int dwarf_open(void) { return calls++; }
    int dwarf_describe_function(void) { return calls++; }
    long count_calls(void) { return calls; }
    """
    out = tmp_path / "mine.veorun"
    build_static_worker(out, [compile_c("own", own)])
    with veo.VeoProc(0, str(out).encode()) as proc:
        lib = proc.static_library()
        ctx = proc.open_context()
        block = lib.get_symbol("block")
        back = bytearray(4096)
        ctx.async_write_mem(block, bytes(range(256)) * 16, 4096).wait_result()
        ctx.async_read_mem(back, block, 4096).wait_result()
        assert back == bytes(range(256)) * 16
        count_calls = lib.find_function("count_calls")
        count_calls.args_type()
        count_calls.ret_type("long")
        assert count_calls(ctx).wait_result() == 0


def test_command_line(compile_c: Compile, tmp_path: Path) -> None:
    out = tmp_path / "mine.veorun"
    obj = compile_c("kernels", SOURCE)
    command = [sys.executable, "-P", "-m", "veo.static_worker"]
    done = subprocess.run(
        [*command, "-o", out, "--verbose", obj, "-lm"], capture_output=True, text=True, check=True
    )
    assert " -lm " in done.stdout
    call_all(out)


@pytest.mark.parametrize(
    ("arguments", "status"), [(["-o", "x"], 2), (["a.o"], 2), (["-o", "x", "no.o"], 1)]
)
def test_command_line_errors(arguments: list[str], status: int, tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "veo.static_worker", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert done.stderr


def test_build_veorun(tmp_path: Path) -> None:
    build = VeBuild(target="host", check=True)
    build.set_build_dir(tmp_path / "out")
    build.set_c_src("kernels", SOURCE)
    build.set_cpp_src("more", '#include <vector>\nextern "C" long size() {\n'
                      "    return (long)std::vector<int>(3).size();\n}")  # fmt: skip
    path = build.build_veorun()
    assert path == f"{tmp_path}/out/kernels.veorun"
    call_all(Path(path))


def test_environment_names_the_worker(
    compile_c: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "mine.veorun"
    build_static_worker(out, [compile_c("kernels", SOURCE)])
    monkeypatch.setenv("VEORUN_BIN", str(out))
    proc = veo.VeoProc(0)
    assert proc.static_library().get_symbol("counter") != 0
    proc.proc_destroy()
