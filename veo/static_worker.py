# SPDX-License-Identifier: BSD-3-Clause
"""Linking kernels into the worker executable.

``python -m veo.static_worker -o OUT FILE...`` is the soft libveo's counterpart of NEC's
``mk_veorun_static``, for kernels that cannot be in a shared library. OUT is then named by
``VEORUN_BIN`` or given to ``VeoProc(nodeid, OUT)``, and ``proc.static_library()`` finds what is
in it.

Every global function and variable that an object file or a static archive *defines* is in the
table of symbols. All members of an archive given by its path are linked; a library given as
``-lNAME`` serves the objects only, and its symbols are not in the table. Thread-local variables
have no one address and are left out.

From objects for the Vector Engine, OUT becomes a program of VE code, which the worker that the
package has loads at its start.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from offchip.outputs import make_executable, written_file
from veo.compilers import Toolchain, VeoBuildError, run_compiler
from veo.ve_clang import find_libraries, is_ve_file, write_library
from veo.ve_libcxx import libcxx_objects

__all__ = [
    "Symbols",
    "build_static_worker",
    "main",
    "read_symbols",
    "runtime_libraries",
    "symbol_table_source",
]

#: The worker's own code, with main().
WORKER_ARCHIVE = Path(__file__).parent / "lib" / "libveorun.a"

# nm's letters: text, data, bss, read-only, common, small data and bss, weak, unique, indirect.
_EXPORTED = frozenset("TDBRCGSVWui")
# A symbol for an assembler; a name with a version ("f@@V1") is not one.
_NAME = re.compile(r"[\w.$]+")


@dataclass(frozen=True)
class Symbols:
    """Names that object files define, and those that they use and do not define."""

    defined: tuple[str, ...]
    undefined: frozenset[str]


def build_static_worker(
    out: str | Path,
    inputs: Iterable[str | Path],
    *,
    compiler: Sequence[str] | None = None,
    flags: Sequence[str] = (),
    verbose: bool = False,
) -> None:
    """Link objects and archives with the worker.

    Parameters
    ----------
    out : str or Path
        The executable to make.
    inputs : iterable of str or Path
        Object files, archives, and linker options such as ``-lm`` or ``-L...``, in link order.
    compiler : sequence of str, optional
        C compiler command to link with; the host's unless given.
    flags : sequence of str
        Further flags for it.
    verbose : bool
        Print commands.

    Raises
    ------
    FileNotFoundError
        An input does not exist, or the package was built without the worker's archive.
    VeoBuildError
        An input is not for this machine, defines ``main``, or cannot be linked.
    """
    words = [str(word) for word in inputs]
    files = [word for word in words if not word.startswith("-")]
    for name in files:
        if not Path(name).is_file():
            raise FileNotFoundError(f"no such object or archive: {name}")
    if any(is_ve_file(name) for name in files):
        _write_ve_program(out, words)
        return
    if not WORKER_ARCHIVE.is_file():
        raise FileNotFoundError(f"{WORKER_ARCHIVE} is missing: the package is incomplete")
    command = list(compiler or Toolchain("host", "static worker").compiler("C"))
    symbols = read_symbols([f for f in files if not _is_shared(f)])
    if "main" in symbols.defined:
        raise VeoBuildError("an object defines main(), which is the worker's: leave it out")

    link: list[str] = []
    for word in words:
        if word.endswith(".a") and not word.startswith("-"):
            link += ["-Wl,--whole-archive", word, "-Wl,--no-whole-archive"]
        else:
            link.append(word)
    with (
        tempfile.TemporaryDirectory(prefix="veorun-") as temporary,
        written_file(out) as executable,
    ):
        table = Path(temporary) / "veorun_static_symbols.c"
        table.write_text(symbol_table_source(symbols.defined))
        run_compiler(
            [
                *command,
                # Such kernels are often not position-independent: that is why they are linked.
                "-no-pie",
                "-rdynamic",
                *flags,
                "-o",
                str(executable),
                str(table),
                *link,
                "-Wl,--whole-archive",
                str(WORKER_ARCHIVE),
                "-Wl,--no-whole-archive",
                # libm is also for the kernels that the worker will load.
                "-Wl,--no-as-needed",
                *runtime_libraries(symbols.undefined),
                # gcc and clang link an unwinder by default, zig only on request.
                *(["-lunwind"] if "ziglang" in command else []),
                "-pthread",
                "-ldl",
            ],
            verbose=verbose,
        )


def _write_ve_program(out: str | Path, words: Sequence[str]) -> None:
    """Write a program of VE code, which the package's own worker loads."""
    # Files without symbols in the table come as options of the linker.
    files = [word.removeprefix("-Wl,") for word in words]
    files = [name for name in files if not name.startswith("-") and Path(name).is_file()]
    try:
        files += find_libraries(words)
        write_library(out, [*files, *libcxx_objects(files)], whole=True)
    except ValueError as error:
        raise VeoBuildError(f"host code and Vector Engine code do not mix: {error}") from error
    make_executable(out)


def symbol_table_source(names: Iterable[str]) -> str:
    """Return the C source of the table that the worker looks symbols up in.

    Each symbol is declared under a name of the table's own with the real one as its assembler
    label: symbols of other languages need not be C identifiers, and a declaration of ``memcpy``
    or ``main`` would conflict with the compiler's builtins.
    """
    quoted = [_c_string(name) for name in names]
    declarations = "".join(f"extern char s{i}[] __asm__({q});\n" for i, q in enumerate(quoted))
    entries = "".join(f"    {{{q}, s{i}}},\n" for i, q in enumerate(quoted))
    return (
        "struct veorun_symbol {\n    const char *name;\n    const void *address;\n};\n"
        f"{declarations}"
        "extern const struct veorun_symbol veorun_static_symbols[];\n"
        f"const struct veorun_symbol veorun_static_symbols[] = {{\n{entries}    {{0, 0}},\n}};\n"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 1 (cannot build) or 2 (usage)."""
    parser = argparse.ArgumentParser(
        prog="python -m veo.static_worker",
        description="Link kernels into a worker executable of the soft libveo.",
        epilog="FILE: object, archive (all members are linked), or a linker option such as -lm. "
        "Example: python -m veo.static_worker -o veorun kernels.o libmore.a -lm",
        usage="%(prog)s -o OUT [--cc COMMAND] [--verbose] FILE...",
        allow_abbrev=False,
    )
    parser.add_argument("-o", dest="out", required=True, metavar="OUT", help="executable to make")
    parser.add_argument("--cc", metavar="COMMAND", help="C compiler; else $CC, gcc, cc or clang")
    parser.add_argument("--verbose", action="store_true", help="print the commands")
    # argparse knows neither files nor linker options, so they keep their order.
    arguments, inputs = parser.parse_known_args(argv)
    if not any(not word.startswith("-") for word in inputs):
        parser.error("no object or archive given")

    try:
        build_static_worker(
            arguments.out,
            inputs,
            compiler=Toolchain("host", "--cc").compiler("C", arguments.cc),
            verbose=arguments.verbose,
        )
    except (OSError, VeoBuildError) as error:
        print(f"veo.static_worker: {error}", file=sys.stderr)
        return 1

    return 0


def _is_shared(name: str) -> bool:
    return name.endswith(".so") or ".so." in Path(name).name


def read_symbols(files: Sequence[str]) -> Symbols:
    """Read the symbols of objects and archives.

    Raises
    ------
    VeoBuildError
        There is no ``nm``, or it cannot read a file.
    """
    if not files:
        return Symbols((), frozenset())
    if shutil.which("nm") is None:
        raise VeoBuildError("nm not found (it lists the symbols): install the package binutils")
    # The sysv format has a column that identifies thread-local symbols; the letter does not.
    listing = run_compiler(["nm", "--extern-only", "--format=sysv", "--no-demangle", *files])
    defined: dict[str, None] = {}
    undefined: set[str] = set()
    for line in listing.splitlines():
        columns = [column.strip() for column in line.rsplit("|", 6)]
        if len(columns) != 7:
            continue
        name, _value, kind, type_, *_rest = columns
        if kind in ("U", "w", "v") and name:
            undefined.add(name)
        elif kind in _EXPORTED and type_ != "TLS" and _NAME.fullmatch(name):
            defined[name] = None

    return Symbols(tuple(defined), frozenset(undefined - defined.keys()))


def runtime_libraries(undefined: frozenset[str]) -> list[str]:
    """Return the run-time libraries of the objects' languages that a C compiler does not link."""
    libraries = []
    if any(name.startswith("GOMP_") for name in undefined):
        libraries.append("-fopenmp")
    if any(name.startswith("_gfortran_") for name in undefined):
        libraries.append("-lgfortran")
    if any(name.startswith(("_ZS", "_ZNS", "_ZNKS", "_ZT", "_Zn", "_Zd", "__cxa_", "__gxx_"))
           for name in undefined):  # fmt: skip
        libraries.append("-lstdc++")
    libraries.append("-lm")
    return libraries


def _c_string(name: str) -> str:
    plain = frozenset(range(0x20, 0x7F)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in name.encode()) + '"'


if __name__ == "__main__":
    sys.exit(main())
