#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# How gdb steps on a bare RISC-V core.
#
# Guess: a stub that offers vCont;s is asked for it by `stepi`.
# Seen: without an OS ABI in the target description gdb assumes GNU/Linux and steps in software: a
#   breakpoint at the next instruction (Z0), then vCont;c. With <osabi>none</osabi> it sends
#   vCont;s.
# Why it matters: simulators and soft cores that describe themselves as riscv:rv32 have their other
#   cores run on during a step, and fail where they cannot insert breakpoints.
# Versions: gdb-multiarch 13.1-3. Needs Debian 12 with the libraries of its gdb.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"
if ! grep -qs '^VERSION_ID="12"' /etc/os-release ||
    ! apt-get -qq download gdb-multiarch=13.1-3; then
    echo "needs Debian 12 and its package list (apt-get update)" >&2
    exit 2
fi
dpkg -x gdb-multiarch_*.deb .
if ldd usr/bin/gdb-multiarch | grep 'not found' >&2; then
    echo "needs the libraries of Debian's gdb (apt-get install gdb)" >&2
    exit 2
fi

cat > stub.py <<'P'
import re
import socket
import subprocess
import sys

NOP = "13000000"


class Core:
    """A core whose memory is full of nops, as gdb sees it."""

    def __init__(self, description):
        self.description, self.pc, self.stop, self.resumes = description, 0x1000, 0, []

    def answer(self, packet):
        fixed = {
            "vCont?": "vCont;c;C;s;S",
            "?": "T05thread:1;",
            "qC": "QC1",
            "qfThreadInfo": "m1",
            "qsThreadInfo": "l",
            "g": "0" * 256 + self.pc.to_bytes(4, "little").hex(),
        }
        if packet in fixed:
            return fixed[packet]
        if packet.startswith("qSupported"):
            return "PacketSize=4000;qXfer:features:read+;vContSupported+"
        if packet.startswith("qXfer:features:read:target.xml:0,"):
            return "l" + self.description
        if match := re.match(r"m(\w+),(\w+)", packet):
            start, size = (int(word, 16) for word in match.groups())
            return (NOP * (size + 1))[start % 4 * 2 :][: 2 * size]
        if match := re.match(r"Z0,(\w+)", packet):
            self.resumes.append("Z0")
            self.stop = int(match[1], 16)
            return "OK"
        if match := re.match(r"vCont;([cs])", packet):
            self.resumes.append(match[0])
            self.pc = self.pc + 4 if match[1] == "s" else self.stop
            return "T05thread:1;"
        return "OK" if packet[0] in "HTzD" else ""


def step(abi):
    core = Core(f'<target version="1.0"><architecture>riscv:rv32</architecture>{abi}</target>')
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        remote = f"target remote 127.0.0.1:{server.getsockname()[1]}"
        command = ["usr/bin/gdb-multiarch", "-nx", "-batch", "-ex", remote, "-ex", "stepi"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as gdb:
            link, _ = server.accept()
            with link:
                link.settimeout(30)
                text = ""
                while data := link.recv(4096).decode("latin-1"):
                    text += data
                    while match := re.search(r"\$([^#]+)#..", text):
                        text = text[match.end() :]
                        reply = core.answer(match[1])
                        link.sendall(f"+${reply}#{sum(reply.encode()) % 256:02x}".encode())
            gdb.wait(30)
    return core


for abi, wanted in (("", ["Z0", "vCont;c"]), ("<osabi>none</osabi>", ["vCont;s"])):
    core = step(abi)
    print(f"{abi or 'no OS ABI'}: stepi sends {core.resumes}, pc is then {core.pc:#x}")
    if core.resumes != wanted or core.pc != 0x1004:
        sys.exit("changed")
P
usr/bin/gdb-multiarch --version | head -n 1
timeout 90 "${PYTHON:-python3}" stub.py
