# SPDX-License-Identifier: BSD-3-Clause
"""Makes C++ programs at random: templates, virtual calls, constructors, lambdas, operators."""

from __future__ import annotations

import random

__all__ = ["make_program"]

_TYPES = ["signed char", "unsigned short", "int", "unsigned", "long long", "unsigned long long"]
_START = """__attribute__((weak)) void operator delete(void *, decltype(sizeof 0)) noexcept {}
namespace {
using Hash = unsigned long long;
void mix(Hash &h, long long value) { h = (h ^ (Hash)value) * 1099511628211ull; }

// Says when it was made, copied, moved and destroyed.
struct Traced {
    Hash *h;
    int id;
    Traced(Hash &to, int number) : h(&to), id(number) { mix(*h, id); }
    Traced(const Traced &other) : h(other.h), id(other.id + 100) { mix(*h, id); }
    Traced(Traced &&other) noexcept : h(other.h), id(other.id + 1000) { mix(*h, id); }
    ~Traced() { mix(*h, -id); }
    Traced &operator=(const Traced &other) { mix(*h, id -= other.id); return *this; }
};

template <typename T, int N> struct Row {
    T data[N]{};
    template <typename F> Row &each(F f) { for (T &one : data) one = (T)f(one); return *this; }
    T &operator[](int i) { return data[(unsigned)i % N]; }
    Row operator+(const Row &other) const
    { Row sum; for (int i = 0; i < N; i++) sum.data[i] = (T)(data[i] + other.data[i]); return sum; }
    template <typename U> operator Row<U, N>() const
    { Row<U, N> to; for (int i = 0; i < N; i++) to.data[i] = (U)data[i]; return to; }
    void into(Hash &h) const { for (T one : data) mix(h, (long long)one); }
};
template <typename T> struct Row<T, 1> {
    T only{};
    template <typename F> Row &each(F f) { only = (T)(f(only) ^ 5); return *this; }
    T &operator[](int) { return only; }
    Row operator+(const Row &other) const { Row r; r.only = (T)(only - other.only); return r; }
    void into(Hash &h) const { mix(h, (long long)only * 3); }
};

template <typename... A> long long fold(A... a) { return (7 + ... + ((long long)a * 31)); }
template <int N> constexpr long long power(long long x)
{ if constexpr (N == 0) return 1; else return (long long)((Hash)x * (Hash)power<N - 1>(x)); }
"""


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def number(self) -> int:
        return self.rng.choice([0, 1, -1, 7, 127, -128, 255, 65535, self.rng.randrange(-99, 99)])

    def expression(self, names: list[str], depth: int = 0) -> str:
        if depth == 3 or self.rng.random() < 0.25:
            return self.rng.choice([*names, f"{self.number()}ll"])
        left, right = (self.expression(names, depth + 1) for _ in range(2))
        return self.rng.choice(
            [
                *(f"((long long)((Hash)({left}) {o} (Hash)({right})))" for o in "+-*^&|"),
                f"(({left}) < ({right}) ? ({right}) : ({left}))",
                f"((long long)(Hash({left}) >> (({right}) & 31)))",
                f"fold({left}, ({self.rng.choice(_TYPES)})({right}))",
                f"power<{self.rng.randrange(5)}>({left})",
            ]
        )

    def classes(self) -> str:
        """Write a base and classes derived from it or from another of them."""
        lines = [
            "struct C0 { int a; explicit C0(int n) : a(n) {}",
            "  virtual long long f(long long x) const { return x + a; }",
            "  virtual void g(Hash &h) { mix(h, a++); } virtual ~C0() = default; };",
            "struct Side { short s = 3; virtual long long side(int x) { return x * s; } };",
        ]
        for number in range(1, self.count + 1):
            base = f"C{self.rng.randrange(number)}"
            sides = ", public Side" if number == self.count else ""
            kind = self.rng.choice(_TYPES)
            lines.append(f"struct C{number} : public {base}{sides} {{ {kind} m = {number};")
            lines.append(f"  explicit C{number}(int n) : {base}(n * {number}), m(({kind})n) {{}}")
            if self.rng.random() < 0.8:
                body = self.expression(["x", "(long long)m", "(long long)a"])
                lines.append(f"  long long f(long long x) const override {{ return {body}; }}")
            if self.rng.random() < 0.5:
                lines.append(
                    f"  void g(Hash &h) override {{ {base}::g(h); mix(h, (long long)m++); }}"
                )
            if sides:
                lines.append("  long long side(int x) override { return x - a; }")
            lines.append("};")
        return "\n".join(lines)

    def statement(self) -> str:
        rng = self.rng
        kind, wide = rng.choice(_TYPES), rng.choice(["long long", "unsigned long long"])
        size, number = rng.choice([1, 2, 3, 7]), self.number()
        value = self.expression(["x", "y"])
        which = rng.randrange(self.count + 1)
        return rng.choice(
            [
                f"{{ Row<{kind}, {size}> r; r[{number}] = ({kind})({value});"
                f" auto by = [x, &y](auto one) {{ return (long long)one + x - y++; }};"
                f" (r.each(by) + r).into(h); }}",
                f"{{ Row<{kind}, 3> r; r.each([&](auto) {{ return x ^= {number}; }});"
                f" Row<{wide}, 3> w = r; w.into(h); }}",
                f"{{ C{which} c((int)({value})); C0 &base = c; base.g(h); mix(h, base.f(x)); }}",
                f"{{ C{self.count} c({number}); Side &s = c; mix(h, s.side((int)({value}))); }}",
                f"{{ Traced t(h, {number}); Traced u = t;"
                f" if (x & 1) u = t; Traced v = static_cast<Traced &&>(u); y += v.id; }}",
                "{ static Row<int, 2> kept; kept[y & 1] += (int)x; kept.into(h); }",
                f"{{ long long (C0::*p)(long long) const = &C0::f; C{which} c({number});"
                f" x = (c.*p)({value}); }}",
                f"switch ((x ^ y) & 3) {{ case 0: x = {value}; break;"
                f" case 1: y += 3; [[fallthrough]];"
                f" default: mix(h, x); }}",
                f"{{ int list[] = {{{number}, 2, 5}};"
                " for (auto v : list) { x += v * y; mix(h, x); } }",
            ]
        )

    def make(self, number: int) -> str:
        self.count = self.rng.randrange(2, 5)
        body = "\n  ".join(self.statement() for _ in range(self.rng.randrange(4, 9)))
        return (
            f"{_START}{self.classes()}\n}}\n"
            f'extern "C" __attribute__((noinline)) void body_{number}(Hash *to)\n'
            f"{{ Hash &h = *to; long long x = {self.number()}, y = {self.number()};\n"
            f"  for (int i = 0; i < 3; i++) {{\n  {body}\n  }}\n  mix(h, x); mix(h, y); }}\n"
        )


def make_program(rng: random.Random, number: int) -> str:
    """Return a C++17 program with a C function ``body_<number>(unsigned long long *hash)``."""
    return _Maker(rng).make(number)
