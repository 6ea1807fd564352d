# SPDX-License-Identifier: BSD-3-Clause
"""The ``offchip`` command."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from offchip import __version__
from offchip.bench import TOLERANCE
from offchip.bench import main as bench_main
from offchip.closed_pipe import ends_at_closed_pipe
from offchip.completion import SHELLS, complete, shell_code
from offchip.selftest import PACKAGES, TIMEOUT
from offchip.selftest import main as selftest_main

__all__ = ["main"]


def _add(commands: Any, name: str, says: str, example: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=says,
        description=f"{says[0].upper()}{says[1:]}.",
        epilog=f"Example: {example}",
    )
    return parser


@ends_at_closed_pipe
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments, those of the process if None.

    Returns
    -------
    int
        0; 1 when a package cannot be used, does not work, gives wrong results or has become slower;
        2 when it could not be run.
    """
    parser = argparse.ArgumentParser(
        prog="offchip",
        description="Programs for rare accelerators, with or without the hardware.",
        epilog="Example: offchip selftest veo dpu",
    )
    parser.add_argument("--version", action="version", version=f"offchip {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    info = _add(
        commands,
        "info",
        "show which library each package uses, and any problems",
        "offchip info --json",
    )
    info.add_argument("--json", action="store_true", help="print JSON")
    selftest = _add(
        commands,
        "selftest",
        "check in seconds that each package works on this machine",
        "offchip selftest veo dpu",
    )
    selftest.add_argument(
        "packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(PACKAGES)}; all by default"
    )
    selftest.add_argument("--json", action="store_true", help="print JSON")
    selftest.add_argument(
        "--timeout", type=float, default=TIMEOUT, help="seconds for a package (default %(default)g)"
    )
    demo = _add(
        commands,
        "demo",
        "run one program on DPUs, ranks and a Vector Engine, and check it with NumPy",
        "offchip demo --json",
    )
    demo.add_argument("--json", action="store_true", help="print JSON")
    bench = _add(
        commands,
        "bench",
        "measure how fast each package is, beside its peers and this machine's limits",
        "offchip bench dpu --json now.json --compare before.json",
    )
    bench.add_argument(
        "packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(PACKAGES)}; all by default"
    )
    bench.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the results there; with - to standard output, and the rest to standard error",
    )
    bench.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw them (.svg, .png, .pdf); needs matplotlib"
    )
    bench.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="write them there as Markdown, with a picture beside it; docs/performance.md is such "
        "a page",
    )
    bench.add_argument(
        "--quick", action="store_true", help="show the form in seconds; the times say nothing"
    )
    bench.add_argument(
        "--compare",
        type=Path,
        metavar="FILE",
        help="earlier results; the status is 1 if something has become slower",
    )
    bench.add_argument(
        "--tolerance",
        type=float,
        default=TOLERANCE,
        help="growth of a ratio from which on it is slower (default %(default)g)",
    )
    completion = _add(
        commands,
        "completion",
        "print what a shell runs to complete these commands",
        'eval "$(offchip completion bash)"',
    )
    completion.add_argument("shell", choices=SHELLS)
    complete(parser)
    arguments = parser.parse_args(argv)
    unknown = set(getattr(arguments, "packages", ())) - set(PACKAGES)
    if unknown:
        chosen = selftest if arguments.command == "selftest" else bench
        chosen.error(f"no such package: {min(unknown)} (there are {', '.join(PACKAGES)})")
    if arguments.command == "selftest":
        status = selftest_main(
            arguments.packages, as_json=arguments.json, timeout=arguments.timeout
        )
    elif arguments.command == "demo":
        # A process of its own: it uses all packages, which lie above this one.
        command = [sys.executable, "-P", "-m", "offchip.demo"]
        status = subprocess.run(command + ["--json"] * arguments.json).returncode
    elif arguments.command == "bench":
        status = bench_main(
            arguments.packages,
            quick=arguments.quick,
            json_path=arguments.json,
            plot_path=arguments.plot,
            page_path=arguments.page,
            earlier_path=arguments.compare,
            tolerance=arguments.tolerance,
        )
    elif arguments.command == "completion":
        status = _print_completion(arguments.shell)
    else:
        status = _info(as_json=arguments.json)
    return status


def _print_completion(shell: str) -> int:
    try:
        print(shell_code(shell))
    except ModuleNotFoundError as error:
        print(f"offchip: {error}", file=sys.stderr)
        return 1
    return 0


def _info(*, as_json: bool) -> int:
    from offchip.info import collect, format_report

    report = collect()
    if as_json:
        print(json.dumps(report.as_dict(), indent=2, default=str))
    else:
        print(format_report(report))
    if not report.problems:
        return 0
    print(f"offchip: {len(report.problems)} problem(s):", file=sys.stderr)
    for problem in report.problems:
        print(f"  {problem}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
