# SPDX-License-Identifier: BSD-3-Clause
"""Correct use of what the packages share; looked at by the type checker only."""

from __future__ import annotations

import array

import numpy as np

from offchip.buffer import Buffer
from offchip.errors import LibraryNotFoundError, OffchipError, RequestTimeoutError
from offchip.loader import Choice, LibrarySpec, choose
from offchip.request import PythonRequest, Request


class Countdown(PythonRequest):
    def __init__(self, count: int) -> None:
        self.count = count

    def poll(self) -> bool:
        self.count -= 1
        return self.count <= 0

    def outcome(self) -> str:
        return "done"


def show(request: Countdown) -> None:
    print(request.count)


async def wait_for(request: Request) -> object:
    return await request


def main() -> int:
    for obj in (b"x", bytearray(3), array.array("d"), memoryview(b""), np.zeros(3)):
        with Buffer(obj) as buffer:
            print(buffer.size + buffer.address, buffer.readonly)
    request = Countdown(3)
    request.add_done_callback(show)
    if not request.wait(0.5):
        print(request.exception(timeout=None))
    spec = LibrarySpec("veo", "VEO_LIBRARY", "/soft", ("/vendor", lambda: ["libveo.so.1"]), "veo")
    try:
        choice: Choice = choose(spec, explicit="soft")
    except (LibraryNotFoundError, RequestTimeoutError) as error:
        code: int | None = error.code
        print(code, error.function)
        raise OffchipError("no", code=1, name="n", function="f") from error
    return choice.devices or 0
