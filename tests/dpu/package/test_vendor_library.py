# SPDX-License-Identifier: BSD-3-Clause
"""A libdpu that has nothing of the soft twin's extensions, as the vendor's: chosen, refused, used.

It is made of a jump for each function of the API, to the soft twin, which does the work.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dpu
from dpu import DpuError, DpuSet
from dpu.debug import Debugger
from offchip.errors import LibraryNotFoundError
from tests.dpu.package.programs import COUNTER, build

pytestmark = pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning")

# A profile that asks for hardware is taken where there is some.
SHIM = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
%(code)s
__asm__(".macro forward name\\n.globl \\\\name\\n.type \\\\name, @function\\n"
        "\\\\name:\\n movq to_\\\\name@GOTPCREL(%%rip), %%r11\\n jmp *(%%r11)\\n.endm\\n");
#define FORWARD(name) void *to_##name; __asm__(".text\\nforward " #name "\\n");
%(forwards)s
static struct { const char *name; void **to; } functions[] = { %(names)s };

static void *soft(void)
{
    void *library = dlopen("%(soft)s", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        abort();
    return library;
}

__attribute__((constructor)) static void set_up(void)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        *functions[i].to = dlsym(soft(), functions[i].name);
}

int dpu_alloc_ranks(unsigned count, const char *profile, void *set)
{
    int (*to)(unsigned, const char *, void *) = dlsym(soft(), "dpu_alloc_ranks");
    if (profile != NULL && strcmp(profile, "backend=hw") == 0)
        return %(devices)d != 0 ? to(count, "", set) : 4;
    return to(count, profile, set);
}
"""


@pytest.fixture
def make_vendor(root: Path, compile_c: Callable[..., Path]) -> Callable[..., Path]:
    text = (root / "csrc" / "dispatch" / "dpu_symbols.h").read_text()
    names = re.findall(r"X\((dpu(?:log)?_\w+)\)", text)
    assert len(names) > 50

    def make(
        name: str = "libdpu.so", *, devices: int = 1, without: tuple[str, ...] = (), code: str = ""
    ) -> Path:
        forwarded = [n for n in names if n not in without and n != "dpu_alloc_ranks"]
        shim = SHIM % {
            "code": code,
            "forwards": "\n".join(f"FORWARD({n})" for n in forwarded),
            "names": ", ".join(f'{{"{n}", &to_{n}}}' for n in forwarded),
            "soft": dpu.library_info("soft")["path"],
            "devices": devices,
        }
        return compile_c(shim, name, flags=["-ldl"])

    return make


@pytest.fixture
def info_of(run_python: Callable[..., object]) -> Callable[[Path], dict[str, object]]:
    """Say what is chosen where a vendor's installation is in a folder."""

    def info(folder: Path) -> dict[str, object]:
        done = run_python(
            "import json, dpu; print(json.dumps(dpu.library_info()))",
            env={"UPMEM_RUNTIME_LIBRARY_PATH": str(folder), "DPU_LIBRARY": ""},
        )
        assert done.returncode == 0, done.stderr  # type: ignore[attr-defined]
        found: dict[str, object] = json.loads(done.stdout)  # type: ignore[attr-defined]
        return found

    return info


# --- the choice -------------------------------------------------------------------------------


def test_vendor_is_chosen_where_it_finds_hardware(make_vendor, info_of):
    path = make_vendor()
    info = info_of(path.parent)
    assert (info["path"], info["kind"]) == (str(path), "vendor")
    assert info["refused"] == info["missing"] == []
    assert info["api_version"] is None


def test_version_is_in_the_name_of_the_file(make_vendor, info_of):
    path = make_vendor("libdpu.so.2025.1")
    (path.parent / "libdpu.so").symlink_to(path.name)
    assert info_of(path.parent)["version"] == "2025.1"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"devices": 0}, "no UPMEM rank .*backend=hw"),
        ({"without": ("dpu_launch", "dpu_sync")}, "it lacks 2 needed functions"),
        ({"code": "__attribute__((constructor)) static void crash(void) { abort(); }"}, "SIGABRT"),
        ({"code": "__attribute__((constructor)) static void leave(void) { _exit(3); }"}, "3"),
    ],
    ids=["no hardware", "lacking", "crash", "exit"],
)
def test_vendor_is_refused_with_the_reason(make_vendor, info_of, changes, reason):
    path = make_vendor(**changes)
    info = info_of(path.parent)
    assert info["kind"] == "soft"
    (refused,) = [item for item in info["refused"] if item["path"] == str(path)]
    assert re.search(reason, refused["reason"])


def test_library_that_lacks_what_is_not_needed_is_used_and_says_so(make_vendor):
    path = make_vendor(without=("dpu_push_sg_xfer",))
    info = dpu.library_info(str(path))
    assert (info["kind"], info["missing"]) == ("path", ["dpu_push_sg_xfer"])


def test_asked_for_library_that_cannot_be_used_is_an_error(make_vendor):
    path = make_vendor(without=("dpu_alloc",))
    with pytest.raises(LibraryNotFoundError, match="lacks 1 needed function: dpu_alloc"):
        dpu.library_info(str(path))


# --- without the extensions -------------------------------------------------------------------


@pytest.fixture
def vendor_set(make_vendor):
    with DpuSet(3, library=str(make_vendor()), binary=build(COUNTER)) as dpus:
        assert not dpus.library.is_soft
        yield dpus


def test_sets_work_without_the_extensions(vendor_set):
    vendor_set.exec()
    vendor_set.exec(async_mode=True)
    vendor_set.sync()
    assert vendor_set.counter.uint32() == [2, 2, 2]
    data = [np.arange(16, dtype=np.int64) + i for i in range(3)]
    vendor_set.copy("buffer", data, async_mode=True)
    back = [bytearray(128) for _ in range(3)]
    vendor_set.copy(back, "buffer")
    assert [bytes(item) for item in back] == [item.tobytes() for item in data]
    seen: list[int] = []
    vendor_set.call(lambda part, index, arg: seen.append(index), None)
    assert seen == [0]
    one = vendor_set.dpus()[0]
    saved = one.checkpoint(mram=False)
    vendor_set.exec()
    one.restore(saved)
    assert vendor_set.counter.uint32() == [2, 3, 3]


def test_requests_poll_without_the_extensions(vendor_set):
    request = vendor_set.exec_async()
    assert request.wait(10)
    assert request.result() is None
    assert vendor_set.counter.uint32() == [1, 1, 1]


def test_faults_have_the_short_text(vendor_set):
    vendor_set.cmd = np.uint32(1)
    with pytest.raises(DpuError, match="^dpu is in fault(?m:$)") as caught:
        vendor_set.exec()
    assert caught.value.name == "DPU_ERR_DPU_FAULT"
    assert caught.value.detail == ""


def test_what_only_the_twin_has_is_refused(vendor_set):
    one = vendor_set.dpus()[0]
    for use in (lambda: vendor_set.report, vendor_set.interrupt, lambda: Debugger(one)):
        with pytest.raises(DpuError, match="not supported by this libdpu") as caught:
            use()
        assert "is not the soft twin" in caught.value.detail
    with pytest.raises(DpuError, match="logging context missing"):
        vendor_set.log(io.StringIO())
