# SPDX-License-Identifier: BSD-3-Clause
"""Check what a change touches, within a minute: `make check`.

    python -m buildtools.check [BASE]

Files that differ from BASE (the common ancestor with main, or the last commit on main itself) are
linted. The folders that they are in, and those that may use them (LAYERS in tests/test_layout.py),
say which tests are run: C units, without sanitizers, and the quickest others of each part, for some
time. What is left out is for `make test`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from buildtools.graph import ROOT
from tests.test_layout import LAYERS, allowed, layer_of

BIN = Path(sys.executable).parent
SECONDS_PER_CORE = 20
# Folders with tests of a part's C.
OF_C = ("unit", "abi", "reference", "mapper", "package")


def changed_files(base: str) -> list[str]:
    """List files that differ from a commit, new ones too, without those that are gone."""
    found = []
    for words in (["diff", "--name-only", base], ["ls-files", "--others", "--exclude-standard"]):
        found += subprocess.run(
            ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.splitlines()
    return sorted(name for name in set(found) if (ROOT / name).is_file())


def find_base() -> str:
    """Give the commit that a change began from."""

    def ask(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip()

    base = ask("merge-base", "HEAD", "origin/main") or ask("merge-base", "HEAD", "main")
    return base or "HEAD"


def users_of(layers: Iterable[str]) -> set[str]:
    """List layers and those that may use them, directly or not."""
    found = set(layers)
    more = found
    while more:
        more = {name for name in LAYERS if allowed(name) & more} - found
        found |= more
    return found


def tests_of(layer: str) -> list[str]:
    """List the folders with tests of a layer."""
    top, _, rest = layer.removeprefix("csrc/").removeprefix("include/").partition("/")
    if layer.startswith(("csrc/", "include/")):
        names = [f"tests/{top}/{name}" for name in OF_C]
    else:
        own = f"tests/{top}/{rest.partition('/')[0]}".rstrip("/")
        names = [own if rest and (ROOT / own).is_dir() else f"tests/{top}/package"]
        names = names if (ROOT / names[0]).is_dir() else [f"tests/{top}"]
    return [name for name in names if (ROOT / name).is_dir()]


def choose_tests(files: Sequence[str]) -> list[str]:
    """List files and folders of tests for files that have changed."""
    found = {"tests/test_layout.py"}
    layers = set()
    for name in files:
        if name.startswith("tests/"):
            is_test = Path(name).name.startswith("test_") and name.endswith(".py")
            found.add(name if is_test else name.rpartition("/")[0])
        elif name.startswith(("buildtools/", "CMake")):
            found.add("tests/packaging")
        elif name.startswith(("docs/", "README", "examples/", "benchmarks/")):
            found.add("tests/examples")
        elif layer_of(name) in LAYERS:
            layers.add(layer_of(name))
    for layer in users_of(layers):
        found.update(tests_of(layer))
    # Without a folder of its own a part would have all tests.
    return sorted(found - {"tests"})


def lint(files: Sequence[str]) -> int:
    """Run the linters of `make lint` on files; the number of those that failed."""
    here = [str(path) for path in files]
    python = [name for name in here if name.endswith((".py", ".pyi"))]
    c = [name for name in here if name.endswith((".c", ".h"))]
    own = [name for name in c if name.endswith(".c") and name.startswith("csrc/")]
    cython = [name for name in here if name.endswith((".pyx", ".pxd"))]
    commands: list[list[str]] = []
    if python:
        commands += [["ruff", "check", *python], ["ruff", "format", "--check", *python]]
        commands += [["mypy"]]
    if c:
        commands += [["clang-format", "--dry-run", "-Werror", *c]]
    own = [name for name in own if "/runtime/" not in name]
    if own:
        commands += [["clang-tidy", "--quiet", "-p", "build/release", *own]]
    if cython:
        commands += [["cython-lint", *cython]]
    failed = 0
    for command in commands:
        if not (BIN / command[0]).exists():
            print(f"{command[0]} is not installed: make .venv/lint")
            continue
        done = subprocess.run(
            [BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True
        )
        if done.returncode:
            print(done.stdout + done.stderr)
            failed += 1
    return failed


def main(words: list[str]) -> int:
    """Run the command."""
    base = words[0] if words else find_base()
    files = changed_files(base)
    if not files:
        print(f"nothing differs from {base}")
        return 0
    tests = choose_tests(files)
    print(f"{len(files)} files differ from {base[:12]}; tests: {' '.join(tests)}", flush=True)
    failed = lint(files)
    budget = SECONDS_PER_CORE * len(os.sched_getaffinity(0))
    changes = {"OFFCHIP_TEST_BUDGET": str(budget), "OFFCHIP_UNSANITIZED": "1"}
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-k", "not tsan", *tests]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **changes})
    return int(failed > 0 or done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
