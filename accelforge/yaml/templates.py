# SPDX-License-Identifier: BSD-3-Clause
"""Executes the Jinja2 templates of YAML files, in the sandbox of `accelforge.yaml.sandbox`."""

from __future__ import annotations

import os
import re
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context

from accelforge.util.budget import BudgetError, budget, spend
from accelforge.util.exceptions import EvaluationError, Place
from accelforge.yaml.inclusions import Inclusions
from accelforge.yaml.sandbox import Sandbox
from accelforge.yaml.search import find_path, find_paths, read_text
from accelforge.yaml.substitution import MAX_TEXT

__all__ = ["TemplateAssertionError", "render"]


class TemplateAssertionError(EvaluationError, AssertionError):
    """The condition of ``{% assert %}`` does not hold."""


class AssertTag(Extension):
    """Adds ``{% assert condition, "message" %}``."""

    tags = {"assert"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        """Read the tag."""
        line = next(parser.stream).lineno
        arguments = [parser.parse_expression()]
        if parser.stream.skip_if("comma"):
            arguments.append(parser.parse_expression())
        call = self.call_method("check", arguments)
        return nodes.CallBlock(call, [], [], []).set_lineno(line)

    @staticmethod
    def check(condition: Any, message: Any = None, caller: Any = None) -> str:
        """Check the condition."""
        if not condition:
            raise TemplateAssertionError(str(message or "the assertion does not hold"))
        return ""


def render(source: str, path: str, variables: dict[str, Any], inclusions: Inclusions) -> str:
    """Execute the templates of a text.

    Parameters
    ----------
    source : str
        The text.
    path : str
        Its file.
    variables : dict
        What templates can use.
    inclusions : Inclusions
        Takes what templates include.

    Raises
    ------
    EvaluationError
        A template is wrong, uses an undefined variable, or makes too much; with its line.
    """
    with budget() as paid:
        environment = Sandbox(
            paid,
            loader=_Loader(path),
            undefined=jinja2.StrictUndefined,
            extensions=[AssertTag],
        )
        environment.globals.update(_Functions(path, variables, inclusions).table())
        try:
            return _execute(environment, source, path, variables)
        except FileNotFoundError:
            raise
        except EvaluationError as error:
            error.locate(Place(path, _line(error, path)))
            raise
        # A template can raise what its expressions raise, which is anything.
        except Exception as error:
            # That of Python's parser, which has no text.
            deep = isinstance(error, MemoryError)
            reason = "it is nested too deeply" if deep else str(error) or type(error).__name__
            wrapped = EvaluationError(f"in a template: {reason}")
            wrapped.locate(Place(path, getattr(error, "lineno", None) or _line(error, path)))
            raise wrapped from error


def _execute(environment: Sandbox, source: str, path: str, variables: dict[str, Any]) -> str:
    try:
        template = environment.from_string(source)
    except BudgetError as error:
        # All of the text is paid for before any of it is compiled.
        error.locate(Place(path, 1))
        raise
    template.filename = path
    parts: list[str] = []
    size = 0
    for part in template.generate(variables):
        parts.append(part)
        size += len(part)
        spend(1 + (len(part) >> 6))
        if size > MAX_TEXT:
            raise EvaluationError(f"templates produce more than {MAX_TEXT >> 20} Mi characters")
    return "".join(parts)


class _Loader(jinja2.BaseLoader):
    """Finds what a template imports, beside its file."""

    def __init__(self, path: str) -> None:
        self.folder = os.path.dirname(os.path.abspath(path))

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Any]:
        """Read a file, like any other of the specification."""
        pieces = jinja2.loaders.split_template_path(template)
        path = os.path.join(self.folder, *pieces)
        try:
            return read_text(path), path, lambda: True
        except FileNotFoundError:
            raise jinja2.TemplateNotFound(template) from None


def _line(error: BaseException, path: str) -> int:
    """Find the line of the template, which Jinja2 puts into the traceback."""
    line = 1
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


class _Functions:
    """The functions that templates of one file can call."""

    def __init__(self, path: str, variables: dict[str, Any], inclusions: Inclusions) -> None:
        self.path = path
        self.variables = variables
        self.inclusions = inclusions

    def table(self) -> dict[str, Any]:
        return {
            "add_to_path": self.add_to_path,
            "cwd": lambda: os.path.dirname(os.path.abspath(self.path)),
            "find_path": lambda name: find_path(name, self.path, self.inclusions.folders),
            "find_paths": lambda name: find_paths(name, self.path, self.inclusions.folders),
            "include": self.include,
            "include_all": self.include_all,
            "include_text": self.include_text,
            "path_exists": self.path_exists,
            "setenv": self.setenv,
        }

    def path_exists(self, name: str) -> bool:
        try:
            find_path(name, self.path, self.inclusions.folders)
        except FileNotFoundError:
            return False
        return True

    def add_to_path(self, name: Any) -> str:
        self.inclusions.folders += find_paths(name, self.path, self.inclusions.folders)
        return ""

    @staticmethod
    def setenv(key: Any, value: Any) -> str:
        raise EvaluationError(
            f"a file does not set environment variables here; set {key} in the program instead"
        )

    def _variables(self, context: Context, inherit: bool, more: dict[str, Any]) -> dict[str, Any]:
        """Collect the variables of an included file."""
        result = dict(self.variables)
        if inherit:
            own = context.get_all()
            result.update(
                {k: v for k, v in own.items() if not callable(v) and not k.startswith("_")}
            )
        return {**result, **more}

    @jinja2.pass_context
    def include(
        self,
        context: Context,
        name: str,
        indices: str = "",
        inherit_parse_data: bool = True,
        **more: Any,
    ) -> str:
        found = find_paths(name, self.path, self.inclusions.folders)
        if len(found) > 1:
            raise EvaluationError(f"{name} names several files; use include_all() for these")
        return self._include(context, found, indices, inherit_parse_data, more)

    @jinja2.pass_context
    def include_all(
        self,
        context: Context,
        name: Any,
        indices: str = "",
        inherit_parse_data: bool = True,
        **more: Any,
    ) -> str:
        found = find_paths(name, self.path, self.inclusions.folders)
        return self._include(context, found, indices, inherit_parse_data, more)

    def _include(
        self,
        context: Context,
        files: list[str],
        indices: str,
        inherit: bool,
        more: dict[str, Any],
    ) -> str:
        variables = self._variables(context, inherit, more)
        loaded = [self.inclusions.read(file, variables) for file in files]
        stem = re.sub(r"\W+", "", os.path.basename(self.path).partition(".")[0])
        key = f"{stem}_{len(self.inclusions.loaded)}"
        self.inclusions.loaded[key] = loaded[0] if len(loaded) == 1 else tuple(loaded)
        return f"!include_loaded {key}" + (f".{indices.lstrip('.')}" if indices else "")

    @jinja2.pass_context
    def include_text(
        self, context: Context, name: Any, inherit_parse_data: bool = True, **more: Any
    ) -> str:
        variables = self._variables(context, inherit_parse_data, more)
        files = find_paths(name, self.path, self.inclusions.folders)
        return "\n".join(self.inclusions.render(file, variables) for file in files)
