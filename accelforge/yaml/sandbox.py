# SPDX-License-Identifier: BSD-3-Clause
"""The environment of templates, in which everything is paid for from the budget.

Jinja2's own sandbox keeps templates from Python's inside, but not from time and memory. Here, what
makes new values (literals, operators, filters, methods, captured blocks) and what repeats (loops,
macros) goes through the functions of `Sandbox`, which the syntax tree is changed to call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from jinja2 import nodes
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

from accelforge.expressions import functions
from accelforge.util.budget import Budget, weigh
from accelforge.util.exceptions import EvaluationError
from accelforge.yaml.substitution import cost_of_code

__all__ = ["Sandbox"]

MAX_WIDTH = 10_000

# Filters whose text or list is longer than what they are given.
GROWING = frozenset(
    (
        *("batch", "center", "format", "indent", "join", "replace", "round", "slice", "sum"),
        *("tojson", "wordwrap", "xmlattr"),
    )
)
# Tests that read all of what they are given.
READING = frozenset(
    (
        *("eq", "equalto", "==", "ne", "!=", "gt", "greaterthan", ">", "ge", ">=", "lt"),
        *("lessthan", "<", "le", "<=", "in", "lower", "upper"),
    )
)
METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        (
            *("capitalize", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdigit"),
            *("islower", "isupper", "join", "lower", "lstrip", "partition", "removeprefix"),
            *("removesuffix", "replace", "rfind", "rpartition", "rsplit", "rstrip", "split"),
            *("splitlines", "startswith", "strip", "title", "upper"),
        )
    ),
    list: frozenset(
        (
            *("append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove"),
            *("reverse", "sort"),
        )
    ),
    tuple: frozenset(("count", "index")),
    dict: frozenset(
        ("clear", "copy", "get", "items", "keys", "pop", "setdefault", "update", "values")
    ),
    int: frozenset(("bit_length",)),
    float: frozenset(("is_integer",)),
    set: frozenset(("add", "discard", "remove", "union")),
}


class Sandbox(SandboxedEnvironment):
    """A sandbox that pays for what templates do.

    Parameters
    ----------
    budget : Budget
        What it pays from.
    **settings : object
        Those of Jinja2's environment.
    """

    intercepted_binops = frozenset(("*", "**", "+", "%", "//", "-", "/"))
    intercepted_unops = frozenset()

    def __init__(self, budget: Budget, **settings: Any) -> None:
        # Constants that are folded while compiling are tried again at each level of an expression.
        super().__init__(optimized=False, finalize=self.shown, **settings)
        self.budget = budget
        for name, function in list(self.filters.items()):
            self.filters[name] = self._paid_filter(name, function)
        tests: dict[str, Any] = self.tests
        for name in READING:
            tests[name] = self._paid_test(tests[name])
        self.filters.update(_walk=self.walk, _made=self.made, _joined=self.joined)
        self.globals["range"] = functions.FUNCTIONS["range"]
        del self.globals["lipsum"]

    # --- compiling ------------------------------------------------------------------------------

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        self.budget.spend(cost_of_code(source))
        return _Payer().visit(super()._parse(source, name, filename))  # type: ignore[no-any-return]

    def _load_template(self, *args: Any, **named: Any) -> Any:
        """Pay for what is included, or imported, each time."""
        self.budget.spend(10)
        return super()._load_template(*args, **named)

    # --- what the changed tree calls ------------------------------------------------------------

    def walk(self, items: Any, size: int) -> Iterator[Any]:
        """Pay for each iteration of a loop, and for the text in it."""
        for item in items:
            self.budget.spend(4 + (size >> 6))
            yield item

    def made(self, value: Any) -> Any:
        """Pay for a new value, and return it."""
        self.budget.spend(1 + weigh(value, self.budget.left))
        return value

    def joined(self, parts: list[Any]) -> Any:
        """Join what stands between tildes."""
        return self.made("".join(self.shown(part) for part in parts))

    def shown(self, value: Any) -> Any:
        """Pay for the text of a value, and return it."""
        if isinstance(value, Undefined):
            return str(value)  # raises
        if not isinstance(value, str):
            self.budget.spend(1 + 4 * weigh(value, self.budget.left))
            value = str(value)
        self.budget.spend(1 + (len(value) >> 6))
        return value

    # --- what Jinja2 calls ----------------------------------------------------------------------

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute with limits."""
        if operator == "%" and isinstance(left, str):
            raise EvaluationError("a template formats text with the filter format, not with %")
        limited = {"*": functions.multiply, "**": functions.power, "+": functions.add}
        function = limited.get(operator) or self.binop_table[operator]
        return self.made(function(left, right))

    def call(__self, __context: Context, __object: Any, *args: Any, **named: Any) -> Any:
        """Pay for a call, and what stars make arguments of; macros are recursive."""
        __self.budget.spend(8 + len(args) + len(named))
        return super().call(__context, __object, *args, **named)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Get an attribute; of builtin types, methods that are paid for."""
        for kind, names in METHODS.items():
            if isinstance(obj, kind) and hasattr(kind, attribute):
                if attribute not in names:
                    raise EvaluationError(
                        f"the attribute {attribute} is unsafe: templates cannot use it of "
                        f"{kind.__name__}"
                    )
                return self._paid_method(attribute, getattr(obj, attribute), obj)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Get an item; the hash of a tuple reads all of it."""
        if isinstance(argument, tuple):
            self.budget.spend(1 + weigh(argument, self.budget.left))
        return super().getitem(obj, argument)

    def _paid_test(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self.budget.spend(sum(1 + weigh(arg, self.budget.left) for arg in args))
            return function(*args)

        return call

    def _paid_method(self, name: str, method: Any, obj: Any) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            # The text that joins comes before what it joins, elsewhere after it.
            given = (*args, obj) if name == "join" else (obj, *args)
            self._before(name, (*given, *named.values()))
            return self.made(method(*args, **named))

        return call

    def _paid_filter(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        passed = 1 if hasattr(function, "jinja_pass_arg") else 0

        def call(*args: Any, **named: Any) -> Any:
            self._before(name, (*args[passed:], *named.values()))
            result = function(*args, **named)
            if isinstance(result, Iterator):
                return self.walk(result, 0)
            return self.made(result)

        call.__dict__.update(getattr(function, "__dict__", {}))
        return call

    def _before(self, name: str, args: tuple[Any, ...]) -> None:
        """Pay for what a filter or method reads, and for the most that it can make."""
        weights = [1 + weigh(arg, self.budget.left) for arg in args]
        # Most look at each item with a function.
        self.budget.spend(4 * sum(weights))
        if name not in GROWING:
            return
        if name == "format":
            _check_format(str(args[0]))
            return
        if any(isinstance(arg, int) and abs(arg) > MAX_WIDTH for arg in args[1:]):
            raise EvaluationError(f"{name} takes numbers up to {MAX_WIDTH} in templates")
        size = sum(
            len(arg) if isinstance(arg, str) else abs(arg) for arg in args[1:] if _grows(arg)
        )
        pieces = len(args[0]) if hasattr(args[0], "__len__") else 1
        self.budget.spend((1 + pieces) * size >> 6)


def _grows(arg: Any) -> bool:
    return isinstance(arg, (str, int)) and not isinstance(arg, bool)


def _check_format(text: str) -> None:
    """Refuse widths and precisions that make much of little."""
    if "*" in text or any(int(number) > MAX_WIDTH for number in re.findall(r"\d{1,300}", text)):
        raise EvaluationError(f"format takes widths up to {MAX_WIDTH} in templates, and no *")


class _Payer(NodeTransformer):
    """Changes a template's tree, so that what it makes and repeats is paid for."""

    @staticmethod
    def _through(node: Any, name: str, *args: nodes.Expr) -> nodes.Expr:
        return nodes.Filter(node, name, list(args), [], None, None, lineno=node.lineno)

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        size = sum(len(text.data) for text in node.find_all(nodes.TemplateData))
        node.iter = self._through(node.iter, "_walk", nodes.Const(size, lineno=node.lineno))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return self._through(nodes.List(node.nodes, lineno=node.lineno), "_joined")

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = self._through(node.expr, "_made")
        for operand in node.ops:
            operand.expr = self._through(operand.expr, "_made")
        return node

    def visit_List(self, node: nodes.List) -> nodes.Node:
        self.generic_visit(node)
        return self._through(node, "_made")

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:
        self.generic_visit(node)
        return self._through(node, "_made")

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        self.generic_visit(node)
        return node if node.ctx == "store" else self._through(node, "_made")

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        return self._through(node, "_made") if isinstance(node.arg, nodes.Slice) else node
