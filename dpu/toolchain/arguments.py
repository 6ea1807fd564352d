# SPDX-License-Identifier: BSD-3-Clause
"""Parses the command line of a compiler of C and C++."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from .errors import ToolchainError
from .options import COSTS, BuildOptions

__all__ = ["CPLUSPLUS_MODE", "Arguments", "Goal", "parse"]

# Option that clang++ adds for itself.
CPLUSPLUS_MODE = "--driver-mode=g++"


class Goal(Enum):
    """The output that a command asks for."""

    PROGRAM = ""
    OBJECTS = "-c"
    ASSEMBLY = "-S"
    PREPROCESSED = "-E"
    CHECKED = "-fsyntax-only"
    DEPENDENCIES = "-M"
    USER_DEPENDENCIES = "-MM"


_GOALS = {goal.value: goal for goal in Goal if goal.value}
# Macros that the linker needs too.
_LINKED = ("NR_TASKLETS", "STACK_SIZE_")
_LEVELS = {"-O": "-O1", "-O4": "-O3", "-Ofast": "-O3", "-Og": "-O1"}
# Options whose value is the next word; all others have it in the same word.
_FOR_COMPILER = ("-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-I")
_PAIRS = ("-Xclang", "-mllvm", "-Xpreprocessor")
_DEPENDENCY_LISTS = ("-MD", "-MMD")
_DEPENDENCY_OPTIONS = ("-MP", "-MG")
# Accepted and ignored: debug information is always there, the others have no meaning here.
_WITHOUT_EFFECT = ("-pipe", "-static", "-nostartfiles", "-no-canonical-prefixes", "-pthread", "-v")
_WITHOUT_EFFECT_STARTS = ("--sysroot", "-flto", "-fno-lto", "-fuse-ld")
_REFUSED = {
    "-T": "the linker script is that of the DPU",
    "-shared": "DPU programs are linked statically",
    "-r": "objects are linked only into programs",
    "-emit-llvm": "objects contain machine code, not LLVM IR",
    "-pg": "use a profile of the soft DPU instead",
    "-march": "the DPU has one instruction set",
    "-mabi": "the DPU has one calling convention",
    "-fexceptions": "DPU programs have no exceptions",
    "-frtti": "DPU programs have no run-time types",
}
# Values of -x that name a language which sources can be in.
_LANGUAGES = ("c", "c++")


@dataclass
class Arguments:
    """A parsed command line.

    Parameters
    ----------
    goal : Goal
        What to make.
    inputs : list of str
        Sources, objects and archives; ``-`` is the standard input.
    output : str, optional
        The output file.
    options : BuildOptions
        How sources are compiled and linked.
    runtime : bool
        Whether to link the run time.
    dependency_options : list of str
        Options for dependency lists, without the names of the file and the target.
    dependency_file : str, optional
        The file of the dependency list.
    dependency_targets : list of str
        Options that name the target of the list.
    """

    goal: Goal = Goal.PROGRAM
    inputs: list[str] = field(default_factory=list)
    output: str | None = None
    options: BuildOptions = field(default_factory=BuildOptions)
    runtime: bool = True
    dependency_options: list[str] = field(default_factory=list)
    dependency_file: str | None = None
    dependency_targets: list[str] = field(default_factory=list)


def parse(argv: Sequence[str]) -> Arguments:
    """Parse the arguments of a command.

    Raises
    ------
    ToolchainError
        If an option is invalid or not supported.
    """
    return _Parser(_expanded(argv)).parse()


def _expanded(argv: Sequence[str]) -> list[str]:
    """Replace ``@file`` by the words in the file."""
    words = []
    for word in argv:
        if word.startswith("@") and Path(word[1:]).is_file():
            words += _expanded(shlex.split(Path(word[1:]).read_text()))
        else:
            words.append(word)
    return words


class _Parser:
    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.language = ""
        self.next = 0
        self.result = Arguments()
        self.level = "-O0"
        self.chip = "v1A"
        self.sizes = ""
        self.costs = COSTS[0]
        self.defines: dict[str, str | int | None] = {}
        self.compiler: list[str] = []
        self.linker: list[str] = []

    def parse(self) -> Arguments:
        while self.next < len(self.words):
            word = self.words[self.next]
            self.next += 1
            if word == "-" or not word.startswith("-"):
                self.result.inputs.append(word)
            elif not (self._goal(word) or self._compiler_option(word) or self._linker_option(word)):
                self._refuse(word)
                self.compiler.append(word)
        self.result.options = BuildOptions(
            level=self.level,
            defines=self.defines,
            options=self.compiler,
            link_options=self.linker,
            chip=self.chip,
            sizes=self.sizes,
            costs=self.costs,
            language=self.language,
        )
        return self.result

    def _value(self, word: str, name: str) -> str:
        """Return the value of an option, which may be the next word."""
        if word != name:
            return word[len(name) :]
        if self.next == len(self.words):
            raise ToolchainError(f"{name} requires a value")
        self.next += 1
        return self.words[self.next - 1]

    def _goal(self, word: str) -> bool:
        """Take an option about the goal and its output; return whether it is one."""
        result = self.result
        if word in _GOALS:
            result.goal = _GOALS[word]
        elif word in _DEPENDENCY_LISTS or word in _DEPENDENCY_OPTIONS:
            result.dependency_options.append(word)
        elif word.startswith("-MF"):
            result.dependency_file = self._value(word, "-MF")
        elif word.startswith(("-MT", "-MQ")):
            result.dependency_targets += [word[:3], self._value(word, word[:3])]
        elif word.startswith("-o"):
            result.output = self._value(word, "-o")
        else:
            return False
        return True

    def _compiler_option(self, word: str) -> bool:
        """Take an option for the compiler that needs a change; return whether it is one."""
        if word.startswith("-D"):
            self._define(self._value(word, "-D"))
        elif word.startswith("-O"):
            self.level = _LEVELS.get(word, word)
        elif word.startswith("-mcpu="):
            self.chip = word.removeprefix("-mcpu=")
        elif word.startswith("--sizes"):
            self.sizes = self._value(word, "--sizes").removeprefix("=")
        elif word.startswith("--costs"):
            self.costs = self._value(word, "--costs").removeprefix("=")
        elif word == "-target" or word.startswith("--target="):
            target = self._value(word, "-target" if word == "-target" else "--target=")
            if not target.startswith("dpu"):
                raise ToolchainError(f"target must be dpu-upmem-dpurte, not {target}")
        elif word == CPLUSPLUS_MODE:
            self.language = "c++"
        elif word.startswith("-x"):
            self._set_language(self._value(word, "-x"))
        elif word in _PAIRS or word in _FOR_COMPILER:
            self.compiler += [word, self._value(word, word)]
        elif word in _WITHOUT_EFFECT or word.startswith((*_WITHOUT_EFFECT_STARTS, "-g")):
            pass
        else:
            return False
        return True

    def _set_language(self, value: str) -> None:
        if value in _LANGUAGES:
            self.language = value
        elif value == "none":
            self.language = ""
        else:
            self.compiler += ["-x", value]

    def _define(self, macro: str) -> None:
        name, equals, value = macro.partition("=")
        if name.startswith(_LINKED):
            # Like any macro without a value it is 1.
            self.defines[name] = value if equals else "1"
        else:
            self.compiler.append(f"-D{macro}")

    def _linker_option(self, word: str) -> bool:
        """Take an option for the linker; return whether it is one."""
        if word in ("-nostdlib", "-nodefaultlibs"):
            self.result.runtime = False
        elif word.startswith("-l"):
            self.linker.append(f"-l{self._value(word, '-l')}")
        elif word.startswith("-L"):
            self.linker.append(f"-L{self._value(word, '-L')}")
        elif word.startswith("-Wl,"):
            self.linker += word.split(",")[1:]
        elif word == "-Xlinker":
            self.linker.append(self._value(word, word))
        elif word == "-u":
            self.linker += ["-u", self._value(word, word)]
        else:
            return False
        return True

    @staticmethod
    def _refuse(word: str) -> None:
        why = _REFUSED.get(word.partition("=")[0])
        if why is not None:
            raise ToolchainError(f"{word} is not supported: {why}")
