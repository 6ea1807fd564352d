# SPDX-License-Identifier: BSD-3-Clause
"""An operation that only the table of accl.h has is refused by name, before ranks meet."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.builds import ROOT, STANDARD, clean_environment

HEADER = ROOT / "include/accl/accl.h"
ROW = re.compile(r"ROW\(X, (\w+), (\d+), (\w+), (\w+), (\w+), (\w+), (\w+), (\w+)\)")
PLANTED = 1 + max(int(row[1]) for row in ROW.findall(HEADER.read_text()) if row[0] != "NOP")

# The environment of ranks that reach each other in a way, and what a refusal says of it.
PLACES = {
    "in shared memory": {},
    "by packets": {"ACCL_TRANSPORT": "packets"},
    "between hosts": {"ACCL_TEST_HOSTS": "aab"},
}

# Arguments: ranks, and how many of them are on a host. Only rank 0 is there.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "accl.h"
int main(int argc, char **argv)
{
    struct accl_config config = {.size = sizeof config, .memory_mode = ACCL_MEMORY_UNIFIED};
    struct accl_call call = {.size = sizeof call, .operation = ACCL_PLANTED, .dtype = ACCL_INT32};
    struct accl_rank ranks[3] = {{0}};
    uint32_t n = argc == 3 ? (uint32_t)atoi(argv[1]) : 0;
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = (struct accl_rank){.ip = 1 + i / (uint32_t)atoi(argv[2]), .port = 1 + i};
    accl_device *device = NULL;
    uint32_t comm = 0, bits = 0;
    int status = accl_open(&config, &device);
    status = status ? status : accl_setup_rx_buffers(device, 2, 1024);
    status = status ? status : accl_create_communicator(device, ranks, n, 0, &comm);
    int called = status ? status : accl_call_sync(device, &call, &bits);
    printf("%d %u %s", called, (unsigned)bits, accl_error_message());
    accl_close(device);
    return status;
}
"""


class Planted:
    """The engine with an operation more in its table."""

    def __init__(self, compiler: str, folder: Path) -> None:
        text = HEADER.read_text()
        last = text.index("    ROW(X, NOP,")
        row = f"    ROW(X, PLANTED, {PLANTED}, SYMMETRIC, MOVES, NONE, NONE, ONE, ONE) \\\n"
        (folder / "accl.h").write_text(text[:last] + row + text[last:])
        (folder / "main.c").write_text(PROGRAM)
        self.library, self.program = folder / "libaccl.so", folder / "main"

        sources = [
            *sorted((ROOT / "csrc/accl").glob("[abet]*/**/*.c")),
            *(ROOT / f"csrc/common/{name}.c" for name in ("copy", "cores", "range_alloc")),
        ]
        flags = [compiler, *STANDARD, "-O0", "-pthread", f"-I{folder}", f"-I{ROOT}/csrc"]
        flags.append('-DOFFCHIP_VERSION="0"')
        self.make([*flags, "-shared", "-fPIC", "-o", self.library, *sources, "-ldl", "-lm"])
        self.make([*flags, "-o", self.program, folder / "main.c", self.library])

    def make(self, command: Sequence[str | Path]) -> None:
        """Run the compiler."""
        subprocess.run(command, check=True, env=clean_environment())


@pytest.fixture(scope="module")
def planted(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    return Planted(compiler, tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("where", PLACES)
def test_python_is_refused_on_all_ranks_which_stay_in_step(planted, run_ranks, where):
    answers = run_ranks(
        3, "run_planted", str(PLANTED), ACCL_LIBRARY=str(planted.library), **PLACES[where]
    )
    assert len(answers) == 3
    for errors, total in answers:
        assert len(errors) == 2 and total == 6
        assert all(f"PLANTED is not implemented {where}" in text for text in errors)


@pytest.mark.parametrize(
    ("where", "ranks", "per_host", "transport"),
    [
        ("in shared memory", 1, 9, "auto"),
        ("in shared memory", 3, 9, "auto"),
        ("by packets", 3, 9, "packets"),
        ("between hosts", 3, 2, "auto"),
    ],
)
def test_c_is_refused_without_other_ranks(planted, where, ranks, per_host, transport):
    done = subprocess.run(
        [planted.program, str(ranks), str(per_host)],
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment(ACCL_TRANSPORT=transport),
    )
    status, bits, text = done.stdout.split(" ", 2)
    assert (int(status), int(bits)) == (2, 1 << 14), done.stdout
    assert text == f"PLANTED is not implemented {where}"
