# SPDX-License-Identifier: BSD-3-Clause
"""Finds a C compiler: the vendor's, that of the ziglang wheel, or a clang of the system."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path

from offchip.libcxx import libcxx_macros

from .commands import run
from .errors import ToolchainError
from .target import RESERVED_REGISTERS

__all__ = ["Kind", "Toolchain", "find_toolchain"]

_VENDOR_COMMAND = "dpu-upmem-dpurte-clang"
_OLDEST, _NEWEST = 16, 29
# The first clang that supports loads and stores of register pairs on RV32.
_PAIRS_SINCE = 22
_COMMAND_LIMIT = 4096


class Kind(Enum):
    """The origin of a compiler."""

    VENDOR = "vendor"
    ZIG = "ziglang"
    CLANG = "clang"


@dataclass(frozen=True)
class Toolchain:
    """A compiler and a linker.

    Parameters
    ----------
    kind : Kind
        The origin. The vendor's compiler builds DPU programs itself.
    compiler, linker : tuple of str
        Commands, to which arguments are added; the vendor's compiler links too.
    version : tuple of int
        Of clang; empty for the vendor's.
    """

    kind: Kind
    compiler: tuple[str, ...]
    linker: tuple[str, ...]
    version: tuple[int, ...]

    @property
    def target_options(self) -> list[str]:
        """Options that make the generated code translatable."""
        pairs = "_zilsd" if self.version and self.version[0] >= _PAIRS_SINCE else ""
        return [
            "--target=riscv32-unknown-elf",
            f"-march=rv32im_zba_zbb{pairs}",
            "-mabi=ilp32",
            "-mcmodel=medlow",
            "-mno-relax",
            "-ffreestanding",
            # __builtin_log2() and such of a constant are computed by the compiler, as by UPMEM's.
            "-fno-math-errno",
            "-fsigned-char",
            "-fno-pic",
            "-fno-jump-tables",
            "-fno-asynchronous-unwind-tables",
            *(f"-ffixed-x{number}" for number in RESERVED_REGISTERS if number > 4),
        ]

    @property
    def code_options(self) -> list[str]:
        """Options for instruction selection from optimised LLVM IR.

        A tasklet never waits for the result of an instruction, so scheduling gains nothing and
        needs more registers and stack. Constants need no registers of their own; and with constant
        hoisting clang 22 loses the low words of products of a signed number and an unsigned
        constant.
        """
        options = ("-enable-misched=false", "-pre-RA-sched=list-burr", "-disable-constant-hoisting")
        return [part for option in options for part in ("-mllvm", option)]

    @property
    def cplusplus_headers(self) -> str | None:
        """The folder of the headers of C++, which come with ziglang; None for others."""
        if self.kind is not Kind.ZIG:
            return None
        return str(Path(self.compiler[0]).parent / "lib" / "libcxx" / "include")

    @property
    def cplusplus_options(self) -> list[str]:
        """Options for C++, which has neither exceptions nor run-time types.

        `main` has its name in a hosted language alone. Destructors of variables that outlive `main`
        would end what the next launch uses.
        """
        options = ["-fhosted", "-fno-builtin", "-fno-exceptions", "-fno-rtti"]
        options.append("-fno-c++-static-destructors")
        if self.cplusplus_headers is not None:
            options += ["-nostdinc++", "-isystem", self.cplusplus_headers]
            options += libcxx_macros(services=False)
        return options

    def describe(self) -> str:
        """Return a line with kind, version and command."""
        version = ".".join(map(str, self.version))
        # The wheel has a version of its own; that of the clang in it matters.
        name = "ziglang, clang" if self.kind is Kind.ZIG else self.kind.value
        return " ".join(filter(None, [name, version, f"({self.compiler[0]})"]))


def find_toolchain(environment: Mapping[str, str] | None = None) -> Toolchain:
    """Find a compiler.

    Parameters
    ----------
    environment : mapping, optional
        Where PATH and UPMEM_HOME are looked up; by default the environment of the process.

    Returns
    -------
    Toolchain
        The vendor's compiler if it is in UPMEM_HOME or PATH; else that of the ziglang wheel; else
        the newest clang on PATH that has an ld.lld.

    Raises
    ------
    ToolchainError
        If none is found.
    """
    values = os.environ if environment is None else environment
    path = values.get("PATH", os.defpath)
    found = _find_vendor(values.get("UPMEM_HOME"), path) or _find_zig() or _find_clang(path)
    if found is None:
        raise ToolchainError(
            "no C compiler for the DPU found: install offchip[toolchain] (the ziglang wheel), "
            f"or clang {_OLDEST} or newer with ld.lld, or the vendor's SDK"
        )
    return found


def _find_vendor(home: str | None, path: str) -> Toolchain | None:
    command = None
    if home:
        command = shutil.which(_VENDOR_COMMAND, path=str(Path(home) / "bin"))
    command = command or shutil.which(_VENDOR_COMMAND, path=path)
    if command is None or _is_own(Path(command)):
        return None
    return Toolchain(Kind.VENDOR, (command,), (), ())


def _is_own(command: Path) -> bool:
    """Tell whether a command is this package's own, which has the vendor's name."""
    try:
        with command.open("rb") as file:
            start = file.read(_COMMAND_LIMIT)
    except OSError:
        return False
    return start.startswith(b"#!") and b"from dpu." in start


def _find_zig() -> Toolchain | None:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    zig = folder / "zig"
    if not zig.is_file():
        return None
    version = _version_of((str(zig), "clang"))
    if version is None:
        return None
    compiler = (str(zig), "clang", "-resource-dir", str(folder / "lib"))
    return Toolchain(Kind.ZIG, compiler, (str(zig), "ld.lld"), version)


def _find_clang(path: str) -> Toolchain | None:
    names = [(f"clang-{n}", f"ld.lld-{n}") for n in range(_NEWEST, _OLDEST - 1, -1)]
    for name, own_linker in [*names, ("clang", "ld.lld")]:
        compiler = shutil.which(name, path=path)
        linker = shutil.which(own_linker, path=path) or shutil.which("ld.lld", path=path)
        if compiler is None or linker is None:
            continue
        version = _version_of((compiler,))
        if version is not None and version[0] >= _OLDEST:
            return Toolchain(Kind.CLANG, (compiler,), (linker,), version)
    return None


@lru_cache(maxsize=16)
def _version_of(command: tuple[str, ...]) -> tuple[int, ...] | None:
    try:
        text, _ = run([*command, "--version"])
    except ToolchainError:
        return None
    match = re.search(r"clang version (\d+)\.(\d+)\.(\d+)", text)
    return tuple(map(int, match.groups())) if match else None
