# SPDX-License-Identifier: BSD-3-Clause
"""Reads files: templates first, then YAML, then merges."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from accelforge.util.exceptions import Place, ValidationError
from accelforge.yaml.inclusions import Inclusions
from accelforge.yaml.search import read_text
from accelforge.yaml.sections import Section, Sequence, place_of
from accelforge.yaml.substitution import substitute
from offchip.lazy import need

__all__ = ["read_file", "read_files"]


def read_files(
    files: Iterable[Any], variables: dict[str, Any], top_key: str | None = None
) -> Section:
    """Read files and combine their top keys.

    Parameters
    ----------
    files : iterable
        Paths, patterns, or lists of these.
    variables : dict
        For templates.
    top_key : str, optional
        Return only what stands under this key.
    """
    result = Section()
    names = list(_expand(files))
    for name in names:
        data = read_file(name, variables)
        if not isinstance(data, Section):
            held = {type(None): "nothing", Sequence: "a list"}.get(type(data), "a value")
            error = ValidationError(f"the file holds {held}, not a mapping")
            error.locate(place_of(data) or Place(name, 1))
            raise error
        result.place = result.place or data.place
        for key, value in data.items():
            if key not in result:
                result[key] = value
                result.lines[key] = data.lines.get(key, 1)

    if top_key is None:
        return result
    if top_key not in result:
        raise KeyError(f"none of {', '.join(names)} has the top key {top_key}")
    part = result[top_key]
    if not isinstance(part, Section):
        raise ValidationError(f"the key {top_key} does not hold a mapping", source_field=top_key)
    return part


def _expand(files: Iterable[Any]) -> Iterator[str]:
    """Yield each file once, in order."""
    seen: list[str] = []
    for entry in files:
        for item in entry if isinstance(entry, (list, tuple)) else (entry,):
            pattern = os.fspath(item) if isinstance(item, (str, Path)) else str(item)
            found = [pattern] if os.path.isfile(pattern) else sorted(glob.glob(pattern))
            found = [name for name in found if os.path.isfile(name)]
            if not found:
                raise FileNotFoundError(f"no file {pattern}")
            for name in found:
                if not any(os.path.samefile(name, other) for other in seen):
                    seen.append(name)
                    yield name


def read_file(path: str, variables: dict[str, Any], inclusions: Inclusions | None = None) -> Any:
    """Read one file.

    Returns
    -------
    object
        What the file holds, as `Section`, `Sequence`, text, numbers, truth values and None.
    """
    from accelforge.yaml.merge import check_size, resolve_merges

    inclusions = inclusions or Inclusions(read_file, render_file)
    text, rendered = render_file(path, variables, inclusions)
    need("yaml.cyaml", "Reading YAML")
    from accelforge.yaml.parser import parse

    data = parse(text, path, rendered, inclusions)
    check_size(data)
    return resolve_merges(data)


def render_file(path: str, variables: dict[str, Any], inclusions: Inclusions) -> tuple[str, bool]:
    """Read a file, and execute its templates.

    Returns
    -------
    str
        YAML.
    bool
        Whether line numbers differ from those of the file.
    """
    source = read_text(path)
    if "{{" not in source and "{%" not in source and "{#" not in source:
        # Jinja2, which AccelForge gives every file, leaves out the last line break too.
        return source.removesuffix("\n"), False
    text = substitute(source, variables)
    if text is None:
        need("jinja2", "A template in a YAML file")
        from accelforge.yaml.templates import render

        text = render(source, path, variables, inclusions)
    return text, text.count("\n") != source.rstrip("\n").count("\n")
