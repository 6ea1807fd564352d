# SPDX-License-Identifier: BSD-3-Clause
"""Makes the profiles that fuzzing of their reader starts from.

``python -m tests.dpu.fuzz.profile_corpus FOLDER``
"""

from __future__ import annotations

from pathlib import Path

from tests.support.corpora import main, write_inputs

PROFILES = {
    "nothing": b"",
    "vendor": b"backend=simulator,chipId=9,clockDivision=2,fckFrequency=350,nrDpusPerCI=8",
    "queues": b"nrThreadsPerRank=0,nrJobsPerRank=1,sgXferEnable=true,sgXferMaxBlocksPerDpu=64",
    "soft": b"softNrRanks=2,softMaxCycles=1000,softThreads=1,softSwitches=0x1ff",
    "three": b"backend=cas\0nrDpusPerCi=1,disableResetOnAlloc=1\0softNrRanks=4096",
    "ignored": b"disabledMask=3,regionMode=perf,mramSize=1,unknown=yes",
    "many": b",".join([b"chipId=0"] * 50),
    "numbers": b"fckFrequency=4001\0chipId=0xFFFFFFFF\0clockDivision=-1",
    "long": b"softSwitches=18446744073709551616",
    "no value": b"backend",
    "no key": b"=5,=,",
    "separators": b"a=b=c,,",
    "no backend": b"backend=fpga",
    "bytes": b"backend=\xff\xfe%s%n,chipId=%d",
    "hw": b"backend=hw\0backend=model\0backend=scenario",
}


def make_corpus(folder: Path) -> list[Path]:
    """Write the profiles."""
    return write_inputs(folder, PROFILES)


if __name__ == "__main__":
    main(make_corpus)
