# SPDX-License-Identifier: BSD-3-Clause
"""Makes the inputs that fuzzing of the signature reader starts from.

``python -m tests.formats.fuzz.dwarf_corpus FOLDER`` compiles a few small sources in different ways;
each input is a shared object, 16 bytes with a symbol, 8 with its address (see ``fuzz_dwarf.c``).
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

from tests.support.corpora import main

C_SOURCE = """
typedef struct { double x; } point;
enum e { A = -1, B };
typedef const volatile double odd;
static inline double part(odd a, float b) { return a * b; }
double target(int a, odd b, enum e c, point *d, char e[]) { return part(b, 3) + a + c + d->x + *e; }
int other(point a, ...) { return (int)a.x; }
long double third(long double a, _Complex float b) { return a + __real__ b; }
int hot(int *a, float b) { if (__builtin_expect(b < 0, 0)) __builtin_trap(); return *a + (int)b; }
"""

CXX_SOURCE = """
namespace n { enum class e : short { a }; struct s { int f(float by) const; int m; }; }
int n::s::f(float by) const { return m + (int)by; }
template <typename... T> double total(T... a) { return (0.0 + ... + a); }
template double total<int, float>(int, float);
extern "C" double target(n::s &&a, n::e b, int n::s::*c) { return a.f(2) + (int)b + a.*c; }
"""

FORTRAN_SOURCE = """
real(8) function target(a, b, name) bind(c, name="target")
  use iso_c_binding
  real(8), value :: a
  real(4) :: b
  character(kind=c_char) :: name(*)
  target = a * b + ichar(name(1))
end function
"""

SOURCES = {
    "c": (C_SOURCE, ".c", ["target", "other", "third", "hot"]),
    "cxx": (CXX_SOURCE, ".cc", ["target", "_ZNK1n1s1fEf"]),
    "fortran": (FORTRAN_SOURCE, ".f90", ["target"]),
}

WAYS = [
    ("gcc", "c", "-gdwarf-2 -O2"),
    ("gcc", "c", "-gdwarf-4 -O2 -fdebug-types-section"),
    ("gcc", "c", "-gdwarf-5 -O2 -flto"),
    ("gcc", "c", "-gdwarf-5 -gdwarf64"),
    ("gcc", "c", "-g -gsplit-dwarf"),
    ("gcc", "c", "-g1"),
    ("clang-16", "c", "-gdwarf-5 -O2"),
    ("clang-16", "c", "-gdwarf-4"),
    ("g++", "cxx", "-std=c++17 -gdwarf-5 -O2 -fdebug-types-section"),
    ("clang++-16", "cxx", "-std=c++17 -gdwarf-5 -O1"),
    ("gfortran", "fortran", "-gdwarf-5 -O2"),
    ("gfortran", "fortran", "-gdwarf-4 -O2"),
]


def symbol_addresses(library: Path) -> dict[str, int]:
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def make_corpus(folder: Path) -> list[Path]:
    """Write the inputs that the compilers at hand allow for; at least gcc's are made."""
    inputs = []
    for number, (compiler, language, flags) in enumerate(WAYS):
        if shutil.which(compiler) is None:
            continue
        text, suffix, symbols = SOURCES[language]
        source = folder / f"source{suffix}"
        source.write_text(text)
        library = folder / "library.so"
        command = [compiler, "-shared", "-fPIC", "-nostdlib", "-w", *flags.split()]
        subprocess.run([*command, str(source), "-o", str(library)], check=True, cwd=folder)
        addresses = symbol_addresses(library)
        for symbol in symbols:
            path = folder / f"{number}-{symbol}.input"
            trailer = struct.pack("<16sQ", symbol.encode(), addresses[symbol])
            path.write_bytes(library.read_bytes() + trailer)
            inputs.append(path)
    return inputs


if __name__ == "__main__":
    main(make_corpus)
