# SPDX-License-Identifier: BSD-3-Clause
"""Damaged sources, the same ones for the same seed."""

from __future__ import annotations

import random
import re

# The last one is a whole program; in the others something is missing.
CORPUS = [
    """
        .text
        .globl  main
        .type   main, @function
main:   move    r0, buffer + 4 * (COUNT - 1)
1:      acquire zero, lock, nz, .
        add     r0, r0, -1, ?nz, 1b
        release zero, lock, nz, . + 1
        lw      !big r2, zero, counter
        sd      r22, -8, d22
        mul_ul_ul r4, r5, r6, small, 2f
2:      ldma    r0, r1, 255
        jump    r23
        .size   main, . - main
        .set    COUNT, 3
        .data
counter: .long  0, main, counter - ., "counter" + 1
        .quad   -1
        .byte   'a', '\\n', 0x7f, 0b101, 017
buffer: .space  16, 0xff
        .section .atomic, "aw", @nobits
lock:   .zero   1
""",
    """
        .macro  push reg, by=8, rest:vararg
        .ifc    \\reg, d22
        sd      r22, 0, \\reg
        .else
        sw      r22, 0, \\reg
        .endif
        .ifnb   \\rest
        push    \\rest
        .endif
        add     r22, r22, \\by
here\\@:
        .endm
        push    d22, 8, r0, 4
        .rept   3
        nop
        .endr
        .irp    name, r0, r1, r2
        move    \\name, 0
        .endr
        .irpc   digit, 0123
        .byte   \\digit
        .endr
        .if     1 + 1 == 2 && !0
        stop
        .elseif 3
        .error  "no"
        .else
        fault   1
        .endif
        .ifdef  here0
        .endif
""",
    """
        .section .mram.noinit, "aw", @nobits
        .globl  array
        .type   array, @object
        .size   array, 64
        .p2align 3
array:  .space  64
        .section .dpu_host
        .weak   value
value:  .asciz  "a\\tb\\"\\x41\\101", "c"
        .balign 8
        .org    32
        .fill   4, 2, 0x1234
        .comm   shared, 8, 8
        .lcomm  own, 8
        .pushsection .text.more, "ax"
        boot    id, 1
        .popsection
        .previous
        .float  1.5
        .file   "x.c"
        .cfi_startproc
        /* a comment
           of two lines */ # another
        .text; nop; nop // and one more
        time_cfg r0
        call r23, main, 3
main:
""",
    """
        .globl  main
        .globl  NR_TASKLETS
        .set    NR_TASKLETS, 3
        .set    STACK_SIZE_TASKLET_1, 256
main:   move    r0, 5
1:      lw      r2, zero, counter
        add     r2, r2, 1, nz, 1b
        sub     r3, r2, r0, ltu, 1b
        and     zero, r2, 3, z, main
        sw      zero, counter, r2
        sb      id8, table, 7
        sd      r22, -8, d22
        jeq     r0, 3, main
        jltu    r0, r1, helper
        acquire zero, lock, nz, .
        release zero, lock, nz, . + 1
        ldma    r0, r1, 2
        lsl_add r4, r5, r6, 3
        mul_step d8, r2, d8, 3, z, helper
        call    r23, helper
        call    r23, 0x80000000
        .org    . + 2
        .p2align 3, , 7
        stop
helper: jump    r23
        .section .dpu_host
table:  .space  64, 3
        .org    table + 72
        .globl  counter
counter: .long  helper, -1, table + 4
        .half   65535
        .byte   -128, 255
        .section .atomic
lock:   .zero   1
        .section .mram
far:    .quad   far, 1 << 40
        .balign 64
        .fill   3, 4, 7
""",
]

WORDS = [
    *("0", "1", "-1", "0xffffffff", "0x80000000", "1b", "1f", ".", "..", "r0", "d0", "d1", "r24"),
    *("zero", "id8", "z", "?nz", "main", "main - .", "(", ")", "((((", '"', "'", "\\", "\\@", "\0"),
    *(",", ";", ":", "=", "==", "<<", ">> 70", "/ 0", "% 0", "* 99999999999999999999", "!", "!big"),
    *("/*", "*/", "//", "#", '# 5 "f"', "# 99999999999999999999", "\n", "\n.endm\n", ".endr"),
    *(".macro m a", ".rept 1000000", ".rept -1", ".if", ".else", ".endif", '.include "/"'),
    *(
        '.incbin "nothing"',
        ".org 1 << 40",
        ".space 1 << 60",
        ".set x, x + 1",
        ".set x, y",
        "\n.set y, x\n",
    ),
    *(
        ".p2align 99",
        ".byte 256",
        ".long a - b",
        ".section",
        ".size main, q",
        "é",
        "\udc80",
        "\x01",
    ),
    *('.ascii "\\"', ".fill 9, 9, 9", "add", "add r0, r0", "lw r0, r1, 1 << 30", "m m m", "x = 1"),
]

NUMBERS = ["0", "1", "7", "-1", "24", "31", "128", "255", "256", "2048", "65535", "0x10000"]
NUMBERS += ["0x7fffffff", "0x80000000", "0xffffffff", "-0x80000000", "0x80000004", "1 << 40"]


def damaged(rng: random.Random) -> str:
    """Return a source with a few things that should not be there."""
    text = rng.choice(CORPUS)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        to = min(to, at + rng.randint(0, 30))
        match rng.randrange(9):
            case 0:
                text = text[:at] + text[to:]
            case 1 | 2:
                text = text[:at] + rng.choice(WORDS) + text[at:]
            case 3:
                text = text[:at] + rng.choice(WORDS) + text[to:]
            case 4:
                lines = text.split("\n")
                line = rng.randrange(len(lines))
                lines.insert(rng.randrange(len(lines)), lines[line])
                text = "\n".join(lines)
            case 5:
                other = rng.choice(CORPUS).split("\n")
                start = rng.randrange(len(other))
                text = text[:at] + "\n".join(other[start : start + 3]) + text[at:]
            case _:
                # One word or number instead of another.
                found = list(re.finditer(r"[\w.]+", text))
                if found:
                    old = rng.choice(found)
                    other = re.findall(r"[\w.]+", rng.choice([text, *CORPUS])) or ["0"]
                    new = rng.choice([*other, *NUMBERS])
                    text = text[: old.start()] + new + text[old.end() :]
    return text
