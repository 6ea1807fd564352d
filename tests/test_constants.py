# SPDX-License-Identifier: BSD-3-Clause
"""Constants that stand both in C and in Python are the same.

The compiler tells those of C. A constant in Cython needs no row: it comes from the header, with
`cdef extern`. Lists that have their own tests: error codes and symbols of libdpu, operations of
accl, words and statuses of accelforge's engine.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterable, Mapping
from enum import IntEnum
from pathlib import Path

import pytest

import dpu
from accelforge import _naming
from accelforge._joining import tables
from accelforge._problem import format, mapspace
from accelforge.kernels import accl_kernels
from accl import _setup, communicator, constants, rxbuffer
from buildtools.c_lists import read_list
from dpu import _isa, ffi, reports
from dpu.asm import chips
from dpu.debugger import machine, session
from dpu.elf import format as elf
from dpu.profile import raw, timeline
from veo import _veo, enums

ROOT = Path(__file__).resolve().parents[1]
FLAGS = [
    f"-I{ROOT / folder}"
    for folder in ("csrc", "include/accl", "include/dpu", "include/veo", "include", ".")
]


def members(names: Iterable[str], prefix: str = "") -> dict[str, int]:
    """Number names as an enumeration of C does."""
    return {f"{prefix}{name}": number for number, name in enumerate(names)}


def of_enum(kind: type[IntEnum], prefix: str) -> dict[str, int]:
    """Give the members of an enumeration, with the prefix of those of C."""
    return {f"{prefix}{member.name}": member.value for member in kind}


def sizes(prefix: str, **layouts: str) -> dict[str, int]:
    """Give the sizes of structures: for the part of a name, the layout in Python."""
    return {
        f"sizeof(struct {prefix}{name})": getattr(module, f"_{layout}").size
        for name, layout in layouts.items()
        for module in (raw, session)
        if hasattr(module, f"_{layout}") and (prefix == "dpulib_debug_") == (module is session)
    }


RAW_SIZES = sizes(
    "dpulib_raw_",
    **{"program": "PROGRAM", "ending": "ENDING", "events": "EVENTS", "operation": "OPERATION"},
    **{"sites": "SITES", "site": "SITE", "calls": "CALLS", "call": "CALL", "end": "END"},
)
DEBUG_SIZES = sizes(
    "dpulib_debug_",
    **{"hello": "HELLO", "request": "REQUEST", "stopped": "STOPPED", "thread": "THREAD"},
)

MOVES = [timeline.OPERATIONS[number] for number in range(len(timeline.OPERATIONS))]

# Headers, and what they say by what Python says.
CONSTANTS: dict[str, Mapping[str, int]] = {
    "dpu.h dpu_checkpoint.h": {
        name: getattr(ffi, name)
        for name in ffi.__all__
        if name.startswith(("DPU_SET_", "DPU_XFER_", "DPU_CALLBACK_", "DPU_CHECKPOINT_"))
        or name in ("DPU_ALLOCATE_ALL", "DPU_ASYNCHRONOUS", "DPU_SYNCHRONOUS")
    },
    "dpu.h": {"DPU_ALLOCATE_ALL": dpu.ALLOCATE_ALL},
    "dpusoft.h": {
        **of_enum(reports.LaunchStatus, "DPUSOFT_"),
        **of_enum(reports.Engine, "DPUSOFT_ENGINE_"),
        **of_enum(reports.RunTime, "DPUSOFT_RUNTIME_"),
    },
    "dpu/machine/machine.h": {
        "DPU_FAULT_NONE": reports.FaultKind.NONE,
        "DPU_FAULT_BREAKPOINT": reports.FaultKind.FAULT_INSTRUCTION,
        "DPU_FAULT_DMA": reports.FaultKind.DMA,
        "DPU_FAULT_MEMORY": reports.FaultKind.WRAM,
        "DPU_FAULT_UNDECODABLE": reports.FaultKind.UNDECODABLE,
    },
    "dpu/lib/schedule/moves.h": {
        "DPULIB_NO_MOVE": MOVES.index("launch"),
        "DPULIB_SERIAL_TO": MOVES.index("copy to a DPU"),
        "DPULIB_SERIAL_FROM": MOVES.index("copy from a DPU"),
        "DPULIB_PARALLEL_TO": MOVES.index("copy to DPUs"),
        "DPULIB_PARALLEL_FROM": MOVES.index("copy from DPUs"),
        "DPULIB_BROADCAST": MOVES.index("broadcast"),
        "DPULIB_MOVE_COUNT": len(MOVES),
    },
    "formats/dpu_elf.h": {
        f"DPU_ELF_{name}_BASE": getattr(elf, f"{name}_BASE") for name in ("MRAM", "IRAM", "ATOMIC")
    },
    "accl.h": {"ACCL_NO_SESSION": communicator.NO_SESSION},
    "accl/base/communicator.h accl/engine/exchange.h accl/engine/configure.h": {
        "RANKS_MAX": constants.RANKS_MAX,
        "4 * EXCHANGE_RECORD_WORDS": rxbuffer.RECORD_BYTES,
        "EXCHANGE_REGISTERS": _setup.REGISTERS,
        "SEGMENT_END": _setup.SEGMENT_LIMIT,
        "DEFAULT_TIMEOUT_MS": _setup.DEFAULT_TIMEOUT_MS,
        **{f"ACCL_STACK_{name}": _setup._STACKS[name] for name in ("UDP", "TCP")},
    },
    "accl/arithmetic/reduce.h accl/base/arena.h": {
        "REDUCE_BLOCK * sizeof(float)": accl_kernels.BLOCK_BYTES,
        "LANE_INLINE / 4096 * 4096": accl_kernels.POST_BYTES,
    },
    "ve_offload.h": {
        "VEO_API_VERSION": _veo._veo_api_version,
        "VEO_MAX_NUM_ARGS": _veo._veo_max_num_args,
        **of_enum(enums.ArgsIntent, "VEO_"),
        **of_enum(enums.ContextState, "VEO_"),
        **of_enum(enums.CommandState, "VEO_"),
    },
    "dpu/lib/observe/raw_file.h": {
        **RAW_SIZES,
        "DPULIB_RAW_VERSION": raw._VERSION,
        "DPULIB_RAW_LAUNCHES": raw._LAUNCHES,
        "DPU_MACHINE_THREADS": raw._LEAST_THREADS,
        "DPU_MACHINE_THREADS_ROOM": raw._THREADS,
        "DPU_MACHINE_IRAM": raw._IRAM,
        "DPU_RUN_DONE": raw.DONE,
        "DPU_RUN_FAULT": raw.FAULT,
        "sizeof(struct dpu_profile_tasklet)": raw._TASKLET.size,
        "sizeof(struct dpu_profile_event)": raw._EVENT.size,
        "sizeof(struct dpulib_raw_launch)": raw._LAUNCH.size + raw._THREADS * raw._TASKLET.size,
        **{
            f"DPULIB_RAW_{reader.__name__.removeprefix('_read_').upper()}": number
            for number, reader in raw._READERS.items()
        },
        **of_enum(raw.EventKind, "DPU_PROFILE_"),
    },
    "dpu/lib/run/debug_session.h": {
        **DEBUG_SIZES,
        "DPULIB_DEBUG_MAGIC": session._MAGIC,
        "DPULIB_DEBUG_VERSION": session._VERSION,
        "DPULIB_DEBUG_MESSAGE": session._MESSAGE,
        "DPULIB_WATCHES": session._MOST_WATCHES,
        "DPU_MACHINE_IRAM": session._INSTRUCTIONS,
        "DPULIB_WATCH_WRITE": session._KINDS[machine.WatchKind.WRITE],
        "DPULIB_WATCH_READ": session._KINDS[machine.WatchKind.READ],
        "DPULIB_STOP_DONE": session._OUTCOMES.index(machine.Outcome.DONE),
        "DPULIB_STOP_FAULT": session._OUTCOMES.index(machine.Outcome.FAULT),
        "DPULIB_STOP_ROUNDS": session._OUTCOMES.index(machine.Outcome.STEPPED),
        "DPULIB_STOP_BREAKPOINT": session._OUTCOMES.index(machine.Outcome.BREAKPOINT),
        "DPULIB_STOP_WATCHPOINT": session._OUTCOMES.index(machine.Outcome.WATCHPOINT),
        "DPULIB_STOP_LIMIT": session._OUTCOMES.index(machine.Outcome.LIMIT),
        **{
            f"DPULIB_DEBUG_{name}": getattr(session, f"_{name}")
            for name in (
                *("READ", "WRITE", "THREADS", "SET_THREAD", "BREAKPOINTS", "WATCHES"),
                *("STEP", "RUN", "FAULT", "IMAGE", "DETACH"),
            )
        },
    },
    "dpu/isa/chip.h": {
        "DPU_MACHINE_THREADS": _isa.THREADS,
        "DPU_MACHINE_REGISTERS": _isa.REGISTERS,
        "DPU_MACHINE_IRAM": _isa.IRAM,
    },
    "dpu/machine/options.h": {"1024 * DPU_CACHE_KIB_MOST": chips._CACHE_MOST},
    "accelforge/model/model.h": {
        **members((kind.upper() for kind in _naming._KINDS), "FORGE_COLUMN_"),
        **members(("FORGE_READ", "FORGE_WRITE", "FORGE_COMPUTES", "FORGE_LEAKS")),
        "FORGE_LEAKS + 1": len(_naming._ACCESSES),
        "FORGE_NUMBER_COUNT": len(_naming._RANGES),
        **{f"FORGE_{name.upper()}": number for name, number in format.LEVEL_KINDS.items()},
        **{
            f"FORGE_{name}": getattr(format, name)
            for name in ("HOLD", "TEMPORAL", "SPATIAL", "LEAF")
        },
    },
    "accelforge/model/status.h": {"FORGE_NONE": format.NONE, "FORGE_NONE | 0": tables.NONE},
    "accelforge/search/space.h": {
        "FORGE_MAX_MEMBERS": mapspace.MOST_MEMBERS,
        "FORGE_EQUAL": mapspace.RELATIONS["=="],
        "FORGE_AT_MOST": mapspace.RELATIONS["<="],
        "FORGE_AT_LEAST": mapspace.RELATIONS[">="],
        "FORGE_BELOW": mapspace.RELATIONS["<"],
        "FORGE_ABOVE": mapspace.RELATIONS[">"],
        "sizeof(struct forge_settings) / sizeof(double)": len(mapspace.SETTINGS),
    },
}


def of_c(headers: str, names: Iterable[str], folder: Path, compiler: str) -> dict[str, int]:
    """Give what constants in C are."""
    source, program = folder / "constants.c", folder / "constants"
    lines = [f'#include "{header}"' for header in headers.split()]
    lines += ["#include <stdio.h>", "int main(void)", "{"]
    lines += [f'    printf("%lld %s\\n", (long long)({name}), "{name}");' for name in names]
    source.write_text("\n".join([*lines, "    return 0;", "}", ""]))
    subprocess.run([compiler, "-std=gnu11", *FLAGS, source, "-o", program], check=True)
    shown = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    rows = (line.split(maxsplit=1) for line in shown.splitlines())
    return {name: int(value) for value, name in rows}


@pytest.mark.parametrize("headers", CONSTANTS)
def test_constants_are_those_of_c(headers: str, tmp_path: Path, compiler: str) -> None:
    expected = {name: int(value) for name, value in CONSTANTS[headers].items()}
    assert len(expected) > 0
    assert expected == of_c(headers, expected, tmp_path, compiler)


def test_a_constant_that_differs_is_found(tmp_path: Path, compiler: str) -> None:
    assert of_c("dpu.h", ["DPU_XFER_ASYNC"], tmp_path, compiler) == {"DPU_XFER_ASYNC": 2}


def test_settings_of_the_mapper_are_those_of_the_search() -> None:
    names = [name for (name,) in read_list("csrc/accelforge/search/space.h", "FORGE_SETTINGS")]
    assert names == list(mapspace.SETTINGS)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("csrc/veo/lib/version.c", 'return "{veo}";'),
        ("CMakeLists.txt", " {dpu})"),
    ],
)
def test_versions_of_the_vendors_are_those_of_c(path: str, text: str) -> None:
    from dpu.cli.pkg_config import VERSION as dpu_version
    from veo.cli.pkg_config import VERSION as veo_version

    versions = {"veo": veo_version, "dpu": dpu_version.removesuffix(".0")}
    assert text.format(**versions) in (ROOT / path).read_text()


def test_a_tool_has_the_same_version_wherever_it_is_required() -> None:
    """Of the build and of the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras: Mapping[str, list[str]] = project["project"]["optional-dependencies"]
    found: dict[str, set[str]] = {}
    for group in (project["build-system"]["requires"], *extras.values()):
        for item in group:
            if not item.startswith("offchip["):
                found.setdefault(re.split(r"[^\w-]", item)[0], set()).add(item)
    assert {name: items for name, items in found.items() if len(items) > 1} == {}
    assert "cmake" in found
