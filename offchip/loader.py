# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the library of a package: a vendor's if there is a device, else the soft twin.

In this order: an explicit argument; the environment variable ``<PKG>_LIBRARY``, which holds a
path or one of the words ``vendor`` and ``soft``; the vendor's library, if it loads, has the
functions and the version that are needed, and finds a device; the soft twin. A vendor's library
is probed in a separate process, so that a broken one cannot crash this one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from offchip.errors import LibraryNotFoundError
from offchip.search import search_library

__all__ = ["Choice", "LibrarySpec", "ProbeResult", "Refused", "choose", "probe"]

PROBE_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "offchip-probe")
# A vendor's library may have to wake its device.
PROBE_LIMIT_S = 20.0

Candidate = str | Callable[[], Iterable[str]]


class LibrarySpec(NamedTuple):
    """Parameters of the search for a package's library.

    Parameters
    ----------
    package : str
        Import name, also the name of the logger.
    env_var : str
        Environment variable for the user's choice.
    soft_path : str
        The soft twin.
    vendor_candidates : tuple
        Where the vendor's library may be: paths, names without a slash that the dynamic loader
        searches for, or functions that list either.
    probe : str
        The name of this library for ``offchip-probe``.
    """

    package: str
    env_var: str
    soft_path: str
    vendor_candidates: tuple[Candidate, ...]
    probe: str


class Refused(NamedTuple):
    """A candidate that was rejected, and why."""

    path: str
    found_via: str
    reason: str


class Choice(NamedTuple):
    """The library to load, and how it was chosen.

    Parameters
    ----------
    path : str
        Absolute path of the file to load.
    kind : str
        ``vendor`` (found where vendors install it), ``soft`` (the twin, wherever it was found) or
        ``path`` (another library, given by its path).
    found_via : str
        A description.
    version, api_version, devices : str, int, int or None
        From the probe; None for the twin that comes with the package, which is not probed.
    refused : tuple of Refused
        The candidates before it.
    """

    path: str
    kind: str
    found_via: str
    version: str | None
    api_version: int | None
    devices: int | None
    refused: tuple[Refused, ...]


class ProbeResult(NamedTuple):
    """Report of ``offchip-probe`` about a library.

    `error` says why it cannot be used (`ok` is False) or why it has no device.
    """

    ok: bool
    soft: bool
    path: str
    api_version: int | None
    version: str | None
    missing: tuple[str, ...]
    devices: int | None
    error: str | None


def probe(name: str, path: str, *, limit: float = PROBE_LIMIT_S) -> ProbeResult:
    """Examine a library in a separate process.

    Parameters
    ----------
    name : str
        The kind of library, ``veo``.
    path : str
        Its file.
    limit : float
        Timeout in seconds.
    """
    import json
    import subprocess

    def failed(reason: str) -> ProbeResult:
        return ProbeResult(False, False, path, None, None, (), None, reason)

    try:
        done = subprocess.run(
            [PROBE_PATH, name, path],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return failed(f"the probe timed out after {limit:g} s")
    except OSError as error:
        return failed(f"cannot run the probe {PROBE_PATH}: {error.strerror}")
    if done.returncode < 0:
        return failed(f"the probe crashed in it ({_signal_name(-done.returncode)})")
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        text = done.stderr.decode(errors="replace").strip().splitlines()
        last = f": {text[-1]}" if text else ""
        return failed(f"it ended the probe (status {done.returncode}{last})")
    answer["missing"] = tuple(answer["missing"])
    answer["path"] = answer["path"] or path
    return ProbeResult(**answer)


def _signal_name(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def choose(spec: LibrarySpec, explicit: str | os.PathLike[str] | None = None) -> Choice:
    """Find the library to use.

    Parameters
    ----------
    spec : LibrarySpec
        The package's.
    explicit : str or path, optional
        ``vendor``, ``soft``, a path, or a name for the dynamic loader's search; None uses
        the environment variable, and then the first usable candidate.

    Raises
    ------
    LibraryNotFoundError
        The requested library cannot be used, or none was found. The message lists every candidate
        with the reason.
    """
    asked, asked_via = explicit, "argument"
    if asked is None and os.environ.get(spec.env_var):
        asked, asked_via = os.environ[spec.env_var], spec.env_var
    if asked is None:
        choice = _choose_automatically(spec)
    else:
        choice = _choose_asked(spec, asked, asked_via)
    _log(spec, choice)
    return choice


def _choose_automatically(spec: LibrarySpec) -> Choice:
    refused: list[Refused] = []
    choice = _try_vendor(spec, refused, prefix="")
    if choice is None:
        choice = _try_soft(spec, refused, "comes with the package")
    if choice is None:
        raise _not_found(spec, "no library was found", refused)
    return choice


def _choose_asked(spec: LibrarySpec, asked: str | os.PathLike[str], via: str) -> Choice:
    refused: list[Refused] = []
    if asked == "soft":
        choice = _try_soft(spec, refused, f"{via}: soft")
    elif asked == "vendor":
        choice = _try_vendor(spec, refused, prefix=f"{via}: vendor, ")
    else:
        choice = _try_path(spec, asked, via, refused)
    if choice is None:
        shown = os.fspath(asked)
        raise _not_found(spec, f"{shown!r}, requested by {via}, cannot be used", refused)
    return choice


def _try_vendor(spec: LibrarySpec, refused: list[Refused], *, prefix: str) -> Choice | None:
    seen = set()
    for name in _expand(spec.vendor_candidates):
        if "/" in name:
            path, via = name, "vendor's place"
        else:
            found = search_library(name)
            if found is None:
                refused.append(Refused(name, f"{prefix}search", "the dynamic loader finds none"))
                continue
            path, via = found
        path, via = os.path.abspath(path), prefix + via
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        if not os.path.exists(path):
            refused.append(Refused(path, via, "there is no such file"))
            continue
        if real == os.path.realpath(spec.soft_path):
            refused.append(Refused(path, via, "it is the soft twin, not the vendor's library"))
            continue
        result = probe(spec.probe, path)
        if result.soft:
            reason = "it is a soft twin, not the vendor's library"
        elif not result.ok or not result.devices:
            reason = result.error or "it finds no device"
        else:
            return _made(result, path, "vendor", via, refused)
        refused.append(Refused(path, via, reason))
    return None


def _try_soft(spec: LibrarySpec, refused: list[Refused], via: str) -> Choice | None:
    path = os.path.abspath(spec.soft_path)
    if os.path.exists(path):
        return Choice(path, "soft", via, None, None, None, tuple(refused))
    refused.append(Refused(path, via, "there is no such file; is the package built?"))
    return None


def _try_path(
    spec: LibrarySpec, asked: str | os.PathLike[str], via: str, refused: list[Refused]
) -> Choice | None:
    name = os.fspath(asked)
    if isinstance(asked, str) and "/" not in name:
        found = search_library(name)
        if found is None:
            reason = f"the dynamic loader finds no such library (a path has a slash: ./{name})"
            refused.append(Refused(name, via, reason))
            return None
        name, via = found[0], f"{via}, {found[1]}"

    path = os.path.abspath(os.path.expanduser(name))
    if not os.path.exists(path):
        refused.append(Refused(path, via, "there is no such file"))
        return None

    # It is used even without a device: a user who gives a path may know more than the probe.
    result = probe(spec.probe, path)
    if result.ok:
        return _made(result, path, "soft" if result.soft else "path", via, refused)
    refused.append(Refused(path, via, result.error or "it cannot be used"))
    return None


def _made(
    result: ProbeResult, path: str, kind: str, via: str, refused: Iterable[Refused]
) -> Choice:
    version, api_version, devices = result.version, result.api_version, result.devices
    return Choice(path, kind, via, version, api_version, devices, tuple(refused))


def _expand(candidates: Iterable[Candidate]) -> Iterable[str]:
    for candidate in candidates:
        if isinstance(candidate, str):
            yield candidate
        else:
            yield from candidate()


def _not_found(spec: LibrarySpec, what: str, refused: Iterable[Refused]) -> LibraryNotFoundError:
    lines = [f"{spec.package}: {what}."]
    lines += [f"  {item.path} ({item.found_via}): {item.reason}" for item in refused]
    lines.append(f"Set {spec.env_var} to a path, to 'vendor' or to 'soft', or unset it.")
    return LibraryNotFoundError("\n".join(lines), name=spec.package)


def _log(spec: LibrarySpec, choice: Choice) -> None:
    # If the module is not loaded, logging is not configured.
    logging = sys.modules.get("logging")
    if logging is None:
        return
    why = "; ".join(f"not {item.path}: {item.reason}" for item in choice.refused)
    logging.getLogger(spec.package).info(
        "%s uses the %s library %s (%s)%s",
        spec.package,
        "given" if choice.kind == "path" else choice.kind,
        choice.path,
        choice.found_via,
        f"; {why}" if why else "",
    )
