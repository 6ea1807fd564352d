# SPDX-License-Identifier: BSD-3-Clause
"""Measure how long collectives take between hosts, beside those of the MPI that connects them.

The hosts are network namespaces of this machine with TCP between them, so that root is required.
Jobs of accl and of MPI take turns, cell after cell, and a cell is the median over the rounds, of
times and of ratios. Both know which ranks share a host. On links with a limited rate the operations
are measured again, with float32 that travels as float16 and without.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.accl.jobs import Job, Times, geometric_mean, measure, median_ratio
from benchmarks.accl.namespaces import INTERFACE, Network, network, why_not
from benchmarks.harness import Report, Sample, arguments, size_name

SIZES = [4, 1024, 16384, 65536, 262144, 1 << 20, 4 << 20]
QUICK_SIZES = [4, 65536]
LIMITED_SIZES = [65536, 1 << 20]
QUICK_LIMITED_SIZES = [65536]
# Hosts and ranks on each; the mean ratio to MPI to reach.
LAYOUTS: dict[tuple[int, int], float | None] = {(2, 2): 1.0, (4, 1): None}
# MPICH on UCX or on libfabric. Both would see that all ranks are on one machine.
TCP = {
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": INTERFACE,
    "FI_PROVIDER": "tcp",
    "FI_TCP_IFACE": INTERFACE,
}


def add_rows(report: Report, times: dict[str, Times], layout: str, which: str) -> list[float]:
    """Add a row for each cell of a job; give the ratios to MPI."""
    ratios = []
    for cell in sorted(times[which]):
        operation, size = cell
        sample, base = Sample.of(times[which][cell]), Sample.of(times["mpi"][cell])
        ratio = median_ratio(times[which][cell], times["mpi"][cell])
        report.add(
            f"{operation}, {layout}, {which}",
            sample,
            "us",
            x=float(size),
            label=f"{which}: {operation} {size_name(size) if size else ''}",
            baseline=base,
            ratio=ratio,
        )
        ratios.append(ratio)
    return ratios


def require_traffic(net: Network, least: int) -> None:
    """Check that the data went through the links."""
    sent = net.sent_bytes()
    if min(sent) < least:
        raise RuntimeError(f"the hosts sent {sent} bytes: MPI does not use their network")


def add_mean(
    report: Report, ratios: list[float], layout: str, which: str, most: float | None
) -> None:
    report.add(
        f"geometric mean of the ratios, {which}",
        Sample.of([geometric_mean(ratios)]),
        "",
        label=f"{which}: geometric mean, {layout}",
        at_most=most,
        worst=max(ratios),
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--mpich", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--sizes", type=int, nargs="+", help="bytes of a call's count")
    parser.add_argument("--rounds", type=int, help="5 unless --quick")
    parser.add_argument("--budget", type=float, help="seconds for a cell of a round")
    parser.add_argument("--rate", default="200mbit", help="of the limited links, as tc writes it")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.quick else 5)
    budget = options.budget or (0.02 if options.quick else 0.2)
    sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    report = Report("accl_hosts", (__doc__ or "").splitlines()[0])
    reason = why_not()
    if reason is not None:
        report.skip("network namespaces", reason)
        report.finish(options.json)
        return

    for (hosts, each), most in LAYOUTS.items():
        layout = f"{hosts} hosts x {each}"
        with tempfile.TemporaryDirectory() as folder, network(hosts, Path(folder)) as net:
            launcher = net.launcher(options.mpich, each)
            ranks = hosts * each
            jobs = {
                "mpi": Job(options.mpich, "mpi", ranks, env=TCP, launcher=launcher),
                "accl": Job(options.mpich, "unified", ranks, env=TCP, launcher=launcher),
            }
            times, versions = measure(jobs, sizes, rounds, budget)
            report.environment |= versions
            require_traffic(net, max(sizes))
            report.section(f"{layout}, TCP", "mpi4py with the same MPI")
            add_mean(report, add_rows(report, times, layout, "accl"), layout, "accl", most)

            if shutil.which("tc") is None:
                report.skip(f"{layout}, limited rate", "tc not found: install iproute2")
                continue
            net.limit_rate(options.rate)
            jobs["compressed"] = Job(
                options.mpich,
                "unified",
                ranks,
                words=("--compress",),
                env=TCP,
                launcher=launcher,
            )
            limited = QUICK_LIMITED_SIZES if options.quick else LIMITED_SIZES
            times, _ = measure(jobs, limited, rounds, budget)
            report.section(f"{layout}, TCP at {options.rate}", "mpi4py with the same MPI")
            for which in ("accl", "compressed"):
                ratios = add_rows(report, times, layout, which)
                add_mean(report, ratios, f"{layout} at {options.rate}", which, None)

    report.finish(options.json)


if __name__ == "__main__":
    main()
