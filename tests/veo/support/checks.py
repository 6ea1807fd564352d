# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Vector Engine code under VEO_CHECK, and what is reported of them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import veo
from veo.ve_clang import clang_command

VEORUN = Path(veo.__file__).parent / "bin" / "veorun"
NOTHING = "== checks: nothing found\n"

Run = Callable[..., tuple[int, str]]


def run_checked(
    folder: Path,
    body: str,
    functions: str = "",
    check: str = "all",
    flags: str = "-O1",
    cxx: bool = False,
) -> tuple[int, str]:
    """Compile ``main()`` with BODY and the FUNCTIONS before it, and run it; status and stderr."""
    name = "p.cpp" if cxx else "p.c"
    headers = "stdio.h stdlib.h string.h unistd.h velintrin.h".split()
    source = "".join(f"#include <{header}>\n" for header in headers) + "#line 1\n"
    source += functions + "\nint main(int argc, char **argv)\n{\n" + body + "\n}\n"
    (folder / name).write_text(source)
    command = [*clang_command("C++" if cxx else "C"), *flags.split(), "-g"]
    command += ["-fno-inline", "-c", name, "-o", "p.o"]
    subprocess.run(command, check=True, cwd=folder)
    done = subprocess.run(
        [VEORUN, "p.o"],
        cwd=folder,
        env={**os.environ, "VEO_CHECK": check},
        capture_output=True,
        text=True,
        timeout=300,
    )
    # A worker that is itself built with ASan warns of what malloc() refuses.
    refused = r"==\d+==WARNING: AddressSanitizer failed to allocate .*\n"
    return done.returncode, re.sub(refused, "", done.stderr)


def masked(text: str) -> str:
    """Replace registers and addresses, which a compiler and a process choose."""
    text = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text)
    text = re.sub(r"\+0x[0-9a-f]+", "+N", text)
    text = re.sub(r"'[^']*'", lambda found: "'" + found[0][1:-1].split()[0] + "'", text)
    return re.sub(r"%([sv])\d+", r"%\1N", text)


def first(report: tuple[int, str]) -> str:
    """Give the first line of the only finding, without ``== VE FILE: ``."""
    lines = masked(report[1]).splitlines()
    assert sum(line.startswith("== VE ") for line in lines) == 1, report[1]
    assert re.fullmatch(r"== \d+ found, of which \d+ (is|are) repeated or .*", lines[-1])
    assert lines[0].startswith("== VE p.o: ")
    return lines[0].removeprefix("== VE p.o: ")
