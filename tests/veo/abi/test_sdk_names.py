# SPDX-License-Identifier: BSD-3-Clause
"""The libraries and headers that programs for NEC's SDK link and include."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import veo
from tests.support.builds import clean_environment

PACKAGE = Path(veo.__file__).resolve().parent
LIB, INCLUDE = PACKAGE / "lib", PACKAGE / "include"
HEADERS = [
    "ve_asm.h",
    "ve_offload.h",
    "vedma.h",
    "veo_hmem.h",
    "veo_ve.h",
    "veo_vedma.h",
    "veo_veshm.h",
    "veo_veshm_defs.h",
    "veo_vhveshm.h",
    "veosoft.h",
    "vhshm.h",
]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]

HOST = """
#include <errno.h>
#include <stdio.h>
#include <veo_vedma.h>
#include <veo_veshm.h>
#include <veo_vhveshm.h>
#include <veosoft.h>

int main(void)
{
    struct veo_proc_handle *proc = veo_proc_create(0);
    ve_dma_handle_t handle = {0, 0};
    if (!proc)
        return 1;

    veosoft_set_quiet(1);
    if (veo_dma_post(proc, 1, 2, 8, &handle) != -ENOSYS)
        return 2;
    errno = 0;
    if (veo_shared_mem_open(NULL, 64, 0, VE_REGISTER_NONE | VE_SHM_RO) != -1 || errno != ENOSYS)
        return 3;
    errno = 0;
    if (veo_shmget(proc, 7, 64, 0) != -1 || errno != ENOSYS)
        return 4;
    printf("%s\\n", veosoft_error());
    return veo_proc_destroy(proc);
}
"""


def environment() -> dict[str, str]:
    return clean_environment()


@pytest.mark.nosanitize
@pytest.mark.parametrize("name", ["-lveo", "-laveoVH", "-l:libveo.so.1.0.0", "-l:libveo.so.1"])
def test_hosts_are_linked_by_any_name(
    compile_c: Callable[..., Path], tmp_path: Path, name: str
) -> None:
    program = compile_c(
        HOST,
        "host",
        flags=[f"-I{INCLUDE}", f"-L{LIB}", name, f"-Wl,-rpath,{LIB}"],
        shared=False,
    )
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True).stdout
    assert "[libveo.so.1]" in dynamic
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, env=environment())
    assert done.returncode == 0, done.stderr
    assert "veo_shmget needs a real Vector Engine" in done.stdout


OPEN_BOTH = """
import ctypes, sys
def address(library, name):
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
first, second = (ctypes.CDLL(path) for path in sys.argv[1:])
for name in ("veo_api_version", "veo_proc_create", "veosoft_version"):
    assert address(first, name) == address(second, name), name
first.veo_proc_create.restype = ctypes.c_void_p
proc = first.veo_proc_create(0)
assert second.veo_proc_destroy(ctypes.c_void_p(proc)) == 0
print(first.veo_api_version())
"""


@pytest.mark.parametrize("name", ["libveo.so", "libveo.so.1.0.0", "libaveoVH.so"])
@pytest.mark.parametrize("order", [1, -1])
def test_names_that_are_opened_are_one_library(name: str, order: int) -> None:
    paths = [str(LIB / name), str(LIB / "libveo.so.1")][::order]
    done = subprocess.run(
        [sys.executable, "-P", "-c", OPEN_BOTH, *paths],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == f"{veo.library_info('soft')['api_version']}\n", done.stderr


def test_kernels_are_linked_with_the_libraries_of_the_ve(compile_c: Callable[..., Path]) -> None:
    path = compile_c(
        "#include <veo_hmem.h>\n#include <veo_ve.h>\n"
        "uint64_t plain(void *p) { return (uint64_t)veo_get_hmem_addr(p); }\n"
        "long before(void) { uint64_t r = 0; return veo_prev_req_result(0, &r) ? -1 : (long)r; }\n",
        flags=["-g", f"-I{INCLUDE}", f"-L{LIB}", "-lveohmem", "-laveoVE"],
    )
    with veo.VeoProc(0, library="soft") as proc:
        lib = proc.load_library(path)
        ctx = proc.open_context()
        # Looked up first: that leaves a result, too.
        plain, before = lib.plain, lib.before
        tagged = 0x1234 | 1 << 63 | 3 << 59
        assert plain(ctx, tagged).wait_result(10) == 0x1234
        assert before(ctx).wait_result(10) == 0x1234


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize(("language", "standard"), [("c", "gnu99"), ("c", "c11"), ("c++", "c++11")])
def test_each_header_stands_alone(
    header: str, language: str, standard: str, tmp_path: Path
) -> None:
    source = tmp_path / f"all.{'c' if language == 'c' else 'cc'}"
    source.write_text(f"#include <{header}>\n#include <{header}>\ntypedef int used;\n")
    command = [os.environ.get("CC", "gcc"), "-x", language, f"-std={standard}", *STRICT]
    done = subprocess.run(
        [*command, f"-I{INCLUDE}", "-fsyntax-only", source],
        capture_output=True,
        text=True,
        env=environment(),
    )
    if language == "c++" and "cc1plus" in done.stderr:
        pytest.skip("no C++ compiler")
    assert done.returncode == 0, done.stderr


def test_all_headers_are_known_here() -> None:
    # A folder has what clang's own headers for the VE lack.
    assert sorted(path.name for path in INCLUDE.glob("*.h")) == sorted(HEADERS)
