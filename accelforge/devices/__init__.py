# SPDX-License-Identifier: BSD-3-Clause
"""Architectures of the devices that the other packages are for.

Each function gives an `Arch`; the YAML files behind them, which say where every number comes from,
are in `FILES`, for use with `Spec.from_yaml` and its variables.

Programs on an accelerator take turns with the copies to and from it. The architectures have a
``HostMemory`` for these: a copy is an Einsum of its own (``is_copy_operation``), and Einsums come
one after the other. It holds the tensors whose names begin with ``Host``, and is not there for
other Einsums.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from accelforge.devices.figures import HostFigures
from accelforge.frontend.arch import Arch

__all__ = [
    "FILES",
    "VECTOR_ENGINES",
    "HostFigures",
    "calibrate",
    "fpga",
    "host",
    "host_ranks",
    "upmem_rank",
    "upmem_server",
    "vector_engine",
]

FILES: dict[str, Path] = {
    name: Path(__file__).with_name(f"{name}.yaml")
    for name in ("vector_engine", "upmem", "fpga", "host", "ranks")
}
"""The YAML file of each device."""

VECTOR_ENGINES = ("10A", "10B", "10C", "10AE", "10BE", "10CE", "20A", "20B")
"""The models of the Vector Engine."""

FPGAS = ("U280", "U55C")
SERVER_RANKS = 40


def _read(device: str, **variables: Any) -> Arch:
    return Arch.from_yaml(FILES[device], top_key="arch", **variables)


def vector_engine(model: str = "20B", *, bits: int = 64) -> Arch:
    """Return NEC's Vector Engine.

    Parameters
    ----------
    model : str
        One of `VECTOR_ENGINES`.
    bits : int
        The width of operands, 64, or 32 for packed arithmetic.
    """
    _check("model", model, VECTOR_ENGINES)
    _check("bits", bits, (32, 64))
    return _read("vector_engine", MODEL=model, BITS=bits)


def upmem_rank(
    *,
    dpus: int = 64,
    tasklets: int = 16,
    clock: float = 350e6,
    block: int = 1024,
    instructions: float | str = 6,
    dma_cycles: float = 0.544,
) -> Arch:
    """Return DPUs of a rank of UPMEM's DIMMs.

    Parameters
    ----------
    dpus : int
        Their number.
    tasklets : int
        Threads of each, 1 to 24.
    clock : float
        In Hz.
    block : int
        Bytes of a transfer between MRAM and WRAM. Smaller ones count as a part of one: the mapper
        has to be told that tiles in WRAM are no smaller, by ``tile_shape`` of its tensors.
    instructions : float or str
        Instructions of one compute. An expression can tell Einsums apart, by their tensors:
        ``4 if 'Z' in All else 9``.
    dma_cycles : float
        Cycles for a byte between MRAM and WRAM.
    """
    if not 1 <= tasklets <= 24:
        raise ValueError(f"a DPU has 1 to 24 tasklets, not {tasklets}")
    if not 8 <= block <= 2048 or block % 8:
        raise ValueError(f"a transfer has 8 to 2048 bytes, a multiple of 8, not {block}")
    return _read(
        "upmem",
        DPUS=dpus,
        TASKLETS=tasklets,
        CLOCK=clock,
        BLOCK=block,
        INSTRUCTIONS=instructions,
        DMA_CYCLES=dma_cycles,
    )


def upmem_server(*, ranks: int = SERVER_RANKS, **options: float | str) -> Arch:
    """Return a server with UPMEM's DIMMs, which has 20 of them, with two ranks each.

    Parameters
    ----------
    ranks : int
        Ranks of 64 DPUs.
    **options
        Those of `upmem_rank`, except ``dpus``.
    """
    return upmem_rank(dpus=64 * ranks, **options)  # type: ignore[arg-type]


def fpga(model: str = "U280", *, ranks: int = 2, bits: int = 32, latency: float = 0.0) -> Arch:
    """Return Alveo cards that ACCL connects at 100 Gb/s.

    Parameters
    ----------
    model : str
        ``U280`` or ``U55C``.
    ranks : int
        Their number.
    bits : int
        The width of operands: 8, 16, or 32 for float32.
    latency : float
        Seconds that each communication takes besides. None is published.
    """
    _check("model", model, FPGAS)
    _check("bits", bits, (8, 16, 32))
    return _read("fpga", MODEL=model, RANKS=ranks, BITS=bits, LATENCY=latency)


def calibrate() -> HostFigures:
    """Measure one core of this host, once for each process; it takes about a second.

    Three loops in C are timed: multiplication with addition in registers, loads, and stores, the
    last two in half of the first and of the second level of the cache, and in 64 MiB. They are
    compiled by `veo.VeBuild` and run in the worker of veo, as kernels are. The fastest of 25 runs
    counts, in processor time, and nothing is written to disk.

    Raises
    ------
    veo.VeoBuildError
        There is no C compiler.
    RuntimeError
        The library of VEO in use is NEC's.
    """
    from accelforge.devices.calibration import measure_host

    return measure_host()


def host(figures: HostFigures | None = None, *, unaligned: bool = False) -> Arch:
    """Return one core of this computer's processor.

    Parameters
    ----------
    figures : HostFigures, optional
        What was measured; by default that of `calibrate`.
    unaligned : bool
        Whether loads are from addresses that are no multiple of a vector, which takes longer.
    """
    figures = calibrate() if figures is None else figures
    variables = {name.upper(): value for name, value in figures._asdict().items()}
    return _read("host", UNALIGNED=unaligned, **variables)


def host_ranks(ranks: int, *, sync: float, link: float, add: float) -> Arch:
    """Return ranks of accl that share the memory of this host.

    Parameters
    ----------
    ranks : int
        How many.
    sync, link : float
        Seconds that ranks wait for each other in a call, and bytes per second of a transfer.
    add : float
        Bytes per second of one of two vectors of float32 that are added.
    """
    return _read("ranks", RANKS=ranks, SYNC=sync, LINK=link, ADD=add)


def _check(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is one of {', '.join(map(str, allowed))}, not {value!r}")
