# SPDX-License-Identifier: BSD-3-Clause
"""Comments and docstrings begin with their subject: a noun, or a verb in the third person."""

from __future__ import annotations

import re
from pathlib import Path

QUESTION = re.compile(r'(?:/\*|//|#|""")\s*(?:\* )?(?:What|Which|Who|Whose|Whether)\b')
FOLDERS = (
    *("csrc", "include", "accl", "accelforge", "dpu", "offchip", "veo", "buildtools", "benchmarks"),
    *("docs", "examples", "tests"),
)
SUFFIXES = (".c", ".h", ".inc", ".def", ".cpp", ".hpp", ".py", ".pyi", ".pyx", ".pxd")
# Copies, which the build makes.
BUILT = re.compile(r"(?:accl|dpu|veo)/include/|dpu/runtime/")
# This number only falls.
AT_MOST = 0


def questions(root: Path) -> list[str]:
    """List the lines whose comment begins with a question word."""
    found = []
    for path in (path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))):
        name = path.relative_to(root).as_posix()
        if path.suffix in SUFFIXES and not BUILT.match(name) and "_build" not in path.parts:
            text = path.read_text(errors="replace")
            found += [
                f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
                for match in QUESTION.finditer(text)
            ]
    return found


def test_comments_begin_with_their_subject(root: Path) -> None:
    found = [line for line in questions(root) if not line.startswith("tests/test_comments.py")]
    assert len(found) <= AT_MOST, "\n".join(found)


def test_planted_questions_are_found(tmp_path: Path) -> None:
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc/a.c").write_text(
        "/* Whether it is free. */\nint a; /* What is left. */\n/* True if it is free. */\n"
        "/*\n * Which of them.\n */\n"
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/b.py").write_text('"""What they share."""\n# Who waits.\nx = "Which"\n')
    assert [line.partition(": ")[0] for line in questions(tmp_path)] == [
        *("csrc/a.c:1", "csrc/a.c:2", "csrc/a.c:4", "tests/b.py:1", "tests/b.py:2")
    ]
