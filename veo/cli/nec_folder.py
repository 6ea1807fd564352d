# SPDX-License-Identifier: BSD-3-Clause
"""The command ``veo-env``: a folder like ``/opt/nec``, for projects that use NEC's SDK.

It has stand-ins for NEC's compilers and for ``mk_veorun_static``, which build kernels for the
host, and the headers and libraries of this installation. The command writes the folder and prints
commands for a shell to evaluate.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from offchip.sdk_folder import SdkCommand, link_file, write_file
from veo.compilers import STAND_IN_MARK

__all__ = ["main", "write_folder"]

_PACKAGE = Path(__file__).resolve().parent.parent
_COMMANDS = {
    "bin/ncc": "veo.cli.nec_compiler C",
    "bin/nc++": "veo.cli.nec_compiler C++",
    "bin/nfort": "veo.cli.nec_compiler F",
    **{
        f"{folder}/mk_veorun_static{suffix}": "veo.cli.mk_veorun"
        for folder in ("bin", "libexec")
        for suffix in ("", "_ve1", "_ve3")
    },
}
_COMMAND = f"""#!/bin/sh
# {STAND_IN_MARK}. The installation is that of this interpreter.
exec {{python}} -P -m {{module}} "$@"
"""
_BINUTILS = ("ar", "nm", "objcopy", "objdump", "ranlib", "readelf", "size", "strings", "strip")
_BINUTIL = f"""#!/bin/sh
# {STAND_IN_MARK}. Kernels are files for the host, and so are the tools for them.
exec {{name}} "$@"
"""
_PROGRAMS = {"veorun": "veorun", "ve_exec": "veorun", "ve-objdump": "ve-objdump"}
_VE_LIBRARIES = ("libveohmem.a", "libaveoVE.a", "libsysve.a")
_VARIABLES = {"NCC": "ncc", "NCXX": "nc++", "NCPP": "nc++", "NFORT": "nfort", "NAR": "nar"}
_SEARCHED = {
    "PATH": "ve/bin",
    "C_INCLUDE_PATH": "ve/veos/include",
    "CPLUS_INCLUDE_PATH": "ve/veos/include",
    "LIBRARY_PATH": "ve/veos/lib64",
    "LD_LIBRARY_PATH": "ve/veos/lib64",
}


def write_folder(folder: str | os.PathLike[str]) -> str:
    """Write a folder like ``/opt/nec``, or update one.

    Parameters
    ----------
    folder : path
        The folder; other files in it are kept.

    Returns
    -------
    str
        Shell commands that set the variables by which projects find the folder.

    Raises
    ------
    FileExistsError
        NEC's own SDK or library is there.
    """
    root = Path(os.path.abspath(folder))
    _refuse_necs_own(root)
    python = shlex.quote(sys.executable)
    for name, module in _COMMANDS.items():
        write_file(root / "ve" / name, _COMMAND.format(python=python, module=module), mode=0o755)
    for name in _BINUTILS:
        write_file(root / "ve" / "bin" / f"n{name}", _BINUTIL.format(name=name), mode=0o755)
    for name, program in _PROGRAMS.items():
        link_file(root / "ve" / "bin" / name, _PACKAGE / "bin" / program)
    link_file(root / "bin", Path("ve", "bin"))

    for header in sorted((_PACKAGE / "include").glob("*.h")):
        link_file(root / "ve" / "include" / header.name, header)
        link_file(root / "ve" / "veos" / "include" / header.name, header)
    for library in sorted((_PACKAGE / "lib").glob("*.so*")):
        link_file(root / "ve" / "veos" / "lib64" / library.name, library)
    for name in _VE_LIBRARIES:
        link_file(root / "ve" / "lib" / name, _PACKAGE / "lib" / name)

    shell = _shell(root)
    write_file(root / "env.sh", shell)
    return shell


def _refuse_necs_own(root: Path) -> None:
    """Raise an error where a file would be replaced that `veo-env` has not written."""
    compiler = root / "ve" / "bin" / "ncc"
    library = root / "ve" / "veos" / "lib64" / "libveo.so.1"
    if compiler.exists() and STAND_IN_MARK not in compiler.read_text(errors="replace"):
        found = compiler
    elif library.exists() and not library.resolve().is_relative_to(_PACKAGE.parent):
        found = library
    else:
        return
    raise FileExistsError(f"{found} is not offchip's: name another folder")


def _shell(root: Path) -> str:
    lines = [
        f"export {variable}={shlex.quote(str(root / 've' / 'bin' / command))}"
        for variable, command in _VARIABLES.items()
    ]
    for variable, folder in _SEARCHED.items():
        path = shlex.quote(str(root / folder))
        lines.append(f'export {variable}={path}"${{{variable}:+:${variable}}}"')
    return "\n".join(lines) + "\n"


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
        "Write a folder like /opt/nec, with compilers for kernels on the host, headers and libveo"
    )
    return SdkCommand("veo-env", description, "nec", write_folder).run(argv)


if __name__ == "__main__":
    sys.exit(main())
