# SPDX-License-Identifier: BSD-3-Clause
"""DPU programs in C++: what the language needs at run time, its headers, and our own in it."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu import DpuError, DpuSet
from dpu.debugger.program import DebugProgram
from dpu.elf.readable_name import readable_name
from dpu.stack import analyse
from dpu.toolchain import BuildOptions, Toolchain, ToolchainError, build
from dpu.toolchain.command import main, main_cplusplus
from dpu.toolchain.compilers import Kind
from dpu.toolchain.errors import CommandError
from dpu.toolchain.link.program import Program
from dpu.toolchain.target import RUNTIME_HEADERS
from tests.dpu.support.native import DONE
from tests.dpu.support.running import Running
from tests.dpu.toolchain.generated_cplusplus import make_program
from tests.dpu.toolchain.reference_host import START, find_reference
from tests.support.full import rest_if_full

Compile = Callable[..., Program]
Run = Callable[..., Running]
STACK = {"STACK_SIZE_DEFAULT": 2048}
HEADERS = sorted(
    path.name for path in RUNTIME_HEADERS.glob("*.h") if path.name != "string_overloads.h"
)


@pytest.fixture
def run(compile_text: Compile, machine_library: ctypes.CDLL) -> Run:
    """Compile and load C++."""

    def load(text: str, *, tasklets: int = 1, **options: object) -> Running:
        program = compile_text(text, tasklets=tasklets, suffix=".cpp", defines=STACK, **options)
        return Running(machine_library, program.elf)

    return load


CONSTRUCTED = """
#include <defs.h>
#include <stdint.h>
__host uint32_t order[8], count, runs, seen[NR_TASKLETS];
static void note(uint32_t what) { order[count++ & 7] = what; }
struct Note {
    uint32_t what;
    explicit Note(uint32_t n) : what(n) { note(n); }
    ~Note() { note(99); }
};
Note first(1);
__attribute__((init_priority(200))) Note early(2);
static Note last(3);
extern "C" __attribute__((constructor(150))) void by_function() { note(me() == 0 ? 4 : 5); }
int main()
{
    if (me() == 0) runs++;
    seen[me()] = count + first.what + last.what;
    return 0;
}
"""


@pytest.mark.parametrize("tasklets", [1, 11])
def test_objects_are_constructed_once_per_load_before_any_tasklet_runs(
    run: Run, tasklets: int
) -> None:
    with run(CONSTRUCTED, tasklets=tasklets) as running:
        assert running.launch() == DONE
        assert running.launch() == DONE
        assert running.get("order", "I") == [4, 2, 1, 3, 0, 0, 0, 0]
        assert running.get("runs", "I") == [2]
        assert running.get("seen", "I")[:tasklets] == [4 + 1 + 3] * tasklets


def test_constructors_of_c_run_too(compile_text: Compile, machine_library: ctypes.CDLL) -> None:
    text = """
    #include <defs.h>
    __host int n;
    static __attribute__((constructor)) void start(void) { n += 5; }
    int main(void) { n *= 2; return 0; }
    """
    with Running(machine_library, compile_text(text, tasklets=3).elf) as running:
        assert running.launch() == DONE
        assert running.get("n", "i") == [40]


def test_constructors_and_assembly_share_the_stack(
    toolchain: Toolchain, machine_library: ctypes.CDLL, tmp_path: Path
) -> None:
    (tmp_path / "a.cpp").write_text(
        '#include <defs.h>\n#include <stdint.h>\nextern "C" int twice(int);\n'
        "__host int at_start, in_main;\n"
        "struct A { A() { at_start = twice(21); } } a;\nint main() { in_main = twice(4); }\n"
    )
    (tmp_path / "b.S").write_text(
        ".text\n.globl twice\n.type twice, @function\ntwice:\n add r0, r0, r0\n jump r23\n"
    )
    path = tmp_path / "program.dpu"
    build([tmp_path / "a.cpp", tmp_path / "b.S"], path, BuildOptions(), toolchain=toolchain)
    with Running(machine_library, path.read_bytes()) as running:
        assert running.launch() == DONE
        assert running.get("at_start", "i") + running.get("in_main", "i") == [42, 8]


STATIC = """
#include <barrier.h>
#include <defs.h>
#include <perfcounter.h>
#include <stdint.h>
BARRIER_INIT(all, NR_TASKLETS);
__host uint32_t made, right;
__host volatile uint32_t slow;
struct Table {
    uint32_t data[4];
    Table() { made++; for (uint32_t i = 0; i < 200; i++) slow = i; for (auto &d : data) d = 7; }
};
static Table &table() { static Table one; return one; }
__host uint32_t sums[NR_TASKLETS];
int main()
{
    barrier_wait(&all);
    const Table &t = table();
    sums[me()] = t.data[0] + t.data[1] + t.data[2] + t.data[3];
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_static_object_of_a_function_is_made_by_one_tasklet_and_others_wait(
    run: Run, level: str
) -> None:
    with run(STATIC, tasklets=16, level=level) as running:
        for _ in range(2):
            assert running.launch() == DONE
            assert running.get("made", "I") == [1]
            assert running.get("sums", "I") == [28] * 16


NEW = """
#include <alloc.h>
#include <defs.h>
#include <new>
#include <stdint.h>
__host uint32_t destroyed, aligned, value, placed;
struct Big { int x; explicit Big(int n) : x(n) {} virtual ~Big() { destroyed++; } };
struct Derived : Big { using Big::Big; ~Derived() override { destroyed += 10; } };
struct alignas(64) Line { char bytes[64]; };
int main()
{
    mem_reset();
    Big *one = new Derived(4);
    int *many = new int[5]{1, 2, 3, 4, 5};
    Line *line = new Line, *lines = new Line[2];
    Big *maybe = new (std::nothrow) Big(2);
    value = (uint32_t)(one->x + many[4] + maybe->x);
    aligned = (((uintptr_t)line | (uintptr_t)lines) & 63) == 0;
    alignas(8) char room[sizeof(Big)];
    Big *here = new (room) Big(9);
    placed = here->x;
    here->~Big();
    delete one; delete[] many; delete line; delete[] lines; delete maybe;
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_new_takes_memory_from_the_heap_and_delete_destroys(run: Run, level: str) -> None:
    with run(NEW, level=level, options=["-std=c++17"]) as running:
        assert running.launch() == DONE
        found = {name: running.get(name, "I") for name in ("destroyed", "aligned", "value")}
        assert found == {"destroyed": [1 + 11 + 1], "aligned": [1], "value": [11]}
        assert running.get("placed", "I") == [9]


def test_operators_of_the_program_replace_ours(run: Run) -> None:
    text = """
    #include <defs.h>
    #include <stddef.h>
    __host int taken, returned;
    alignas(8) static char pool[64];
    void *operator new(size_t n) { taken += n; return pool; }
    void operator delete(void *p) noexcept { returned += p == pool; }
    struct P { int a[4]; };
    int main() { P *volatile p = new P; delete p; return 0; }
    """
    with run(text, options=["-std=c++11"]) as running:
        assert running.launch() == DONE
        assert running.get("taken", "i") + running.get("returned", "i") == [16, 1]


def test_pure_virtual_call_is_a_fault(run: Run) -> None:
    text = """
    struct A; void use(A *a);
    struct A { A() { use(this); } virtual void f() = 0; };
    struct B : A { void f() override {} };
    __attribute__((noinline)) void use(A *a) { a->f(); }
    int main() { B b; return 0; }
    """
    with run(text, level="-O0") as running:
        assert running.launch() != DONE


HEADER_TEST = """
{before}#include <{header}>{after}
int main() {{ return 0; }}
"""


@pytest.mark.parametrize("standard", ["c++11", "c++23"])
@pytest.mark.parametrize(("before", "after"), [("", ""), ('extern "C" {\n', "\n}")], ids=["", "C"])
def test_headers_of_the_run_time_are_c_plus_plus_too(
    toolchain: Toolchain, tmp_path: Path, standard: str, before: str, after: str
) -> None:
    source = tmp_path / "a.cpp"
    source.write_text(
        "".join(f"{before}#include <{header}>{after}\n" for header in HEADERS)
        + "int main() { return 0; }\n"
    )
    options = BuildOptions(options=["-Wall", "-Wextra", "-Werror", f"-std={standard}"])
    assert build([source], tmp_path / "a.dpu", options, toolchain=toolchain) is not None


OURS = """
#include <atomic_bit.h>
#include <barrier.h>
#include <defs.h>
#include <handshake.h>
#include <mram.h>
#include <mutex.h>
#include <mutex_pool.h>
#include <sem.h>
#include <stdint.h>
#include <string.h>
#include <vmutex.h>
BARRIER_INIT(all, NR_TASKLETS);
MUTEX_INIT(lock);
SEMAPHORE_INIT(units, 0);
MUTEX_POOL_INIT(pool, 4);
VMUTEX_INIT(many, 16, 4);
__mram_noinit uint32_t input[64 * NR_TASKLETS], output[64 * NR_TASKLETS];
__mram int64_t kept[2] = {5, -7};
__host uint32_t total, pooled, given, from_mram;
template <typename T> static T add(const T __mram_ptr *from, unsigned n)
{ T sum{}; for (unsigned i = 0; i < n; i++) sum += from[i]; return sum; }
int main()
{
    __dma_aligned uint32_t cache[64], other[64];
    mram_read(&input[64 * me()], cache, sizeof cache);
    memcpy(other, &input[64 * me()], sizeof other);
    uint32_t sum = 0;
    for (int i = 0; i < 64; i++) sum += cache[i] + (other[i] - cache[i]);
    mutex_lock(lock); total += sum; mutex_unlock(lock);
    mutex_pool_lock(&pool, me()); pooled += NR_TASKLETS == 1; mutex_pool_unlock(&pool, me());
    vmutex_lock(&many, 3); pooled++; vmutex_unlock(&many, 3);
    mram_write(cache, &output[64 * me()], sizeof cache);
    barrier_wait(&all);
    if (me() == 0) {
        from_mram = add(output, 64 * NR_TASKLETS) + (uint32_t)add(kept, 2);
        sem_give(&units);
    }
    if (me() == 1) { sem_take(&units); given = 1; }
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_what_c_programs_use_works_in_c_plus_plus(run: Run, level: str) -> None:
    with run(OURS, tasklets=4, level=level, options=["-Wall", "-Wextra", "-Werror"]) as running:
        running.put("input", "I", *range(256))
        assert running.launch() == DONE
        total = sum(range(256))
        assert running.get("total", "I") == [total]
        assert running.get("from_mram", "I") == [total - 2]
        assert running.get("pooled", "I") + running.get("given", "I") == [4, 1]


def test_accesses_to_mram_are_checked_as_in_c(compile_text: Compile) -> None:
    text = """
    #include <mram.h>
    #include <stdint.h>
    __mram_noinit uint32_t n;
    int main() { __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED); return 0; }
    """
    with pytest.raises(ToolchainError, match=r"source\.cpp:5: error: .*MRAM"):
        compile_text(text, suffix=".cpp")


STANDARD = """
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <defs.h>
__host long long result[8];
static_assert(sizeof(long) == 8 && std::is_same_v<std::make_unsigned_t<long>, unsigned long>);
static_assert(std::numeric_limits<long>::max() == 0x7fffffffffffffff);
int main()
{
    std::array<int, 9> a{5, 3, 8, 1, 9, 2, 7, 4, 6};
    std::sort(a.begin(), a.end(), std::greater<>{});
    std::span<int> s(a);
    auto [low, high] = std::minmax_element(s.begin(), s.end());
    std::optional<long> maybe = std::accumulate(s.begin(), s.end(), 0L);
    std::variant<int, float> either = 3;
    result[0] = a[0] * 100 + a[8];
    result[1] = *low + 10 * *high;
    result[2] = maybe.value_or(0);
    result[3] = std::get<int>(either) + (long long)std::get_if<float>(&either);
    result[4] = std::popcount(255u) + std::countl_zero(1u);
    result[5] = std::get<1>(std::tuple{1, 22L});
    result[6] = std::lower_bound(a.begin(), a.end(), 4, std::greater<>{}) - a.begin();
    result[7] = std::clamp(99, 1, 50);
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O1", "-Os", "-O3"])
def test_headers_of_the_standard_library_that_need_no_library(
    run: Run, toolchain: Toolchain, level: str
) -> None:
    if toolchain.kind is not Kind.ZIG:
        pytest.skip("the headers come with ziglang")
    with run(STANDARD, level=level, options=["-std=c++20", "-Wall", "-Wextra"]) as running:
        assert running.launch() == DONE
        assert running.get("result", "q") == [901, 91, 45, 3, 8 + 31, 22, 5, 50]


def test_what_needs_a_library_is_an_undefined_symbol(compile_text: Compile) -> None:
    text = "#include <cmath>\nvolatile double x;\nint main() { x = std::sin(x); }\n"
    with pytest.raises(CommandError, match="undefined symbol: sin"):
        compile_text(text, suffix=".cc")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main() { throw 1; }", "cannot use 'throw' with exceptions disabled"),
        (
            "#include <typeinfo>\nint main() { return typeid(1).name()[0]; }",
            "typeid requires -frtti",
        ),
    ],
)
def test_exceptions_and_run_time_types_are_errors(
    compile_text: Compile, text: str, message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        compile_text(text, suffix=".cpp")


@pytest.mark.parametrize(
    "words",
    [
        ["-x", "c++", "a.c"],
        ["-xc++", "a.c"],
        ["--driver-mode=g++", "a.c"],
        ["a.cpp"],
        ["-x", "c", "-x", "none", "a.cc"],
    ],
)
def test_ways_to_say_that_it_is_c_plus_plus(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.c", "a.cpp", "a.cc"):
        Path(name).write_text(
            "template <int N> int f() { return N; }\nint main() { return f<3>(); }\n"
        )
    assert main([*words, "-o", "a.dpu"]) == 0
    assert main(["-x", "c", "a.cpp", "-o", "b.dpu"]) == 1


def test_the_second_command_takes_all_sources_for_c_plus_plus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text("class A { public: A() {} };\nint main() { A a; return 0; }\n")
    monkeypatch.setattr("sys.argv", ["dpu-upmem-dpurte-clang++", "-c", "a.c"])
    assert main_cplusplus() == 0
    assert main(["a.o", "-o", "a.dpu"]) == 0


@pytest.mark.parametrize("word", ["-fexceptions", "-frtti"])
def test_what_cannot_be_switched_on_is_refused(
    word: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([word, "a.cpp"]) == 1
    assert f"{word} is not supported: DPU programs have no" in capfd.readouterr().err


_AT_ONCE = 6
_OPTIONS = ["-w", "-fwrapv", "-fno-exceptions", "-fno-rtti"]


@pytest.mark.parametrize("first", rest_if_full(range(0, 60, _AT_ONCE), 1))
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_random_programs_give_the_same_as_on_the_host(
    toolchain: Toolchain,
    machine_library: ctypes.CDLL,
    rng: random.Random,
    tmp_path: Path,
    first: int,
    level: str,
) -> None:
    reference = find_reference(toolchain, tmp_path)
    numbers = range(first, first + _AT_ONCE)
    texts = [make_program(rng, number) for number in numbers]
    host = [
        text.replace(f"body_{n}(", f"body_{n - first}(")
        for n, text in zip(numbers, texts, strict=True)
    ]
    options = [level, *_OPTIONS, "-fno-threadsafe-statics"]
    wanted = reference.hashes(host, options, tmp_path, suffix=".cpp")
    for number, text, want in zip(numbers, texts, wanted, strict=True):
        source, path = tmp_path / "dpu.cpp", tmp_path / "program.dpu"
        source.write_text(
            f"{text}\n"
            '__attribute__((section(".dpu_host"), used)) unsigned long long result;\n'
            f"int main() {{ unsigned long long h = {START}ull; body_{number}(&h); result = h; }}\n"
        )
        chosen = BuildOptions(level=level, defines={"STACK_SIZE_DEFAULT": 16384}, options=_OPTIONS)
        build([source], path, chosen, toolchain=toolchain)
        with Running(machine_library, path.read_bytes()) as running:
            assert running.launch() == DONE
            assert running.get("result", "Q") == [want], text


NAMES = """
#include <defs.h>
#include <stdint.h>
namespace shapes {
volatile uint32_t *where;
__attribute__((noinline)) void store(uint32_t *at, long by) { *(volatile uint32_t *)at = by; }
template <typename T> struct Disc { uint32_t room[100]; __attribute__((noinline)) void use(T *p)
{ volatile uint32_t a[100]; for (auto &one : a) one = 1; store(p, a[3]); } };
}
int main() { shapes::Disc<uint32_t> d; d.use((uint32_t *)(8u << 20)); return (int)d.room[0]; }
"""


def test_names_are_those_of_the_source(
    compile_text: Compile, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if readable_name("_ZN1a1bEi") != "a::b(int)":
        pytest.skip("there is no libstdc++ to read the names")
    compile_text(NAMES, suffix=".cpp")
    program = str(tmp_path / "program.dpu")
    functions = analyse(Path(program).read_bytes())
    assert "shapes::Disc<unsigned int>::use(unsigned int*)" in functions
    with DpuSet(nr_dpus=1, binary=program, library="soft") as dpus:
        with pytest.raises(DpuError) as caught:
            dpus.exec()
        assert "(shapes::store(unsigned int*, long long)+0x" in caught.value.detail
    assert main(["-DSTACK_SIZE_DEFAULT=64", str(tmp_path / "source.cpp"), "-o", program]) == 0
    assert "shapes::Disc<unsigned int>::use(unsigned int*) (" in capfd.readouterr().err


def test_a_debugger_finds_functions_without_their_parameters(
    compile_text: Compile, tmp_path: Path
) -> None:
    if readable_name("_ZN1a1bEi") != "a::b(int)":
        pytest.skip("there is no libstdc++ to read the names")
    program = DebugProgram(compile_text(NAMES, suffix=".cpp").elf, "program.dpu")
    [function] = program.functions_named("shapes::store")
    assert function.name == "shapes::store(unsigned int*, long long)"
    assert program.functions_named("store") == []


def test_names_that_are_not_of_c_plus_plus_stay() -> None:
    assert [readable_name(name) for name in ("main", "i", "_Znonsense", "")] == [
        *("main", "i", "_Znonsense", "")
    ]
