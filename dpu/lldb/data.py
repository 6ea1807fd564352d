# SPDX-License-Identifier: BSD-3-Clause
"""Commands about values: variables, registers, memory."""

from __future__ import annotations

import re
import shlex
from typing import Any

from ..debugger.errors import DebuggerError
from ..debugger.expressions import evaluate
from ..debugger.values import Value, as_json, show
from . import printing
from .options import parse
from .session import Answer, Session

__all__ = ["DataCommands"]

_FORMATS = {"b": 1, "h": 2, "w": 4, "g": 8}
_MOST_BYTES = 1 << 16
_NO_VARIABLES = (
    "the program has no debug information of variables: compile it again with this "
    "dpu-upmem-dpurte-clang, or look at `register read` and `x`"
)


class DataCommands(Session):
    """Commands about values: variables, registers, memory."""

    def print(self, rest: str) -> Answer:
        """P EXPRESSION: the value of an expression; p/x in hexadecimal. It may assign."""
        hexadecimal = rest.startswith("/x")
        text = (rest[2:] if hexadecimal else rest).strip().removeprefix("--").strip()
        if not text:
            raise DebuggerError("print needs an expression")
        value = evaluate(text, self.live.frame())
        # A value that cannot be read is an error here.
        shown = show(value, hexadecimal=hexadecimal)
        data = {"type": value.type.name, "value": as_json(value)}
        return Answer(f"({value.type.name}) {shown}", data)

    def variables(self, rest: str) -> Answer:
        """Frame variable [NAME ...]: variables of the frame."""
        frame = self.live.frame()
        if rest:
            values = [(name, evaluate(name, frame)) for name in shlex.split(rest)]
            lines = [f"({value.type.name}) {name} = {show(value)}" for name, value in values]
            shown = [_named(name, value) for name, value in values]
            return Answer("\n".join(lines), {"variables": shown})
        if not frame.program.has_variables:
            raise DebuggerError(_NO_VARIABLES)
        entries = frame.variables()
        lines = [printing.variable_text(frame, entry) for entry in entries]
        shown = [printing.variable_json(frame, entry) for entry in entries]
        return Answer("\n".join(lines) or "no variables", {"variables": shown})

    def global_variables(self, rest: str) -> Answer:
        """Target variable [NAME ...]: variables outside functions."""
        frame = self.live.frame()
        if not rest and not frame.program.has_variables:
            raise DebuggerError(_NO_VARIABLES)
        names = shlex.split(rest) or sorted(frame.program.globals)
        values = [(name, evaluate(name, frame)) for name in names]
        lines = [f"({value.type.name}) {name} = {show(value)}" for name, value in values]
        data = {"variables": [_named(n, v) for n, v in values]}
        return Answer("\n".join(lines) or "no variables", data)

    def registers(self, rest: str) -> Answer:
        """Register read [NAME ...]: registers of the frame."""
        frame = self.live.frame()
        names = rest.split() or [*(f"r{n}" for n in range(24) if n in frame.registers), "pc"]
        values = {name: evaluate(f"${name.lstrip('$')}", frame).integer() for name in names}
        state = self.live.machine.thread(self.live.thread)
        text = "\n".join(f"{name:>4} = 0x{value:08x}  {value}" for name, value in values.items())
        flags = f"\n  flags: zero {int(state.zero)}, carry {int(state.carry)}" if not rest else ""
        return Answer(text + flags, {"registers": values})

    def write_register(self, rest: str) -> Answer:
        """Register write NAME VALUE: change a register."""
        name, _, text = rest.partition(" ")
        return self.print(f"${name.lstrip('$')} = {text}")

    def memory(self, rest: str) -> Answer:
        """x/COUNT[bhwg] EXPRESSION, memory read [-c COUNT] [-s SIZE] EXPRESSION."""
        options = parse(rest, valued=("-c", "-s", "-f"), ends_at_word=True)
        size, count = int(options.get("-s") or 4), int(options.get("-c") or 8)
        return self._dump(options.rest, size, count)

    def examine(self, rest: str) -> Answer:
        """x/COUNT[bhwg] EXPRESSION: memory from an address on."""
        match = re.match(r"/(\d*)([xdu]?)([bhwg]?)\s+", rest)
        size = _FORMATS.get(match[3], 4) if match else 4
        count = int(match[1] or 8) if match else 8
        return self._dump(rest[match.end() :] if match else rest, size, count)

    def _dump(self, text: str, size: int, count: int) -> Answer:
        if size not in _FORMATS.values() or not 0 < count * size <= _MOST_BYTES:
            raise DebuggerError(
                f"the size must be 1, 2, 4 or 8, and the whole at most {_MOST_BYTES}"
            )
        value = evaluate(text, self.live.frame())
        address = value.target() if value.type.target is not None else value.integer()
        data = self.live.machine.read(address, size * count)
        words = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
        rows = printing.hexdump(address, data, size)
        return Answer("\n".join(rows), {"address": address, "values": words})

    def write_memory(self, rest: str) -> Answer:
        """Memory write [-s SIZE] ADDRESS VALUE ...: change memory."""
        options = parse(rest, valued=("-s",))
        size, words = int(options.get("-s") or 1), options.words
        if len(words) < 2:
            raise DebuggerError("memory write needs an address and values")
        frame = self.live.frame()
        address = evaluate(words[0], frame).integer()
        data = b"".join(
            (evaluate(w, frame).integer() & (1 << 8 * size) - 1).to_bytes(size, "little")
            for w in words[1:]
        )
        self.live.machine.write(address, data)
        return Answer(f"{len(data)} bytes written")


def _named(name: str, value: Value) -> dict[str, Any]:
    return {"name": name, "type": value.type.name, "value": as_json(value)}
