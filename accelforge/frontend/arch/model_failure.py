# SPDX-License-Identifier: BSD-3-Clause
"""Says in one line why a component model gave no costs, and when its numbers jump."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterable
from typing import Any

from accelforge.util.exceptions import EvaluationError

__all__ = ["explain_failure", "explain_missing", "warn_of_node"]

NEEDED_PYTHON = (3, 12)
# Nodes that CACTI knows, in nanometres; others are scaled from the first one.
CACTI_NODES = (22, 90)
INSTALL = "pip install 'offchip[forge-components]' (in a checkout: '.[forge-components]')"
MOST_OF_LOG = 64 << 10
MOST_SHOWN = 300


def explain_missing(name: str, wanted: str) -> str:
    """Say that hwcomponents is not installed, and that we have no model of that name either.

    Parameters
    ----------
    name : str
        The component's class.
    wanted : str
        The field that it would give.
    """
    from accelforge.component_models import CLASSES

    needs = ""
    if sys.version_info < NEEDED_PYTHON:
        needs = " (it needs Python 3.12, and this is {}.{})".format(*sys.version_info)
    return (
        f"{wanted} is not given, and only a model of hwcomponents could give it for the class "
        f"{name}, but hwcomponents is not installed{needs}{_near(name, CLASSES)}. Give "
        f"{wanted} as a number, use component_class: Dummy for no costs, or type: {INSTALL}"
    )


def warn_of_node(component: str, model: Any) -> None:
    """Warn if a model takes its numbers from another node than asked for.

    Parameters
    ----------
    component : str
        Its name.
    model : object
        The model, which may be CACTI's or have one in it.
    """
    scaling = getattr(model, "scaling", "")
    if scaling:
        warnings.warn(f"{component}: {scaling}", stacklevel=2)
    for part in (model, *getattr(model, "__dict__", {}).values()):
        node = getattr(part, "tech_node", None)
        if not type(part).__module__.startswith("hwcomponents_cacti") or node is None:
            continue
        first, last = CACTI_NODES
        if not first <= node <= last:
            warnings.warn(
                f"{component}: CACTI has nodes of {first} to {last} nm. The numbers for "
                f"{node:.17g} nm are scaled from {first} nm: a sweep over nodes jumps there",
                stacklevel=2,
            )
            return


def explain_failure(name: str, error: Exception, own: bool = False) -> EvaluationError:
    """Make an error of one line of what a model raised.

    Parameters
    ----------
    name : str
        The component's class.
    error : Exception
        What it raised; hwcomponents often raises many lines.
    own : bool
        Whether the model is one of ours.
    """
    text = str(error)
    if own:
        return EvaluationError(f"the model {name} of offchip failed: {text[:MOST_SHOWN]}")
    if isinstance(error, ImportError):
        package = (error.name or "hwcomponents").partition(".")[0]
        ours = package.startswith("hwcomponents")
        install = INSTALL if ours else f"pip install {package.replace('_', '-')}"
        return EvaluationError(f"the model {name} failed: {error}. Type: {install}")
    known = re.search(r"is not supported by any models\. Supported components: (.*)", text)
    if known:
        return EvaluationError(
            f"no model of hwcomponents is named {name}{_similar(name, known[1])}"
        )

    reason, remedy = _last_error(text), ""
    log = re.search(r"check (\S+) for CACTI output", text)
    if log:
        reason = f"CACTI says: {_last_line(log[1]) or reason}"
    if "GLIBC" in reason:
        folder = re.search(r"cd (\S+) ;", text)
        where = folder[1] if folder else "the folder of its sources"
        build = f"make -C {where} clean; make -C {where} opt"
        remedy = f". The program was built for a newer system. Build it here: {build}"
    return EvaluationError(
        f"the model {name} of hwcomponents failed: {reason[:MOST_SHOWN]}{remedy}"
    )


def _similar(name: str, known: str) -> str:
    return _near(name, known.rstrip(".").split(", ")) or ". To list them: hwc --list"


def _near(name: str, known: Iterable[str]) -> str:
    import difflib

    plain = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), plain, 3)
    return f". Similar: {', '.join(plain[key] for key in near)}" if near else ""


def _last_error(text: str) -> str:
    """Return the last line of a text that names an exception, or else its first line."""
    found = re.findall(r"^[|\s]*(\w*(?:Error|Exception)\b: .*)$", text, re.MULTILINE)
    lines = text.strip().splitlines()
    return found[-1] if found else lines[0] if lines else "it gives no reason"


def _last_line(path: str) -> str:
    """Return the last line of a log, if it can be read."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - MOST_OF_LOG, 0))
            lines = file.read(MOST_OF_LOG).decode(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1].strip() if lines else ""
