# SPDX-License-Identifier: BSD-3-Clause
"""DPU assembly in C, and files of it beside C, with the vendor's registers and convention."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.elf.reader import ElfFile
from dpu.toolchain import BuildOptions, Toolchain, ToolchainError, build
from dpu.toolchain.frontend.register_names import rename_registers
from dpu.toolchain.frontend.signatures import record_signatures
from dpu.toolchain.link.program import Program
from tests.dpu.support.native import DONE
from tests.dpu.support.running import KERNELS, Running

Compile = Callable[..., Program]
Run = Callable[..., dict[str, list[int]]]

_HEAD = '#include "kernel.h"\nHOST uint32_t in[8], out[8];\nHOST uint64_t wide[4];\n'


@pytest.fixture
def run(toolchain: Toolchain, machine_library: ctypes.CDLL, tmp_path: Path) -> Run:
    """Run C whose main has a body, with files of assembly beside it; return its results."""

    def run_text(
        body: str,
        *,
        before: str = "",
        assembly: str = "",
        numbers: tuple[int, ...] = (),
        level: str = "-O2",
        tasklets: int = 1,
    ) -> dict[str, list[int]]:
        source, other = tmp_path / "source.c", tmp_path / "other.S"
        source.write_text(f"{_HEAD}{before}int main(void)\n{{\n{body}\n    return 0;\n}}\n")
        other.write_text(assembly)
        options = BuildOptions(level=level, defines={"NR_TASKLETS": tasklets}, includes=[KERNELS])
        path = tmp_path / "program.dpu"
        build([source, other] if assembly else [source], path, options, toolchain=toolchain)
        with Running(machine_library, path.read_bytes()) as dpu:
            dpu.put("in", "I", *numbers)
            assert dpu.launch() == DONE
            return {"out": dpu.get("out", "I"), "wide": dpu.get("wide", "Q")}

    return run_text


PRODUCT = r"""
static inline uint32_t product(uint32_t x, uint32_t y)
{
    uint32_t result, part;
    __asm__("mul_ul_ul %[result], %[x], %[y]\n"
            "  mul_ul_uh %[part], %[x], %[y], z, 1f // no high byte\n"
            "  lsl_add %[result], %[result], %[part], 8\n"
            "1: mul_uh_ul %[part], %[x], %[y], z, 2f;"
            "  lsl_add %[result], %[result], %[part], 8\n"
            "2: mul_uh_uh %[part], %[x], %[y]\n"
            "  lsl_add %[result], %[result], %[part], 16\n"
            : [result] "=&r"(result), [part] "=&r"(part)
            : [x] "r"(x), [y] "r"(y));
    return result;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_operands_by_name_and_local_labels(run: Run, rng: random.Random, level: str) -> None:
    numbers = tuple(rng.choice([rng.randrange(256), rng.randrange(1 << 16)]) for _ in range(8))
    body = "for (int i = 0; i < 4; i++) { out[i] = product(in[i], in[i + 4]); }"
    found = run(body, before=PRODUCT, numbers=numbers, level=level)
    assert found["out"][:4] == [numbers[i] * numbers[i + 4] for i in range(4)]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_numbers_addresses_and_the_position(run: Run, level: str) -> None:
    body = r"""
    uint32_t x = in[0], y, z;
    __asm__ volatile("add %0, %1, %2" : "=r"(y) : "r"(x), "i"(1000000));
    out[0] = y;
    __asm__("lw %0, zero, %[table] + 2 * %[step]" : "=r"(y) : [table] "i"(table), [step] "i"(4));
    out[1] = y;
    __asm__("lw %0, %1, table; jneq %0, 33, . + 2; move %0, 7" : "=&r"(y) : "r"(8));
    out[2] = y;
    __asm__("jltu %1, 100, . + 3\n move %0, 1\n jump 1f\n move %0, 2\n1:" : "=r"(z) : "r"(x));
    out[3] = z;
    __asm__(".Lplace: .macro plus r\n add \\r, \\r, 3\n .endm\n plus %0" : "+r"(z));
    out[4] = z;
    """
    before = "uint32_t table[4] = {11, 22, 33, 44};\n"
    found = run(body, before=before, numbers=(5,), level=level)
    assert found["out"][:5] == [1000005, 33, 7, 2, 5]


def test_pairs_of_registers(run: Run) -> None:
    value = 0x1122334455667788
    body = f"""
    uint64_t source = {value:#x}, result;
    __asm__("swapd %0, %1" : "=r"(result) : "r"(source));
    wide[0] = result;
    __asm__ volatile("sd %0, 0, %1" : : "r"(&wide[1]), "r"(source) : "memory");
    uint32_t low = 40, one = 2;
    __asm__("lsl_add.u %0, %1, %2, 1" : "=r"(result) : "r"(low), "r"(one));
    wide[2] = result;
    """
    assert run(body)["wide"][:3] == [0x5566778811223344, value, 44]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_registers_by_their_names(run: Run, level: str) -> None:
    body = r"""
    uint32_t keep[6], y;
    for (int i = 0; i < 6; i++) { keep[i] = in[i] * 3; }
    __asm__ volatile("move r5, 77\n move r8, 1\n move r14, 4\n add %0, r5, r8\n add %0, %0, r14"
                     : "=&r"(y) : : "r5", "r8", "r14", "d2", "memory");
    out[6] = y;
    for (int i = 0; i < 6; i++) { out[i] = keep[i]; }
    register uint32_t chosen __asm__("r3") = in[6];
    __asm__ volatile("add r3, r3, 1" : "+r"(chosen));
    out[7] = chosen;
    """
    numbers = (1, 2, 3, 4, 5, 6, 70)
    assert run(body, numbers=numbers, level=level)["out"] == [3, 6, 9, 12, 15, 18, 82, 71]


def test_tasklets_atomic_bits_and_the_clock(run: Run) -> None:
    before = "BIT unsigned char bits[2];\n"
    body = r"""
    uint32_t id, config = 3, before, after;
    __asm__("move %[id], id" : [id] "=r"(id));
    __asm__ volatile("acquire zero, %[bits] + %[one], nz, .\n"
                     : : [bits] "i"(bits), [one] "i"(1) : "memory");
    out[0] += id;
    __asm__ volatile("release %[bit], 0, nz, .+1" : : [bit] "r"(&bits[1]) : "memory");
    if (id == 0) {
        __asm__ volatile("time_cfg %0, %1" : "=r"(before) : "r"(config));
        __asm__ volatile("nop; time %0" : "=r"(after));
        out[1] = after < 1000;
    }
    """
    assert run(body, before=before, tasklets=12)["out"][:2] == [66, 1]


def test_goto(run: Run) -> None:
    body = r"""
    __asm__ goto("jltu %0, 10, %l[small]" : : "r"(in[0]) : : small);
    out[0] = 1;
    return 0;
small:
    out[0] = 2;
    """
    assert run(body, numbers=(3,))["out"][0] == 2
    assert run(body, numbers=(30,))["out"][0] == 1


ASSEMBLY = r"""
#define SUM r0
#define STEP(n) add SUM, SUM, n
    .macro twice register
    add \register, \register, \register
    .endm
    .section .text.sum, "ax", @progbits
    .globl sum
    .type sum, @function
sum:
    sd r22, 0, d14              // the stack grows up
    sd r22, 8, d20
    move r14, SUM
    STEP(r1)
    STEP(r2)
    move r15, 3
.Lloop:
    twice SUM
    add r15, r15, -1, nz, .Lloop
    move r20, 5
    move r21, 6
    ld d14, r22, 0
    ld d20, r22, 8
    jump r23
    .size sum, . - sum

    .text
    .globl mixed, sums
mixed:                          // int, long long in d2, int in r1
    add r1, r1, r0
    add r1, r1, r3
    addc r0, r2, 0
    jump r23
    .data
    .p2align 3
sums:
    .long sum, 5
    .byte 1, 2, 3
    .section .dpu_host, "aw"
    .globl said
    .type said, @object
    .size said, 4
said:
    .long 0x01020304
"""


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_functions_and_data_of_a_file(run: Run, level: str) -> None:
    before = """uint32_t sum(uint32_t, uint32_t, uint32_t);
uint64_t mixed(uint32_t, uint64_t, uint32_t);
extern uint32_t sums[2], said;
static uint32_t (*volatile pointer)(uint32_t, uint32_t, uint32_t) = sum;
"""
    body = """
    uint32_t kept[4];
    for (int i = 0; i < 4; i++) { kept[i] = in[i] ^ 5; }
    out[4] = sum(in[0], in[1], in[2]);
    out[5] = pointer(1, 2, 3);
    out[6] = sums[1];
    out[7] = said;
    for (int i = 0; i < 4; i++) { out[i] = kept[i]; }
    wide[0] = mixed(1, 0xfffffffffffffff0, 2);
    wide[1] = mixed(10, 0xfffffff5, 1);
    """
    found = run(body, before=before, assembly=ASSEMBLY, numbers=(1, 10, 100, 7), level=level)
    assert found["out"] == [4, 15, 97, 2, 888, 48, 5, 0x01020304]
    assert found["wide"][:2] == [0xFFFFFFFFFFFFFFF3, 0x1_0000_0000]


CALLS = """
    .globl outer
outer:
    sd r22, 0, d20
    sd r22, 8, d22
    add r22, r22, 16
    move r20, r0
    move r21, 1000
    jleu r0, 1, .Lend
    add r0, r0, -1
    move r1, 7
    call r23, inner
    add r20, r20, r0
.Lend:
    add r0, r20, r21
    add r22, r22, -16
    ld d20, r22, 0
    ld d22, r22, 8
    jump r23
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_assembly_calls_c_that_calls_assembly(run: Run, level: str) -> None:
    before = """uint32_t outer(uint32_t);
uint32_t __attribute__((noinline)) inner(uint32_t x, uint32_t y)
{
    volatile uint32_t room[4] = {x, y, 3, 4};
    return outer(room[0]) + room[1] + room[3];
}
"""
    body = "out[me()] = outer(in[me()]);"

    def expected(x: int) -> int:
        return x + 1000 + (expected(x - 1) + 11 if x > 1 else 0)

    numbers = (1, 2, 3, 4, 5, 6)
    found = run(body, before=before, assembly=CALLS, numbers=numbers, level=level, tasklets=6)
    assert found["out"][:6] == [expected(x) for x in numbers]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ('"ad %0, %0, 1" : "+r"(x)', r"5: error: in assembly: unknown instruction 'ad'; did you"),
        ('"nop\\n add %0, 1" : "+r"(x)', r"5: error: in assembly: 'add' does not take"),
        ('"lw %0, %1, 0" : "=r"(x) : "m"(x)', r"5: error: in assembly: constraint '\*?m' is not"),
        ('"move %0, %1 + 1" : "=r"(x) : "r"(x)', r"5: error: in assembly: an operand in a reg"),
        ('"call r23, main"', r"5: error: in assembly: calls are not supported in C"),
        ('"sd r22, 0, d14"', r"5: error: in assembly: the stack of C grows down"),
        ('"nop\\n .data\\n .long 1"', r"5: error: in assembly: it may contain instructions"),
        ('"jump 1f"', r"5: error: in assembly: .*undefined symbol"),
        ('"and %0, %0, 0x7fffffff, z, . + 1" : "+r"(x)', r"5: error: in main: instruction 'and'"),
        ('"move %0, absent" : "=r"(x)', r"undefined symbol: absent"),
    ],
)
def test_mistakes_in_c_say_file_and_line(
    compile_text: Compile, statement: str, message: str
) -> None:
    text = f"""int main(void)
{{
    int x = 3;

    __asm__ volatile({statement});
    return x;
}}
"""
    with pytest.raises(ToolchainError, match=message):
        compile_text(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n add r0, r1, r99\n", r"undefined symbol: r99"),
        ("#define ONE 1\n\n addd r0, r1, ONE\n", r"other\.S:4:2: error: unknown instruction"),
        ("\n move r0, 1\n .long 5\n", "has data between its instructions"),
        ("\n add.s d1, r0, 1\n", r"other\.S:3:\d+: error: 'add.s' does not take"),
        ("\n and r0, r0, 100000, z, f\n", r"other\.S:3: error: .*'and' cannot have the operands"),
        ("\n .globl __bootstrap\n__bootstrap:\n nop\n", "programs with C have start code already"),
        ("\n call r23, missing\n", "undefined symbol: missing"),
    ],
)
def test_mistakes_in_a_file_say_file_and_line(run: Run, text: str, message: str) -> None:
    assembly = f".globl f\nf:{text} jump r23\n"
    with pytest.raises(ToolchainError, match=message):
        run("out[0] = f(1);", before="int f(int);\n", assembly=assembly)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_tasklets_stop_at_the_end_of_the_program(run: Run, level: str) -> None:
    body = """
    out[me()] = 1;
    if (me() == 1) leave();
    if (me() == 2) __asm__ volatile("stop true, __sys_end");
    out[me()] = 2;
    """
    leave = ".globl leave\nleave: stop true, __sys_end\n"
    found = run(body, before="void leave(void);\n", assembly=leave, level=level, tasklets=4)
    assert found["out"][:4] == [2, 1, 1, 2]


@pytest.mark.parametrize(
    ("declaration", "call"),
    [
        ("int f(int, ...);", "f(1, 2)"),
        ("int f(int, int, int, int, int, int, int, int, int);", "f(1, 2, 3, 4, 5, 6, 7, 8, 9)"),
        ("struct s { int i; }; int f(struct s);", "f((struct s){in[0]})"),
        ("struct s { long long i; }; int f(struct s);", "f((struct s){in[0]})"),
        ("struct s { int i, k; }; int f(struct s);", "f((struct s){in[0], in[1]})"),
        ("struct s { int i, k; }; struct s f(int);", "f(in[0]).k"),
        ("struct s { int i[5]; }; struct s f(int);", "f(in[0]).i[1]"),
    ],
)
def test_functions_that_c_cannot_call(run: Run, declaration: str, call: str) -> None:
    with pytest.raises(ToolchainError, match="f: calls between C and assembly"):
        run(f"out[0] = {call};", before=declaration + "\n", assembly=".globl f\nf: jump r23\n")


def test_objects_of_assembly_are_linked_later(
    toolchain: Toolchain, machine_library: ctypes.CDLL, tmp_path: Path
) -> None:
    (tmp_path / "a.c").write_text(
        f"{_HEAD}int f(int, int);\nint main(void) {{ out[0] = f(50, 8); return 0; }}\n"
    )
    (tmp_path / "b.s").write_text(".globl f\nf: sub r0, r0, r1\n jump r23\n")
    command = [sys.executable, "-m", "dpu.toolchain.command", "-O2", f"-I{KERNELS}"]
    for words in (["-c", "a.c"], ["-c", "b.s", "-o", "b.o"], ["a.o", "b.o", "-o", "program"]):
        subprocess.run([*command, *words], check=True, cwd=tmp_path)
    program = (tmp_path / "program").read_bytes()
    with Running(machine_library, program) as dpu:
        assert dpu.launch() == DONE
        assert dpu.get("out", "I")[0] == 42
    names = {symbol.name for symbol in ElfFile(program).symbols}
    assert {"f", "__dpu_asm_f"} <= names


def test_names_of_registers_change_in_clobbers_and_variables_alone() -> None:
    text = (
        'int f(void) { g("r1"); asm volatile("r1" : "=r"(x["r1"]) : "r"(a ? b : c) : "r1", "r8"); }'
    )
    assert rename_registers(text) == text.replace(': "r1", "r8"', ': "x10", "cc"')
    assert rename_registers('asm("" ::: "d2");') == 'asm("" ::: "x13", "x12");'
    assert rename_registers('register int x asm("r14");') == 'register int x asm("x9");'
    assert rename_registers('int x asm("r1x");') == 'int x asm("r1x");'


_STRUCTURES = ["four=v:?", "five=i:?", "six=v:?", "seven=i:?", "eight=i:i"]


def test_types_of_functions_are_recorded() -> None:
    text = """declare i32 @one(ptr noundef, i8 noundef zeroext) #1
declare void @llvm.memcpy.p0.p0.i32(ptr, ptr, i32, i1)
define dso_local double @two(i64 noundef %0, float noundef %1) local_unnamed_addr #0 !dbg !1 {
define internal i32 @hidden() {
declare noundef ptr @three(i32, ...)
declare void @four(ptr noundef byval(%struct.s) align 8)
declare i32 @five(ptr dead_on_return noundef)
declare void @six(ptr dead_on_unwind writable sret(%struct.s) align 4, i32 noundef)
declare i32 @seven(i32)
define i32 @eight(i32 returned %0) {
"""
    found = record_signatures(text).removeprefix(text)
    strings = [line.split("\\22")[1] for line in found.splitlines() if "asciz" in line]
    assert strings == ["one=i:ii", "two=l:li", "three=i:?", *_STRUCTURES]
