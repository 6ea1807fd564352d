# SPDX-License-Identifier: BSD-3-Clause
"""The gdb server: a small client debugs a kernel, and nonsense does no harm."""

from __future__ import annotations

import random
import re
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dpu import _isa
from dpu.debugger.errors import DebuggerError
from dpu.elf.program import ProgramFile
from dpu.gdb.packets import LONGEST, PacketError, PacketReader, escape, frame
from dpu.gdb.server import listen
from dpu.isa import FORMS_BY_NAME
from tests.dpu.reference.pairing import SEED


class GdbClient:
    """As much of gdb as the tests need."""

    def __init__(self, place: str) -> None:
        if place.startswith("/"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(30)
            self.socket.connect(place)
        else:
            self.socket = socket.create_connection(("127.0.0.1", int(place)), timeout=30)
        self.data = b""

    def send(self, packet: str) -> None:
        self.socket.sendall(frame(packet.encode("latin-1")))

    def receive(self) -> str:
        while self.data.count(b"#") == 0 or len(self.data) < self.data.index(b"#") + 3:
            part = self.socket.recv(4096)
            if not part:
                raise EOFError
            self.data += part
        end = self.data.index(b"#")
        packet = self.data[self.data.index(b"$") + 1 : end]
        self.data = self.data[end + 3 :]
        # After the answer to a detach the server may be gone.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(b"+")
        return packet.decode("latin-1")

    def ask(self, packet: str) -> str:
        self.send(packet)
        return self.receive()


@pytest.fixture
def connect(kernel: Callable[..., Path], tmp_path: Path) -> Iterator[Callable[[], GdbClient]]:
    """Start the server, and connect to it."""
    place = str(tmp_path / "gdb")
    command = [sys.executable, "-P", "-m", "dpu.gdb", "--listen", place, str(kernel())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == f"listening at {place}\n"
        clients: list[GdbClient] = []

        def make() -> GdbClient:
            clients.append(GdbClient(place))
            return clients[-1]

        yield make
        for client in clients:
            client.socket.close()
        if not clients:
            server.terminate()
        server.wait(30)
    assert not Path(place).exists()


def word(text: str) -> int:
    return int.from_bytes(bytes.fromhex(text), "little")


def test_a_session(connect: Callable[[], GdbClient], kernel: Callable[..., Path]) -> None:
    gdb, program = connect(), ProgramFile(kernel().read_bytes())
    assert "QStartNoAckMode+" in gdb.ask("qSupported:swbreak+")
    assert gdb.ask("?").startswith("T05thread:1;")
    assert gdb.ask("qfThreadInfo") == "m1"
    place = (program.symbol("sum").value - 0x80000000) // 8
    assert gdb.ask(f"Z0,{place:x},4") == "OK"
    assert gdb.ask("vCont;c") == "T05thread:1;swbreak:;"
    assert gdb.ask("qfThreadInfo") == "m1,2"
    registers = gdb.ask("g")
    assert word(registers[8 * 32 : 8 * 33]) == place
    # The second argument, in a1, is `count`.
    assert word(registers[8 * 11 : 8 * 12]) == word(gdb.ask("pb")) == 8
    assert word(gdb.ask("p21")) == word(registers[8 * 11 : 8 * 12])
    count = program.symbol("count").value
    assert word(gdb.ask(f"m{count:x},4")) == 8
    assert gdb.ask(f"M{count:x},4:09000000") == "OK"
    assert word(gdb.ask(f"m{count:x},4")) == 9
    data = escape(b"#$}*").decode("latin-1")
    assert gdb.ask(f"X8000020,4:{data}") == "OK"
    assert bytes.fromhex(gdb.ask("m8000020,4")) == b"#$}*"
    assert gdb.ask("vCont;c") == "T05thread:2;swbreak:;"
    assert gdb.ask("Hg2") == "OK"
    assert word(gdb.ask("p20")) == place
    assert gdb.ask("vCont;s:2").startswith("T05thread:2;")
    assert word(gdb.ask("p20")) == place + 1
    assert gdb.ask("vCont;s:1;c").startswith("T05thread:1;")
    assert gdb.ask(f"z0,{place:x},4") == "OK"
    total = program.symbol("totals").value
    assert gdb.ask(f"Z2,{total:x},8") == "OK"
    assert gdb.ask("vCont;c").endswith(f"watch:{total:x};")
    assert gdb.ask(f"z2,{total:x},8") == "OK"
    assert gdb.ask("c") == "W00"


def test_registers_are_described(connect: Callable[[], GdbClient]) -> None:
    gdb = connect()
    text, part = "", "m"
    while part.startswith("m"):
        part = gdb.ask(f"qXfer:features:read:target.xml:{len(text):x},400")
        text += part[1:]
    registers = ElementTree.fromstring(text).findall(".//reg")
    assert len(registers) == len(gdb.ask("g")) // 8
    names = [register.get("name") for register in registers]
    assert len(set(names)) == len(names) and {"pc", "sp", "a0", "r23"} <= set(names)
    assert gdb.ask("P22=78563412") == "OK"
    assert word(gdb.ask("p22")) == 0x12345678
    assert word(gdb.ask("pa")) == word(gdb.ask("p22"))
    assert gdb.ask("P16=00000000") == "OK"


WRONG = [
    *("m", "m1", "mzz,1", "m10000,4", "mffffffff,ffffffff", "M0,4:00", "M0,4:zz", "G00", "p999"),
    *("P1", "P0=1", "Z0,99999999,4", "Z9", "Z2,ffffff,4", "Hg99", "Tff", "vCont;x", "vCont;s:63"),
    *("X0,4:1", "X0,1:}", "qXfer:features:read:target.xml:z", "qRcmd,zz", "c100", "H"),
]


def test_wrong_packets_are_errors(connect: Callable[[], GdbClient]) -> None:
    gdb = connect()
    answers = {packet: gdb.ask(packet)[:1] for packet in WRONG}
    assert answers == dict.fromkeys(WRONG, "E")
    assert gdb.ask("?").startswith("T05")


def test_unknown_packets_have_empty_answers(connect: Callable[[], GdbClient]) -> None:
    gdb = connect()
    for packet in ("vMustReplyEmpty", "!", "qTStatus", "Z7,0,0", "\xff\xfe"):
        assert gdb.ask(packet) in ("", "E01")


def test_a_checksum_is_checked(connect: Callable[[], GdbClient]) -> None:
    gdb = connect()
    gdb.socket.sendall(b"$?#00")
    assert gdb.socket.recv(1) == b"-"
    assert gdb.ask("?").startswith("T05")


def test_an_interrupt_stops_the_program(
    connect: Callable[[], GdbClient], kernel: Callable[..., Path]
) -> None:
    gdb, program = connect(), ProgramFile(kernel().read_bytes())
    main = (program.symbol("main").value - 0x80000000) // 8
    assert gdb.ask(f"Z0,{main:x},4") == "OK"
    assert gdb.ask("c").startswith("T05")
    assert gdb.ask(f"z0,{main:x},4") == "OK"
    # A jump to itself.
    loop = program.symbol("main").value
    assert gdb.ask(f"M{loop:x},8:{_jump_to(main).to_bytes(8, 'little').hex()}") == "OK"
    gdb.send("vCont;c")
    gdb.socket.sendall(b"\x03")
    assert gdb.receive().startswith("T02")


def _jump_to(index: int) -> int:
    found = _isa.encode(FORMS_BY_NAME["call:zri"].index, [0, 24, index])
    assert found is not None
    return int(found)


def test_nonsense_does_no_harm(connect: Callable[[], GdbClient]) -> None:
    rng = random.Random(f"{SEED} nonsense")
    print(f"seed {SEED}")
    gdb = connect()
    letters = "?gGpPmMXZzHTqvQ;,:=0123456789abcdef$#}*cs"
    for _ in range(300):
        packet = "".join(rng.choice(letters) for _ in range(rng.randrange(12)))
        if packet[:1] not in ("k", "D") and not packet.startswith(("vKill", "c", "s")):
            gdb.ask(packet.replace("$", "").replace("#", "").replace("}", ""))
    assert gdb.ask("?")[0] in "TW"


def test_packets_that_are_too_long_end_the_session(connect: Callable[[], GdbClient]) -> None:
    gdb = connect()
    gdb.socket.sendall(b"$" + b"m" * (LONGEST + 8192))
    with pytest.raises((EOFError, ConnectionResetError, BrokenPipeError)):
        gdb.ask("?")


def test_the_reader_splits_packets() -> None:
    reader = PacketReader()
    data = b"+$abc#26\x03$x#00-" + frame(b"") + b"$y"
    found = [packet for byte in data for packet in reader.feed(bytes([byte]))]
    assert found == [(b"abc", True), (b"\x03", True), (b"x", False), (b"", True)]
    with pytest.raises(PacketError):
        list(reader.feed(b"z" * (LONGEST + 1)))


@contextmanager
def serve(
    kernel: Callable[..., Path], *options: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start the server with these options; give the place that it listens at."""
    command = [sys.executable, "-P", "-m", "dpu.gdb", *options, str(kernel())]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().removeprefix("listening at ").rstrip("\n"), server
        finally:
            server.terminate()


def test_the_server_listens_for_its_user_alone(kernel: Callable[..., Path]) -> None:
    with serve(kernel) as (place, server):
        folder = Path(place).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(Path(place).stat().st_mode) == 0o600
        gdb = GdbClient(place)
        assert gdb.ask("D") == "OK"
        assert server.communicate(timeout=30)[1] == "" and server.returncode == 0
        gdb.socket.close()
    assert not folder.exists()


def test_a_port_is_opened_with_a_warning(kernel: Callable[..., Path]) -> None:
    with serve(kernel, "--listen", "0") as (place, server):
        gdb = GdbClient(place.removeprefix("localhost:"))
        assert gdb.ask("D") == "OK"
        said = server.communicate(timeout=30)[1]
        gdb.socket.close()
    assert "warning: every user of this machine can connect to the port" in said


def test_gdb_steps_by_instructions(kernel: Callable[..., Path]) -> None:
    names = ("gdb-multiarch", "riscv64-unknown-elf-gdb", "riscv32-unknown-elf-gdb")
    gdb = next(filter(None, map(shutil.which, names)), None)
    if gdb is None:
        pytest.skip(f"no gdb for RISC-V: none of {', '.join(names)} is on PATH")
    with serve(kernel) as (place, server):
        commands = [f"target remote {place}", "stepi", "stepi", "p/x $pc", "detach"]
        words = [word for command in commands for word in ("-ex", command)]
        done = subprocess.run(
            [gdb, "-nx", "-batch", *words], capture_output=True, text=True, timeout=60
        )
        server.communicate(timeout=30)
    assert "Cannot insert breakpoint" not in done.stdout + done.stderr
    assert re.search(r"^\$1 = 0x[1-9a-f]", done.stdout, re.M), done.stdout + done.stderr


@pytest.mark.parametrize("place", ["0.0.0.0:1234", "example.org:1", "99999", "/nowhere/x/y"])
def test_the_server_listens_on_this_machine_only(place: str) -> None:
    with pytest.raises(DebuggerError):
        listen(place)
