# SPDX-License-Identifier: BSD-3-Clause
"""Takes apart a command line as C compilers have it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from .errors import ToolchainError
from .options import BuildOptions

__all__ = ["Arguments", "Goal", "parse"]


class Goal(Enum):
    """What a command is to make."""

    PROGRAM = ""
    OBJECTS = "-c"
    ASSEMBLY = "-S"
    PREPROCESSED = "-E"
    CHECKED = "-fsyntax-only"
    DEPENDENCIES = "-M"
    USER_DEPENDENCIES = "-MM"


_GOALS = {goal.value: goal for goal in Goal if goal.value}
# The tasklets of a program are for the linker as well.
_LINKED = ("NR_TASKLETS", "STACK_SIZE_")
_LEVELS = {"-O": "-O1", "-O4": "-O3", "-Ofast": "-O3", "-Og": "-O1"}
# The next word belongs to these; what is not here has its value in the same word.
_FOR_COMPILER = ("-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-I", "-x")
_PAIRS = ("-Xclang", "-mllvm", "-Xpreprocessor")
_DEPENDENCY_LISTS = ("-MD", "-MMD")
_DEPENDENCY_OPTIONS = ("-MP", "-MG")
# Debug information is always there; the others mean nothing here.
_WITHOUT_EFFECT = ("-pipe", "-static", "-nostartfiles", "-no-canonical-prefixes", "-pthread", "-v")
_WITHOUT_EFFECT_STARTS = ("--sysroot", "-flto", "-fno-lto", "-fuse-ld")
_REFUSED = {
    "-T": "programs are laid out for the DPU, by no other linker script",
    "-shared": "a DPU program is one file",
    "-r": "objects are put together when a program is linked",
    "-emit-llvm": "objects hold machine code",
    "-pg": "run programs under a profile of the soft DPU instead",
    "-march": "there is one instruction set",
    "-mabi": "there is one calling convention",
}


@dataclass
class Arguments:
    """A command line.

    Parameters
    ----------
    goal : Goal
        What is to be made.
    inputs : list of str
        Sources, objects and archives; ``-`` is the standard input.
    output : str, optional
        Where it goes.
    options : BuildOptions
        How sources are compiled and linked.
    runtime : bool
        Whether programs are linked with the run time.
    dependency_options : list of str
        What the preprocessor is asked to list, without the names of the file and of the goal.
    dependency_file : str, optional
        Where that goes.
    dependency_targets : list of str
        Options that name what depends.
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
    """Take apart the arguments of a command.

    Raises
    ------
    ToolchainError
        If something is not understood, or cannot be done.
    """
    return _Parser(_expanded(argv)).parse()


def _expanded(argv: Sequence[str]) -> list[str]:
    """Replace ``@file`` by the words that are in the file."""
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
        self.next = 0
        self.result = Arguments()
        self.level = "-O0"
        self.chip = "v1A"
        self.defines: dict[str, str | int | None] = {}
        self.compiler: list[str] = []
        self.linker: list[str] = []

    def parse(self) -> Arguments:
        while self.next < len(self.words):
            word = self.words[self.next]
            self.next += 1
            if word == "-" or not word.startswith("-"):
                self.result.inputs.append(word)
            elif not (self._what(word) or self._how(word) or self._linked(word)):
                self._refuse(word)
                self.compiler.append(word)
        self.result.options = BuildOptions(
            level=self.level,
            defines=self.defines,
            options=self.compiler,
            link_options=self.linker,
            chip=self.chip,
        )
        return self.result

    def _value(self, word: str, name: str) -> str:
        """Return the value of an option, which may be the next word."""
        if word != name:
            return word[len(name) :]
        if self.next == len(self.words):
            raise ToolchainError(f"{name} needs a value after it")
        self.next += 1
        return self.words[self.next - 1]

    def _what(self, word: str) -> bool:
        """Take an option that says what is made and where it goes."""
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

    def _how(self, word: str) -> bool:
        """Take an option for the compiler that is not just passed on."""
        if word.startswith("-D"):
            self._define(self._value(word, "-D"))
        elif word.startswith("-O"):
            self.level = _LEVELS.get(word, word)
        elif word.startswith("-mcpu="):
            self.chip = word.removeprefix("-mcpu=")
        elif word == "-target" or word.startswith("--target="):
            target = self._value(word, "-target" if word == "-target" else "--target=")
            if not target.startswith("dpu"):
                raise ToolchainError(f"the target is dpu-upmem-dpurte, not {target}")
        elif word in _PAIRS or word in _FOR_COMPILER:
            self.compiler += [word, self._value(word, word)]
        elif word in _WITHOUT_EFFECT or word.startswith((*_WITHOUT_EFFECT_STARTS, "-g")):
            pass
        else:
            return False
        return True

    def _define(self, macro: str) -> None:
        name, equals, value = macro.partition("=")
        if name.startswith(_LINKED):
            # As for any macro without a value it is 1.
            self.defines[name] = value if equals else "1"
        else:
            self.compiler.append(f"-D{macro}")

    def _linked(self, word: str) -> bool:
        """Take an option for the linker."""
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
