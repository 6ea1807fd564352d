# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Vector Engine code: those that VEORUN_BIN names, and one that crashes alone."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

import veo
from tests.support.libstdcxx import needs_libstdcxx
from veo.cli.mk_veorun import main as mk_veorun
from veo.compilers import VeoBuildError
from veo.static_worker import build_static_worker
from veo.ve_clang import clang_command

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

KERNELS = """
long counter;
__thread int own;
__attribute__((constructor)) static void begin(void) { counter = 40; }
long count(long by) { return counter += by; }
"""


def compile_ve(path: Path, source: str, language: str = "C", *flags: str) -> Path:
    text = path.with_suffix(".c" if language == "C" else ".cpp")
    text.write_text(source)
    command = [*clang_command(language), "-O1", *flags, "-c", str(text), "-o", str(path)]
    subprocess.run(command, check=True)
    return path


def count_twice(program: str | None) -> None:
    with veo.VeoProc(0, program) as proc, proc.open_context() as ctx:
        lib = proc.static_library()
        count = lib.find_function("count")
        count.args_type("long")
        count.ret_type("long")
        assert [count(ctx, by).wait_result() for by in (1, 2)] == [41, 43]
        value = bytearray(8)
        proc.read_mem(value, lib.get_symbol("counter"), 8)
        assert int.from_bytes(value, "little") == 43
        for name in ("own", "begin", "nowhere"):
            with pytest.raises(veo.VeoError, match="not among the symbols linked into this worker"):
                lib.get_symbol(name)


def test_build_veorun_makes_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = veo.VeBuild(target="ve", check=True)
    build.set_build_dir(tmp_path)
    build.set_c_src("kernels", KERNELS)
    path = build.build_veorun()
    count_twice(path)
    monkeypatch.setenv("VEORUN_BIN", str(path))
    count_twice(None)


def test_all_members_of_archives_are_in_a_program(tmp_path: Path) -> None:
    members = [
        compile_ve(tmp_path / "a_name_that_is_longer_than_fifteen.o", KERNELS),
        compile_ve(tmp_path / "other.o", "int other;"),
    ]
    library = tmp_path / "libkernels.a"
    subprocess.run(["ar", "rcs", library, *members], check=True)
    out = tmp_path / "kernels.veorun"
    assert mk_veorun([str(out), "-fopenmp", str(library)]) == 0
    count_twice(str(out))
    with veo.VeoProc(0, str(out)) as proc:
        assert proc.static_library().get_symbol("other") != 0


def test_an_object_alone_is_a_program(tmp_path: Path) -> None:
    count_twice(str(compile_ve(tmp_path / "kernels.o", KERNELS)))


def test_a_program_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    path = compile_ve(tmp_path / "kernels.o", "int nowhere(void); int f(void) {return nowhere();}")
    reason = "cannot load the Vector Engine code: 1 symbol it uses is nowhere: nowhere"
    with pytest.raises(veo.VeoError, match=f"did not start: {reason}"):
        veo.VeoProc(0, str(path))
    path.write_bytes(b"!<arch>\n" + bytes(60))
    with pytest.raises(veo.VeoError, match="did not start"):
        veo.VeoProc(0, str(path))


def test_host_and_ve_code_do_not_mix(tmp_path: Path) -> None:
    kernels = compile_ve(tmp_path / "kernels.o", KERNELS)
    host = tmp_path / "host.o"
    host.write_bytes(kernels.read_bytes()[:18] + b"\x3e\0" + bytes(44))
    with pytest.raises(VeoBuildError, match=r"do not mix: host\.o is no object"):
        build_static_worker(tmp_path / "out", [kernels, host])


def test_a_program_for_a_third_machine_is_refused(tmp_path: Path) -> None:
    path = compile_ve(tmp_path / "kernels.o", KERNELS)
    path.write_bytes(path.read_bytes()[:18] + b"\xb7\0" + path.read_bytes()[20:])
    with pytest.raises(veo.VeoError, match=r"neither for x86-64 nor .* \(ELF machine 183\)"):
        veo.VeoProc(0, str(path))


@needs_libstdcxx
def test_a_crash_of_a_program_in_cxx_tells_lines_and_callers(tmp_path: Path) -> None:
    source = """struct Grid {
    const double *values;
    __attribute__((noinline)) double at(long i) const { return values[i]; }
};
__attribute__((noinline)) double sum(const Grid &grid, int n)
{
    double total = 0;
    for (int i = 0; i < n; i++)
        total += grid.at(i);
    return total;
}
int main()
{
    Grid grid{nullptr};
    return (int)sum(grid, 3) + 1;
}
"""
    path = compile_ve(tmp_path / "grid.o", source, "C++", "-g")
    veorun = Path(veo.__file__).parent / "bin" / "veorun"
    done = subprocess.run([veorun, path], capture_output=True, text=True, check=False)
    assert "(SIGSEGV, invalid memory access) in the program, at address" in done.stderr
    for frame, place in (
        (r"#0 VE 0x\w+ Grid::at\(long\) const\+", "grid.cpp:3"),
        (r"#1 VE 0x\w+ sum\(Grid const&, int\)\+", "grid.cpp:9"),
        (r"#2 VE 0x\w+ main\+", "grid.cpp:15"),
    ):
        assert re.search(rf"{frame}.* at {place}\n", done.stderr + "\n"), done.stderr
    assert done.returncode == signal.SIGSEGV
