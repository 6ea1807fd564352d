# SPDX-License-Identifier: BSD-3-Clause
"""The compilers of kernels: NEC's for a Vector Engine, otherwise the host's.

The soft libveo runs kernels that are compiled for the host, and slower ones for the VE; NEC's
library runs VE code alone. :func:`select_toolchain` chooses by the library in use. VE code is
compiled by the clang of the ziglang wheel where NEC's compilers are not installed.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from offchip.errors import OffchipError
from veo import ve_clang

__all__ = [
    "COMPILER",
    "FLAGS",
    "GLOBAL_SO_FLAGS",
    "MK_VEORUN_STATIC",
    "STAND_IN_MARK",
    "SUFFIX",
    "TARGET_VARIABLE",
    "Toolchain",
    "VeoBuildError",
    "run_compiler",
    "select_toolchain",
]

#: Environment variable that chooses the target: ``auto``, ``ve`` or ``host``.
TARGET_VARIABLE = "VEBUILD_TARGET"

#: Suffix of a source file by language.
SUFFIX: dict[str, str] = {"C": ".c", "C++": ".cpp", "F": ".f90"}

#: Compiler by language. Programs may change entries; the host toolchain replaces NEC's compilers
#: by its own, and uses any other unchanged.
COMPILER: dict[str, str] = {
    "C": "/opt/nec/ve/bin/ncc",
    "C++": "/opt/nec/ve/bin/nc++",
    "F": "/opt/nec/ve/bin/nfort",
}

#: Flags of a source that has none of its own. The host toolchain leaves out what only NEC's
#: compilers understand.
FLAGS: dict[str, str] = {
    "C": "-O2 -fpic -pthread -report-all -fdiag-vector=2",
    "C++": "-O2 -fpic -pthread -finline -finline-functions -report-all -fdiag-vector=2",
    "F": "-O2 -fpic -pthread -report-all -fdiag-vector=2",
}

#: Flags that link a shared library.
GLOBAL_SO_FLAGS = "-shared -pthread"

#: NEC's tool that links kernels into a VE process image.
MK_VEORUN_STATIC = "/opt/nec/ve/libexec/mk_veorun_static"

#: Is in the commands that ``veo-env`` writes under the names of NEC's.
STAND_IN_MARK = "Written by veo-env"

_NEC_COMPILERS = frozenset({"ncc", "nc++", "nfort"})
_HOST_COMPILERS = {
    "C": ("CC", ("gcc", "cc", "clang"), "gcc"),
    "C++": ("CXX", ("g++", "c++", "clang++"), "g++"),
    "F": ("FC", ("gfortran", "flang"), "gfortran"),
}
# The names of the compilers in the ziglang wheel.
_ZIG_COMPILERS = {"C": "cc", "C++": "c++"}

# Options that only NEC's compilers have. These are kept, as GNU's have them too: -O, -f[no-]openmp,
# -fpic, -ffast-math, -finline[-functions], -funroll-loops, -fassociative-math and most others.
_NEC_ONLY = re.compile(
    r"""
      -report-.* | -fdiag-.* | -proginf | -ftrace | -traceback(=.*)? | -use-.*
    | -no-proginf | -march=ve\d | -mabi=\d | -minit-stack=.* | -static-nec | -assembly-list
    | -lve(ftrace(_[pt])?|io|perf)
    | -(m|mno-)(vector|parallel|list-vector|work-vector|retain-|sched-|schedule-|conditional-index|
                create-threads|stack-arrays|wait-|vector-).*
    | -f(no-)?inline-(?!functions$|functions-called-once$|small-functions$|limit=).*
    | -f(no-)?(loop-(collapse|count|fusion|interchange|normalize|split|strip-mine|unroll-complete).*
              |outerloop-unroll.*|matrix-multiply|named-(no)?alias.*|nonalias.*
              |ivdep.*|cse-after-vectorization|replace-loop-equation|precise-math|reorder-logical.*
              |array-io|alias-.*|check-.*|thread-safe-init|fast-formatted-io|fast-math-check)
    """,
    re.VERBOSE,
)
# A built-in function of NEC's, which moves data to the cache and changes no result.
_PREFETCH = "-D__builtin_vprefetch(address,size)=((void)(address),(void)(size))"
# Options for what NEC's compilers do without. NEC's nlcpy has variables without extern in headers.
_AS_NEC = {"C": ("-fcommon", _PREFETCH), "C++": (_PREFETCH,)}
_NFORT_SPELLING = {
    "-fpp": "-cpp",
    "-fdefault-real=8": "-fdefault-real-8",
    "-fdefault-integer=8": "-fdefault-integer-8",
    "-fextend-source": "-ffixed-line-length-132",
    "-module": "-J",
    "-save": "-fno-automatic",
}

_log = logging.getLogger("veo")


class VeoBuildError(OffchipError, RuntimeError):
    """A kernel could not be built.

    Attributes
    ----------
    command : str
        The command that failed, "" if none was run.
    output : str
        What the compiler printed.
    """

    def __init__(self, message: str, *, command: str = "", output: str = "") -> None:
        super().__init__(f"{message}\n{output.rstrip()}" if output.strip() else message)
        self.command = command
        self.output = output


@dataclass(frozen=True)
class Toolchain:
    """How kernels are compiled and linked.

    Attributes
    ----------
    target : str
        ``"ve"`` (NEC's compilers) or ``"host"``.
    reason : str
        Why this target was chosen.
    by_clang : bool
        Whether code for the VE is compiled by the ziglang wheel's clang instead of NEC's.
    """

    target: str
    reason: str
    by_clang: bool = False

    def compiler(self, language: str, requested: str | None = None) -> list[str]:
        """Return the command of a language's compiler.

        Files may share variables of C without an initial value, as with NEC's compilers.

        Parameters
        ----------
        language : {"C", "C++", "F"}
        requested : str, optional
            The program's choice; by default ``COMPILER[language]``. NEC's compilers are
            replaced when the target is the host: by ``$CC``, ``$CXX`` or ``$FC``, else by the
            first of the usual ones that is installed, else (not for Fortran) by that of the
            ziglang wheel.

        Raises
        ------
        VeoBuildError
            The compiler is not installed.
        """
        command = shlex.split(requested or COMPILER[language])
        if not command:
            raise ValueError(f"empty compiler command for {language}")

        if self.target == "host" and Path(command[0]).name in _NEC_COMPILERS:
            variable, candidates, package = _HOST_COMPILERS[language]
            chosen = shlex.split(os.environ.get(variable, ""))
            # As after "make CC=ncc". What has the name may be the stand-in, which asks here.
            if not chosen or any(Path(word).name in _NEC_COMPILERS for word in chosen):
                found = next(filter(None, map(shutil.which, candidates)), None)
                chosen = [found] if found else _zig_compiler(language)
            if not chosen:
                wheel = ", or the ziglang wheel" if language in _ZIG_COMPILERS else ""
                raise VeoBuildError(
                    f"no {language} compiler found (looked for {', '.join(candidates)}): "
                    f"install the package {package}{wheel}, or name a compiler in ${variable}"
                )
            command = [*chosen, *_AS_NEC.get(language, ()), *command[1:]]
        elif self.by_clang and Path(command[0]).name in _NEC_COMPILERS and language != "F":
            clang = ve_clang.clang_command(language)
            command = [*clang, *_AS_NEC.get(language, ()), *command[1:]]

        if not _is_installed(command[0]):
            if Path(command[0]).name in _NEC_COMPILERS:
                what = "install NEC's SDK (package group nec-sdk-devel)"
                if language in _ZIG_COMPILERS:
                    what += ", or the ziglang wheel"
            else:
                what = "install it or name another one"
            raise VeoBuildError(f"compiler {command[0]} not found: {what}")

        return command

    def compile_flags(self, language: str, flags: str | Sequence[str] | None = None) -> list[str]:
        """Return the flags to compile with, ``FLAGS[language]`` unless given.

        For the host, options of NEC's compilers are left out, and ``-g`` and ``-fPIC`` added:
        the argument classes of a kernel are read from its debug info.
        """
        words = _words(FLAGS[language] if flags is None else flags)
        if self.by_clang:
            return ve_clang.clang_flags(_host_flags(language, words))
        if self.target != "host":
            return words
        words = _host_flags(language, words)
        if not any(re.fullmatch(r"-g([1-3]|gdb.*|dwarf.*)?", w) for w in words):
            words.append("-g")
        if not any(w in ("-fpic", "-fPIC") for w in words):
            words.append("-fPIC")
        return words

    def search_flag(self, option: str, folder: str) -> list[str]:
        """Return the options with which the host's compilers find ``veo_hmem.h`` and ``-lveohmem``.

        NEC's compilers find them by themselves.

        Parameters
        ----------
        option : {"-I", "-L"}
        folder : {"include", "lib"}
            Of this package.
        """
        if self.target != "host" and not (self.by_clang and folder == "include"):
            return []
        return [f"{option}{Path(__file__).resolve().parent / folder}"]

    def link_flags(
        self, flags: str | Sequence[str] | None, objects: Sequence[ObjectFile]
    ) -> list[str]:
        """Return the flags to link a shared library with, ``GLOBAL_SO_FLAGS`` unless given.

        For the host, ``-fopenmp`` follows from the flags of the objects.
        """
        words = _words(GLOBAL_SO_FLAGS if flags is None else flags)
        if self.target != "host":
            return words
        words = _host_flags("C", words)
        if "-fopenmp" not in words and any("-fopenmp" in o.flags for o in objects):
            words.append("-fopenmp")
        return words

    def runtime_libraries(self, linker: str, languages: set[str]) -> list[str]:
        """Return what NEC's compilers link implicitly and the host's do not (host only).

        That is libm, and the run-time libraries of languages other than the linker's.
        """
        if self.target != "host":
            return []
        return ["-lgfortran", "-lm"] if "F" in languages and linker != "F" else ["-lm"]


@dataclass(frozen=True)
class ObjectFile:
    """An object file and how it was made."""

    path: Path
    language: str
    flags: tuple[str, ...]


def _is_installed(compiler: str) -> bool:
    """Tell whether a compiler is there, and is not the stand-in of NEC's that `veo-env` writes."""
    found = shutil.which(compiler)
    if found is None or Path(compiler).name not in _NEC_COMPILERS:
        return found is not None
    with open(found, "rb") as file:
        return STAND_IN_MARK.encode() not in file.read(200)


def _zig_compiler(language: str) -> list[str]:
    """Return the command of the ziglang wheel's compiler, empty if it is not installed."""
    if language not in _ZIG_COMPILERS or importlib.util.find_spec("ziglang") is None:
        return []
    # -P: a ziglang in the current folder is not the wheel's. Without optimisation zig would
    # instrument the code for undefined behaviour.
    command = [sys.executable, "-P", "-m", "ziglang", _ZIG_COMPILERS[language]]
    old = ve_clang.OLD_C if language == "C" else ()
    return [*command, "-fno-sanitize=undefined", *old]


def _words(flags: str | Sequence[str]) -> list[str]:
    return shlex.split(flags) if isinstance(flags, str) else list(flags)


def _host_flags(language: str, words: list[str]) -> list[str]:
    kept: list[str] = []
    dropped: list[str] = []
    for word in words:
        if _NEC_ONLY.fullmatch(word):
            dropped.append(word)
        elif word == "-O4":
            kept.append("-O3")
        else:
            kept.append(_NFORT_SPELLING.get(word, word) if language == "F" else word)
    if dropped:
        _log.debug("VeBuild: not for the host compiler: %s", " ".join(dropped))
    return kept


def select_toolchain(target: str = "auto") -> Toolchain:
    """Choose the toolchain.

    Parameters
    ----------
    target : {"auto", "ve", "host"}
        ``"auto"`` follows ``$VEBUILD_TARGET`` where that is set, and else the VEO library in
        use: host code for the soft twin, VE code for NEC's library.

    Raises
    ------
    ValueError
        Another target.
    """
    reason = "requested by the program"
    if target == "auto" and os.environ.get(TARGET_VARIABLE):
        target = os.environ[TARGET_VARIABLE]
        if target not in ("auto", "ve", "host"):
            raise ValueError(
                f"{TARGET_VARIABLE}={target!r} is not allowed: it takes ve, host or auto"
            )
        reason = f"{TARGET_VARIABLE} is set"
    if target == "auto":
        # Not at import: this module is loaded by the package whose function it calls, and
        # choosing a library is not something that an import should do.
        from veo import library_info

        kind = library_info()["kind"]
        target = "host" if kind == "soft" else "ve"
        library = "the soft twin" if kind == "soft" else "NEC's"
        reason = f"the VEO library in use is {library}"
    if target not in ("ve", "host"):
        raise ValueError(f"target must be 'auto', 've' or 'host', not {target!r}")
    _log.info("VeBuild builds for the %s: %s", "VE" if target == "ve" else "host", reason)
    necs = _is_installed(shlex.split(COMPILER["C"])[0])
    return Toolchain(target, reason, target == "ve" and not necs and ve_clang.is_available())


def run_compiler(
    command: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: dict[str, str] | None = None,
    verbose: bool = False,
) -> str:
    """Run a compiler or linker and return what it printed.

    Raises
    ------
    VeoBuildError
        It could not be started, or failed.
    """
    words = [os.fspath(word) for word in command]
    shown = shlex.join(words)
    if verbose:
        print(shown, flush=True)
    _log.debug("VeBuild: %s", shown)
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise VeoBuildError(f"cannot run {words[0]}: {error}", command=shown) from error

    if done.returncode != 0:
        raise VeoBuildError(
            f"command failed with status {done.returncode}: {shown}",
            command=shown,
            output=done.stdout,
        )

    if verbose and done.stdout:
        print(done.stdout, end="", flush=True)
    return done.stdout
