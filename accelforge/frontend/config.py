# SPDX-License-Identifier: BSD-3-Clause
"""Settings of expressions and of component models, and the functions that users add."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from accelforge.fields import EvalableList, EvalableModel, Fixed, Items, Kind, field
from accelforge.util.exceptions import EvaluationError, ValidationError
from accelforge.yaml.sections import Section
from offchip.lazy import need

__all__ = ["Config"]


class _FileOrObject(Kind):
    """A path of a Python file, or an object that could come from one."""

    def accept(self, value: Any) -> Any:
        """Take text, a path or a callable."""
        if isinstance(value, (str, Path)):
            return str(value)
        if callable(value) or isinstance(value, ModuleType):
            return value
        raise ValidationError(f"expected a path or a callable, not {value!r}")


class Config(EvalableModel):
    """Settings of expressions and component models.

    A Python file that a YAML file names is executed only if the program allows it, with
    ``spec.config.allow_python_files = True``. Files that the program itself adds to the lists need
    no permission.
    """

    expression_custom_functions: EvalableList[str | Callable[..., Any]] = field(
        Items(_FileOrObject()), EvalableList()
    )
    """Functions for expressions: callables, or paths of Python files, of which every callable
    becomes a function."""

    component_models: EvalableList[Any] = field(Items(_FileOrObject()), EvalableList())
    """Models of hwcomponents, or paths of Python files that have some."""

    use_installed_component_models: bool | None = field(Fixed(bool, optional=True), True)
    """Also use the models that hwcomponents finds among the installed packages; our own where
    hwcomponents is not installed."""

    _named_by_yaml: frozenset[str] = frozenset()
    _allowed: bool = False

    @property
    def allow_python_files(self) -> bool:
        """True if Python files that YAML files name may be executed."""
        return self._allowed

    @allow_python_files.setter
    def allow_python_files(self, value: bool) -> None:
        self._allowed = bool(value)

    @classmethod
    def from_data(cls, data: dict[Any, Any]) -> Config:
        """Make an object of a mapping, and remember which files it names."""
        result = super().from_data(data)
        if isinstance(data, Section):
            named = [*result.expression_custom_functions, *result.component_models]
            result._named_by_yaml = frozenset(name for name in named if isinstance(name, str))
        return result

    def check_file(self, path: str, field_name: str, number: int) -> None:
        """Refuse a file that the program has not allowed.

        Parameters
        ----------
        path : str
            File that is to be executed.
        field_name : str
            List that names it.
        number : int
            Its number in the list.
        """
        if path in self._named_by_yaml and not self._allowed:
            error = EvaluationError(
                f"the Python file {path} is named by a YAML file. If you trust it, set "
                f"spec.config.allow_python_files = True before evaluating"
            )
            error.locate(self._place_of_path([field_name, number]))
            for part in (number, field_name, "config", "spec"):
                error.add_field(part)
            raise error

    def load_functions(self) -> dict[str, Callable[..., Any]]:
        """Collect the functions for expressions.

        Raises
        ------
        EvaluationError
            A file is not allowed, or cannot be executed.
        """
        result: dict[str, Callable[..., Any]] = {}
        for number, entry in enumerate(self.expression_custom_functions):
            if not isinstance(entry, str):
                result[entry.__name__] = entry
                continue
            self.check_file(entry, "expression_custom_functions", number)
            try:
                module = _load(entry)
            # The file may raise anything.
            except Exception as error:
                raise EvaluationError(
                    f"the Python file {entry} cannot be executed: {error}",
                    source_field=f"spec.config.expression_custom_functions.{number}",
                ) from error
            result.update(
                {
                    name: value
                    for name, value in vars(module).items()
                    if callable(value) and not name.startswith("__")
                }
            )
        return result

    def add_component_models(self, *args: Any) -> None:
        """Add component models.

        Parameters
        ----------
        *args : object
            Classes of hwcomponents, paths of Python files, modules, of which every model is added,
            or lists of these.
        """
        for arg in args:
            if isinstance(arg, (list, tuple)):
                self.add_component_models(*arg)
            elif isinstance(arg, ModuleType):
                find = need("hwcomponents.find_models", "Adding the models of a module")
                self.component_models.extend(find.get_models_in_module(arg, set()))
            else:
                self.component_models.append(_FileOrObject().accept(arg))


_loaded: dict[tuple[str, int], ModuleType] = {}


def _load(path: str) -> ModuleType:
    """Execute a Python file, unless it was and has not changed."""
    file = Path(path.strip()).resolve()
    if not file.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    key = (str(file), file.stat().st_mtime_ns)
    if key not in _loaded:
        spec = importlib.util.spec_from_file_location(f"accelforge_user_{len(_loaded)}", file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no Python file")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        _loaded[key] = module
    return _loaded[key]
