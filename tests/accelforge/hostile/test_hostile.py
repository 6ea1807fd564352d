# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a specification holds, it ends in a result or an error, soon and in little memory.

Each file is read and evaluated in a process of its own, whose processor time and memory count.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.accelforge.hostile.expressions import EXPRESSIONS
from tests.accelforge.hostile.fields import FIELDS
from tests.accelforge.hostile.files import FILES, YAML
from tests.accelforge.hostile.templates import TEMPLATES

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

SECONDS = 2.0
MEGABYTES = 500
# One of so many is for everyone; the others are for `make test-full`.
SHARE = 8

PROGRAM = """
import json, time, warnings
import accelforge as af
from accelforge.expressions import evaluate_text
from accelforge.yaml import files, merge, parser, templates

warnings.simplefilter("ignore")
start = time.process_time()
try:
    spec = af.Spec.from_yaml("spec.yaml")
    spec._spec_eval_expressions()
    outcome, text = "result", ""
except (af.EvaluationError, af.InvalidMappingError, FileNotFoundError) as error:
    outcome, text = type(error).__name__, str(error)
spent = time.process_time() - start
# Not what getrusage() says, in which the parent's memory counts.
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024
print(json.dumps([outcome, text[:2000], spent, peak]))
"""


def run(folder: Path, text: str) -> tuple[str, str]:
    """Read a file in another process; return the outcome and the text of the error."""
    (folder / "spec.yaml").write_text(text, errors="surrogatepass")
    os.mkfifo(folder / "pipe")
    os.mknod(folder / "socket", stat.S_IFSOCK | 0o600)
    os.symlink("/dev/zero", folder / "zero")
    os.symlink("socket", folder / "link")
    with open(folder / "large", "wb") as large:
        large.truncate(1 << 40)
    (folder / "bomb.py").write_text("raise SystemExit(3)\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    outcome, message, spent, peak = json.loads(done.stdout)
    assert spent < SECONDS, f"{outcome} after {spent:.2f} s of processor time: {message[:300]}"
    assert peak < MEGABYTES, f"{outcome} with {peak} MB: {message[:300]}"
    return outcome, message


def cases(texts: dict[str, Callable[[], str]]) -> list[object]:
    return [
        pytest.param(make, id=name, marks=() if number % SHARE == 0 else (pytest.mark.full,))
        for number, (name, make) in enumerate(texts.items())
    ]


def expressions() -> dict[str, Callable[[], str]]:
    return {
        f"expression-{number}": lambda text=text: "variables:\n  a: 1\n  x: |-\n    " + text
        for number, text in enumerate(EXPRESSIONS)
    }


@pytest.mark.timeout(90)
@pytest.mark.parametrize("make", cases({**YAML, **TEMPLATES, **FIELDS, **expressions()}))
def test_a_hostile_file_ends_soon(tmp_path: Path, make: Callable[[], str]) -> None:
    outcome, message = run(tmp_path, make())
    assert outcome == "result" or "line " in message, message


@pytest.mark.parametrize("make", cases(FILES))
def test_what_is_no_file_is_not_read(tmp_path: Path, make: Callable[[], str]) -> None:
    outcome, message = run(tmp_path, make())
    assert outcome != "result"
    assert "line " in message or outcome == "FileNotFoundError", message


def test_there_are_a_hundred_files() -> None:
    assert sum(len(part) for part in (YAML, TEMPLATES, FILES, FIELDS, EXPRESSIONS)) > 100
