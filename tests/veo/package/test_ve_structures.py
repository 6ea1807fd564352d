# SPDX-License-Identifier: BSD-3-Clause
"""Structures by value in Vector Engine code: arguments, results, and variable arguments."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import veo
from veo.ve_clang import clang_command
from veo.ve_structures import copy_structures

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

VEORUN = Path(veo.__file__).parent / "bin" / "veorun"
Field = tuple[str, int]  # its type, and how many there are; 0: it is no array


def functions_of(number: int, fields: Sequence[Field]) -> str:
    """Return a structure, and functions that make, sum, change and pass it."""
    name = f"struct s{number}"
    declared = " ".join(f"{t} m{i}{f'[{n}]' if n else ''};" for i, (t, n) in enumerate(fields))
    sets = " ".join(
        f"for (int j = 0; j < {n}; j++) r.m{i}[j] = ({t})(x + j + {i});"
        if n
        else f"r.m{i} = ({t})(x * {i + 1});"
        for i, (t, n) in enumerate(fields)
    )
    total = "+".join(
        f"V.m{i}[0] * 3 + V.m{i}[{n - 1}] * 5" if n else f"V.m{i} * {i % 7 + 1}"
        for i, (_, n) in enumerate(fields)
    )
    first = "a.m0[0]" if fields[0][1] else "a.m0"
    return f"""
        {name} {{ {declared} }};
        static {name} shared{number};
        N {name} make{number}(int x) {{ {name} r; memset(&r, 0, sizeof r); {sets} return r; }}
        N double sum{number}({name} V) {{ return {total}; }}
        N double both{number}({name} a, int b, double c, {name} d)
        {{
            return sum{number}(a) + b + c + 2 * sum{number}(d);
        }}
        N {name} change{number}(int x, {name} a)
        {{
            {first} = ({fields[0][0]})({first} + x);
            return a;
        }}
        N double late{number}(int a, int b, int c, int d, int e, int f, int g, {name} s, float h,
                              {name} t)
        {{
            return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h + sum{number}(s) +
                   3 * sum{number}(t);
        }}
        N double any{number}(int n, ...)
        {{
            va_list list;
            double result = 0;
            va_start(list, n);
            while (n-- > 0) {{
                result += sum{number}(va_arg(list, {name}));
                result += va_arg(list, int);
                result += va_arg(list, double);
            }}
            va_end(list);
            return result;
        }}
        N void other{number}(void) {{ memset(&shared{number}, 1, sizeof shared{number}); }}
        N double kept{number}({name} a) {{ other{number}(); return sum{number}(a); }}
        static void test{number}(void)
        {{
            {name} a = make{number}(3), b = make{number}(4), c = change{number}(5, a);
            {name} copy = a, array[3] = {{a, b, c}};
            {name} (*call)(int, {name}) = change{number};
            call(7, copy);
            shared{number} = b;
            printf("%d %g %g %g %g %g %g %g\\n", (int)sizeof a, both{number}(a, 1, 2.5, b),
                   both{number}(c, 0, 0, a), late{number}(1, 2, 3, 4, 5, 6, 7, b, 1.5f, c),
                   any{number}(2, a, 3, 4.5, b, 5, 6.5), both{number}(array[1], 0, 0, array[2]),
                   both{number}(call(1, call(2, b)), 0, 0, copy), kept{number}(shared{number}));
        }}
    """


def program() -> str:
    """Return a program with structures of 1 to 64 bytes, and mixed ones at random."""
    choose = random.Random(50)
    kinds: list[list[Field]] = [[("unsigned char", size)] for size in range(1, 65)]
    types = ["char", "short", "int", "long", "float", "double", "unsigned char"]
    kinds += [
        [
            (choose.choice(types), choose.choice([0, 0, 0, 2, 3]))
            for _ in range(choose.randint(1, 6))
        ]
        for _ in range(40)
    ]
    kinds += [[("long double", 0)], [("int", 0), ("long double", 0)]]
    text = "#include <stdarg.h>\n#include <stdio.h>\n#include <string.h>\n"
    text += "#define N __attribute__((noinline))\n"
    text += "".join(functions_of(number, fields) for number, fields in enumerate(kinds))
    calls = " ".join(f"test{number}();" for number in range(len(kinds)))
    return f"{text}\nint main(void) {{ {calls} return 0; }}\n"


@pytest.fixture(scope="module")
def source_and_output(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("structures")
    source = folder / "structures.c"
    source.write_text(program())
    host = folder / "host"
    command = [sys.executable, "-P", "-m", "ziglang", "cc", "-w", "-O1", str(source)]
    subprocess.run([*command, "-o", str(host)], check=True, timeout=500)
    done = subprocess.run([host], capture_output=True, text=True, check=True, timeout=60)
    return source, done.stdout.splitlines()


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
def test_structures_of_all_sizes_are_values(
    source_and_output: tuple[Path, list[str]], tmp_path: Path, level: str
) -> None:
    source, expected = source_and_output
    out = tmp_path / "structures.o"
    subprocess.run([*clang_command("C"), "-w", level, "-c", source, "-o", out], check=True)
    done = subprocess.run([VEORUN, out], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines() == expected


def test_copies_come_first() -> None:
    text = """\
%struct.s = type { [3 x i8] }
define void @f(ptr sret(%struct.t) align 8 %0, ptr noundef byval(%struct.s) align 4 %1, i32 %10) {
  %11 = load i8, ptr %1, align 1
    #dbg_declare(ptr %1, !27, !DIExpression(), !28)
  ret void
}
define void @g(ptr %1) {
  call void @f(ptr %1, ptr byval(%struct.s) align 4 %1, i32 1)
}
declare void @h(ptr byval(%struct.s))
"""
    assert copy_structures(text).splitlines() == [
        "%struct.s = type { [3 x i8] }",
        text.splitlines()[1],
        "  %copy.of.parameter.1 = alloca %struct.s, align 4",
        "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %copy.of.parameter.1, ptr align 4 %1, i64 "
        "ptrtoint (ptr getelementptr (%struct.s, ptr null, i32 1) to i64), i1 false)",
        "  %11 = load i8, ptr %copy.of.parameter.1, align 1",
        "    #dbg_declare(ptr %copy.of.parameter.1, !27, !DIExpression(), !28)",
        *text.splitlines()[4:],
        "",
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    ]


def test_names_and_types_that_need_care() -> None:
    text = """\
define void @"a(b"(ptr byval({ [2 x i8], <{ i8 }> }) %"x, y", ptr byval(%"a::b(c)") align 2 %x) {
entry:                                            ; preds = none
  store ptr %"x, y", ptr %x.addr
  store ptr %x, ptr %xy
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
    lines = copy_structures(text).splitlines()
    assert lines[1].startswith("entry:")
    assert lines[2] == "  %copy.of.parameter.0 = alloca { [2 x i8], <{ i8 }> }, align 1"
    assert lines[4] == '  %copy.of.parameter.1 = alloca %"a::b(c)", align 2'
    assert lines[6:8] == [
        "  store ptr %copy.of.parameter.0, ptr %x.addr",
        "  store ptr %copy.of.parameter.1, ptr %xy",
    ]
    assert sum("declare" in line for line in lines) == 1


def test_a_module_without_them_is_unchanged() -> None:
    text = "define void @f(ptr %0) {\n  ret void\n}\n"
    assert copy_structures(text) == text


def test_options_of_compilers_keep_their_meaning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.h").write_text("struct s { int x[9]; };\n")
    text = '#include "a.h"\nint NAME(struct s s) { s.x[1] = 2; return s.x[0]; }\n'
    for name in ("a", "b"):
        Path(f"{name}.c").write_text(text)
    command = [*clang_command("C"), "-g", "-DNAME=f"]

    subprocess.run([*command, "-MMD", "-c", "a.c", "b.c"], check=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        *("a.c", "a.d", "a.h", "a.o", "b.c", "b.d", "b.o")
    ]
    assert Path("b.d").read_text().split() == ["b.o:", "b.c", "a.h"]
    subprocess.run([*command, "-MD", "-MF", "deps", "-MT", "x", "-c", "a.c", "-oy.o"], check=True)
    assert Path("deps").read_text().startswith("x: a.c a.h")
    assert Path("y.o").stat().st_size > 0
    subprocess.run([*command, "-S", "a.c"], check=True)
    assert '"a.c"' in Path("a.s").read_text()
    done = subprocess.run([*command, "-E", "a.c"], check=True, capture_output=True, text=True)
    assert "int f(struct s s)" in done.stdout
    done = subprocess.run(
        [*command, "-UNAME", "-c", "a.c", "-DNAME=1"], capture_output=True, text=True
    )
    assert "a.c:2:" in done.stderr
    assert done.returncode == 1
