# SPDX-License-Identifier: BSD-3-Clause
"""Language of sources: operands, expressions, directives, macros."""

from __future__ import annotations

import importlib.util
import shutil
import struct
import time
from pathlib import Path

import pytest

from dpu.asm import AsmError, Source, assemble
from dpu.elf.program import ProgramFile
from dpu.isa import encode
from tests.dpu.asm.programs_to_run import build_text, words_of

needs_cc = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler is installed"
)


def data_of(text: str, section: str = ".data") -> bytes:
    program = build_text(f"{text}\n.text\nnop\n")
    found = program.section(section)
    return found.data if found else b""


def values(program: ProgramFile) -> dict[str, int]:
    return {symbol.name: symbol.value for symbol in program.symbols}


@pytest.mark.parametrize(
    ("text", "form", "fields"),
    [
        ("add r0, r1, 5", "add:rri", {"rc": 0, "ra": 1, "imm": 5}),
        ("add zero, r1, 5", "add:zri", {"rb": 1, "imm": 5}),
        ("add r0, r1, r2, ?nz, 7", "add:rrrci", {"rc": 0, "ra": 1, "rb": 2, "cc": 3, "pc": 7}),
        ("sub r3, r4, 9", "sub:rrif", {"rc": 3, "ra": 4, "imm": 9, "cc": 0}),
        ("sub r3, 9, r4", "sub:rir", {"rc": 3, "imm": 9, "ra": 4}),
        ("sub r3, r4, r5, c", "sub:rrrc", {"rc": 3, "ra": 4, "rb": 5, "cc": 53}),
        ("sub r3, r4, 1, eq, 3", "sub:rrici", {"rc": 3, "ra": 4, "imm": 1, "cc": 2, "pc": 3}),
        ("adds r0, r1, r2", "add:sss", {"rc": 0, "ra": 1, "rb": 2}),
        ("lw r0, r1, -4", "lw:erri", {"rc": 0, "ra": 1, "off": -4}),
        ("lw !big r0, r1, 4", "lw:erri", {"endian": 1, "rc": 0, "ra": 1, "off": 4}),
        ("lw !little, r0, r1, 4", "lw:erri", {"rc": 0, "ra": 1, "off": 4}),
        ("lws r0, r1, 4", "lw:ersi", {"rc": 0, "ra": 1, "off": 4}),
        ("sd zero, 16, 0", "sd:erii", {"ra": 24, "off": 16}),
        ("sw r1, 0x123456, r2", "sw:erir", {"ra": 1, "off": 0x123456, "rb": 2}),
        ("sb_id r1, 4", "sb_id:erii", {"ra": 1, "off": 4}),
        ("move r0, r1", "or:rrif", {"rc": 0, "ra": 1, "cc": 0}),
        ("move r0, 0xdeadbeef", "or:rri", {"rc": 0, "ra": 24, "imm": 0xDEADBEEF}),
        ("move.s d2, -7", "and.s:rki", {"dc": 2, "ra": 26, "imm": 0xFFFFFFF9}),
        ("move.u d2, id", "or.u:rrif", {"dc": 2, "ra": 28, "cc": 0}),
        ("move r0, r1, true, 5", "or:rrici", {"rc": 0, "ra": 1, "cc": 1, "pc": 5}),
        ("not r0, r1", "xor:rri", {"rc": 0, "ra": 1, "imm": 0xFFFFFFFF}),
        ("neg r0, r1", "sub:rir", {"rc": 0, "ra": 1}),
        ("jeq r0, r1, 4", "sub:zrrci", {"ra": 0, "rb": 1, "cc": 2, "pc": 4}),
        ("jlts id, -3, 4", "sub:zrici", {"ra": 28, "imm": -3, "cc": 22, "pc": 4}),
        ("jnz r5, 0x80000018", "sub:zrici", {"ra": 5, "cc": 3, "pc": 3}),
        ("call r23, 9", "call:rri", {"rc": 23, "ra": 24, "off": 9}),
        ("call r23, r1", "call:rri", {"rc": 23, "ra": 1}),
        ("jump r23", "call:zri", {"ra": 23}),
        ("jump r1, -1", "call:zri", {"ra": 1, "off": -1}),
        ("jump 0x80000028", "call:zri", {"ra": 24, "off": 5}),
        ("jump r1, r2", "call:zrr", {"ra": 1, "rb": 2}),
        ("stop", "stop:ci", {"cc": 0}),
        ("stop true, .", "stop:ci", {"cc": 1, "pc": 0}),
        ("boot id, 1", "boot:rici", {"ra": 28, "imm": 1, "cc": 0}),
        ("resume r0, 0, nz, . + 1", "resume:rici", {"ra": 0, "cc": 3, "pc": 1}),
        ("bkp", "fault:i", {}),
        ("movd d0, d2", "movd:rrci", {"dc": 0, "db": 2, "cc": 0}),
        ("mul_step d0, r2, d0, 4", "mul_step:rrrici", {"ra": 2, "shift": 4, "cc": 0}),
        ("lsl_add r0, r1, id, 31", "lsl_add:rrri", {"rb": 1, "ra": 28, "shift": 31}),
        ("time_cfg r4", "time_cfg:zr", {"rb": 4}),
        ("ldma r0, r1, 255", "ldma:rri", {"ra": 0, "rb": 1, "immDma": 255}),
        ("ADD r0, r1, 5", "add:rri", {"rc": 0, "ra": 1, "imm": 5}),
    ],
)
def test_texts_mean_these_forms(text: str, form: str, fields: dict[str, int]) -> None:
    assert words_of(text) == [encode(form, **fields)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("1 << 4 | 1", 17),
        ("0xff & ~0xf", 0xF0),
        ("!0 + !5", 1),
        ("3 > 2 && 2 >= 2 || 0", 1),
        ("0b101 + 017 + 0x1F", 5 + 15 + 31),
        ("'a' + '\\n'", 107),
        ("end - start", 8),
        ("later", 12),
        ("5 - -3", 8),
        ("8 - 4 - 2", 2),
        ("2 == 2", 1),
        ("1 <> 1", 0),
    ],
)
def test_expressions(text: str, value: int) -> None:
    data = data_of(f".data\nstart: .quad 0\nend: .long {text}\n .set later, end + 4")
    assert struct.unpack_from("<i", data, 8) == (value,)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (".byte 1, -1, 255", b"\x01\xff\xff"),
        (".short 1, 0xffff", b"\x01\0\xff\xff"),
        (".word 0x12345678", b"\x78\x56\x34\x12"),
        (".quad 0x123456789abcdef0", bytes.fromhex("f0debc9a78563412")),
        ('.ascii "ab", "c\\0"', b"abc\0"),
        ('.asciz "a\\t\\"\\x41\\101"', b'a\t"AA\0'),
        ('.string "a" "b"', b"ab\0"),
        (".space 3, 7", b"\x07\x07\x07"),
        (".fill 2, 2, 0x102", b"\x02\x01\x02\x01"),
        (".byte 1\n.balign 4, 9\n.byte 2", b"\x01\x09\x09\x09\x02"),
        (".byte 1\n.p2align 3\n.byte 2", b"\x01" + bytes(7) + b"\x02"),
        (".byte 1\n.org 4\n.byte 2", b"\x01\0\0\0\x02"),
        (".byte 1\n. = 3\n.byte 2", b"\x01\0\0\x02"),
        (".float 1.5", struct.pack("<f", 1.5)),
        (".double -2", struct.pack("<d", -2.0)),
        (".byte 1 // no\n.byte 2 /* no\n */\n.byte 3 # no", b"\x01\x02\x03"),
        (".byte '#'; .byte ';'; .ascii \";/*\"", b"#;;/*"),
        (".rept 3\n.byte 1\n.endr", b"\x01\x01\x01"),
        (".irp x, 1, 2\n.byte \\x, \\x + 2\n.endr", b"\x01\x03\x02\x04"),
        (".irpc x, 12\n.byte \\x\n.endr", b"\x01\x02"),
        (
            ".macro m a, b=2\n.byte \\a, \\b\n.endm\nm 1\nm 3, 4\nm b=6, a=5",
            bytes([1, 2, 3, 4, 5, 6]),
        ),
        (
            ".macro m a:req, r:vararg\n.byte \\a\n.ifnb \\r\nm \\r\n.endif\n.endm\nm 1, 2, 3",
            b"\x01\x02\x03",
        ),
        (".macro m\nx\\@: .byte x\\@ - first\n.endm\nfirst:\nm\nm", b"\0\x01"),
        (".macro m a\n.byte \\a\\()1\n.endm\nm 2", b"\x15"),
        (".macro m\n.byte 1\n.exitm\n.byte 2\n.endm\nm\n.byte 3", b"\x01\x03"),
        (".if 0\n.byte 1\n.elseif 1\n.byte 2\n.else\n.byte 3\n.endif", b"\x02"),
        (".if 1\n.if 0\n.byte 1\n.else\n.byte 2\n.endif\n.else\n.byte 3\n.endif", b"\x02"),
        (".set x, 1\n.ifdef x\n.byte 1\n.endif\n.ifndef y\n.byte 2\n.endif", b"\x01\x02"),
        (".set x, 1\n.byte x\n.set x, x + 1\n.byte x\ny = 9\n.byte y", b"\x01\x02\x09"),
        ("1: .byte 0\n.byte 1f - 1b\n1:", b"\0\x02"),
    ],
)
def test_directives_make_these_bytes(text: str, data: bytes) -> None:
    made = data_of(f".data\n{text}")
    assert made[: len(data)] == data
    assert not any(made[len(data) :])
    assert len(made) - len(data) < 8


def test_nothing_is_read_after_the_end() -> None:
    assert words_of("nop\n.end\nanything") == [encode("nop:")]


def test_what_the_caller_defines_wins() -> None:
    source = Source("a.s", ".set N, 1\n.equiv N, 2\nadd r0, r1, N\n", preprocess=False)
    assert ProgramFile(assemble(source, defines={"N": 9})).words() == [
        encode("add:rri", ra=1, imm=9)
    ]
    assert words_of(".set NR_TASKLETS, 2\nadd r0, r1, NR_TASKLETS", nr_tasklets=5) == [
        encode("add:rri", ra=1, imm=5)
    ]


def test_labels_of_instructions_count_instructions_and_sizes_are_bytes() -> None:
    program = build_text(
        ".type f, @function\nnop\nf: nop\nnop\n.size f, . - f\n.type g, @function\n"
        "g: nop\n.size g, 8\n.data\n.long f, g - f, f + 1\n"
    )
    found = {one.name: one for one in program.symbols}
    assert (found["f"].value, found["f"].size) == (0x80000008, 16)
    assert (found["g"].value, found["g"].size) == (0x80000018, 8)
    section = program.section(".data")
    assert section is not None
    assert struct.unpack_from("<3I", section.data) == (1, 2, 2)


def test_addresses_count_from_the_start_of_their_memory() -> None:
    program = build_text(
        ".section .mram.noinit\na: .space 12\n.mram\nb: .long 1\n.atomic\n.zero 3\nlock: .zero 1\n"
        ".text\nmove r0, b\nrelease zero, lock, nz, . + 1\n"
    )
    assert program.words()[0] == encode("or:rri", ra=24, imm=16)
    assert program.words()[1] == encode("release:rici", ra=24, imm=203, cc=0, pc=2)
    assert values(program)["b"] == 0x08000010
    assert values(program)["lock"] == 0xF00000CB
    assert values(program)["__sys_used_mram_end"] == 0x08000018


def test_symbols_for_the_host_have_the_size_up_to_the_next() -> None:
    program = build_text(".section .dpu_host\na: b: .long 1\nc: .quad 2\n.size c, 4\n.text\nnop\n")
    sizes = {one.name: one.size for one in program.symbols}
    assert (sizes["a"], sizes["b"], sizes["c"]) == (4, 4, 4)


def test_symbols_have_the_binding_and_visibility_that_was_said() -> None:
    program = build_text(
        ".globl a, b\n.weak c\n.local b\n.hidden a\n.extern d\na: b: c: nop\nmove r0, e\n.weak e\n"
    )
    found = {one.name: one for one in program.symbols}
    assert [found[name].binding for name in "abc"] == [1, 0, 2]
    assert found["a"].visibility == 2
    # A weak symbol that nothing defines is 0.
    assert program.words()[1] == encode("or:rri", ra=24)


def test_sections_are_switched_pushed_and_popped() -> None:
    made = data_of(
        '.data\n.byte 1\n.section .rodata.str1.1,"aMS",@progbits,1\n.byte 3\n.previous\n.byte 2\n'
        ".pushsection .bss\n.space 1\n.popsection\n.lcomm own, 1, 1\n.section .debug_x\n.byte 9\n"
    )
    assert made.rstrip(b"\0") == b"\x01\x02\x03"


@needs_cc
def test_sources_go_through_the_preprocessor(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "value.h").write_text("#define VALUE (OTHER + 1)\n")
    (tmp_path / "near.h").write_text("#define NEAR 5\n")
    source = tmp_path / "a.S"
    source.write_text(
        '#include "value.h"\n#include "near.h"\n#ifdef __DPU__\n#if NR > 2\n'
        "add r0, r1, VALUE // unix\n#endif\n#endif\nadd r0, r1, NEAR\n"
    )
    image = assemble(source, defines={"OTHER": 41, "NR": 3}, include_dirs=[tmp_path / "there"])
    assert ProgramFile(image).words() == [encode("add:rri", ra=1, imm=imm) for imm in (42, 5)]
    source.write_text("\n\n#define A 1\nadd r0, r1\n")
    with pytest.raises(AsmError) as error:
        assemble(source)
    assert error.value.problems[0].location is not None
    assert error.value.problems[0].location.line == 4
    assert error.value.problems[0].location.file == str(source)


def test_a_source_without_anything_to_preprocess_needs_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", str(tmp_path / "nowhere"))
    assert words_of("nop") == [encode("nop:")]
    assert ProgramFile(assemble(Source("a.S", "nop // A\n"))).words() == [encode("nop:")]
    with pytest.raises(AsmError, match=r"a\.S: error: cannot run the C preprocessor"):
        assemble(Source("a.S", "#define A 1\nnop\n"))


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the ziglang wheel")
def test_preprocessor_of_the_wheel_is_not_one_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ziglang.py").write_text("raise SystemExit('taken from the current folder')")
    (tmp_path / "bin").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CC", raising=False)
    image = assemble(Source("a.S", "#define A nop\nA\n", preprocess=True))
    assert ProgramFile(image).words() == [encode("nop:")]


def test_definitions_that_are_numbers_are_symbols() -> None:
    source = Source("a.s", ".if COUNT == 3\nadd r0, r1, COUNT\n.endif\n", preprocess=False)
    image = assemble(source, defines={"COUNT": "3", "TEXT": "a b"})
    assert ProgramFile(image).words() == [encode("add:rri", ra=1, imm=3)]


def test_files_are_included(tmp_path: Path) -> None:
    (tmp_path / "more.s").write_text(".byte 1\n")
    (tmp_path / "data.bin").write_bytes(b"abcdef")
    source = tmp_path / "a.s"
    source.write_text('.data\n.include "more.s"\n.incbin "data.bin", 1, 3\n.text\nnop\n')
    section = ProgramFile(assemble(source)).section(".data")
    assert section is not None
    assert section.data.rstrip(b"\0") == b"\x01bcd"


def test_files_and_open_files_are_sources(tmp_path: Path) -> None:
    path = tmp_path / "a.s"
    path.write_text("nop\n")
    output = tmp_path / "out"
    image = assemble([path, str(path)], output)
    assert output.read_bytes() == image
    with path.open() as text, path.open("rb") as binary:
        assert ProgramFile(assemble([text, binary])).words() == [encode("nop:")] * 2


def test_names_keep_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.s"
    path.write_bytes(b"caf\xe9: nop\n.globl caf\xe9\n")
    assert b"\0caf\xe9\0" in assemble(path)
    with pytest.raises(AsmError, match=r"^a\.s:2: error: U\+D800 is half of a character"):
        assemble(Source("a.s", "nop\na\ud800: nop\n", preprocess=False))


@pytest.mark.nosanitize  # it is about time
def test_thousands_of_lines_take_less_than_a_second() -> None:
    lines = []
    for i in range(1000):
        lines += [f"label{i}: add r{i % 24}, r1, label{(i + 7) % 1000} + {i}"]
        lines += ["        lw r2, r3, 4 * (table - 8)", f"        jneq r4, r5, label{i}"]
        lines += ["        sw r6, -8, r7 // store"]
    text = "\n".join(lines) + "\n.data\n.space 8\ntable: .long 1\n"
    start = time.process_time()
    assert len(words_of(text)) == 4000
    assert time.process_time() - start < 1.0
