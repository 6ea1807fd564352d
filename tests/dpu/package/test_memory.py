# SPDX-License-Identifier: BSD-3-Clause
"""Memory of the host that sets take, in processes of their own."""

from __future__ import annotations

import io

import pytest

from dpu import DpuSet
from dpu.asm import assemble

# Other tests of the process must not be counted.
PEAK = """
import sys
from pathlib import Path
from dpu import DpuSet

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024

before = peak()
"""

ZEROS = 16 << 20
# Text, and an array of which only the ends are not zero.
SPARSE = f"""
    .globl main
main: stop
    .section .mram, "aw", @progbits
    .globl array
    .type array, @object
    .size array, {ZEROS + 16}
array: .quad 0x1111111111111111
    .space {ZEROS}
    .quad 0x2222222222222222
"""


@pytest.mark.nosanitize
def test_idle_dpus_take_little_memory(run_python):
    done = run_python(PEAK + "dpus = DpuSet(64, library='soft')\nprint(peak() - before)")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100


@pytest.mark.nosanitize
def test_full_server_fits(run_python, tmp_path):
    program = tmp_path / "stop.dpu"
    program.write_bytes(assemble(io.StringIO(".globl main\nmain: stop\n")))
    text = """
with DpuSet(nr_ranks=40, library="soft", binary=sys.argv[1]) as dpus:
    assert len(dpus) == 2560
    dpus.exec()
    assert all(report.instructions > 0 for report in dpus.report)
print(peak() - before)
"""
    done = run_python(PEAK + text, str(program))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 2048


@pytest.mark.nosanitize
def test_zeros_of_a_program_take_no_memory(run_python, tmp_path):
    program = tmp_path / "sparse.dpu"
    program.write_bytes(assemble(io.StringIO(SPARSE)))
    text = "dpus = DpuSet(64, library='soft', binary=sys.argv[1])\nprint(peak() - before)"
    done = run_python(PEAK + text, str(program))
    assert done.returncode == 0, done.stderr
    # The file, the library's copy of it, and the DPUs.
    assert int(done.stdout) < 150


def test_load_overwrites_memory_by_the_zeros_of_a_program():
    image = assemble(io.StringIO(SPARSE))
    with DpuSet(1, library="soft", binary=image) as dpus:
        size = ZEROS + 16
        expected = b"\x11" * 8 + bytes(ZEROS) + b"\x22" * 8
        for _ in range(2):
            seen = bytearray(size)
            dpus.copy(seen, "array")
            assert seen == expected
            dpus.copy("array", b"\xff" * size)
            dpus.load(image)
