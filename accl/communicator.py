# SPDX-License-Identifier: BSD-3-Clause
"""Communicators: ordered sets of ranks, as described in exchange memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

__all__ = ["ACCLCommunicator"]

# A rank without a session yet.
NO_SESSION = 0xFFFF_FFFF
NEEDED = ("ip", "port", "max_segment_size")


class _Registers(Protocol):
    def read(self, offset: int, /) -> int: ...
    def write(self, offset: int, val: int, /) -> Any: ...


class ACCLCommunicator:
    """An ordered set of ranks.

    Parameters
    ----------
    ranks : sequence of mappings
        One per rank, with ``ip`` (dotted), ``port``, ``max_segment_size`` and optionally
        ``session_id``. They are copied.
    local_rank : int
        The rank of this instance.
    index : int
        Its number among the communicators of the instance.
    mmio : object
        The exchange memory: ``read(offset)`` and ``write(offset, value)``.

    Attributes
    ----------
    exchmem_addr : int or None
        Its address in exchange memory.
    freed : bool
        Whether it was freed.
    global_ranks : tuple of int
        The ranks' numbers in the communicator that this one was split from.
    """

    def __init__(
        self, ranks: Sequence[Mapping[str, Any]], local_rank: int, index: int, mmio: _Registers
    ) -> None:
        if not 0 <= local_rank < len(ranks):
            raise ValueError(f"local_rank is {local_rank}, but there are {len(ranks)} ranks")

        for number, rank in enumerate(ranks):
            missing = [key for key in NEEDED if key not in rank]
            if missing:
                raise ValueError(f"rank {number} has no {', '.join(missing)}: {dict(rank)}")

        self.mmio = mmio
        self.exchmem_addr: int | None = None
        self.ranks: list[dict[str, Any]] = [dict(rank) for rank in ranks]
        self.local_rank = local_rank
        self.index = index
        self.freed = False
        self.global_ranks = tuple(range(len(ranks)))

    def __str__(self) -> str:
        lines = [
            f"Communicator {self.index} at address {self.exchmem_addr}, "
            f"rank {self.local_rank} of {len(self.ranks)}:"
        ]
        lines += [
            f"Rank {number} -> IP: {rank['ip']}, Port: {rank['port']}, "
            f"Session: {rank.get('session_id', NO_SESSION)}, "
            f"SegSize: {rank['max_segment_size']}, "
            f"ISeq: {rank.get('inbound_seq_number', 0)}, "
            f"OSeq: {rank.get('outbound_seq_number', 0)}"
            for number, rank in enumerate(self.ranks)
            if number != self.local_rank
        ]
        return "\n".join(lines) + "\n"

    @property
    def addr(self) -> int:
        """Its address in exchange memory."""
        assert self.exchmem_addr is not None, "the communicator is not written yet"
        return self.exchmem_addr

    def words(self) -> list[int]:
        """Return the words that describe it in exchange memory."""
        from ipaddress import IPv4Address

        words = [len(self.ranks), self.local_rank]
        for rank in self.ranks:
            words += [
                int(IPv4Address(rank["ip"])),
                int(rank["port"]),
                0,
                0,
                int(rank.get("session_id", NO_SESSION)),
                int(rank["max_segment_size"]),
            ]
        return words

    def write(self, addr: int) -> int:
        """Write it into exchange memory, with sequence numbers of 0.

        Parameters
        ----------
        addr : int
            Start address.

        Returns
        -------
        int
            The address after it.
        """
        self.exchmem_addr = addr
        for word in self.words():
            self.mmio.write(addr, word)
            addr += 4
        return addr

    def readback(self) -> None:
        """Read it again from exchange memory, in particular its sequence numbers."""
        ask = getattr(self.mmio, "communicator_ranks", None)
        if ask is not None:
            # The engine has the current ones, and exchange memory may have no room for them.
            for rank, news in zip(self.ranks, ask(self.index, len(self.ranks)), strict=True):
                rank.update(news)
            return

        import logging
        from ipaddress import IPv4Address

        addr = self.addr
        count = self.mmio.read(addr)
        logging.getLogger("accl").info(
            "communicator %d read back: rank %d of %d", self.index, self.mmio.read(addr + 4), count
        )
        for number, rank in enumerate(self.ranks[:count]):
            base = addr + 8 + 24 * number
            ip, port, inbound, outbound, session, size = (
                self.mmio.read(base + 4 * i) for i in range(6)
            )
            rank.update(
                ip=str(IPv4Address(ip)),
                port=port,
                inbound_seq_number=inbound,
                outbound_seq_number=outbound,
                session_id=session,
                max_segment_size=size,
            )

    def split(self, indices: Iterable[int], index: int | None = None) -> ACCLCommunicator:
        """Make a communicator from some of the ranks.

        Parameters
        ----------
        indices : iterable of int
            Its ranks in this one, which are sorted without duplicates. This rank must be among
            them.
        index : int, optional
            The number of the new one; None for the next after this one's.
        """
        chosen = sorted(set(indices))
        beyond = [number for number in chosen if not 0 <= number < len(self.ranks)]
        if beyond:
            raise ValueError(f"there are {len(self.ranks)} ranks, and no rank {beyond[0]}")

        assert self.local_rank in chosen, "Local rank must be part of the new communicator"
        made = ACCLCommunicator(
            [self.ranks[number] for number in chosen],
            chosen.index(self.local_rank),
            self.index + 1 if index is None else index,
            self.mmio,
        )
        for rank in made.ranks:
            rank.update(inbound_seq_number=0, outbound_seq_number=0)

        made.global_ranks = tuple(self.global_ranks[number] for number in chosen)
        return made
