# SPDX-License-Identifier: BSD-3-Clause
"""Makes C programs at random, which compute the same wherever integers have the same sizes."""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["make_program"]

_INTEGERS = ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned"]
_INTEGERS += ["long long", "unsigned long long"]
_FLOATS = ["float", "double"]
_UNSIGNED = ["(unsigned)", "(unsigned long long)", "(unsigned char)", "(unsigned short)"]
_EDGES = [0, 1, -1, 127, 128, 255, -32768, 65535, 2147483647, -2147483647]
_FLOAT_EDGES = ["0.0", "-0.0", "1.0", "-1.5", "1e-40", "3e-310", "4294967295.0", "-2147483648.0"]
_FLOAT_EDGES += ["9007199254740993.0", "1.7e38", "1e300", "16777217.0", "0.1", "1e-20"]
_GLOBALS = [f"g{i}" for i in range(8)]
_FLOAT_GLOBALS = [f"x{i}" for i in range(6)]
# Conversions to integers that would overflow are no C; not-a-numbers have bits that processors
# choose themselves.
_START = """typedef struct { short a; long long b; unsigned char c; int d[3]; } S;
typedef struct { short a; float f; } P;
typedef struct { double d; int i; } Q;
static int arr[16]; static S st[4]; static unsigned char by[32]; static long long q[8];
static P gp = {3, 0.5f}; static Q gq = {-2.5, 77};
static void sum(const void *p, unsigned n, unsigned long long *h)
{ const unsigned char *c = p; while (n--) *h = (*h ^ *c++) * 1099511628211ull; }
static void sum_double(double v, unsigned long long *h)
{ if (v != v) v = 7.25; sum(&v, sizeof v, h); }
static void sum_float(float v, unsigned long long *h)
{ if (v != v) v = 7.25f; sum(&v, sizeof v, h); }
static int to_int(double v) { return v > -2147483648.0 && v < 2147483648.0 ? (int)v : 7; }
static unsigned to_unsigned(float v) { return v >= 0 && v < 4294967296.0f ? (unsigned)v : 9; }
static long long to_long(float v) { return v > -9e18f && v < 9e18f ? (long long)v : -5; }
static unsigned long long to_unsigned_long(double v)
{ return v >= 0 && v < 18446744073709551615.0 ? (unsigned long long)v : 11; }
static S swapped(S s, int by) { s.a += by; s.d[1] ^= s.d[by & 1]; s.b -= s.c; return s; }
__attribute__((noinline)) static long long various(const char *kinds, ...)
{
  __builtin_va_list list; long long total = 0;
  __builtin_va_start(list, kinds);
  for (; *kinds; kinds++) {
    total *= 31;
    if (*kinds == 'i') total += __builtin_va_arg(list, int);
    else if (*kinds == 'q') total ^= __builtin_va_arg(list, long long);
    else if (*kinds == 'd') total -= to_int(__builtin_va_arg(list, double));
    else { Q v = __builtin_va_arg(list, Q); total += to_int(v.d) ^ v.i; }
  }
  __builtin_va_end(list);
  return total;
}
"""
_END = """  sum(arr, sizeof arr, h); sum(by, sizeof by, h); sum(q, sizeof q, h);
  sum(&gp.a, 2, h); sum_float(gp.f, h); sum_double(gq.d, h); sum(&gq.i, 4, h);
  for (int i = 0; i < 4; i++) {
    S s = swapped(st[i], g1);
    sum(&s.a, 2, h); sum(&s.b, 8, h); sum(&s.c, 1, h); sum(s.d, 12, h);
  }
}
"""


class _Generator:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names = _GLOBALS
        self.float_names = _FLOAT_GLOBALS
        self.pointers: list[str] = []

    def expression(self, depth: int) -> str:
        """Return an expression of integers; what C leaves open is kept out."""
        rng = self.rng
        kind = rng.randrange(20)
        if depth <= 0 or kind < 3:
            return self._leaf()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if kind < 7:
            return f"({rng.choice(_UNSIGNED)}({a}) {rng.choice('+-*&|^')} ({b}))"
        if kind < 10:
            return self._division(a, b)
        if kind < 12:
            return self._shift(a, b)
        if kind == 12:
            sign = rng.choice(["<", ">", "<=", ">=", "==", "!=", "&&", "||"])
            return f"(({a}) {sign} ({b}))"
        if kind == 13:
            return f"(({a}) ? ({b}) : ({self.expression(depth - 1)}))"
        if kind == 14:
            name = rng.choice(["clz", "ctz", "popcount", "bswap32"])
            return f"__builtin_{name}((unsigned)({a}) | 1u)"
        if kind == 15:
            return f"(({rng.choice(_INTEGERS)})({a}))"
        if kind == 16:
            return self._varied(depth - 1)
        if kind == 17 and self.pointers:
            return f"{rng.choice(self.pointers)}[({a}) & 1](({b}), {self.floating(depth - 1)})"
        if kind == 18:
            sign = rng.choice(["<", ">", "<=", ">=", "==", "!="])
            return f"({self.floating(depth - 1)} {sign} {self.floating(depth - 1)})"
        name = rng.choice(["to_int", "to_unsigned", "to_long", "to_unsigned_long"])
        return f"{name}({self.floating(depth - 1)})"

    def _division(self, a: str, b: str) -> str:
        sign = self.rng.choice("/%")
        forms = [
            f"((int)({a}) {sign} (((int)({b}) & 0x3fff) | 1))",
            f"((int)({a}) {sign} -(((int)({b}) & 0x3ffff) | 2))",
            f"((unsigned)({a}) {sign} ((unsigned)({b}) | 1))",
            f"((long long)({a}) {sign} (((long long)({b}) & 0x3ffffffffffll) | 1))",
            f"((long long)({a}) {sign} -(((long long)({b}) & 0xffffffffll) | 2))",
            f"((unsigned long long)({a}) {sign} ((unsigned long long)({b}) | 1))",
        ]
        return self.rng.choice(forms)

    def _shift(self, a: str, b: str) -> str:
        bits = self.rng.choice([31, 63])
        name = "unsigned long long" if bits == 63 else "unsigned"
        sign = self.rng.choice(["<<", ">>"])
        if sign == ">>" and self.rng.random() < 0.5:
            name = "int" if bits == 31 else "long long"
        return f"((({name})({a})) {sign} (({b}) & {bits}))"

    def _varied(self, depth: int) -> str:
        """Return a call with arguments of any number."""
        makers: dict[str, Callable[[], str]] = {
            "i": lambda: f"(int)({self.expression(depth)})",
            "q": lambda: f"(long long)({self.expression(depth)})",
            "d": lambda: f"(double)({self.floating(depth)})",
            "S": lambda: "gq",
        }
        kinds = self.rng.choices(list(makers), k=self.rng.randrange(1, 7))
        arguments = ", ".join(makers[kind]() for kind in kinds)
        return f'various("{"".join(kinds)}", {arguments})'

    def floating(self, depth: int) -> str:
        """Return an expression of floats and doubles."""
        rng = self.rng
        kind = rng.randrange(10)
        if depth <= 0 or kind < 3:
            return self._floating_leaf()
        a = self.floating(depth - 1)
        if kind < 7:
            return f"({a} {rng.choice('+-*/')} {self.floating(depth - 1)})"
        if kind == 7:
            return f"(({rng.choice(_FLOATS)}){a})"
        if kind == 8:
            return f"(-({a}))"
        return f"(({self.expression(depth - 1)}) ? {a} : {self.floating(depth - 1)})"

    def _floating_leaf(self) -> str:
        rng = self.rng
        number = rng.choice([*_FLOAT_EDGES, repr(round(rng.uniform(-1e4, 1e4), 3))])
        converted = f"({rng.choice(_FLOATS)})({rng.choice(self.names)})"
        return rng.choice([*self.float_names, *self.float_names, number, converted, "gp.f", "gq.d"])

    def _leaf(self) -> str:
        rng, name = self.rng, self.rng.choice(self.names)
        member = rng.choice(["a", "b", "c", "d[1]"])
        elements = [f"arr[({name}) & 15]", f"by[({name}) & 31]", f"q[({name}) & 7]"]
        numbers = [str(rng.randrange(-300, 300)), str(rng.getrandbits(31))]
        return rng.choice([*self.names, *numbers, *elements, f"st[({name}) & 3].{member}"])

    def assignment(self) -> str:
        """Return an assignment to a variable of any kind."""
        rng = self.rng
        if rng.random() < 0.25:
            return f"{rng.choice([*_FLOAT_GLOBALS, 'gp.f', 'gq.d'])} = {self.floating(3)};"
        member = rng.choice(["a", "b", "c", "d[2]"])
        elements = [f"arr[({self.expression(1)}) & 15]", f"q[({self.expression(1)}) & 7]"]
        elements += [f"by[({self.expression(1)}) & 31]", f"st[({self.expression(0)}) & 3].{member}"]
        place = rng.choice([*_GLOBALS, *elements, "gp.a", "gq.i"])
        return f"{place} = {self.expression(3)};"

    def statement(self) -> str:
        """Return an assignment, as it is, under a condition or in a loop."""
        rng, assignment = self.rng, self.assignment()
        kind = rng.randrange(5)
        if kind == 0:
            other = f"{rng.choice(_GLOBALS)} = {self.expression(2)};"
            return f"if ({self.expression(2)}) {{ {assignment} }} else {{ {other} }}"
        if kind == 1:
            a, b = rng.choice(_GLOBALS), rng.choice(_GLOBALS)
            return (
                f"for (int i = 0; i < {rng.randrange(2, 9)}; i++) {{ {assignment} "
                f"arr[i] = (unsigned)arr[i] + (unsigned){a}; "
                f"q[i & 7] ^= (unsigned long long)arr[i] * (unsigned long long){b}; }}"
            )
        return assignment

    def _with_names(self, names: list[str], float_names: list[str], make: Callable[[], str]) -> str:
        self.names, self.float_names = names + _GLOBALS, float_names + _FLOAT_GLOBALS
        text = make()
        self.names, self.float_names = _GLOBALS, _FLOAT_GLOBALS
        return text

    def pointed(self) -> str:
        """Return two functions and a table of them, which the compiler cannot see through."""
        kind = self.rng.choice(_INTEGERS)
        result = self.rng.choice(_INTEGERS)
        texts = []
        for letter in "uv":
            value = self._with_names(["a"], ["b"], lambda: self.expression(2))
            texts.append(f"static {result} {letter}({kind} a, double b) {{ return {value}; }}")
        texts.append(f"static {result} (*volatile table[2])({kind}, double) = {{u, v}};")
        self.pointers = ["table"]
        return "\n".join(texts)

    def by_value(self) -> str:
        """Return functions that take and return structures, of two words and of more."""
        lines = []
        for kind, number, real in (("P", "a", "f"), ("Q", "i", "d")):
            names, float_names = ["p.a", "r.i", "n"], ["p.f", "r.d"]
            assign = self._with_names(names, float_names, lambda: self.expression(2))
            assign_real = self._with_names(names, float_names, lambda: self.floating(2))
            mine = "p" if kind == "P" else "r"
            lines.append(
                f"__attribute__((noinline)) static {kind} turned_{kind}(P p, int n, Q r) "
                f"{{ {mine}.{number} = {assign}; {mine}.{real} = {assign_real}; return {mine}; }}"
            )
        return "\n".join(lines)

    def function(self, index: int) -> tuple[str, str]:
        """Return a function and a call of it."""
        rng = self.rng
        types = rng.choices([*_INTEGERS, *_FLOATS], k=rng.randrange(1, 12))
        names = [f"p{i}" for i in range(len(types))]
        floats = [name for name, kind in zip(names, types, strict=True) if kind in _FLOATS]
        integers = [name for name in names if name not in floats]
        result = rng.choice(_INTEGERS)

        def body() -> str:
            lines = [self.statement() for _ in range(rng.randrange(2, 5))]
            return "\n".join([*lines, f"return {self.expression(3)}; }}"])

        parameters = ", ".join(f"{kind} {name}" for kind, name in zip(types, names, strict=True))
        head = f"__attribute__((noinline)) static {result} f{index}({parameters}) {{\n"
        text = head + self._with_names(integers, floats, body)
        given = [rng.choice(_FLOAT_GLOBALS if kind in _FLOATS else _GLOBALS) for kind in types]
        return text, f"f{index}({', '.join(given)})"


def make_program(rng: random.Random, name: str = "body") -> str:
    """Return C text with `void NAME(unsigned long long *)`, which hashes all that it computed."""
    generator = _Generator(rng)
    lines = [_START]
    for variable in _GLOBALS:
        value = rng.choice([*_EDGES, rng.getrandbits(31)])
        lines.append(f"static {rng.choice(_INTEGERS)} {variable} = {value};")
    kinds = rng.choices(_FLOATS, k=len(_FLOAT_GLOBALS))
    for variable, kind in zip(_FLOAT_GLOBALS, kinds, strict=True):
        number = rng.choice([*_FLOAT_EDGES, repr(rng.uniform(-1e3, 1e3))])
        lines.append(f"static {kind} {variable} = ({kind}){number};")
    lines += [generator.pointed(), generator.by_value()]
    calls = []
    for index in range(2):
        text, call = generator.function(index)
        lines.append(text)
        calls.append(call)
    lines.append(f"void {name}(unsigned long long *h) {{")
    targets = [f"g{3 * index} = {call};" for index, call in enumerate(calls)]
    targets += ["gp = turned_P(gp, g1, gq);", "gq = turned_Q(gp, g2, gq);"]
    lines.append(f"  for (int k = 0; k < 3; k++) {{ {' '.join(targets)} }}")
    lines += [f"  sum(&{variable}, sizeof {variable}, h);" for variable in _GLOBALS]
    for variable, kind in zip(_FLOAT_GLOBALS, kinds, strict=True):
        lines.append(f"  sum_{kind}({variable}, h);")
    return "\n".join(lines) + "\n" + _END
