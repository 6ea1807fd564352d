# SPDX-License-Identifier: BSD-3-Clause
"""The driver of the fuzz targets finds what is planted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builds import FOUND_BY_ASAN, compile_as
from tests.support.fuzzing import fuzz

PLANTED = """
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || data[0] == 0x7f)
        return 0;
    %s
    return 0;
}
"""


@pytest.mark.parametrize(
    ("fault", "reported"),
    [
        pytest.param(
            "volatile char *copy = malloc(size); copy[size] = 1;",
            "heap-buffer-overflow",
            id="overflow",
            marks=FOUND_BY_ASAN,
        ),
        pytest.param("abort();", "is kept", id="abort"),
        pytest.param("sleep(30);", "takes too long", id="hang"),
    ],
)
def test_a_planted_fault_is_found_and_its_input_kept(
    tmp_path: Path, fault: str, reported: str
) -> None:
    target = tmp_path / "planted.c"
    target.write_text(PLANTED % fault)
    start = tmp_path / "start"
    start.write_bytes(b"\x7f" + bytes(20))
    program = compile_as("asan", target, tmp_path / "fuzz")
    done = fuzz(program, tmp_path, "--count", "100000", "--limit", "1", "--artifact", "kept", start)
    assert done.returncode != 0
    assert reported in done.stdout
    kept = (tmp_path / "kept").read_bytes()
    assert kept[0] != 0x7F
    # The kept input is all that is needed to see it again.
    again = fuzz(program, tmp_path, "--count", "0", "--limit", "1", "--artifact", "again", "kept")
    assert again.returncode != 0
    assert reported in again.stdout
