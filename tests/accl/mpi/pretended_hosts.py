# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of one machine that count as on several hosts.

The variable ``ACCL_TEST_HOSTS`` names the host of each rank by one character: ``aabb`` are two
hosts of two ranks each, ``abab`` the same two in turns. Without it all ranks are where they are.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["block", "pretend_hosts", "turns"]

VARIABLE = "ACCL_TEST_HOSTS"
NAMES = "abcdefghijklmnopqrstuvwxyz"


def block(hosts: int, each: int) -> str:
    """Name hosts whose ranks follow each other."""
    return "".join(NAMES[host] * each for host in range(hosts))


def turns(hosts: int, each: int) -> str:
    """Name hosts that take turns."""
    return NAMES[:hosts] * each


def pretend_hosts(comm: MPI.Comm) -> None:
    """Put this rank on its host, before `accl.from_comm()`."""
    hosts = os.environ.get(VARIABLE)
    if hosts:
        assert len(hosts) == comm.size, f"{VARIABLE} is {hosts}, for {comm.size} ranks"
        os.environ["ACCL_HOST"] = hosts[comm.rank]
