# SPDX-License-Identifier: BSD-3-Clause
"""The tables of design pages that say what each public call waits for, and how that ends."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

__all__ = ["check_table_of_waits"]

DESIGN = Path(__file__).resolve().parents[2] / "docs/design"


def _is_ours(value: object, package: str) -> bool:
    module = getattr(value, "__module__", None) or ""
    return module.split(".")[0] in (package, "offchip")


def _methods(cls: type, package: str) -> Iterator[str]:
    """Name what can be called of a class and is not inherited from other libraries."""
    for name in dir(cls):
        owner = next(base for base in cls.__mro__ if name in vars(base) or base is object)
        if not name.startswith("_") and _is_ours(owner, package) and callable(getattr(cls, name)):
            yield name


def _public_calls(package: ModuleType, values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if not callable(value) or not _is_ours(value, package.__name__):
            continue
        name = value.__qualname__  # type: ignore[attr-defined]
        if inspect.isclass(value):
            if issubclass(value, (BaseException, int)):
                continue
            yield from (f"{name}.{method}" for method in _methods(value, package.__name__))
        yield name


def check_table_of_waits(package: ModuleType, names: Iterable[str], *more: object) -> None:
    """Check that the table in the design page of a package has each public call once.

    Parameters
    ----------
    package : module
        Its page has its name, or that of its library.
    names : iterable of str
        The public names of the package.
    more : objects
        Classes whose objects calls return.
    """
    page = (DESIGN / {"dpu": "libdpu"}.get(package.__name__, package.__name__)).with_suffix(".md")
    _, _, table = page.read_text().partition("| call | waits for |")
    rows = re.findall(r"^\| (`.*?) \|", table.partition("\n\n")[0], re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`([\w.*]+)`", row)]
    assert len(listed) == len(set(listed)), sorted(n for n in listed if listed.count(n) > 1)

    values = [getattr(package, name) for name in names if not name.startswith("_")]
    known = set(_public_calls(package, [*values, *more]))
    whole = {name.removesuffix(".*") for name in listed if name.endswith(".*")}
    single = {name for name in listed if not name.endswith(".*")}
    assert single - known == set()
    assert {name for name in known - single if name.split(".")[0] not in whole} == set()
