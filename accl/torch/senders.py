# SPDX-License-Identifier: BSD-3-Clause
"""The ranks that have sent a message, for receives that name none."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from accl.errors import ACCLPeerError, ACCLReceiveTimeoutError

if TYPE_CHECKING:
    from accl._handle import ACCLHandle
    from accl.accl import accl

__all__ = ["Senders"]

# Of the engine's text.
_GONE = re.compile(r"^rank (\d+) (has closed its device|has died|is lost.*)$", re.M)

SHORTEST_PAUSE, LONGEST_PAUSE = 50e-6, 2e-3
GONE_AFTER = 0.05


class Senders:
    """The other ranks of a group, and what of theirs waits to be received.

    Parameters
    ----------
    device : accl
        Receives the messages.
    rank : int
        This rank.
    size : int
        The number of ranks.
    """

    def __init__(self, device: accl, rank: int, size: int) -> None:
        self._control = device._control
        self._rank, self._size = rank, size
        self._last = rank
        self._named: dict[int, ACCLHandle] = {}

    def take_from(self, rank: int, handle: ACCLHandle) -> None:
        """Note a receive that names its rank: until it ends, that rank's messages are for it."""
        self._named[rank] = handle

    def close(self) -> None:
        """Forget receives, which keep the device's memory."""
        self._named.clear()

    def wait(self, tag: int, limit: float) -> int:
        """Wait until a rank's next message has a tag, and return that rank.

        Parameters
        ----------
        tag : int
            The tag.
        limit : float
            How long, in seconds.
        """
        started, pause = time.monotonic(), SHORTEST_PAUSE
        looked = started
        while (found := self._find(tag)) is None:
            now = time.monotonic()
            if now - looked > GONE_AFTER:
                looked = now
                self._check()
            if now - started > limit:
                raise ACCLReceiveTimeoutError(
                    f"recv: no rank sent a message with tag {tag} within the timeout of {limit:g} s"
                )
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        self._last = found
        return found

    def _find(self, tag: int) -> int | None:
        """Return the next rank in turn that has sent one."""
        tags = self._control.next_tags(self._size)
        for step in range(1, self._size + 1):
            rank = (self._last + step) % self._size
            if tags[rank] == tag and not self._is_named(rank):
                return rank
        return None

    def _is_named(self, rank: int) -> bool:
        handle = self._named.get(rank)
        return handle is not None and not handle.done()

    def _check(self) -> None:
        """Raise an error if nobody is left who could send."""
        gone = dict(_GONE.findall(self._control.dump("waits")))
        if len(gone.keys() - {str(self._rank)}) == self._size - 1:
            text = ", ".join(f"rank {rank} {what}" for rank, what in gone.items())
            raise ACCLPeerError(f"recv: nobody is left who could send a message: {text}")
