# SPDX-License-Identifier: BSD-3-Clause
"""Contents of the wheel and the sdist; the wheel works where it is installed.

Run by `make wheel` and `make wheels`, which say in OFFCHIP_DIST where the two are, in an
environment that has the wheel installed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from buildtools import graph
from tests.support.builds import compiler_name
from tests.support.elf_file import ElfFile, is_elf

pytestmark = pytest.mark.packaging

EXECUTABLES = ["veo/bin/ve-objdump", "veo/bin/veorun", "offchip/bin/offchip-probe"]
LIBRARIES = ["veo/lib/libveo.so.1", "veo/lib/libveorun.a", "dpu/lib/libdpu.so"]
LIBRARIES += ["accl/lib/libaccl.so", "veo/lib/libveohmem.a", "veo/lib/libaveoVE.a"]
LIBRARIES += ["veo/lib/libsysve.a", "veo/lib/libveosysfs.so"]
LIBVEO_NAMES = [f"veo/lib/{name}" for name in ("libveo.so", "libveo.so.1.0.0", "libaveoVH.so")]
LIBRARIES += LIBVEO_NAMES
PACKAGES = ("offchip", "veo", "dpu", "accl", "accelforge")
HEADERS = [f"veo/include/{name}.h" for name in ("ve_asm", "ve_offload", "vedma", "veo_hmem")]
HEADERS += [f"veo/include/{name}.h" for name in ("veo_ve", "veosoft", "vhshm")]
HEADERS += [f"veo/include/veo_{name}.h" for name in ("vedma", "veshm", "veshm_defs", "vhveshm")]
HEADERS += ["accl/include/accl.h", "accl/include/accl.hpp", "accl/include/xrt/xrt_device.h"]
HEADERS += ["accl/include/accl_network_utils.hpp", "accl/lib/cmake/accl/accl-config.cmake"]
HEADERS += ["dpu/runtime/include/mram.h", "dpu/runtime/seqread.inc"]


def only(pattern: str) -> Path:
    folder = os.environ.get("OFFCHIP_DIST")
    if folder is None:
        pytest.fail("OFFCHIP_DIST is not set; run `make wheel`")
    (path,) = Path(folder).glob(pattern)
    return path


@pytest.fixture(scope="module")
def wheel():
    with zipfile.ZipFile(only("*.whl")) as file:
        yield file


@pytest.fixture(scope="module")
def sdist_names():
    with tarfile.open(only("*.tar.gz")) as file:
        return {name.partition("/")[2] for name in file.getnames()}


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    wheel.extractall(folder)
    return folder


def is_alias(path: Path) -> bool:
    return path.match("dpu/lib/libdpu*.so.*")


@pytest.mark.parametrize("name", EXECUTABLES + LIBRARIES + HEADERS)
def test_artefact_is_in_the_wheel(wheel, name):
    assert wheel.getinfo(name).file_size > 0


@pytest.mark.parametrize("name", EXECUTABLES)
def test_executable_has_its_mode(wheel, name):
    assert wheel.getinfo(name).external_attr >> 16 & 0o777 == 0o755


def test_every_extension_module_is_there_with_its_declarations(wheel, root):
    names = wheel.namelist()
    for source in (path for package in PACKAGES for path in root.glob(f"{package}/*.pyx")):
        stem = source.relative_to(root).with_suffix("").as_posix()
        assert any(re.fullmatch(rf"{stem}\.cpython-\d+.*\.so", name) for name in names), stem
        if source.with_suffix(".pxd").exists():
            assert f"{stem}.pxd" in names


def test_every_example_is_in_the_wheel(wheel, root):
    examples = [p.relative_to(root).as_posix() for p in root.glob("accelforge/**/*.yaml")]
    assert examples
    assert set(examples) <= set(wheel.namelist())


def test_typing_files_are_there(wheel, root):
    names = set(wheel.namelist())
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
        for stub in root.glob(f"{package}/*.pyi"):
            assert stub.relative_to(root).as_posix() in names


def test_manual_pages_are_there(wheel, root):
    pages = {path.name for path in root.glob("docs/man/*.1")}
    assert {"offchip.1", "veorun.1"} <= pages
    assert pages == {Path(name).name for name in wheel.namelist() if "/share/man/man1/" in name}


def test_nothing_else_is_in_the_wheel(wheel):
    package = f"({'|'.join(PACKAGES)})"
    allowed = re.compile(
        rf"{package}/(.*/)?[\w.-]+\.(py|pyi|pxd)|{package}/py\.typed"
        rf"|{package}/\w+\.cpython-[\w-]+\.so|offchip-[\d.]+\.dist-info/.*"
        r"|accl/include/(accl/\w+\.hpp|(xrt|experimental)/xrt_\w+\.h)"
        r"|veo/include/ve_code/(\w+\.h|bitset)|dpu/include/dpu\w*(\.h|\.hpp)?|dpu/lib/libdpu(verbose|jni)?\.so\.20\d\d\.\d"
        r"|dpu/lib/libdpu(verbose|jni)?\.so\.0\.0"
        r"|dpu/runtime/(include/)?\w+\.(c|h|inc)|dpu/runtime/include/c\+\+/[\w/]+\.h"
        r"|accelforge/examples/.*\.yaml"
        r"|offchip-[\d.]+\.data/data/share/man/man1/[\w+-]+\.1"
        r"|accelforge/(devices|kernels)/.*\.(yaml|[ch])|offchip/demo/\w+\.c"
    )
    known = {*EXECUTABLES, *LIBRARIES, *HEADERS}
    assert [n for n in wheel.namelist() if n not in known and not allowed.fullmatch(n)] == []


def test_no_binary_has_a_search_path_or_debug_info(unpacked):
    binaries = [path for path in unpacked.rglob("*") if is_elf(path) and not is_alias(path)]
    assert len(binaries) >= 5
    for path in binaries:
        file = ElfFile(path)
        assert file.dynamic("RPATH") + file.dynamic("RUNPATH") == [], path
        assert ".debug_info" not in file.section_names, path


def test_binaries_need_nothing_but_the_system(unpacked):
    allowed = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
    allowed |= {"ld-linux-x86-64.so.2", "libgcc_s.so.1"}
    for path in filter(is_elf, unpacked.rglob("*")):
        needed = set(ElfFile(path).dynamic("NEEDED"))
        assert needed <= ({"libdpu.so"} if is_alias(path) else allowed), path


def test_libdpu_is_there_under_the_names_of_upmem_s_releases(unpacked):
    aliases = [path for path in unpacked.rglob("*") if is_alias(path)]
    assert {"libdpu.so.2020.3", "libdpu.so.2025.1", "libdpuverbose.so.2023.2"} <= {
        path.name for path in aliases
    }
    for path in aliases:
        file = ElfFile(path)
        assert file.dynamic("RPATH") + file.dynamic("RUNPATH") == ["$ORIGIN"]


def test_binaries_name_no_folder_of_the_machine_that_built_them(unpacked, root):
    for path in filter(is_elf, unpacked.rglob("*")):
        assert os.fsencode(root) not in path.read_bytes(), path


def test_soft_library_s_name(unpacked):
    assert ElfFile(unpacked / "veo/lib/libveo.so.1").dynamic("SONAME") == ["libveo.so.1"]


def test_other_names_of_libveo_lead_to_it(unpacked):
    for name in LIBVEO_NAMES:
        file = ElfFile(unpacked / name)
        assert file.dynamic("SONAME") == ["libveo.so.1"]
        assert file.dynamic("FILTER") == ["$ORIGIN/libveo.so.1"]


def test_wheel_is_for_this_machine_and_interpreter():
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert re.fullmatch(rf"offchip-[\d.]+-{tag}-{tag}-\w*linux_\w*x86_64\.whl", only("*.whl").name)


def test_metadata(wheel):
    (name,) = [n for n in wheel.namelist() if n.endswith(".dist-info/METADATA")]
    text = wheel.read(name).decode()
    assert "License-Expression: BSD-3-Clause" in text
    # No upper bound, which would keep a new version of Python from an offchip that may work.
    assert "Requires-Python: >=3.11" in text.splitlines()
    for extra in ("mpi", "toolchain", "forge", "plot", "test", "lint"):
        assert f"Provides-Extra: {extra}" in text
    required = re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", text, re.MULTILINE)
    assert required == ["numpy"]


def test_sdist_has_every_source_and_no_product(sdist_names, root):
    for folder in ("csrc", "include", "buildtools", "tests"):
        for path in (root / folder).rglob("*"):
            if path.is_file() and path.suffix in (".c", ".h", ".S", ".map", ".py", ".sh", ".txt"):
                assert path.relative_to(root).as_posix() in sdist_names
    assert {"LICENSE", "README.md", "Makefile", ".ci/run", "pyproject.toml"} <= sdist_names
    products = [n for n in sdist_names if re.search(r"\.(so|o|a|pyc)(\.|$)|/bin/|__pycache__", n)]
    assert products == []


def test_sdist_has_all_that_compiling_reads(sdist_names, root):
    folder = graph.folder_of("release")
    if not (folder / ".ninja_deps").exists():
        pytest.skip("nothing was compiled here: the wheel was made from the sdist")
    ask = [sys.executable, "-P", "-m", "ninja", "-C", str(folder), "-t"]
    inputs = subprocess.check_output([*ask, "inputs", "all"], text=True).splitlines()
    headers = subprocess.check_output([*ask, "deps"], text=True).splitlines()
    read = {os.path.normpath(folder / line.strip()) for line in inputs + headers}
    tracked = {name for name in sdist_names if f"{root}/{name}" in read}
    assert {"csrc/veo/lib/libveo.map", "csrc/common/copy.h", "accl/_calls.pyx"} <= tracked
    inside = {name.removeprefix(f"{root}/") for name in read if name.startswith(f"{root}/")}
    made = {name for name in inside if name.startswith(("build/", ".venv"))}
    assert inside - made - sdist_names == set()


def test_installed_package_is_used_and_not_the_tree(root):
    import offchip
    import veo

    for module in (offchip, veo):
        assert not Path(module.__file__).resolve().is_relative_to(root)


def test_installed_package_runs_a_kernel(compile_c, run_python):
    kernel = compile_c("long twice(long x) { return 2 * x; }", flags=["-g"])
    done = run_python(
        "import sys, veo\n"
        "with veo.VeoProc(0) as proc:\n"
        "    function = proc.load_library(sys.argv[1]).find_function('twice')\n"
        "    function.args_type('long'); function.ret_type('long')\n"
        "    context = proc.open_context()\n"
        "    print(function(context, 21).wait_result())\n",
        str(kernel),
        env={"VEO_LIBRARY": "soft"},
    )
    assert done.stdout == "42\n", done.stdout + done.stderr


def test_installed_command_builds_a_dpu_program(tmp_path, run_python):
    folder = Path(sys.executable).parent
    (tmp_path / "kernel.c").write_text(
        "#include <defs.h>\n#include <stdio.h>\n__host int answer;\n"
        'int main(void) { answer = 42; printf("%d\\n", answer); return 0; }\n'
    )
    command = [folder / "dpu-upmem-dpurte-clang", "-O2", "kernel.c", "-o", "kernel.dpu"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = run_python(
        "import sys\nfrom dpu import DpuSet\n"
        "with DpuSet(nr_dpus=1, binary=sys.argv[1]) as dpus:\n"
        "    dpus.exec()\n    print(dpus.answer.int32())\n",
        str(tmp_path / "kernel.dpu"),
        env={"DPU_LIBRARY": "soft"},
    )
    assert done.stdout == "42\n", done.stdout + done.stderr


def test_installed_command_has_the_flags_of_a_host_program(tmp_path):
    if shutil.which(compiler_name()) is None:
        pytest.skip(f"{compiler_name()} is not installed")
    command = [Path(sys.executable).with_name("dpu-pkg-config"), "--cflags", "--libs", "dpu"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (tmp_path / "host.c").write_text(
        "#include <dpu.h>\nint main(void) { struct dpu_set_t set;\n"
        "DPU_ASSERT(dpu_alloc(1, NULL, &set)); DPU_ASSERT(dpu_free(set)); return 0; }\n"
    )
    words = [compiler_name(), "host.c", "-o", "host", *shlex.split(printed)]
    subprocess.run(words, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "host"], check=True)
