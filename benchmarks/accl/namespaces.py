# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces as hosts: each has a network interface of its own, joined by a bridge.

A namespace lives as long as the process in it, which ends with this one. So nothing is left behind,
and no traffic leaves the namespaces that are made here.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

INTERFACE = "eth0"
TOOLS = ("ip", "unshare", "nsenter")
# Started as the launcher's remote shell: options, the address of a host, and a command.
AGENT = """#!{python}
import os, sys
words = sys.argv[1:]
while words and words[0].startswith("-"):
    words.pop(0)
inside = {inside}
os.execvp("nsenter", [*inside[words[0]], "sh", "-c", " ".join(words[1:])])
"""


def why_not() -> str | None:
    """Say why namespaces cannot be made here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"

    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not found: install iproute2 and util-linux"

    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True)
    return None if tried.returncode == 0 else tried.stderr.strip()


@dataclass(frozen=True)
class Host:
    """A namespace: its address, and the words before a command that runs in it."""

    address: str
    inside: tuple[str, ...]

    def run(self, *command: str) -> str:
        """Run a command in it; give what it prints."""
        done = subprocess.run([*self.inside, *command], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout


class Network:
    """Hosts with a connection to each other; make it with `network()`."""

    def __init__(self, hosts: list[Host], folder: Path) -> None:
        self.hosts = hosts
        self.agent = folder / "agent"
        inside = {host.address: list(host.inside) for host in hosts}
        self.agent.write_text(AGENT.format(python=sys.executable, inside=repr(inside)))
        self.agent.chmod(0o700)

    def limit_rate(self, rate: str) -> None:
        """Limit what each host sends, as ``tc`` writes rates: ``200mbit``."""
        for host in self.hosts:
            host.run(
                *("tc", "qdisc", "replace", "dev", INTERFACE, "root"),
                *("tbf", "rate", rate, "burst", "256kb", "latency", "100ms"),
            )

    def sent_bytes(self) -> list[int]:
        """Give what each host has sent so far."""
        shown = [host.run("ip", "-j", "-s", "link", "show", INTERFACE) for host in self.hosts]
        return [json.loads(text)[0]["stats64"]["tx"]["bytes"] for text in shown]

    def launcher(self, python: str, per_host: int) -> tuple[str, ...]:
        """Give the words of MPICH's launcher for ranks on all hosts, this one's first."""
        return (
            *self.hosts[0].inside,
            str(Path(python).parent / "mpiexec"),
            *("-iface", INTERFACE, "-launcher", "ssh", "-launcher-exec", str(self.agent)),
            *("-hosts", ",".join(host.address for host in self.hosts), "-ppn", str(per_host)),
        )


def _enter(stack: contextlib.ExitStack) -> tuple[int, tuple[str, ...]]:
    """Start a process in a new namespace; give its id, and what runs a command there."""
    keeper = stack.enter_context(
        subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo ready; exec cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    )
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    stack.callback(keeper.stdin.close)
    if keeper.stdout.readline() != b"ready\n":
        raise RuntimeError("unshare cannot make a network namespace")
    return keeper.pid, ("nsenter", "--target", str(keeper.pid), "--net")


@contextlib.contextmanager
def network(count: int, folder: Path) -> Iterator[Network]:
    """Make hosts, and the namespace of the bridge between them.

    Parameters
    ----------
    count : int
        How many.
    folder : Path
        Where the launcher's remote shell is put.
    """
    with contextlib.ExitStack() as stack:
        switch = Host("", _enter(stack)[1])
        switch.run("ip", "link", "add", "bridge", "type", "bridge")
        switch.run("ip", "link", "set", "bridge", "up")
        hosts = []
        for number in range(count):
            pid, inside = _enter(stack)
            host = Host(f"10.213.0.{number + 1}", inside)
            plug = f"plug{number}"
            switch.run(
                *("ip", "link", "add", plug, "type", "veth", "peer", "name", INTERFACE),
                *("netns", str(pid)),
            )
            switch.run("ip", "link", "set", plug, "master", "bridge", "up")
            host.run("ip", "addr", "add", f"{host.address}/24", "dev", INTERFACE)
            host.run("ip", "link", "set", INTERFACE, "up")
            host.run("ip", "link", "set", "lo", "up")
            hosts.append(host)

        yield Network(hosts, folder)
