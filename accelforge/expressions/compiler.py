# SPDX-License-Identifier: BSD-3-Clause
"""Turns the text of an expression into closures, from a list of allowed syntax.

Python's own parser reads the text; nothing is passed to ``eval``. Only the node types below
have a translation, attributes go through `accelforge.expressions.access`, and every step is paid
for (`accelforge.util.budget`), so that expressions have no other access and always terminate.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from accelforge.expressions import access, functions
from accelforge.util.budget import Budget, current, spend, weigh

__all__ = ["Environment", "Lambda", "Unsupported", "compile_expression", "names_in"]

MAX_TEXT = 20_000
MAX_DEPTH = 100

Code = Callable[["Environment"], Any]

_SIZED = frozenset((str, list, tuple, dict, set, frozenset, range))
_NUMBERS = frozenset((int, float, bool, type(None)))


class Unsupported(SyntaxError):
    """Syntax that expressions do not have."""


class Environment:
    """The names that an expression sees, and the budget that it is paid from."""

    __slots__ = ("budget", "local", "tables")

    def __init__(self, *tables: Mapping[str, Any]) -> None:
        self.local: dict[str, Any] = {}
        self.tables = tables
        self.budget: Budget = current()

    def lookup(self, name: str) -> Any:
        """Find a name in the innermost table that has it."""
        if name in self.local:
            return self.local[name]
        for table in self.tables:
            if name in table:
                return table[name]
        raise NameError(f'the name "{name}" is not defined')

    def nested(self) -> Environment:
        """Make a scope for the variables of a comprehension or a lambda."""
        inner = object.__new__(Environment)
        inner.tables = self.tables
        inner.local = dict(self.local)
        inner.budget = self.budget
        return inner

    def step(self) -> None:
        """Pay for one iteration or call."""
        self.budget.spend(2 + (len(self.local) >> 4))

    def charge(self, value: Any) -> Any:
        """Pay for the items of a sequence that is walked through, and return it."""
        if type(value) in _SIZED:
            self.budget.spend(len(value) >> 4)
        return value

    def made(self, value: Any) -> Any:
        """Pay for a value that is new, with all that is in it, and return it."""
        kind = type(value)
        if kind in _SIZED:
            self.budget.spend(1 + weigh(value, self.budget.left))
        elif kind not in _NUMBERS and hasattr(value, "full_space"):
            self.budget.spend(1 + (len(value.full_space) >> 5))
        return value


class Lambda:
    """A function that an expression made.

    Its text is kept, so that it can be written to a file again.
    """

    def __init__(self, text: str, names: list[str], body: Code, env: Environment) -> None:
        self._original_expression = text
        self._names = names
        self._body = body
        self._env = env

    def __call__(self, *args: Any) -> Any:
        """Evaluate the body."""
        if len(args) != len(self._names):
            raise TypeError(f"{self} takes {len(self._names)} arguments, not {len(args)}")
        env = self._env.nested()
        # It may be called when the budget that it was made with has long been left.
        env.budget = current()
        env.budget.spend(6)
        env.local.update(zip(self._names, args, strict=True))
        return self._body(env)

    def __str__(self) -> str:
        return self._original_expression


def compile_expression(text: str) -> Code:
    """Translate a text, or raise SyntaxError.

    Parameters
    ----------
    text : str
        One expression.

    Returns
    -------
    callable
        Takes an `Environment` and returns the value.
    """
    return _cached_compile_expression(text)


def _compile_expression(text: str) -> Code:
    spend(len(text) >> 1)
    if len(text) > MAX_TEXT:
        raise SyntaxError(f"it has {len(text)} characters, more than {MAX_TEXT}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (MemoryError, RecursionError):
        raise SyntaxError("it is nested too deeply") from None
    except ValueError as error:
        raise SyntaxError(str(error)) from None
    return _translate(tree.body, 0)


_cached_compile_expression = functools.lru_cache(maxsize=4096)(_compile_expression)


def names_in(text: str) -> frozenset[str]:
    """List the identifiers of a text, whether it can be parsed or not."""
    return _cached_names_in(text)


def _names_in(text: str) -> frozenset[str]:
    words = "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
    return frozenset(words)


_cached_names_in = functools.lru_cache(maxsize=4096)(_names_in)


def _translate(node: ast.expr, depth: int) -> Code:
    if depth > MAX_DEPTH:
        raise SyntaxError(f"it is nested more than {MAX_DEPTH} levels deep")
    translation = _TRANSLATIONS.get(type(node))
    if translation is None:
        raise Unsupported(f"{type(node).__name__} is not supported in expressions")
    return translation(node, depth + 1)


# --- values -------------------------------------------------------------------------------------


def _constant(node: ast.Constant, depth: int) -> Code:
    value = node.value
    if not isinstance(value, (int, float, str, bool, type(None))):
        raise Unsupported(f"{value!r} is not supported in expressions")
    return lambda env: value


def _name(node: ast.Name, depth: int) -> Code:
    name = node.id
    return lambda env: env.lookup(name)


def _collection(make: Callable[[list[Any]], Any]) -> Callable[[Any, int], Code]:
    def translate(node: Any, depth: int) -> Code:
        parts = [_translate(item, depth) for item in node.elts]
        return lambda env: env.made(make([part(env) for part in parts]))

    return translate


def _dict(node: ast.Dict, depth: int) -> Code:
    if any(key is None for key in node.keys):
        raise Unsupported("** is not supported in expressions")
    keys = [_translate(key, depth) for key in node.keys if key is not None]
    values = [_translate(value, depth) for value in node.values]
    return lambda env: env.made({k(env): v(env) for k, v in zip(keys, values, strict=True)})


# --- operators ----------------------------------------------------------------------------------


def _modulo(a: Any, b: Any) -> Any:
    if isinstance(a, (str, bytes)):
        raise TypeError("text cannot be formatted with %")
    return a % b


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: functions.add,
    ast.Sub: operator.sub,
    ast.Mult: functions.multiply,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _modulo,
    ast.Pow: functions.power,
    ast.LShift: functions.shift_left,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}

_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def _binary(node: ast.BinOp, depth: int) -> Code:
    function = _BINARY.get(type(node.op))
    if function is None:
        raise Unsupported(f"{type(node.op).__name__} is not supported in expressions")
    left, right = _translate(node.left, depth), _translate(node.right, depth)
    return lambda env: env.made(function(left(env), right(env)))


def _unary(node: ast.UnaryOp, depth: int) -> Code:
    function, operand = _UNARY[type(node.op)], _translate(node.operand, depth)
    return lambda env: env.made(function(operand(env)))


def _boolean(node: ast.BoolOp, depth: int) -> Code:
    parts = [_translate(value, depth) for value in node.values]
    stops_at = isinstance(node.op, ast.Or)

    def run(env: Environment) -> Any:
        result: Any = None
        for part in parts:
            result = part(env)
            if bool(result) == stops_at:
                break
        return result

    return run


def _compare(node: ast.Compare, depth: int) -> Code:
    first = _translate(node.left, depth)
    rest = [
        (_COMPARE[type(op)], _translate(right, depth))
        for op, right in zip(node.ops, node.comparators, strict=True)
    ]

    def run(env: Environment) -> Any:
        left, result = first(env), True
        for function, right in rest:
            value = env.made(right(env))
            result = function(left, value)
            if not result:
                break
            left = value
        return result

    return run


def _conditional(node: ast.IfExp, depth: int) -> Code:
    test, then, other = (_translate(part, depth) for part in (node.test, node.body, node.orelse))
    return lambda env: then(env) if test(env) else other(env)


# --- access and calls ---------------------------------------------------------------------------


def _attribute(node: ast.Attribute, depth: int) -> Code:
    value, name = _translate(node.value, depth), node.attr
    return lambda env: access.attribute(value(env), name)


def _subscript(node: ast.Subscript, depth: int) -> Code:
    value, index = _translate(node.value, depth), _translate(node.slice, depth)

    def run(env: Environment) -> Any:
        found = access.item(value(env), where := index(env))
        return env.made(found) if isinstance(where, slice) else found

    return run


def _slice(node: ast.Slice, depth: int) -> Code:
    parts = [
        _translate(part, depth) if part is not None else (lambda env: None)
        for part in (node.lower, node.upper, node.step)
    ]
    return lambda env: slice(*(part(env) for part in parts))


def _call(node: ast.Call, depth: int) -> Code:
    function = _translate(node.func, depth)
    if any(isinstance(arg, ast.Starred) for arg in node.args):
        raise Unsupported("* is not supported in expressions")
    args = [_translate(arg, depth) for arg in node.args]
    named = [(word.arg, _translate(word.value, depth)) for word in node.keywords]
    if any(name is None for name, _ in named):
        raise Unsupported("** is not supported in expressions")

    def run(env: Environment) -> Any:
        env.step()
        target = access.callable_value(function(env))
        given = [env.charge(arg(env)) for arg in args]
        return env.made(target(*given, **{str(n): env.charge(v(env)) for n, v in named}))

    return run


def _lambda(node: ast.Lambda, depth: int) -> Code:
    given = node.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
        raise Unsupported("a lambda has plain arguments only")
    names = [arg.arg for arg in (*given.posonlyargs, *given.args)]
    body, text = _translate(node.body, depth), ast.unparse(node)
    return lambda env: Lambda(text, names, body, env)


# --- comprehensions -----------------------------------------------------------------------------


def _iterate(parts: list[tuple[Any, Code, list[Code]]], env: Environment) -> Iterator[Environment]:
    """Run the for and if parts of a comprehension from the left."""
    if not parts:
        yield env
        return
    bind, items, tests = parts[0]
    for value in items(env):
        env.step()
        bind(env, value)
        if all(test(env) for test in tests):
            yield from _iterate(parts[1:], env)


def _binder(target: ast.expr) -> Callable[[Environment, Any], None]:
    if isinstance(target, ast.Name):
        name = target.id

        def bind(env: Environment, value: Any) -> None:
            env.local[name] = value

        return bind
    if isinstance(target, (ast.Tuple, ast.List)):
        binders = [_binder(item) for item in target.elts]

        def bind_all(env: Environment, value: Any) -> None:
            for binder, item in zip(binders, value, strict=True):
                binder(env, item)

        return bind_all
    raise Unsupported("a comprehension binds names only")


def _clauses(node: Any, depth: int) -> list[tuple[Any, Code, list[Code]]]:
    if any(clause.is_async for clause in node.generators):
        raise Unsupported("async is not supported in expressions")
    return [
        (
            _binder(clause.target),
            _translate(clause.iter, depth),
            [_translate(test, depth) for test in clause.ifs],
        )
        for clause in node.generators
    ]


def _comprehension(make: Callable[[Iterator[Any]], Any]) -> Callable[[Any, int], Code]:
    def translate(node: Any, depth: int) -> Code:
        element, clauses = _translate(node.elt, depth), _clauses(node, depth)

        def run(env: Environment) -> Any:
            return env.made(make(element(inner) for inner in _iterate(clauses, env.nested())))

        return run

    return translate


def _dict_comprehension(node: ast.DictComp, depth: int) -> Code:
    key, value = _translate(node.key, depth), _translate(node.value, depth)
    clauses = _clauses(node, depth)

    def run(env: Environment) -> Any:
        return env.made({key(inner): value(inner) for inner in _iterate(clauses, env.nested())})

    return run


_TRANSLATIONS: dict[type[ast.expr], Callable[[Any, int], Code]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.List: _collection(list),
    ast.Tuple: _collection(tuple),
    ast.Set: _collection(access.union_or_set),
    ast.Dict: _dict,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Call: _call,
    ast.Lambda: _lambda,
    ast.GeneratorExp: _comprehension(lambda items: items),
    ast.ListComp: _comprehension(list),
    ast.SetComp: _comprehension(set),
    ast.DictComp: _dict_comprehension,
}
