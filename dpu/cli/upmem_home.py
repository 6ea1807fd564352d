# SPDX-License-Identifier: BSD-3-Clause
"""The command ``dpu-env``: a folder like that of UPMEM's SDK, for projects that use its files.

It has the commands, among them a ``clang`` that handles ``--target=dpu-upmem-dpurte`` and passes
everything else to the next clang on PATH, the files that CMake projects include, a file for
pkg-config, and the headers and libraries of this installation. The command writes the folder and
prints commands for a shell to evaluate.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from offchip.pkg_config import link_flags
from offchip.sdk_folder import SdkCommand, link_file, write_file

from .pkg_config import VERSION

__all__ = ["main", "write_home"]

_PACKAGE = Path(__file__).resolve().parent.parent
_MODULES = {
    "dpu-upmem-dpurte-clang": "dpu.toolchain.command",
    "dpu-upmem-dpurte-clang++": "dpu.toolchain.command --driver-mode=g++",
    "dpu-clang": "dpu.toolchain.command",
    "dpu-pkg-config": "dpu.cli.pkg_config",
    "dpu-lldb": "dpu.lldb",
}
# The comment distinguishes the commands from the vendor's.
_COMMAND = """#!/bin/sh
# Written by dpu-env: main() from dpu. The installation is that of this interpreter.
exec {python} -P -m {module} "$@"
"""
_CLANG = """#!/bin/sh
# Written by dpu-env: main() from dpu. for DPUs; for other targets the next compiler on PATH.
option=
for word in "$@"; do
    case "$option$word" in
    --target=dpu* | -targetdpu*) exec {python} -P -m dpu.toolchain.command{mode} "$@" ;;
    esac
    case "$word" in
    -target) option=$word ;;
    *) option= ;;
    esac
done

own=$(dirname "$(readlink -f "$0")")
for name in {names}; do
    IFS=:
    for folder in $PATH; do
        command=${{folder:-.}}/$name
        if [ -f "$command" ] && [ -x "$command" ]; then
            if [ "$(dirname "$(readlink -f "$command")")" != "$own" ]; then
                unset IFS
                exec "$command" "$@"
            fi
        fi
    done
done
echo "${{0##*/}}: error: for targets other than dpu-upmem-dpurte there has to be {what} on PATH" >&2
exit 127
"""
_DPU_CMAKE = """# Written by dpu-env. A toolchain file for DPU programs, which may also be included.
# The folder may be reached by a link, as /usr/share/upmem.
get_filename_component(_dpu_home "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_dpu_home "${_dpu_home}/../../.." ABSOLUTE)
if(NOT DEFINED UPMEM_HOME)
  set(UPMEM_HOME "${_dpu_home}")
endif()
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR dpu)

# It needs no option for the target, which CMake gives only to compilers that it takes for clang.
set(CMAKE_C_COMPILER "${_dpu_home}/bin/dpu-upmem-dpurte-clang")
set(CMAKE_C_COMPILER_TARGET dpu-upmem-dpurte)
set(CMAKE_C_COMPILER_FORCED 1)
set(CMAKE_C_COMPILER_WORKS 1)
set(CMAKE_CXX_COMPILER "${_dpu_home}/bin/dpu-upmem-dpurte-clang++")
set(CMAKE_CXX_COMPILER_TARGET dpu-upmem-dpurte)
set(CMAKE_CXX_COMPILER_FORCED 1)
set(CMAKE_CXX_COMPILER_WORKS 1)
# Files that CMake includes set these for the host.
set(CMAKE_SHARED_LIBRARY_LINK_C_FLAGS "")
set(CMAKE_SHARED_LIBRARY_LINK_CXX_FLAGS "")
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
"""
_HOST_CMAKE = """# Written by dpu-env. How hosts are compiled and linked.
get_filename_component(_dpu_home "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_dpu_home "${_dpu_home}/../../../../.." ABSOLUTE)
set(DPU_HOST_INCLUDE_DIRECTORIES "${_dpu_home}/include/dpu")
set(DPU_HOST_LINK_DIRECTORIES "${_dpu_home}/lib")
# By its path, so that programs find it without LD_LIBRARY_PATH.
set(DPU_HOST_LIBRARIES "${_dpu_home}/lib/libdpu.so")
"""
_PKG_CONFIG = """prefix={home}
exec_prefix=${{prefix}}
includedir=${{prefix}}/include/dpu
libdir=${{prefix}}/lib

Name: dpu
Description: the host library of UPMEM's DPUs
Version: {version}
Cflags: -I${{includedir}}
Libs: {libs}
"""
_SHELL = """export UPMEM_HOME={home}
export PATH={bin}"${{PATH:+:$PATH}}"
export PKG_CONFIG_PATH={pkg_config}"${{PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}}"
export LD_LIBRARY_PATH={libraries}"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
"""


def write_home(home: str | os.PathLike[str]) -> str:
    """Write a folder like that of UPMEM's SDK, or update one.

    Parameters
    ----------
    home : path
        The folder; other files in it are kept.

    Returns
    -------
    str
        Shell commands that set the variables by which projects find the folder.
    """
    root = Path(os.path.abspath(home))
    python = shlex.quote(sys.executable)
    for name, module in _MODULES.items():
        write_file(root / "bin" / name, _COMMAND.format(python=python, module=module), mode=0o755)
    for name, mode, others in (
        ("clang", "", "clang cc gcc"),
        ("clang++", " --driver-mode=g++", "clang++ c++ g++"),
    ):
        what = others.replace(" ", " or ")
        text = _CLANG.format(python=python, mode=mode, names=others, what=what)
        write_file(root / "bin" / name, text, mode=0o755)

    link_file(root / "include" / "dpu", _PACKAGE / "include")
    for library in sorted((_PACKAGE / "lib").glob("*.so*")):
        link_file(root / "lib" / library.name, library)
    for name in ("stdlib", "syslib"):
        link_file(root / "share" / "upmem" / "include" / name, _PACKAGE / "runtime" / "include")

    cmake = root / "share" / "upmem" / "cmake"
    write_file(cmake / "dpu.cmake", _DPU_CMAKE)
    write_file(cmake / "include" / "host" / "DpuHost.cmake", _HOST_CMAKE)
    libs = " ".join(link_flags("dpu", "${libdir}"))
    write_file(
        root / "lib" / "pkgconfig" / "dpu.pc",
        _PKG_CONFIG.format(home=root, version=VERSION, libs=libs),
    )

    shell = _SHELL.format(
        home=shlex.quote(str(root)),
        bin=shlex.quote(str(root / "bin")),
        pkg_config=shlex.quote(str(root / "lib" / "pkgconfig")),
        libraries=shlex.quote(str(root / "lib")),
    )
    write_file(root / "upmem_env.sh", shell)
    return shell


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status.
    """
    description = (
        "Write a folder like that of UPMEM's SDK, "
        "with this installation's compiler, headers and libdpu"
    )
    return SdkCommand("dpu-env", description, "upmem", write_home).run(argv)


if __name__ == "__main__":
    sys.exit(main())
