# SPDX-License-Identifier: BSD-3-Clause
"""Exports of libveo.so.1: names, versions, SONAME, and that nothing gets in between."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from buildtools.c_lists import read_list

ROOT = Path(__file__).resolve().parents[3]
Run = Callable[..., str]

VENDORS = {name for (name,) in read_list("csrc/dispatch/veo_symbols.h", "VEO_SYMBOLS")}
OURS = {name for (name,) in read_list("include/veo/veosoft.h", "VEOSOFT_SYMBOLS")}


def test_exports_are_those_of_the_list_at_version_1(installed: Any, run: Run) -> None:
    shown = run(["nm", "-D", "--defined-only", installed.library])
    exported = {line.split()[-1] for line in shown.splitlines()} - {"VERSION_1"}
    assert {name for name in exported if not name.endswith("@@VERSION_1")} == set()
    names = {name.removesuffix("@@VERSION_1") for name in exported}
    assert len(VENDORS) == 81
    assert names == VENDORS | OURS


def test_the_list_of_extensions_has_all_that_the_header_declares() -> None:
    text = (ROOT / "include/veo/veosoft.h").read_text()
    assert set(re.findall(r"^[a-z].*?\b(veosoft_\w+)\(", text, re.MULTILINE)) == OURS


def test_soname_and_needed_libraries(installed: Any, run: Run) -> None:
    shown = run(["readelf", "-dW", installed.library])
    assert re.search(r"SONAME.*\[libveo\.so\.1\]", shown)
    assert "RUNPATH" not in shown and "RPATH" not in shown
    needed = set(re.findall(r"NEEDED.*\[(.*?)\]", shown))
    sanitizers = {name for name in needed if re.match(r"lib\w+san", name)}
    glibc = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}
    assert needed - sanitizers <= glibc


def test_a_library_of_the_same_names_does_not_get_in_between(
    installed: Any, tmp_path: Path, compiler: str, run: Run
) -> None:
    """Another libveo in the global scope: ours, loaded locally, calls its own functions."""
    names = sorted(VENDORS)
    source = tmp_path / "vendor.c"
    source.write_text(
        "#include <stdlib.h>\n" + "".join(f"long {name}(void) {{ abort(); }}\n" for name in names)
    )
    vendor = tmp_path / "libveo.so.1"
    run([compiler, "-w", "-shared", "-fPIC", "-o", vendor, source])
    program = tmp_path / "program.c"
    program.write_text(
        f"""
#include <dlfcn.h>
#include <stdio.h>
#include <ve_offload.h>
#define GET(name) __typeof__(&name) p_##name = (__typeof__(&name))dlsym(ours, #name)
static int hooked;
static void hook(void *payload, ...) {{ hooked++; }}
int main(void)
{{
    if (!dlopen("{vendor}", RTLD_NOW | RTLD_GLOBAL)) return 10;
    void *ours = dlopen("{installed.library}", RTLD_NOW | RTLD_LOCAL);
    if (!ours) return 11;
    GET(veo_proc_create); GET(veo_proc_destroy); GET(veo_alloc_mem); GET(veo_free_mem);
    GET(veo_alloc_hmem); GET(veo_free_hmem); GET(veo_hmemcpy); GET(veo_context_open);
    GET(veo_context_sync); GET(veo_alloc_mem_async); GET(veo_call_wait_result);
    GET(veo_register_hook); GET(veo_args_alloc); GET(veo_args_free); GET(veo_set_proc_identifier);
    struct veo_proc_handle *proc = p_veo_proc_create(0);
    if (!proc) return 12;
    p_veo_register_hook((void *)p_veo_alloc_mem, hook, NULL);
    uint64_t a;
    void *h;
    if (p_veo_alloc_mem(proc, &a, 10) || hooked != 1) return 13;
    if (p_veo_free_mem(proc, a)) return 14;
    if (p_veo_alloc_hmem(proc, &h, 10) || p_veo_hmemcpy(h, "123456789", 10)) return 15;
    if (p_veo_free_hmem(h)) return 16;
    struct veo_thr_ctxt *ctx = p_veo_context_open(proc);
    uint64_t id = p_veo_alloc_mem_async(ctx, 10);
    if (p_veo_call_wait_result(ctx, id, &a) || !a) return 17;
    p_veo_context_sync(ctx);
    p_veo_args_free(p_veo_args_alloc());
    return p_veo_proc_destroy(proc);
}}
"""
    )
    built = tmp_path / "program"
    run([compiler, "-w", f"-I{installed.include}", program, "-o", built, "-ldl"])
    assert subprocess.run([built], timeout=30).returncode == 0
