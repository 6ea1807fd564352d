# SPDX-License-Identifier: BSD-3-Clause
"""Functions of C and C++ that Vector Engine code calls, by what they return."""

from __future__ import annotations

import cmath
from fractions import Fraction

import pytest

from tests.veo.package.conftest import Run

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)


def test_atomic_operations_of_more_than_a_register(run: Run) -> None:
    """Expected is what gcc's code prints on the host."""
    source = r"""
        #include <pthread.h>
        #include <stdatomic.h>
        #include <stdio.h>
        typedef struct { long a, b, c; } triple;
        static _Atomic triple t;
        static _Atomic __int128 w;
        static _Atomic long double q;
        static void *work(void *argument)
        {
            for (int i = 0; i < 1000; i++) {
                triple seen = t, next;
                do
                    next = (triple){seen.a + 1, seen.b + 2, seen.c - 1};
                while (!atomic_compare_exchange_weak(&t, &seen, next));
                w += ((__int128)1 << 64) + 1;
                q += 0.5L;
            }
            return argument;
        }
        #define SHOW(call) printf("%d", (int)(call)), printf(" %d|", (int)w)
        int main(void)
        {
            pthread_t ids[4];
            for (int i = 0; i < 4; i++)
                pthread_create(&ids[i], NULL, work, NULL);
            for (int i = 0; i < 4; i++)
                pthread_join(ids[i], NULL);
            triple x = t;
            __int128 v = w;
            printf("%ld %ld %ld %llx %llx %Lg\n", x.a, x.b, x.c, (long long)(v >> 64),
                   (long long)v, (long double)q);
            SHOW(atomic_exchange(&w, 12));
            SHOW(atomic_fetch_sub(&w, 2));
            SHOW(atomic_fetch_and(&w, 6));
            SHOW(atomic_fetch_or(&w, 8));
            SHOW(atomic_fetch_xor(&w, 3));
            SHOW(__atomic_fetch_nand((__int128 *)&w, 5, __ATOMIC_SEQ_CST));
            v = -10;
            SHOW(atomic_compare_exchange_strong(&w, &v, 77));
            SHOW(v);
            SHOW(atomic_compare_exchange_strong(&w, &v, 77));
            x = atomic_exchange(&t, ((triple){7, 8, 9}));
            printf("%ld %ld %d\n", x.a, ((triple)t).c, atomic_is_lock_free(&t));
        }
    """
    done = run(source, flags="-O2 -Wno-atomic-alignment")
    assert done.stdout.splitlines() == [
        "4000 8000 -4000 fa0 fa0 2000",
        "4000 12|12 10|10 2|2 10|10 9|9 -2|0 -2|-2 -2|1 77|4000 9 0",
    ]


def test_quads_divided_and_converted(run: Run) -> None:
    """A third, 113 bits of it, times 2**120 is an integer; 2**100 + 1 needs 101 bits."""
    source = r"""
        #include <stdio.h>
        typedef unsigned __int128 wide;
        static volatile long double one = 1, three = 3, power = 0x1p120L;
        static volatile __int128 negative = -((__int128)1 << 100) - 1;
        static volatile wide large = ~(wide)0 << 15;
        #define SHOW(x) printf("%llx %llx\n", (long long)((wide)(x) >> 64), (long long)(x))
        int main(void)
        {
            SHOW((__int128)(one / three * power));
            SHOW((__int128)(long double)negative);
            SHOW((wide)(long double)large);
        }
    """
    expected = (round(Fraction(2**114, 3)) * 2**6, 2**128 - 2**100 - 1, 2**128 - 2**15)
    assert run(source, flags="-O2").stdout.splitlines() == [
        f"{n >> 64:x} {n & (2**64 - 1):x}" for n in expected
    ]


def test_complex_functions(run: Run) -> None:
    """Values are compared with Python's; a float has 6 digits."""
    names = "acos acosh asin asinh atan atanh cos cosh exp log sin sinh sqrt tan tanh".split()
    calls = "".join(f"P(c{name}(a)); F(c{name}f(f));\n" for name in names)
    source = f"""
        #include <complex.h>
        #include <inttypes.h>
        #include <stdio.h>
        #include <stdlib.h>
        static void P(double _Complex z) {{ printf("%.15g %.15g\\n", creal(z), cimag(z)); }}
        static void F(float _Complex z) {{ printf("%.15g %.15g\\n", crealf(z), cimagf(z)); }}
        int main(int argc, char **argv)
        {{
            double _Complex a = argc + 0.5 + 2.0 * I, b = 1.5 - argc * I;
            float _Complex f = a, g = b;
            {calls}
            P(a * b); F(f * g); P(a / b); F(f / g); P(cpow(a, b)); F(cpowf(f, g));
            P(conj(a)); F(conjf(f));
            P(cabs(a) + carg(a) * I); F(cabsf(f) + cargf(f) * I); P(cproj(a)); F(cprojf(f));
            P(imaxdiv(-17, 5).quot + imaxdiv(-17, 5).rem * I);
        }}
    """
    done = run(source, flags="-O1 -fno-builtin")
    got = [complex(*map(float, line.split())) for line in done.stdout.splitlines()]
    a, b = 1.5 + 2j, 1.5 - 1j
    expected = [getattr(cmath, name)(a) for name in names]
    expected += [a * b, a / b, a**b, a.conjugate(), complex(*cmath.polar(a)), a]
    assert done.stderr == ""
    assert got[0::2][:-1] == pytest.approx(expected, rel=1e-13)
    assert got[1::2] == pytest.approx(expected, rel=2e-6)
    assert got[-1] == -3 - 2j


def test_cxx_containers_mutexes_and_clocks(run: Run) -> None:
    source = """
        #include <chrono>
        #include <cstdio>
        #include <mutex>
        #include <unordered_map>
        extern "C" long time(long *);
        namespace std { inline namespace __1 { unsigned long __next_prime(unsigned long); } }
        struct alignas(64) Line { double x[8]; };
        int main() {
            std::unordered_map<int, int> squares;
            for (int i = 0; i < 100; i++)
                squares[i * 7] = i * i;
            std::mutex mutex;
            {
                std::lock_guard<std::mutex> guard(mutex);
                std::printf("%d ", mutex.try_lock());
            }
            std::printf("%d ", mutex.try_lock());
            Line *line = new Line, *lines = new Line[3];
            std::printf("%d %d|", (int)((unsigned long)line % 64), squares[693]);
            delete line;
            delete[] lines;
            using namespace std::chrono;
            auto before = steady_clock::now();
            long now = time(nullptr);
            long other = duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
            std::printf("%d %d|", other - now >= 0 && other - now < 60,
                        steady_clock::now() >= before && before.time_since_epoch().count() > 0);
            for (unsigned long n : {0, 1, 2, 3, 4, 8, 9, 24, 25, 49, 120, 1000000})
                std::printf("%lu ", std::__next_prime(n));
        }
    """
    done = run(source, language="C++")
    assert (done.stdout, done.stderr) == (
        "0 1 0 9801|1 1|0 2 2 3 5 11 11 29 29 53 127 1000003 ",
        "",
    )


def test_cxx_variables_of_functions_are_made_once_by_one_thread(run: Run) -> None:
    source = """
        #include <cstdio>
        #include <pthread.h>
        static int made;
        struct Counted {
            int value;
            Counted(int value) : value(value) { made++; }
        };
        static int first() { static Counted counted(made + 5); return counted.value; }
        static int second() { static Counted counted(first() + 2); return counted.value; }
        static void *call(void *) { return (void *)(long)second(); }
        int main() {
            pthread_t threads[4];
            void *results[4];
            for (pthread_t &thread : threads)
                pthread_create(&thread, nullptr, call, nullptr);
            for (int i = 0; i < 4; i++)
                pthread_join(threads[i], &results[i]);
            for (void *result : results)
                std::printf("%ld ", (long)result);
            std::printf("%d", made);
        }
    """
    done = run(source, language="C++")
    assert (done.stdout, done.stderr) == ("7 7 7 7 2", "")


def test_communication_registers_are_shared_by_threads(run: Run) -> None:
    source = r"""
        #include <pthread.h>
        #include <stdio.h>
        #include <velintrin.h>
        static void *count(void *argument)
        {
            for (int i = 0; i < 1000; i++)
                _vel_fidcr_sss(31, 0);
            return argument;
        }
        int main(void)
        {
            pthread_t thread;
            pthread_create(&thread, NULL, count, NULL);
            count(NULL);
            pthread_join(thread, NULL);
            printf("%lu\n", _vel_lcr_sss(31, 0));
            fflush(stdout);
            _vel_scr_sss(1, 32, 0);
        }
    """
    done = run(source)
    assert done.stdout == "2000\n"
    assert "ILDT (illegal data)" in done.stderr
