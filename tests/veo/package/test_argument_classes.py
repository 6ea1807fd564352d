# SPDX-License-Identifier: BSD-3-Clause
"""Where the types of a callee's arguments come from: each source alone, up to 256 of any mix."""

from __future__ import annotations

import ctypes
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import veo

# C type, setter of the C API, value
KINDS: dict[str, tuple[str, Callable[[random.Random], float]]] = {
    "char": ("i8", lambda r: r.randint(-128, 127)),
    "unsigned short": ("u16", lambda r: r.randint(0, 2**16 - 1)),
    "int": ("i32", lambda r: r.randint(-(2**31), 2**31 - 1)),
    "unsigned int": ("u32", lambda r: r.randint(0, 2**32 - 1)),
    "long": ("i64", lambda r: r.randint(-(2**40), 2**40)),
    "void *": ("u64", lambda r: r.randint(0, 2**40)),
    "float": ("float", lambda r: r.randint(-1000, 1000) / 8),
    "double": ("double", lambda r: r.randint(-(2**30), 2**30) / 16),
}
SIZES = [0, 1, 6, 7, 8, 9, 14, 15, 33, 100, 255, 256]


class Kernel:
    """A function of random parameters: the weighted sum of them all."""

    def __init__(self, size: int, seed: int) -> None:
        chance = random.Random(seed * 1000 + size)
        self.name = f"kernel_{size}_{seed}"
        self.types = [chance.choice(list(KINDS)) for _ in range(size)]
        self.values = [KINDS[type_][1](chance) for type_ in self.types]
        # As the kernel adds; sum() makes up for rounding errors since Python 3.12.
        self.wanted = 0.0
        for i, value in enumerate(self.values):
            self.wanted += (i + 1) * value

    @property
    def text(self) -> str:
        parameters = ", ".join(f"{type_} a{i}" for i, type_ in enumerate(self.types)) or "void"
        terms = "".join(
            f" + {i + 1}.0 * {'(double)(unsigned long)' if '*' in type_ else '(double)'}a{i}"
            for i, type_ in enumerate(self.types)
        )
        return f"double {self.name}({parameters}) {{ return 0{terms}; }}\n"


KERNELS = [Kernel(size, seed) for size in SIZES for seed in range(3)]
ALL_INTEGERS = "long all_integers(long a, long b) { return 10 * a + b; }\n"
SOURCE = "".join(kernel.text for kernel in KERNELS) + ALL_INTEGERS


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    def build_(name: str, *command: str) -> str:
        folder = tmp_path_factory.mktemp("classes")
        (folder / "kernels.c").write_text(SOURCE)
        target = folder / name
        words = [*command, "-O1", "-shared", "-fPIC", str(folder / "kernels.c"), "-o", str(target)]
        subprocess.run(words, check=True)
        return str(target)

    return build_


@pytest.fixture(scope="session")
def without_debug_info(build: Callable[..., str]) -> str:
    return build("bare.so", "gcc", "-g0")


class Api:
    """The C API by ctypes: no signature is ever handed over."""

    def __init__(self, library: str) -> None:
        self.c = ctypes.CDLL(str(Path(veo.__file__).parent / "lib/libveo.so.1"))
        for name in ("proc_create", "args_alloc"):
            getattr(self.c, f"veo_{name}").restype = ctypes.c_void_p
        for name in ("load_library", "get_sym"):
            getattr(self.c, f"veo_{name}").restype = ctypes.c_uint64
        self.proc = ctypes.c_void_p(self.c.veo_proc_create(0))
        assert self.proc.value
        self.handle = ctypes.c_uint64(self.c.veo_load_library(self.proc, library.encode()))

    def call(self, name: str, settings: Sequence[tuple[str, float]]) -> int:
        types = {
            "float": ctypes.c_float,
            "double": ctypes.c_double,
            "i8": ctypes.c_int8,
            "u16": ctypes.c_uint16,
            "i32": ctypes.c_int32,
            "u32": ctypes.c_uint32,
            "i64": ctypes.c_int64,
            "u64": ctypes.c_uint64,
        }
        args = ctypes.c_void_p(self.c.veo_args_alloc())
        for i, (setter, value) in enumerate(settings):
            rc = getattr(self.c, f"veo_args_set_{setter}")(args, i, types[setter](value))
            assert rc == 0
        address = ctypes.c_uint64(self.c.veo_get_sym(self.proc, self.handle, name.encode()))
        result = ctypes.c_uint64()
        assert self.c.veo_call_sync(self.proc, address, args, ctypes.byref(result)) == 0
        self.c.veo_args_free(args)
        return result.value

    def close(self) -> None:
        assert self.c.veo_proc_destroy(self.proc) == 0


def bits(setter: str, value: float) -> tuple[str, int]:
    """The value as a bare 64-bit pattern, as py-veo passes everything."""
    if setter == "float":
        return "u64", struct.unpack("<I", struct.pack("<f", value))[0] << 32
    if setter == "double":
        return "u64", struct.unpack("<Q", struct.pack("<d", value))[0]
    return "i64", int(value)


def as_double(pattern: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", pattern))[0])


def test_types_from_the_package(without_debug_info: str) -> None:
    with veo.VeoProc(0, library="soft") as proc:
        lib = proc.load_library(without_debug_info)
        ctx = proc.open_context()
        for kernel in KERNELS:
            function = lib.find_function(kernel.name)
            function.args_type(*kernel.types)
            function.ret_type("double")
            assert function(ctx, *kernel.values).wait_result() == kernel.wanted, kernel.text


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_types_from_debug_info(compiler: str, version: int, build: Callable[..., str]) -> None:
    found = shutil.which(compiler) or shutil.which(f"{compiler}-16")
    if found is None:
        pytest.skip(f"{compiler} is not installed")
    api = Api(build("debug.so", found, "-g", f"-gdwarf-{version}"))
    for kernel in KERNELS:
        settings = [
            bits(KINDS[type_][0], value)
            for type_, value in zip(kernel.types, kernel.values, strict=True)
        ]
        assert as_double(api.call(kernel.name, settings)) == kernel.wanted, kernel.text
    api.close()


def test_kinds_from_the_setters(without_debug_info: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The result's kind is not known then: kernels that return integers only."""
    api = Api(without_debug_info)
    chosen = [kernel for kernel in KERNELS if {"float", "double"} & set(kernel.types)]
    for kernel in chosen:
        settings = [
            (KINDS[type_][0], value)
            for type_, value in zip(kernel.types, kernel.values, strict=True)
        ]
        api.call(kernel.name, settings)
    api.close()
    shown = capfd.readouterr().err
    for kernel in chosen:
        assert shown.count(f" {kernel.name} ") == 1
    assert "-g" in shown


SETTERS_PROGRAM = r"""
double total;
void keep(float a, int b, double c, long d, float e) { total = a + 2 * b + 3 * c + 4 * d + 5 * e; }
double *where(void) { return &total; }
"""


def test_setters_alone_pass_floating_point_right(compile_c: Callable[..., Path]) -> None:
    api = Api(str(compile_c(SETTERS_PROGRAM, "keep.so", flags=["-g0"])))
    api.call("keep", [("float", 0.5), ("i32", -3), ("double", 2.25), ("i64", 9), ("float", 1.5)])
    total = ctypes.c_double()
    address = ctypes.c_uint64(api.call("where", []))
    size = ctypes.c_size_t(8)
    assert api.c.veo_read_mem(api.proc, ctypes.byref(total), address, size) == 0
    assert total.value == 0.5 - 6 + 6.75 + 36 + 7.5
    api.close()


def test_nothing_known_means_integers_and_one_warning(
    without_debug_info: str, capfd: pytest.CaptureFixture[str]
) -> None:
    api = Api(without_debug_info)
    for _ in range(3):
        assert api.call("all_integers", [("i64", 4), ("i64", 2)]) == 42
    api.close()
    shown = capfd.readouterr().err
    assert shown.count("WARNING") == 1
    assert "all_integers" in shown and "-g" in shown and "integer" in shown


def test_sources_are_of_random_mixes() -> None:
    """So that the tests above cannot pass by passing everything alike."""
    mixes = {frozenset(kernel.types) for kernel in KERNELS if len(kernel.types) > 32}
    assert any(len(mix) == len(KINDS) for mix in mixes)
    assert max(len(kernel.types) for kernel in KERNELS) == 256 and sys.maxsize > 2**32
