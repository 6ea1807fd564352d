# SPDX-License-Identifier: BSD-3-Clause
"""Exports of libdpu.so: the functions of its headers, its SONAME, and nothing in between."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., str]

# For the vendor's Python package, which declares them itself.
OF_PYTHON = {"Py_dpu_get_symbol_names", "Py_dpu_prepare_xfers", "Py_dpu_log_read"}


def declared(include: Path, folder: Path, compiler: str, run: Run) -> set[str]:
    """List the functions that the headers declare, as the compiler sees them."""
    source = folder / "program.c"
    names = sorted(header.name for header in include.glob("*.h"))
    source.write_text("".join(f"#include <{name}>\n" for name in names))
    listing = folder / "prototypes"
    run(["gcc", f"-I{include}", "-fsyntax-only", "-aux-info", listing, source])
    found = set()
    for line in listing.read_text().splitlines():
        made = re.match(rf"/\* {re.escape(str(include))}/\S+ \*/ (extern|static) (.*)", line)
        if made is not None and made[1] == "extern":
            name = re.search(r"(\w+) \(", made[2])
            assert name is not None
            found.add(name[1])
    return found


def test_exports_are_those_of_the_headers(
    installed: Any, tmp_path: Path, compiler: str, run: Run
) -> None:
    shown = run(["nm", "-D", "--defined-only", installed.library])
    exported = {line.split()[-1] for line in shown.splitlines()}
    functions = declared(installed.include, tmp_path, compiler, run)
    assert len(functions) > 110
    assert exported == functions | OF_PYTHON


def test_soname_and_needed_libraries(installed: Any, run: Run) -> None:
    shown = run(["readelf", "-dW", installed.library])
    assert re.search(r"SONAME.*\[libdpu\.so\]", shown)
    assert "RUNPATH" not in shown and "RPATH" not in shown
    needed = set(re.findall(r"NEEDED.*\[(.*?)\]", shown))
    sanitizers = {name for name in needed if re.match(r"lib\w+san", name)}
    glibc = {"libc.so.6", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2"}
    assert needed - sanitizers <= glibc
    assert "@" not in run(["nm", "-D", "--defined-only", installed.library])


def test_c_programs_need_no_python(installed: Any, run: Run) -> None:
    shown = run(["nm", "-D", "--undefined-only", installed.library])
    python = [line.split() for line in shown.splitlines() if " Py" in line or " _Py" in line]
    assert all(kind == "w" for kind, _ in python), python


def test_a_library_of_the_same_names_does_not_get_in_between(
    installed: Any, dpu_programs: Path, tmp_path: Path, compiler: str, run: Run
) -> None:
    """Another libdpu in the global scope: ours, loaded locally, calls its own functions."""
    names = sorted(declared(installed.include, tmp_path, compiler, run))
    source = tmp_path / "vendor.c"
    source.write_text(
        "#include <stdlib.h>\n" + "".join(f"long {name}(void) {{ abort(); }}\n" for name in names)
    )
    vendor = tmp_path / "libdpu.so"
    run([compiler, "-w", "-shared", "-fPIC", "-o", vendor, source])
    program = tmp_path / "host.c"
    program.write_text(
        f"""
#include <dlfcn.h>
#include <dpu.h>
#include <dpu_management.h>
#include <dpu_runner.h>
#define GET(name) __typeof__(&name) p_##name = (__typeof__(&name))dlsym(ours, #name)
int main(void)
{{
    if (!dlopen("{vendor}", RTLD_NOW | RTLD_GLOBAL)) return 10;
    void *ours = dlopen("{installed.library}", RTLD_NOW | RTLD_LOCAL);
    if (!ours) return 11;
    GET(dpu_alloc); GET(dpu_free); GET(dpu_load); GET(dpu_launch); GET(dpu_sync);
    GET(dpu_boot_rank); GET(dpu_copy_to); GET(dpu_status_rank); GET(dpu_set_dpu_iterator_from);
    GET(dpu_error_to_string); GET(dpu_broadcast_to); GET(dpu_copy_from);
    struct dpu_set_t set;
    bool done, fault;
    uint32_t one = 1, two = 0;
    if (p_dpu_alloc(66, NULL, &set)) return 12;
    if (p_dpu_load(set, "{dpu_programs}/count.dpu", NULL)) return 13;
    if (p_dpu_copy_to(set, "counter", 0, &one, 4)) return 14;
    if (p_dpu_launch(set, DPU_SYNCHRONOUS)) return 15;
    if (p_dpu_boot_rank(set.list.ranks[0]) || p_dpu_sync(set)) return 16;
    if (p_dpu_status_rank(set.list.ranks[0], &done, &fault) || !done || fault) return 17;
    struct dpu_set_dpu_iterator_t first = p_dpu_set_dpu_iterator_from(&set);
    if (p_dpu_copy_from(first.next, "counter", 0, &two, 4) || two != 3) return 18;
    if (p_dpu_broadcast_to(set, "counter", 0, &one, 4, DPU_XFER_DEFAULT)) return 19;
    if (!p_dpu_error_to_string(DPU_OK)) return 20;
    if (p_dpu_free(set)) return 21;
    /* Closing it does nothing to its threads. */
    return dlclose(ours);
}}
"""
    )
    built = tmp_path / "program"
    run([compiler, "-w", f"-I{installed.include}", program, "-o", built, "-ldl"])
    assert subprocess.run([built], timeout=30).returncode == 0
