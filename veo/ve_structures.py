# SPDX-License-Identifier: BSD-3-Clause
"""clang for the Vector Engine, with structures that are passed by value copied.

clang's back end for the VE (22) passes such a structure as the address of the caller's own, while
its optimiser takes it for a copy. Functions then write to the variables of their callers, even to
those that the source copies first. So each function here copies what it is given, in LLVM's
intermediate text between the optimiser and the back end.

Run as a program, it is ``ziglang clang`` with the same arguments. It imports nothing of the
package, which would take longer than most compilations.
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["copy_structures", "find_inputs"]

# -P: a ziglang in the current folder is not the wheel's.
_CLANG = [sys.executable, "-P", "-m", "ziglang", "clang"]
# Options whose value is the next word.
_WITH_VALUE = re.compile(
    r"-[oIDUxLlTu]|-M[FTQ]|-include|-imacros|-isystem|-iquote|-idirafter|-isysroot|-X\w+|-mllvm"
    r"|-target|--param"
)
# These end before the back end, or are about all steps.
_OTHERWISE = re.compile(r"-E|-MM?|-fsyntax-only|-emit-llvm|-save-temps.*|-###|-flto.*")
_SOURCE = re.compile(r".*\.(c|cc|cpp|cxx|C|c\+\+|i|ii)")
_DEFINITION = re.compile(r"define .*? byval\(.*\{$")
# The back end's words where it cannot save a vector register, or choose between two vectors.
_NO_SLOT = re.compile(r"Can't (store|load) this register (to|from) stack slot|: v\d+f\d+ = select ")
_MEMCPY = "declare void @llvm.memcpy.p0.p0.i64("


def copy_structures(text: str) -> str:
    """Return a module of LLVM's with a copy of each ``byval`` parameter where a function begins."""
    lines = text.split("\n")
    out: list[str] = []
    renamed: dict[str, str] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        out.append(_rename(line, renamed))
        if line == "}":
            renamed = {}
        elif _DEFINITION.match(line):
            copies = list(_copies(line))
            renamed = {name: copy for name, copy, _ in copies}
            if re.match(r"[^\s;].*:( *;.*)?$", lines[at]):  # the label of the first block
                out.append(lines[at])
                at += 1
            out += [statement for _, _, statements in copies for statement in statements]
    if len(out) > len(lines) and _MEMCPY not in text:
        out.append(f"{_MEMCPY}ptr, ptr, i64, i1)")
    return "\n".join(out)


def _rename(line: str, names: dict[str, str]) -> str:
    if not names:
        return line
    pattern = rf"(?:{'|'.join(map(re.escape, names))})(?![\w.$-])"
    return re.sub(pattern, lambda match: names[match[0]], line)


def _copies(definition: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each ``byval`` parameter, the name of its copy, and what makes that."""
    for number, words in enumerate(_parameters(definition)):
        kind = _within(words, words.find(" byval(") + 6) if " byval(" in words else ""
        name = re.search(r'%(?:"[^"]*"|[\w.$-]+)$', words)
        if not kind or name is None:
            continue
        align = re.search(r"\balign (\d+)", words.replace(kind, ""))
        places = f"align {align[1] if align else 1}"
        copy = f"%copy.of.parameter.{number}"
        size = f"ptrtoint (ptr getelementptr ({kind}, ptr null, i32 1) to i64)"
        call = "call void @llvm.memcpy.p0.p0.i64"
        yield (
            name[0],
            copy,
            [
                f"  {copy} = alloca {kind}, {places}",
                f"  {call}(ptr {places} {copy}, ptr {places} {name[0]}, i64 {size}, i1 false)",
            ],
        )


def _parameters(definition: str) -> list[str]:
    """Split the list behind the name of a function."""
    start = re.search(r'@(?:"[^"]*"|[\w.$-]+)\(', definition)
    if start is None:
        return []
    parameters = [""]
    depth = 0
    for word in re.findall(r'"[^"]*"|.', _within(definition, start.end() - 1)):
        depth += (word in "([{<") - (word in ")]}>")
        if word == "," and depth == 0:
            parameters.append("")
        else:
            parameters[-1] += word
    return [parameter.strip() for parameter in parameters]


def _within(text: str, at: int) -> str:
    """Return what is in the parentheses that begin at AT."""
    depth = 0
    for match in re.finditer(r'"[^"]*"|[()]', text[at:]):
        depth += (match[0] == "(") - (match[0] == ")")
        if depth == 0:
            return text[at + 1 : at + match.start()]
    return ""


def find_inputs(words: Sequence[str]) -> list[int]:
    """Return where inputs are among a compiler's arguments: sources, objects, libraries."""
    return [
        i
        for i, word in enumerate(words)
        if not word.startswith("-") and (i == 0 or not _WITH_VALUE.fullmatch(words[i - 1]))
    ]


def _output(words: list[str], source: str) -> str:
    for i, word in enumerate(words):
        if word.startswith("-o"):
            return word[2:] or words[i + 1]
    return Path(source).stem + (".o" if "-c" in words else ".s")


def _compile(words: list[str], source: int) -> int:
    """Compile one source by clang, in two steps; return its exit code."""
    out = _output(words, words[source])
    first = [word for word in words if word not in ("-c", "-S")]
    # Dependencies are those of the file that is made, and lie beside it.
    listed = not {"-MD", "-MMD"}.isdisjoint(words)
    if listed and not any(word.startswith(("-MT", "-MQ")) for word in words):
        first += ["-MT", out]
    if listed and not any(word.startswith("-MF") for word in words):
        first += ["-MF", str(Path(out).with_suffix(".d"))]
    second = [
        word
        for i, word in enumerate(words)
        if i != source and not word.startswith("-M") and words[i - 1] not in ("-MF", "-MT", "-MQ")
    ]
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "module.ll"
        code = subprocess.call([*_CLANG, *first, "-S", "-emit-llvm", "-o", str(module)])
        if code != 0:
            return code
        text = copy_structures(module.read_text())
        steps = ["-Xclang", "-disable-llvm-passes", "-fno-crash-diagnostics"]
        steps += ["-x", "ir", str(module), "-o", out]
        for version, options in _versions(text):
            module.write_text(version)
            command = [*_CLANG, *second, *steps, *options]
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
            if _NO_SLOT.search(done.stderr) is None:
                break
        sys.stderr.write(done.stderr)
        return done.returncode


def _versions(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield a module as it is, then with more and more of its vectors in memory, and options."""
    yield text, []
    save_vectors = runpy.run_path(str(Path(__file__).with_name("ve_vectors.py")))["save_vectors"]
    # Readers of a vector are not moved behind a call.
    options = ["-mllvm", "-disable-machine-sink"]
    yield save_vectors(text), options
    yield save_vectors(text, all_of_them=True), options


def main(words: list[str]) -> int:
    """Run clang; return its exit code."""
    sources = [i for i in find_inputs(words) if _SOURCE.fullmatch(words[i])]
    one_output = len(sources) > 1 and any(word.startswith("-o") for word in words)
    if (
        one_output
        or {"-c", "-S"}.isdisjoint(words)
        or any(_OTHERWISE.fullmatch(word) for word in words)
    ):
        sources = []
    for source in sources:
        rest = [word for i, word in enumerate(words) if i == source or i not in sources]
        code = _compile(rest, rest.index(words[source]))
        if code != 0:
            return code
    return 0 if sources else subprocess.call([*_CLANG, *words])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
