# SPDX-License-Identifier: BSD-3-Clause
"""What is built, as lists: this is the file to change when something is added."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

__all__ = [
    "ARTEFACTS",
    "DPU_CHECKS",
    "DPU_MACHINE",
    "EXTENSION_PACKAGES",
    "EXTRA_SOURCES",
    "INCLUDES",
    "NEC_LIBVEO_NAMES",
    "NEC_VE_LIBRARIES",
    "UPMEM_LIBRARIES",
    "UPMEM_RELEASES",
    "Artefact",
    "Kind",
    "find_artefact",
]

# Folders for -I, for everything.
INCLUDES = ["include/veo", "include/dpu", "include/accl", "csrc", "csrc/dispatch"]

# Packages whose .pyx files are extension modules.
EXTENSION_PACKAGES = ["offchip", "veo", "dpu", "accl", "accelforge"]

# The model and the search of accelforge; the search evaluates with the model.
ACCELFORGE_MODEL = [
    f"csrc/accelforge/model/{name}.c"
    for name in (
        *("status", "problem", "formula", "relevance", "placement", "plan", "count", "cost"),
        *("join", "columns", "scratch", "model", "batch"),
    )
]
ACCELFORGE_SEARCH = [
    f"csrc/accelforge/search/{name}.c"
    for name in (
        *("arena", "space", "facts", "holders", "slots", "fanouts", "limits", "templates"),
        *("polynomial", "latencies", "symbols", "traffic", "goals", "stages", "factors"),
        *("sorting", "pareto", "front", "rivals", "rows", "bounds", "loop_counts", "keeping"),
        *("steps", "variants", "tiles", "results", "search", "groups"),
    )
]

# C that is compiled into an extension module besides what Cython makes.
EXTRA_SOURCES = {
    "offchip.native": ["csrc/dispatch/loader.c"],
    "veo._pending": ["csrc/veo/package/requests.c"],
    "veo._native": [
        f"csrc/dispatch/{name}.c" for name in ("loader", "trace", "veo_table", "veo_trace")
    ],
    "dpu._native": [
        f"csrc/dispatch/{name}.c" for name in ("loader", "trace", "dpu_table", "dpu_trace")
    ],
    "accl._native": [
        f"csrc/dispatch/{name}.c" for name in ("loader", "trace", "accl_table", "accl_trace")
    ],
    "dpu._isa": [
        "csrc/dpu/isa/chip.c",
        "csrc/dpu/isa/forms.c",
        "csrc/dpu/isa/encode.c",
        "csrc/dpu/isa/decode.c",
        "csrc/dpu/isa/disassemble.c",
    ],
    "accelforge._model": ACCELFORGE_MODEL,
    "accelforge._search": ACCELFORGE_MODEL + ACCELFORGE_SEARCH,
    "accelforge._join": [
        f"csrc/accelforge/join/{name}.c"
        for name in (
            *("tables", "map", "pieces", "pareto", "filter", "bound", "shape", "level", "pool"),
            *("goal", "meet", "pair", "merge", "fuse"),
        )
    ],
}


class Kind(Enum):
    """What an artefact is."""

    SHARED = "shared library"
    STATIC = "static library"
    EXECUTABLE = "executable"
    HEADERS = "headers"


@dataclass(frozen=True)
class Artefact:
    """A file, or a folder of sources, that a package has beside its modules.

    Parameters
    ----------
    kind : Kind
        What it is.
    path : str
        Where it goes, relative to the folder that has the packages.
    sources : tuple of str
        Globs relative to the root.
    exclude : tuple of str
        Paths that are left out of them.
    link_flags : tuple of str
        Further flags for linking.
    needs : tuple of str
        Other files that must exist.
    libraries : tuple of str
        Paths of earlier artefacts that it is linked with.
    """

    kind: Kind
    path: str
    sources: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    def find_sources(self, root: Path) -> list[str]:
        """List the sources, relative to the root; empty for a glob without a match is an error."""
        found = []
        for pattern in self.sources:
            found += sorted(path.relative_to(root).as_posix() for path in root.glob(pattern))
        return [name for name in found if name not in self.exclude]

    def missing(self, root: Path) -> list[str]:
        """List the patterns that match nothing, and the files that are not there."""
        absent = [pattern for pattern in self.sources if not any(root.glob(pattern))]
        return absent + [name for name in self.needs if not (root / name).exists()]


# The names that libraries of UPMEM's SDK had, in the releases that programs were linked with.
# The developers' own builds were called 0.0.
UPMEM_LIBRARIES = ("libdpu", "libdpuverbose", "libdpujni")
UPMEM_RELEASES = (
    *("0.0", "2020.1", "2020.2", "2020.3", "2020.4", "2020.5", "2021.1", "2021.2", "2021.3"),
    *("2021.4", "2022.1", "2023.1", "2023.2", "2024.1", "2024.2", "2025.1"),
)


def _libdpu_by_another_name(name: str) -> Artefact:
    return Artefact(
        kind=Kind.SHARED,
        path=f"dpu/lib/{name}",
        sources=("csrc/dpu/alias/alias.c",),
        link_flags=(
            f"-Wl,-soname,{name}",
            # The loader takes the functions from there.
            "-Wl,--filter=libdpu.so",
            "-Wl,-rpath,$ORIGIN",
            # As small as it can be: there are many.
            *("-nostdlib", "-Wl,-z,noseparate-code", "-Wl,--build-id=none", "-s"),
        ),
        libraries=("dpu/lib/libdpu.so",),
    )


# Names that programs for NEC's SDK link libveo by, and that kernels link for the VE side.
NEC_LIBVEO_NAMES = ("libveo.so", "libveo.so.1.0.0", "libaveoVH.so")
NEC_VE_LIBRARIES = ("libveohmem.a", "libaveoVE.a")


def _libveo_by_another_name(name: str) -> Artefact:
    return Artefact(
        kind=Kind.SHARED,
        path=f"veo/lib/{name}",
        sources=("csrc/veo/alias/names.c",),
        link_flags=(
            "-Wl,-soname,libveo.so.1",
            "-Wl,--version-script=csrc/veo/lib/libveo.map",
            "-Wl,--filter=$ORIGIN/libveo.so.1",
            *("-Wl,-z,noseparate-code", "-Wl,--build-id=none", "-s"),
        ),
        needs=("csrc/veo/lib/libveo.map",),
    )


VEO_WORKER = (
    "csrc/veo/worker/*.c",
    "csrc/veo/worker/*.S",
    "csrc/formats/dwarf*.c",
    "csrc/common/*.c",
)

# A simulated DPU with its readers of programs, without the library around it.
DPU_MACHINE = (
    "csrc/dpu/machine/*.c",
    "csrc/dpu/isa/*.c",
    "csrc/formats/dpu_elf*.c",
    "csrc/formats/lines.c",
    "csrc/common/copy.c",
)

# What finds faults of programs while it runs them.
DPU_CHECKS = ("csrc/dpu/checks/*.c",)

# Its translation to code of the host.
DPU_TRANSLATE = ("csrc/dpu/translate/*.c", "csrc/common/sha256.c")

# What collects profiles of it.
DPU_PROFILE = ("csrc/dpu/profile/*.c",)

ARTEFACTS = [
    Artefact(
        kind=Kind.SHARED,
        path="veo/lib/libveo.so.1",
        sources=("csrc/veo/lib/*.c", "csrc/common/*.c"),
        # Not -Bsymbolic: hooks compare the addresses of functions.
        link_flags=(
            "-Wl,-soname,libveo.so.1",
            "-Wl,--version-script=csrc/veo/lib/libveo.map",
            "-ldl",
        ),
        needs=("csrc/veo/lib/libveo.map",),
    ),
    # Users link this with their own objects, which bring their own symbol table.
    Artefact(
        kind=Kind.STATIC,
        path="veo/lib/libveorun.a",
        sources=VEO_WORKER,
    ),
    Artefact(
        kind=Kind.EXECUTABLE,
        path="veo/bin/veorun",
        sources=VEO_WORKER,
        # Kernels that are loaded may refer to functions of the worker, and to those of libm, which
        # NEC's compilers link without being told.
        link_flags=("-rdynamic", "-ldl", "-Wl,--no-as-needed", "-lm"),
    ),
    *(_libveo_by_another_name(name) for name in NEC_LIBVEO_NAMES),
    # Static, so that a kernel needs no library at run time: the worker has the rest.
    *(
        Artefact(kind=Kind.STATIC, path=f"veo/lib/{name}", sources=("csrc/common/hmem_tag.c",))
        for name in NEC_VE_LIBRARIES
    ),
    Artefact(
        kind=Kind.HEADERS,
        path="veo/include",
        sources=("include/veo/*.h",),
    ),
    Artefact(
        kind=Kind.SHARED,
        path="dpu/lib/libdpu.so",
        sources=(
            "csrc/dpu/lib/*/*.c",
            *DPU_MACHINE,
            *DPU_TRANSLATE,
            *DPU_PROFILE,
            *DPU_CHECKS,
            "csrc/common/cores.c",
        ),
        # It calls its own functions, whatever else is loaded; and its threads may be at work when
        # somebody closes it.
        link_flags=(
            "-Wl,-soname,libdpu.so",
            "-Wl,--version-script=csrc/dpu/lib/libdpu.map",
            "-Wl,-Bsymbolic",
            "-Wl,-z,nodelete",
            "-ldl",
        ),
        needs=("csrc/dpu/lib/libdpu.map",),
    ),
    *(
        _libdpu_by_another_name(f"{library}.so.{release}")
        for library in UPMEM_LIBRARIES
        for release in UPMEM_RELEASES
    ),
    Artefact(
        kind=Kind.HEADERS,
        path="dpu/include",
        sources=("include/dpu/dpu*.h", "include/dpu/dpu.hpp", "include/dpu/dpu"),
    ),
    Artefact(
        kind=Kind.SHARED,
        path="accl/lib/libaccl.so",
        sources=(
            "csrc/accl/*/*.c",
            "csrc/accl/transport/*/*.c",
            "csrc/common/copy.c",
            "csrc/common/cores.c",
            "csrc/common/range_alloc.c",
        ),
        # It calls its own functions, whatever else is loaded; and it has threads and a handler for
        # forks, so it stays when somebody closes it.
        link_flags=("-Wl,-soname,libaccl.so", "-Wl,-Bsymbolic", "-Wl,-z,nodelete"),
    ),
    Artefact(
        kind=Kind.HEADERS,
        path="accl/include",
        sources=("include/accl/accl.h",),
    ),
    # The toolchain compiles these for the DPU when they are first needed.
    Artefact(
        kind=Kind.HEADERS,
        path="dpu/runtime",
        sources=("csrc/dpu/runtime/[!i]*/*.[ch]", "csrc/dpu/runtime/*/*.inc"),
    ),
    Artefact(
        kind=Kind.HEADERS,
        path="dpu/runtime/include",
        sources=("csrc/dpu/runtime/include/*.h",),
    ),
    Artefact(
        kind=Kind.EXECUTABLE,
        path="offchip/bin/offchip-probe",
        sources=(
            "csrc/dispatch/probe.c",
            "csrc/dispatch/loader.c",
            "csrc/dispatch/veo_table.c",
            "csrc/dispatch/dpu_table.c",
            "csrc/dispatch/accl_table.c",
        ),
        link_flags=("-ldl",),
    ),
]


def find_artefact(path: str) -> Artefact:
    """Give the artefact that goes to a path."""
    return next(artefact for artefact in ARTEFACTS if artefact.path == path)
