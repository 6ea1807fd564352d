# SPDX-License-Identifier: BSD-3-Clause
"""Compiles a file of C or C++ to an object that can be translated.

The preprocessor runs first, on its own: `long` is widened in its output, which is also the key of
the cache. Then the compiler produces optimised LLVM IR, which is checked and rewritten, and selects
instructions for that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..commands import run
from ..compilers import Toolchain
from ..errors import CommandError
from ..options import BuildOptions
from ..target import RUNTIME_HEADERS, predefined_macros
from .dma_alignment import align_for_dma
from .inline_assembly import explain_assembly, lower_assembly
from .lock_order import LOCK_OPTIONS, keep_lock_order, mentions_lock
from .long_type import MACROS, widen_long
from .mram_access import check_mram_access
from .print_records import print_by_records
from .register_names import rename_registers
from .signatures import record_signatures
from .soft_cache import serve_mram_accesses
from .wide_products import call_wide_products

__all__ = [
    "Unit",
    "compile_object",
    "compile_unit",
    "preprocess",
    "preprocessor_command",
    "run_preprocessor",
]

_CODE = ("-ffunction-sections", "-fdata-sections", "-Wno-unused-command-line-argument")
# Errors in modern C that the vendor's compiler accepts.
_OLD_C = (
    *("implicit-function-declaration", "implicit-int", "int-conversion"),
    *("incompatible-pointer-types", "incompatible-function-pointer-types"),
)
# The suffixes that clang takes for C++.
_CPLUSPLUS = (".C", ".CPP", ".c++", ".cc", ".cp", ".cpp", ".cxx")
_MARK = re.compile(r'^# \d+ "((?:[^"\\\n]|\\.)*)".*\n', re.MULTILINE)
# The optimiser gives functions that only their own file calls a convention that needs more
# registers than there are.
_FAST_CALL = re.compile(
    r"^(define [^@\"\n]*?|\s+(?:%\S+ = )?(?:(?:tail|musttail|notail) )?call [^@\"\n]*?)\bfastcc ",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Unit:
    """A file of C or C++ after preprocessing.

    Parameters
    ----------
    source : Path
        The file.
    text : str
        The preprocessor's output, with `long` widened to that of the DPU, and the names of
        registers changed.
    is_changed : bool
        Whether the text differs from the preprocessor's output.
    warnings : str
        The preprocessor's warnings.
    language : str
        ``c`` or ``c++``.
    """

    source: Path
    text: str
    is_changed: bool
    warnings: str
    language: str = "c"


def preprocess(
    source: Path,
    options: BuildOptions,
    *,
    toolchain: Toolchain,
    further: Sequence[str] = (),
) -> Unit:
    """Run the preprocessor.

    Parameters
    ----------
    source : Path
        A file of C or C++.
    options : BuildOptions
        How to compile it.
    toolchain : Toolchain
        The compiler.
    further : sequence of str
        Options for this step alone, such as those of dependency lists.

    Raises
    ------
    CommandError
        If the compiler refuses the file.
    """
    text, warnings = run_preprocessor(source, options, toolchain=toolchain, further=further)
    language = _language(source, options)
    wide = widen_long(text) if language == "c" else _widen_outside(text, toolchain)
    changed = rename_registers(wide)
    return Unit(source, changed, changed != text, warnings, language)


def run_preprocessor(
    source: Path, options: BuildOptions, *, toolchain: Toolchain, further: Sequence[str] = ()
) -> tuple[str, str]:
    """Return the preprocessor's output, with `long` unchanged, and its warnings."""
    return run(preprocessor_command(source, options, toolchain=toolchain, further=further))


def preprocessor_command(
    source: Path, options: BuildOptions, *, toolchain: Toolchain, further: Sequence[str] = ()
) -> list[str]:
    """Return the command that preprocesses a file."""
    language = _language(source, options)
    command = [*toolchain.compiler, *_arguments(options, toolchain, language), *further]
    return [*command, "-E", *_given(options), str(source), "-o", "-"]


def compile_unit(
    unit: Unit, output: Path, options: BuildOptions, *, toolchain: Toolchain, assembly: bool = False
) -> str:
    """Compile a preprocessed file to an object, or to assembly; return the warnings.

    Raises
    ------
    CommandError
        If the compiler refuses the file.
    ToolchainError
        If the code accesses MRAM in a way that is not supported.
    """
    ir, warnings = _intermediate_text(unit, options, toolchain)
    if options.runtime:
        ir = print_by_records(serve_mram_accesses(ir))
    if options.costs == "upmem":
        ir = call_wide_products(ir)
    ir = keep_lock_order(align_for_dma(ir))
    # With a cache, MRAM is where the rest is.
    said = "" if options.limits().cache else check_mram_access(ir, str(unit.source))
    ir = record_signatures(lower_assembly(ir, str(unit.source)))
    command = [*toolchain.compiler, *toolchain.target_options, *_CODE, options.level]
    command += [*toolchain.code_options, "-Xclang", "-disable-llvm-passes", "-x", "ir"]
    # The IR is optimised already; only instruction selection remains.
    try:
        run([*command, "-S" if assembly else "-c", "-", "-o", str(output)], text=_plain_calls(ir))
    except CommandError as error:
        raise explain_assembly(error, ir, str(unit.source)) from error
    return warnings if "-w" in options.options else warnings + said


def compile_object(
    source: Path, output: Path, options: BuildOptions, *, toolchain: Toolchain
) -> str:
    """Compile a C file to an object and return the compiler's warnings."""
    unit = preprocess(source, options, toolchain=toolchain)
    return compile_unit(unit, output, options, toolchain=toolchain)


def _language(source: Path, options: BuildOptions) -> str:
    return options.language or ("c++" if source.suffix in _CPLUSPLUS else "c")


def _given(options: BuildOptions) -> list[str]:
    """Return the option that names the language of the next file; none if its suffix does."""
    return ["-x", options.language] if options.language else []


def _widen_outside(text: str, toolchain: Toolchain) -> str:
    """Widen `long` outside of the compiler's headers of C++, which overload for all integers."""
    headers = toolchain.cplusplus_headers
    if headers is None:
        return widen_long(text)

    pieces = []
    start, is_own = 0, True
    for mark in [*_MARK.finditer(text), None]:
        end = mark.start() if mark is not None else len(text)
        pieces.append(widen_long(text[start:end]) if is_own else text[start:end])
        start = end
        is_own = mark is not None and not mark[1].startswith(headers)

    return "".join(pieces)


def _arguments(options: BuildOptions, toolchain: Toolchain, language: str) -> list[str]:
    arguments = [*toolchain.target_options, *predefined_macros(options.limits()), *MACROS, *_CODE]
    if language == "c++":
        arguments += toolchain.cplusplus_options
    elif "-Werror" not in options.options:
        arguments += [f"-Wno-error={name}" for name in _OLD_C]
    arguments += options.arguments()
    if language == "c++" and options.runtime:
        arguments += ["-isystem", str(RUNTIME_HEADERS / "c++")]
    if options.runtime:
        # By its name alone: dependency lists leave out system headers.
        arguments += ["-isystem", str(RUNTIME_HEADERS), "-include", "dpu_builtins.h"]
    # Relative names stay relative: a program must not depend on where it is compiled.
    return [*arguments, "-gdwarf-4", "-fdebug-compilation-dir=."]


def _intermediate_text(unit: Unit, options: BuildOptions, toolchain: Toolchain) -> tuple[str, str]:
    """Return optimised LLVM IR and the warnings."""
    arguments = _arguments(options, toolchain, unit.language)
    command = [*toolchain.compiler, *arguments, "-S", "-emit-llvm", "-o", "-"]
    if mentions_lock(unit.text):
        command += LOCK_OPTIONS
    original = [*command, *_given(options), str(unit.source)]
    if not unit.is_changed:
        return run(original)
    output = "cpp-output" if unit.language == "c" else "c++-cpp-output"
    try:
        ir, warnings = run([*command, "-x", output, "-"], text=unit.text)
    except CommandError:
        # The compiler quotes the lines of its input: let it quote the user's.
        run(original)
        raise
    return ir, unit.warnings + warnings


def _plain_calls(ir: str) -> str:
    return _FAST_CALL.sub(r"\1", ir) if "fastcc" in ir else ir
