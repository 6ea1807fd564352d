# SPDX-License-Identifier: BSD-3-Clause
"""Describes the devices of a library: hardware, or what the soft twin replaces it with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["describe_devices"]

# The name of a package's device, and what its soft twin uses instead.
HARDWARE = {"veo": "Vector Engine", "dpu": "DPU rank", "accl": "FPGA board"}
SOFT = {
    "veo": "none needed: kernels are compiled for this host and run in a worker process",
    "dpu": "none needed: simulates up to 2,560 DPUs (40 ranks of 64; DPU_SOFT_RANKS changes it)",
    "accl": "none needed: ranks on one host share memory, MPI connects hosts",
}


def describe_devices(package: str, library: Mapping[str, Any]) -> str:
    """Describe what programs run on.

    Parameters
    ----------
    package : str
        Import name: veo, dpu or accl.
    library : mapping
        The package's ``library_info()``, of which ``kind`` and ``devices`` are used. The latter is
        a number of devices, a list of their numbers, or None if it is not known.

    Returns
    -------
    str
        One line.
    """
    if library["kind"] == "soft":
        return SOFT[package]
    devices = library["devices"]
    if devices is None:
        return "unknown"
    count = devices if isinstance(devices, int) else len(devices)
    text = f"{count} {HARDWARE[package]}{'' if count == 1 else 's'}"
    if isinstance(devices, int) or not devices:
        return text
    return f"{text} (number {', '.join(map(str, devices))})"
