# SPDX-License-Identifier: BSD-3-Clause
"""Run a command as on a machine without the tools that README does not name.

    python buildtools/hide_tools.py FOLDER COMMAND [ARGUMENT ...]

PATH becomes the folder, made anew with links to all programs but those hidden, and the variables
that name compilers are unset. The folder stays, as builds note the paths of their tools. A quick
stand-in for a bare machine, which bare_debian.sh makes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Compilers, debuggers and build tools other than gcc and make, with any prefix and version.
HIDDEN = re.compile(
    r"""(.*-)?(
        g\+\+ | c\+\+ | clang(\+\+)? | clang-\w+ | ld\.lld | lld | zig | tcc | icx | icpx | nvcc
      | gfortran | f77 | f95 | flang | gdb | lldb | valgrind | cmake | ninja | pkg-config | pkgconf
      | mpiexec | mpirun | mpicc | orterun | ncc | nc\+\+ | nfort
    )(-?[\d.]+)?""",
    re.VERBOSE,
)
VARIABLES = ("CC", "CXX", "FC", "AR", "LD", "CFLAGS", "CXXFLAGS", "LDFLAGS")


def make_path(folder: Path, path: str) -> list[str]:
    """Link the programs of `path` that are not hidden into a folder, and list those that are."""
    hidden = set()
    for place in path.split(os.pathsep):
        if not place or not os.path.isdir(place):
            continue
        for entry in os.scandir(place):
            if HIDDEN.fullmatch(entry.name):
                hidden.add(entry.name)
            elif not (link := folder / entry.name).is_symlink() and os.access(entry.path, os.X_OK):
                link.symlink_to(entry.path)
    return sorted(hidden)


def main() -> int:
    """Run the command of the arguments."""
    if len(sys.argv) < 3:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]).absolute()
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    hidden = make_path(folder, os.environ.get("PATH", os.defpath))
    print(f"hidden: {', '.join(hidden) or 'nothing'}", flush=True)
    environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    environment["PATH"] = str(folder)
    return subprocess.run(sys.argv[2:], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
