# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes that the type checker must find, each on a line of its own."""

from __future__ import annotations

from offchip.buffer import Buffer
from offchip.errors import OffchipError
from offchip.loader import Choice
from offchip.request import Request

Buffer("text")  # mistake
Buffer(b"x", True)  # mistake
OffchipError("no", 3)  # mistake
OffchipError(code=1).code + 1  # mistake
Request().wait("1")  # mistake
Request().add_done_callback(lambda: None)  # mistake
Request().set_result(1)  # mistake


def devices(choice: Choice) -> int:
    return choice.devices  # mistake


class Sub(Buffer):  # mistake
    pass
