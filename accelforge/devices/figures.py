# SPDX-License-Identifier: BSD-3-Clause
"""Figures of one core of a host: its work in a second, and its caches."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["HostFigures"]


class HostFigures(NamedTuple):
    """Results of `calibrate`: one thread, doubles, the fastest of 25 runs, in processor time.

    Parameters
    ----------
    fma : float
        Multiplications with addition in registers, per second.
    l1_size, l2_size : int
        Bytes, as the kernel tells them.
    l1_read, l1_write : float
        Bytes per second that are loaded and stored, of as much as half of the level.
    l2_read, l2_write : float
        The same for the second level.
    memory_read, memory_write : float
        The same for 64 MiB, which is what lies beyond the second level; a store loads the line
        first.
    l1_read_unaligned : float
        The same as `l1_read`, from addresses that are no multiple of a vector.
    vector_bytes : int
        Of a vector register.
    """

    fma: float
    l1_size: int
    l2_size: int
    l1_read: float
    l1_write: float
    l2_read: float
    l2_write: float
    memory_read: float
    memory_write: float
    l1_read_unaligned: float
    vector_bytes: int
