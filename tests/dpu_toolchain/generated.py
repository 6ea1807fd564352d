# SPDX-License-Identifier: BSD-3-Clause
"""Makes C programs at random, which compute the same wherever integers have the same sizes."""

from __future__ import annotations

import random

__all__ = ["make_program"]

_TYPES = ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned"]
_TYPES += ["long long", "unsigned long long"]
_UNSIGNED = ["(unsigned)", "(unsigned long long)", "(unsigned char)", "(unsigned short)"]
_EDGES = [0, 1, -1, 127, 128, 255, -32768, 65535, 2147483647, -2147483647]
_GLOBALS = [f"g{i}" for i in range(8)]
_START = """typedef struct { short a; long long b; unsigned char c; int d[3]; } S;
int arr[16]; S st[4]; unsigned char by[32]; long long q[8];
static void sum(const void *p, unsigned n, unsigned long long *h)
{ const unsigned char *c = p; while (n--) *h = (*h ^ *c++) * 1099511628211ull; }
static S swapped(S s, int by) { s.a += by; s.d[1] ^= s.d[by & 1]; s.b -= s.c; return s; }
"""
_END = """  sum(arr, sizeof arr, h); sum(by, sizeof by, h); sum(q, sizeof q, h);
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

    def expression(self, depth: int) -> str:
        """Return an expression of integers; what C leaves open is kept out."""
        rng = self.rng
        kind = rng.randrange(15)
        if depth <= 0 or kind < 3:
            return self._leaf()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if kind < 7:
            return f"({rng.choice(_UNSIGNED)}({a}) {rng.choice('+-*&|^')} ({b}))"
        if kind == 7:
            return f"((int)({a}) {rng.choice('/%')} (((int)({b}) & 0x3fff) | 1))"
        if kind == 8:
            return f"((unsigned)({a}) {rng.choice('/%')} ((unsigned)({b}) | 1))"
        if kind in (9, 10):
            bits = rng.choice([31, 63])
            name = "unsigned long long" if bits == 63 else "unsigned"
            if kind == 9 and rng.random() < 0.5:
                name = "int" if bits == 31 else "long long"
            return f"((({name})({a})) {'>>' if kind == 9 else '<<'} (({b}) & {bits}))"
        if kind == 11:
            sign = rng.choice(["<", ">", "<=", ">=", "==", "!=", "&&", "||"])
            return f"(({a}) {sign} ({b}))"
        if kind == 12:
            return f"(({a}) ? ({b}) : ({self.expression(depth - 1)}))"
        if kind == 13:
            name = rng.choice(["clz", "ctz", "popcount", "bswap32"])
            return f"__builtin_{name}((unsigned)({a}) | 1u)"
        return f"(({rng.choice(_TYPES)})({a}))"

    def _leaf(self) -> str:
        rng, name = self.rng, self.rng.choice(self.names)
        member = rng.choice(["a", "b", "c", "d[1]"])
        elements = [f"arr[({name}) & 15]", f"by[({name}) & 31]", f"q[({name}) & 7]"]
        numbers = [str(rng.randrange(-300, 300)), str(rng.getrandbits(31))]
        return rng.choice([*self.names, *numbers, *elements, f"st[({name}) & 3].{member}"])

    def place(self) -> str:
        """Return what can be assigned to."""
        member = self.rng.choice(["a", "b", "c", "d[2]"])
        elements = [f"arr[({self.expression(1)}) & 15]", f"q[({self.expression(1)}) & 7]"]
        elements += [f"by[({self.expression(1)}) & 31]", f"st[({self.expression(0)}) & 3].{member}"]
        return self.rng.choice([*_GLOBALS, *elements])

    def statement(self) -> str:
        """Return an assignment, as it is, under a condition or in a loop."""
        rng = self.rng
        assignment = f"{self.place()} = {self.expression(3)};"
        kind = rng.randrange(4)
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

    def function(self, index: int) -> tuple[str, str]:
        """Return a function and a call of it."""
        types = self.rng.choices(_TYPES, k=self.rng.randrange(1, 12))
        names = [f"p{i}" for i in range(len(types))]
        self.names = names + _GLOBALS
        parameters = ", ".join(f"{kind} {name}" for kind, name in zip(types, names, strict=True))
        lines = [f"__attribute__((noinline)) {self.rng.choice(_TYPES)} f{index}({parameters}) {{"]
        lines += [self.statement() for _ in range(self.rng.randrange(2, 6))]
        lines.append(f"return {self.expression(3)}; }}")
        self.names = _GLOBALS
        return "\n".join(lines), f"f{index}({', '.join(self.rng.choices(_GLOBALS, k=len(types)))})"


def make_program(rng: random.Random) -> str:
    """Return C text with `void body(unsigned long long *)`, which hashes all that it computed."""
    generator = _Generator(rng)
    lines = [_START]
    for name in _GLOBALS:
        value = rng.choice([*_EDGES, rng.getrandbits(31)])
        lines.append(f"{rng.choice(_TYPES)} {name} = {value};")
    calls = []
    for index in range(3):
        text, call = generator.function(index)
        lines.append(text)
        calls.append(call)
    lines.append("void body(unsigned long long *h) {")
    targets = [f"g{3 * index} = {call};" for index, call in enumerate(calls)]
    lines.append(f"  for (int k = 0; k < 3; k++) {{ {' '.join(targets)} }}")
    lines += [f"  sum(&{name}, sizeof {name}, h);" for name in _GLOBALS]
    return "\n".join(lines) + "\n" + _END
