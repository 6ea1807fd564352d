# SPDX-License-Identifier: BSD-3-Clause
"""Makes the values of DPU_PROFILE that fuzzing of their reader starts from.

``python -m tests.dpu.fuzz.observe_corpus FOLDER``
"""

from __future__ import annotations

from pathlib import Path

from tests.support.corpora import main, write_inputs

TEXTS = {
    "nothing": b"",
    "file": b"file=/tmp/a-%p.profile",
    "all": b"file=x,dpus=0-63,timeline=1000,limit=10",
    "dpus": b"dpus=all,dpus=7,dpus=8-9",
    "wrong": b"dpus=9-1,timeline=-1,limit=,=,,file",
    "large": b"timeline=18446744073709551616,dpus=4294967295",
    "bytes": b"file=\xff%s%n,dpus=\xfe",
}


def make_corpus(folder: Path) -> list[Path]:
    """Write the values."""
    return write_inputs(folder, TEXTS)


if __name__ == "__main__":
    main(make_corpus)
