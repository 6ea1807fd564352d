# SPDX-License-Identifier: BSD-3-Clause
"""The command ``ve-sysfs``: runs a host program that looks for Vector Engines in ``/sys/class/ve``.

VEDA does, before it calls libveo. The command writes what it reads there into a folder, and has
``libveosysfs.so`` show it to the program.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import veo
from offchip.sdk_folder import SdkCommand, write_file

__all__ = ["main", "write_nodes"]

_LIBRARY = Path(__file__).resolve().parent.parent / "lib" / "libveosysfs.so"
_DRIVER = Path("/sys/class/ve")
_VARIABLE = "VEO_SOFT_SYSFS"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

#: By model: its number, cores, clocks of cores and memory in MHz, last cache in KiB.
_MODELS = {
    "VE10B": (1, 8, 1400, 1600, 16384),
    "VE20B": (2, 8, 1600, 2000, 16384),
    "VE30": (3, 16, 1600, 3200, 65536),
}


def write_nodes(folder: Path) -> None:
    """Write the files of all simulated nodes, as the variables of libveo say.

    Parameters
    ----------
    folder : path
        Stands for ``/sys/class/ve``; gets a folder per node.

    Raises
    ------
    VeoError
        A variable has a value that is not allowed.
    OSError
        The folder cannot be written.
    """
    # It refuses variables with values that are not allowed, which are read again below.
    nodes = veo.library_info("soft")["devices"]
    files = _files()
    for node in nodes:
        for name, value in files.items():
            write_file(folder / f"ve{node}" / name, f"{value}\n")


def _files() -> dict[str, str | int]:
    arch = os.environ.get("VEO_SOFT_ARCH") or "1"
    model = "VE30" if arch == "3" else os.environ.get("VEO_SOFT_MODEL") or "VE10B"
    number, cores, clock, memory_clock, cache = _MODELS[model]
    return {
        "ve_arch_class": f"ve{arch}",
        "partitioning_mode": 0,
        "memory_size": max(_memory() >> 30, 1),
        "numa_mem_block_size": 0,
        "clock_chip": clock,
        "clock_base": clock,
        "clock_memory": memory_clock,
        "cache_l1d": 32,
        "cache_l1i": 32,
        "cache_l2": 256 if number < 3 else 512,
        "cache_llc": cache,
        "abi_version": 2,
        "fw_version": 0,
        "model": number,
        "type": 0,
        "cores_enable": f"{(1 << cores) - 1:x}",
    }


def _memory() -> int:
    """Return bytes of memory of a node: VEO_SOFT_MEMORY, or what the machine has."""
    text = os.environ.get("VEO_SOFT_MEMORY", "")
    if not text:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    unit = _UNITS.get(text[-1].upper(), 1)
    return int(text[:-1] if unit > 1 else text, 0) * unit


def _folder() -> Path:
    """Return a folder per set of values, so that programs beside each other do not share one."""
    values = [
        os.environ.get(f"VEO_SOFT_{name}", "") for name in ("NODES", "ARCH", "MODEL", "MEMORY")
    ]
    tree = SdkCommand("ve-sysfs", "", "nec", lambda _: "").folder(False)
    return tree / "sys" / "-".join(value or "default" for value in values)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ve-sysfs",
        usage="ve-sysfs [-h] PROGRAM [ARGUMENT...]",
        description="Run a host program that looks for Vector Engines in /sys/class/ve and"
        " /dev/veslotN, as VEDA's do: it finds those of the soft libveo. The files are in your data"
        f" folder, or in the folder that {_VARIABLE} names: what is there already is kept.",
        epilog="Example: VEORUN_UNDEFINED=call ve-sysfs ./program",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM", help="what to run")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command, which becomes the program.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        1 if the folder cannot be written, 127 or 126 if the program cannot be run.
    """
    parser = _parser()
    command = parser.parse_args(argv).command
    if not command:
        parser.error("PROGRAM is missing")
    if _DRIVER.exists():
        parser.error(f"{_DRIVER} exists: the program finds this machine's Vector Engines by itself")

    chosen = os.environ.get(_VARIABLE)
    folder = Path(os.path.abspath(chosen)) if chosen else _folder()
    try:
        if not chosen or not (folder / "ve0").exists():
            write_nodes(folder)
    except (OSError, RuntimeError, veo.VeoError) as error:
        print(f"ve-sysfs: error: cannot write {folder}: {error}", file=sys.stderr)
        return 1

    loaded = [str(_LIBRARY), *filter(None, [os.environ.get("LD_PRELOAD")])]
    environment = os.environ | {_VARIABLE: str(folder), "LD_PRELOAD": ":".join(loaded)}
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        print(f"ve-sysfs: error: cannot run {command[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


if __name__ == "__main__":
    sys.exit(main())
