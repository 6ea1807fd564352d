# SPDX-License-Identifier: BSD-3-Clause
"""Compare a cache of MRAM with transfers to WRAM, and translated addresses with plain ones.

Five kernels (kernels/memory.c) are built twice from one source: with transfers, and with pointers
into MRAM for a chip with a cache of 64 KiB, 8 ways and lines of 64 bytes. Two studies of
uPIMulator's paper (arXiv:2308.00846) are of such a cache, and of a TLB of 16 entries for pages of
4 KiB. Results are compared with NumPy's. `--profile` changes the chip of all runs.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.harness import HERE, Report, Sample, arguments
from dpu import DpuSet
from dpu.compiler import Compiler

CACHE = "softCacheKiB=64"
CHIPS = {"cache": CACHE, "translation": "softTlbEntries=16,softTlbPageBytes=4096"}
SOURCE = HERE / "dpu" / "kernels" / "memory.c"
MOST, COLUMNS = 1 << 17, 64
Check = Callable[[DpuSet], None]


def word(value: int) -> bytes:
    """Return a number as a host variable has it."""
    return value.to_bytes(4, "little")


def fill_search(dpus: DpuSet, rng: np.random.Generator) -> Check:
    """Search 4,096 numbers among 32,768."""
    n = 32768
    numbers = np.sort(rng.integers(0, 1 << 40, n))
    keys = rng.choice(numbers, n // 8)
    dpus.copy("numbers", numbers)
    dpus.copy("searched", keys)
    dpus.n, dpus.queries = word(n), word(n // 8)

    def check(after: DpuSet) -> None:
        places = after.found.int64()[: n // 8]
        assert np.array_equal(places, np.searchsorted(numbers, keys, "right") - 1)

    return check


def fill_gemv(dpus: DpuSet, rng: np.random.Generator) -> Check:
    """Multiply 2,048 rows of 64 numbers."""
    n = 2048
    matrix = rng.integers(-99, 99, (n, COLUMNS), dtype=np.int32)
    vector = rng.integers(-99, 99, COLUMNS, dtype=np.int32)
    dpus.copy("matrix", matrix.ravel())
    dpus.vector = vector
    dpus.n = word(n)

    def check(after: DpuSet) -> None:
        assert np.array_equal(after.made.int64()[:n], matrix @ vector)

    return check


def fill_unique(dpus: DpuSet, rng: np.random.Generator) -> Check:
    """Keep what differs from the number before it, of 131,072; three of four do."""
    numbers = np.cumsum(rng.integers(0, 4, MOST) != 0)
    dpus.copy("numbers", numbers)
    dpus.n = word(MOST)

    def check(after: DpuSet) -> None:
        kept = np.unique(numbers)
        assert after.count.uint32() == kept.size
        assert np.array_equal(after.made.int64()[: kept.size], kept)

    return check


def fill_add(dpus: DpuSet, rng: np.random.Generator) -> Check:
    """Add 131,072 numbers of 4 bytes to as many."""
    both = rng.integers(0, 1 << 30, (2, MOST), dtype=np.int32)
    dpus.copy("matrix", both.ravel())
    dpus.n = word(MOST)

    def check(after: DpuSet) -> None:
        assert np.array_equal(after.made.int32()[:MOST], both[0] + both[1])

    return check


def fill_sum(dpus: DpuSet, rng: np.random.Generator) -> Check:
    """Sum 131,072 numbers of 8 bytes."""
    numbers = rng.integers(-(1 << 40), 1 << 40, MOST)
    dpus.copy("numbers", numbers)
    dpus.n = word(MOST)

    def check(after: DpuSet) -> None:
        assert after.total.int64() == numbers.sum()

    return check


KERNELS = {
    "search": fill_search,
    "gemv": fill_gemv,
    "unique": fill_unique,
    "add": fill_add,
    "sum": fill_sum,
}


def build(folder: Path, kernel: str, macros: dict[str, str | int | None], *, direct: bool) -> Path:
    """Compile a kernel, with transfers or for a cache."""
    defines = {"KERNEL": kernel, **macros}
    if direct:
        defines["DIRECT"] = None
    output = folder / f"{kernel}-{direct}"
    compiler = Compiler(sizes=CACHE if direct else "")
    compiler.compile([SOURCE], output, defines=defines, opt_lvl="-O2")
    return output


def run(binary: Path, kernel: str, profile: str) -> tuple[int, int]:
    """Run a kernel; return its cycles, and bytes moved between MRAM and the rest."""
    with DpuSet(nr_dpus=1, binary=binary, profile=profile) as dpus:
        check = KERNELS[kernel](dpus, np.random.default_rng(1))
        dpus.exec()
        check(dpus)
        one = dpus.report[0]
    lines = one.cache_fill_bytes + 64 * one.cache_write_backs
    return one.cycles, one.dma_read_bytes + one.dma_write_bytes + lines


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--kernels", nargs="*", choices=[*KERNELS], default=[*KERNELS])
    parser.add_argument("--tasklets", nargs="*", type=int, default=[1, 16])
    parser.add_argument("--search-bytes", type=int, default=256, help="of a step of a search")
    parser.add_argument("--row-bytes", type=int, default=256, help="that gemv reads of a row")
    parser.add_argument("--profile", default="", help="keys of all runs, as softDramBanks=1")
    options = parser.parse_args()
    report = Report("dpu_memory_study", "what does another way to MRAM gain or cost?")
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as place:
        for tasklets in options.tasklets:
            macros: dict[str, str | int | None] = {
                "NR_TASKLETS": tasklets,
                "SEARCH_BYTES": options.search_bytes,
                "ROW_BYTES": options.row_bytes,
            }
            report.section(f"times as fast as transfers to WRAM, {tasklets} tasklet(s)")
            for chip, keys in CHIPS.items():
                gains = []
                for kernel in options.kernels:
                    plain = build(Path(place), kernel, macros, direct=False)
                    other = build(Path(place), kernel, macros, direct=chip == "cache")
                    cycles, moved = run(plain, kernel, options.profile)
                    profile = ",".join(filter(None, [keys, options.profile]))
                    theirs, lines = run(other, kernel, profile)
                    gains.append(cycles / theirs)
                    report.add(f"{kernel}: {chip}", Sample.exact(gains[-1]), "x")
                    if chip == "cache":
                        report.add(f"{kernel}: bytes of MRAM", Sample.exact(lines / moved), "x")
                report.add(
                    f"geometric mean: {chip}", Sample.exact(statistics.geometric_mean(gains)), "x"
                )
    report.finish(options.json)


if __name__ == "__main__":
    main()
