# SPDX-License-Identifier: BSD-3-Clause
"""Requirements of a wheel for other machines than its builder; run by `make wheels`."""

from __future__ import annotations

import os
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support.elf_file import ElfFile, is_elf

pytestmark = pytest.mark.packaging

EXECUTABLES = {"veo/bin/ve-objdump", "veo/bin/veorun", "offchip/bin/offchip-probe"}


@pytest.fixture(scope="module")
def wheel_path():
    folder = os.environ.get("OFFCHIP_DIST")
    if folder is None:
        pytest.fail("OFFCHIP_DIST is not set; run `make wheels`")
    (path,) = Path(folder).glob("*.whl")
    if "manylinux_" not in path.name:
        pytest.skip(f"{path.name} is for the machine that built it, not tagged manylinux")
    return path


@pytest.fixture(scope="module")
def glibc(wheel_path):
    major, minor = re.search(r"manylinux_(\d+)_(\d+)_x86_64", wheel_path.name).groups()
    return int(major), int(minor)


@pytest.fixture(scope="module")
def unpacked(wheel_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(wheel_path) as file:
        file.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def binaries(unpacked):
    found = [path for path in unpacked.rglob("*") if is_elf(path)]
    assert len(found) > 20
    return found


def test_tag_inside_is_that_of_the_name(wheel_path):
    with zipfile.ZipFile(wheel_path) as file:
        (name,) = [n for n in file.namelist() if n.endswith(".dist-info/WHEEL")]
        tags = re.findall(r"^Tag: (.+)$", file.read(name).decode(), re.MULTILINE)
    assert tags == ["-".join(wheel_path.stem.split("-")[2:])]


def test_no_binary_needs_a_newer_glibc(binaries, glibc):
    newest = {}
    for path in binaries:
        for version in ElfFile(path).needed_versions():
            if not version.startswith("GLIBC_"):
                continue
            number = tuple(map(int, version.removeprefix("GLIBC_").split(".")))
            newest[path.name] = max(newest.get(path.name, (0, 0)), number)
    assert newest
    assert {name: number for name, number in newest.items() if number > glibc} == {}


def test_binaries_are_stripped_and_have_no_debug_info(binaries):
    for path in binaries:
        names = ElfFile(path).section_names
        assert [name for name in names if name.startswith((".symtab", ".debug"))] == [], path


def test_no_file_names_a_folder_of_the_machine_that_built_it(unpacked):
    words = [b"/tmp/", b"/home/", b"/root/", b"site-packages", b".venv-wheels", b"ziglang/lib"]
    libraries = [p for p in unpacked.rglob("*") if re.search(r"\.(so|a)(\.|$)|/bin/", str(p))]
    assert any(path.suffix == ".a" for path in libraries)
    for path in libraries:
        content = path.read_bytes()
        assert [word for word in words if word in content] == [], path


def test_worker_brings_libm_and_uses_the_unwinder_of_libgcc(unpacked):
    worker = ElfFile(unpacked / "veo/bin/veorun")
    assert {"libm.so.6", "libgcc_s.so.1", "libc.so.6"} <= set(worker.dynamic("NEEDED"))
    assert "_Unwind_Backtrace" in worker.symbols(defined=False)
    assert [name for name in worker.symbols(defined=True) if name.startswith("_Unwind_")] == []


def test_other_names_of_libraries_are_filters(unpacked):
    for name in ("libveo.so", "libveo.so.1.0.0", "libaveoVH.so"):
        assert ElfFile(unpacked / "veo/lib" / name).dynamic("FILTER") == ["$ORIGIN/libveo.so.1"]
    alias = ElfFile(unpacked / "dpu/lib/libdpu.so.2025.1")
    assert alias.dynamic("FILTER") == ["libdpu.so"]


def test_only_programs_are_executable(wheel_path):
    with zipfile.ZipFile(wheel_path) as file:
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in file.infolist()}
    assert {name for name, mode in modes.items() if mode & 0o111} - EXECUTABLES <= {
        name for name in modes if ".so" in name
    }
    assert all(modes[name] == 0o755 for name in EXECUTABLES)


def test_files_have_one_time(wheel_path):
    with zipfile.ZipFile(wheel_path) as file:
        assert len({info.date_time for info in file.infolist()}) == 1


def test_sdist_has_one_time_and_no_owner(wheel_path):
    (path,) = wheel_path.parent.glob("*.tar.gz")
    with tarfile.open(path) as file:
        members = file.getmembers()
    assert len({member.mtime for member in members}) == 1
    assert {(m.uid, m.gid, m.uname, m.gname) for m in members} == {(0, 0, "", "")}
    assert int.from_bytes(path.read_bytes()[4:8], "little") == members[0].mtime


def test_kernel_that_throws_and_calculates(tmp_path, run_python):
    source = tmp_path / "kernel.cpp"
    source.write_text(
        "#include <cmath>\n#include <stdexcept>\n"
        'extern "C" long caught(long x) {\n'
        '    try { if (x > 1) throw std::runtime_error("no"); }\n'
        "    catch (const std::runtime_error &) { return 42; }\n"
        "    return 0;\n}\n"
        'extern "C" double power(double x) { return std::pow(x, 2.5); }\n'
    )
    library = tmp_path / "kernel.so"
    # Without libm, as NEC's compilers link it without being told.
    command = ["g++", "-shared", "-fPIC", "-O1", str(source), "-o", str(library), "-nodefaultlibs"]
    try:
        subprocess.run([*command, "-lstdc++", "-lgcc_s", "-lc"], check=True)
    except FileNotFoundError:
        pytest.skip("no g++; zig's C++ has an unwinder of its own, so it would not try libgcc_s")
    done = run_python(
        "import sys, veo\n"
        "with veo.VeoProc(0) as proc:\n"
        "    library = proc.load_library(sys.argv[1])\n"
        "    context = proc.open_context()\n"
        "    caught = library.find_function('caught')\n"
        "    caught.args_type('long'); caught.ret_type('long')\n"
        "    power = library.find_function('power')\n"
        "    power.args_type('double'); power.ret_type('double')\n"
        "    print(caught(context, 2).wait_result(), power(context, 4.0).wait_result())\n",
        str(library),
        env={"VEO_LIBRARY": "soft"},
    )
    assert done.stdout == "42 32.0\n", done.stdout + done.stderr
