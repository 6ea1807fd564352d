# SPDX-License-Identifier: BSD-3-Clause
"""The base class of the parts of a specification: objects with declared fields."""

from __future__ import annotations

import copy
from collections.abc import ItemsView, Iterator, KeysView, MutableMapping, ValuesView
from pathlib import Path
from typing import Any, ClassVar, Self

from accelforge.fields.dump import dump_value
from accelforge.fields.kinds import Anything, Kind
from accelforge.fields.order import evaluation_order
from accelforge.util.budget import budget, spend
from accelforge.util.exceptions import EvaluationError, Place, ValidationError
from accelforge.yaml.sections import place_of

__all__ = ["EvalExtras", "EvalableModel", "Field", "field"]

REQUIRED: Any = object()
_PLAIN = (int, float, bool, type(None))
_NO_TEXT = frozenset((int, bool, type(None)))


class Field:
    """A field that a class declares.

    Parameters
    ----------
    kind : Kind
        Its kind.
    default : object
        Its value if it is not given; `REQUIRED` if it must be.
    """

    def __init__(self, kind: Kind, default: Any) -> None:
        self.kind = kind
        self.default = default
        shared = isinstance(default, (str, *_PLAIN)) or not hasattr(default, "__dict__")
        self.shared = shared and not isinstance(default, (list, dict, set))

    def new_default(self) -> Any:
        """Return the default, for one object alone."""
        return self.default if self.shared else copy.deepcopy(self.default)


def field(kind: Kind, default: Any = REQUIRED) -> Any:
    """Declare a field in the body of a class that derives from `EvalableModel`.

    Parameters
    ----------
    kind : Kind
        Its kind.
    default : object, optional
        Without it the field must be given. Lists, dictionaries and models are copied.
    """
    return Field(kind, default)


class EvalableModel:
    """An object with declared fields, which are also its items.

    A class declares fields with `field`. Giving a field that is not declared, leaving out one
    without default, or a value of the wrong type raises `ValidationError`. Fields may hold
    expressions, which `Spec` evaluates.

    Parameters
    ----------
    **data : object
        The fields.
    """

    _fields: ClassVar[dict[str, Field]] = {}
    _sorted_names: ClassVar[tuple[str, ...]] = ()
    _later: ClassVar[tuple[tuple[str, Kind], ...]] = ()
    _takes_extras: ClassVar[bool] = False
    _old: ClassVar[dict[str, str]] = {}
    _evaluate_first: ClassVar[tuple[str, ...]] = ()
    _expression_names: ClassVar[frozenset[str]] = frozenset(("get", "keys", "values", "items"))
    _place: Place | None = None
    _lines: ClassVar[dict[Any, int]] = {}
    _evaluated: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        fields: dict[str, Field] = {}
        for base in reversed(cls.__mro__[1:]):
            fields.update(vars(base).get("_fields", {}))
        for name, value in list(vars(cls).items()):
            if isinstance(value, Field):
                fields[name] = value
                # Objects have the attribute, the class does not.
                delattr(cls, name)
        cls._fields = fields
        cls._sorted_names = tuple(sorted(fields))
        cls._later = tuple(
            (name, fields[name].kind)
            for name in cls._sorted_names
            if name not in cls._evaluate_first
        )

    def __init__(self, **data: Any) -> None:
        cls = type(self)
        data = cls._prepare(data)
        values = self.__dict__
        for name, value in data.items():
            if name not in cls._fields and not (cls._takes_extras and isinstance(name, str)):
                raise cls._unknown(name)
            values[name] = cls._accept(name, value)

        for name, declared in cls._fields.items():
            if name not in values:
                if declared.default is REQUIRED:
                    raise ValidationError(
                        f"the field is missing; {cls.__name__} requires it", source_field=name
                    )
                values[name] = declared.new_default()

        self._complete()

    @classmethod
    def _unknown(cls, name: str) -> ValidationError:
        old = f", but of an old notation: {cls._old[name]}" if name in cls._old else ""
        return ValidationError(
            f"Field {name} is not supported for {cls.__name__}{old}. Supported fields are: "
            + ", ".join(cls._sorted_names),
            source_field=name,
        )

    @classmethod
    def _prepare(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Rewrite the arguments before the fields accept them; for subclasses."""
        return data

    def _complete(self) -> None:
        """Check or fill in what depends on several fields; for subclasses."""

    @classmethod
    def _accept(cls, name: str, value: Any) -> Any:
        declared = cls._fields.get(name)
        try:
            return value if declared is None else declared.kind.accept(value)
        except EvaluationError as error:
            error.add_field(name)
            raise

    @classmethod
    def from_data(cls, data: dict[Any, Any]) -> Self:
        """Make an object from a mapping, and record its location in the file.

        Parameters
        ----------
        data : dict
            The fields; of a file, with its lines.
        """
        try:
            spend(40 + 4 * len(cls._fields) + len(data))
            for key in data:
                if not isinstance(key, str):
                    raise ValidationError(f"{key!r} is not the name of a field", source_field=key)
            result = cls(**data)
        except EvaluationError as error:
            error.locate(place_of(data, error._fields[-1] if error._fields else None))
            raise
        except (TypeError, ValueError) as error:
            wrapped = ValidationError(str(error))
            wrapped.locate(place_of(data))
            raise wrapped from error
        place = place_of(data)
        if place is not None:
            result._place = place
            result._lines = data.lines  # type: ignore[attr-defined, misc]
        return result

    def _place_of_path(self, path: list[Any]) -> Place | None:
        """Find the line of what a path of fields, and names or numbers of items, leads to."""
        place: Place | None = None
        part: Any = self
        for key in path:
            lines, own = getattr(part, "_lines", {}), getattr(part, "_place", None)
            # A part that is made of several files has the place of one of them.
            if own is not None and (key in lines or place is not None):
                place = own._replace(line=lines.get(key, own.line))
            try:
                part = part[key]
            except (KeyError, IndexError, TypeError, ValueError):
                return place
        return getattr(part, "_place", None) or place

    # --- attributes and items -------------------------------------------------------------------

    @property
    def _field_names(self) -> Any:
        """Names that expressions may use."""
        return self.__dict__.keys()

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        if name in cls._fields or (cls._takes_extras and not name.startswith("_")):
            self.__dict__[name] = cls._accept(name, value)
        elif name.startswith("_") or isinstance(getattr(cls, name, None), property):
            object.__setattr__(self, name, value)
        else:
            raise cls._unknown(name)

    def __getitem__(self, key: str) -> Any:
        if isinstance(key, str) and not key.startswith("_"):
            try:
                return getattr(self, key)
            except AttributeError:
                pass
        raise KeyError(f"{type(self).__name__} has no field {key!r}")

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, key, value)

    def __delitem__(self, key: str) -> None:
        if key not in self.__dict__:
            raise KeyError(f"{type(self).__name__} has no field {key!r}")
        delattr(self, key)

    def __delattr__(self, key: str) -> None:
        if key not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no field {key!r}")
        declared = type(self)._fields.get(key)
        if declared is None:
            del self.__dict__[key]
        elif declared.default is REQUIRED:
            raise ValidationError("the field is required", source_field=key)
        else:
            self.__dict__[key] = declared.new_default()

    def __contains__(self, key: object) -> bool:
        try:
            self[key]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def get_fields(self) -> list[str]:
        """List the names of the fields, sorted."""
        if not type(self)._takes_extras:
            return list(type(self)._sorted_names)
        return sorted(name for name in self.__dict__ if not name.startswith("_"))

    def __iter__(self) -> Iterator[str]:
        return iter(self.get_fields())

    def __len__(self) -> int:
        return len(self.get_fields())

    def keys(self) -> KeysView[str]:
        """Return the names of the fields."""
        return KeysView(self)

    def values(self) -> ValuesView[Any]:
        """Return the values of the fields."""
        return ValuesView(self)

    def items(self) -> ItemsView[str, Any]:
        """Return names and values of the fields."""
        return ItemsView(self)

    def get(self, key: str, default: Any = None) -> Any:
        """Return a field, or `default` if there is no such field."""
        try:
            return self[key]
        except KeyError:
            return default

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several fields."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = self.get_fields()
        return names == other.get_fields() and all(
            self.__dict__[name] == other.__dict__[name] for name in names
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self._given().items())
        return f"{type(self).__name__}({shown})"

    # --- copies and dumps -----------------------------------------------------------------------

    def __copy__(self) -> Self:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    def model_copy(self, *, deep: bool = False) -> Self:
        """Return a copy; with `deep`, of everything in it too."""
        return copy.deepcopy(self) if deep else copy.copy(self)

    def model_dump(self) -> dict[str, Any]:
        """Return the fields as plain dictionaries and lists."""
        return {name: dump_value(self.__dict__[name]) for name in self.get_fields()}

    def model_dump_non_none(self) -> dict[str, Any]:
        """Return the fields as plain dictionaries and lists, without those that are None."""
        return {name: value for name, value in self.model_dump().items() if value is not None}

    def shallow_model_dump(self, include_None: bool = False) -> dict[str, Any]:
        """Return the fields as they are.

        Parameters
        ----------
        include_None : bool
            Whether fields that are None are among them.
        """
        values = self.__dict__
        return {
            name: values[name]
            for name in self.get_fields()
            if include_None or values[name] is not None
        }

    def _given(self) -> dict[str, Any]:
        """Return the fields that are not at their default, in the order of declaration."""
        fields = type(self)._fields
        values = self.__dict__
        names = [*fields, *(n for n in values if n not in fields and not n.startswith("_"))]
        return {
            name: values[name]
            for name in names
            if name not in fields or not _is_default(values[name], fields[name].default)
        }

    def all_fields_default(self) -> bool:
        """Say whether no field differs from its default."""
        return not self._given()

    def to_yaml(self, f: str | Path | None = None) -> str:
        """Write the fields that are not at their default as YAML.

        Parameters
        ----------
        f : str or Path, optional
            File to write.

        Returns
        -------
        str
            The text; `from_yaml` reads it.
        """
        from accelforge.yaml.emitter import to_yaml_string

        text = to_yaml_string(self)
        if f is not None:
            Path(f).parent.mkdir(parents=True, exist_ok=True)
            Path(f).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_yaml(
        cls,
        *files: str | Path | list[str] | list[Path],
        jinja_parse_data: dict[str, Any] | None = None,
        top_key: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Read an object from YAML files, whose top keys are combined.

        Parameters
        ----------
        *files : str, Path, or list of these
            Files, or patterns such as ``arch/*.yaml``. The first file that has a key wins.
        jinja_parse_data : dict, optional
            Variables for the Jinja2 templates in the files.
        top_key : str, optional
            Take only the section under this key.
        **kwargs : object
            Further variables for the templates.

        Raises
        ------
        EvaluationError
            Wrong YAML or template, with file and line; `ValidationError`, which is also a
            ValueError, for wrong fields.
        FileNotFoundError
            There is no such file.
        KeyError
            No file has `top_key`.
        """
        with budget():
            return cls._from_files(files, {**(jinja_parse_data or {}), **kwargs}, top_key)

    @classmethod
    def _from_files(cls, files: Any, variables: dict[str, Any], top_key: str | None) -> Self:
        from accelforge.yaml.files import read_files

        data = read_files(files, variables, top_key)
        own = cls.__name__.lower()
        if top_key is None and set(data) == {own} and own not in cls._fields:
            data = data[own]
            if not isinstance(data, dict):
                raise ValidationError(f"{own} is not a mapping", source_field=own)
        try:
            return cls.from_data(data)
        except EvaluationError as error:
            error.add_field(top_key or own)
            raise

    # --- evaluation -----------------------------------------------------------------------------

    def _evaluate(self, symbols: dict[str, Any], must: bool = False) -> Self:
        """Return a copy with all expressions evaluated.

        Parameters
        ----------
        symbols : dict
            The names that expressions see; fields of this object hide them.
        must : bool
            Whether expressions that may wait for an Einsum must be evaluated now.
        """
        new = self.__copy__()
        values = new.__dict__
        values["_evaluated"] = True
        scope = dict(symbols)
        lazy: list[str] = []
        pending: dict[str, Any] = {}

        for name, kind in self._extra_fields() if type(self)._takes_extras else type(self)._later:
            value = values[name]
            if type(value) in _NO_TEXT or kind.inert:
                scope[name] = value
            elif kind.lazy:
                lazy.append(name)
            else:
                pending[name] = value

        try:
            spend(10 + (len(scope) >> 6))
            for name in (*type(self)._evaluate_first, *lazy):
                new._evaluate_field(name, scope, must)
            if len(pending) > 1:
                order = evaluation_order(pending)
            else:
                order = list(pending)
            for name in order:
                new._evaluate_field(name, scope, must)
        except EvaluationError as error:
            if self._place is not None:
                line = self._lines.get(error._fields[-1]) if error._fields else None
                error.locate(self._place if line is None else self._place._replace(line=line))
            raise
        return new

    def _extra_fields(self) -> list[tuple[str, Kind]]:
        """List the names and kinds of fields of any name."""
        fields, first = type(self)._fields, type(self)._evaluate_first
        return [
            (name, fields[name].kind if name in fields else _ANYTHING)
            for name in self.get_fields()
            if name not in first
        ]

    def _evaluate_field(self, name: str, scope: dict[str, Any], must: bool) -> None:
        declared = type(self)._fields.get(name)
        kind = _ANYTHING if declared is None else declared.kind
        try:
            value = kind.evaluate(self.__dict__[name], scope, must)
            value = self._evaluated_value(name, value, scope)
        except EvaluationError as error:
            error.add_field(name)
            raise
        self.__dict__[name] = scope[name] = value

    def _evaluated_value(self, name: str, value: Any, scope: dict[str, Any]) -> Any:
        """Change the evaluated value of a field, or add symbols; for subclasses."""
        return value

    def _eval_expressions(
        self, symbol_table: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Self, dict[str, Any]]:
        symbols = dict(symbol_table or {})
        new = self._evaluate(symbols, bool(kwargs.get("must", False)))
        return new, {**symbols, **new.shallow_model_dump(include_None=True)}


# A model is a mapping; inheriting from MutableMapping would make isinstance() slow.
MutableMapping.register(EvalableModel)


def _is_default(value: Any, default: Any) -> bool:
    if isinstance(value, EvalableModel) and type(value) is type(default):
        return not value._given()
    return bool(value == default)


class EvalExtras(EvalableModel):
    """A model that accepts fields of any name; text in them is an expression."""

    _takes_extras = True

    def _evaluate(self, symbols: dict[str, Any], must: bool = False) -> Self:
        if not self.__dict__:
            return self
        new = super()._evaluate(symbols, must)
        for name in self.get_fields():
            if name.startswith("global_") and name in symbols and symbols[name] != new[name]:
                raise EvaluationError(
                    f"{name} is already {symbols[name]!r} outside, and names that begin with "
                    f"global_ cannot be changed, here to {new[name]!r}",
                    source_field=name,
                )
        return new


_ANYTHING = Anything()
