# SPDX-License-Identifier: BSD-3-Clause
"""C++ as Vector Engine code calls functions of libc++, which are compiled when it is linked."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import veo
from veo import ve_libcxx
from veo.cli.ve_compiler import main as compiler_main
from veo.ve_clang import clang_command

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

VEORUN = Path(veo.__file__).parent / "bin" / "veorun"
Run = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Build a program as `nc++` does, and run it."""

    def build_and_run(source: str) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "program.cpp"
        path.write_text(source)
        words = ["--target=ve", "-O1", "-std=c++17", str(path), "-o", str(tmp_path / "program")]
        assert compiler_main("C++", "nc++", words) == 0
        return subprocess.run(
            [VEORUN, tmp_path / "program"], capture_output=True, text=True, timeout=60
        )

    return build_and_run


def test_strings_containers_and_algorithms(run: Run) -> None:
    done = run(
        r"""
        #include <algorithm>
        #include <bitset>
        #include <cstdio>
        #include <functional>
        #include <map>
        #include <memory>
        #include <string>
        #include <vector>
        struct shape {
            virtual double area() const = 0;
            virtual ~shape() { std::puts("gone"); }
        };
        struct square : shape {
            double side;
            explicit square(double s) : side(s) {}
            double area() const override { return side * side; }
        };
        int main()
        {
            std::string s = "hello";
            s += " world, which is longer than a short string";
            s.insert(0, ">> ");
            std::printf("%s %zu %zu\n", s.c_str(), s.find("world"), s.size());
            std::printf("%s %d %g\n", (std::to_string(42) + std::to_string(2.5)).c_str(),
                        std::stoi("17"), std::stod("2.25"));
            std::printf("%ls %d\n", std::to_wstring(-1.5f).c_str(), std::stoi(L"12"));

            std::vector<int> v;
            for (int i = 0; i < 100; i++)
                v.push_back(i * 37 % 100);
            std::sort(v.begin(), v.end());
            std::printf("%d %d %d\n", v[0], v[42], std::is_sorted(v.begin(), v.end()));

            std::map<std::string, int> m;
            for (const char *word : {"pear", "fig", "apple", "fig"})
                m[word]++;
            for (auto &[key, count] : m)
                std::printf("%s=%d ", key.c_str(), count);
            std::unique_ptr<shape> p = std::make_unique<square>(3);
            std::function<int(int)> f = [&](int x) { return x + (int)v.size(); };
            std::printf("%g %d\n", p->area(), f(1));
            std::bitset<5> few(9);
            std::bitset<70> many;
            many.set(3).set(69);
            std::printf("%zu %zu %s\n", few.flip().count(), many.count(), few.to_string().c_str());
            std::fflush(stdout);
            s.at(1000);
        }
        """
    )
    assert done.stdout == (
        ">> hello world, which is longer than a short string 9 51\n"
        "422.500000 17 2.25\n"
        "-1.500000 12\n"
        "0 42 1\n"
        "apple=1 fig=2 pear=1 9 101\n"
        "3 2 10110\n"
    ), done.stderr
    assert (
        'out_of_range was thrown in -fno-exceptions mode with message "basic_string"' in done.stderr
    )
    assert done.returncode == 6


@pytest.mark.full
def test_threads_shared_pointers_and_casts(run: Run) -> None:
    done = run(
        r"""
        #include <any>
        #include <condition_variable>
        #include <cstdio>
        #include <future>
        #include <memory>
        #include <random>
        #include <system_error>
        #include <thread>
        #include <unordered_map>
        #include <vector>
        struct a { virtual ~a() {} };
        struct b : a { int value = 7; };
        struct c : a {};
        struct d : b, virtual c {};
        int main()
        {
            std::atomic<int> sum{0};
            std::vector<std::thread> threads;
            for (int i = 0; i < 4; i++)
                threads.emplace_back([&, i] { sum += i; });
            for (auto &thread : threads)
                thread.join();
            auto later = std::async(std::launch::async, [] { return 42; });
            std::mutex mutex;
            std::condition_variable changed;
            bool ready = false;
            std::thread waiter([&] {
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] { return ready; });
            });
            {
                std::lock_guard lock(mutex);
                ready = true;
            }
            changed.notify_all();
            waiter.join();
            std::printf("%d %d\n", sum.load(), later.get());

            std::shared_ptr<a> first = std::make_shared<b>(), second = std::make_shared<c>();
            std::weak_ptr<a> weak = first;
            d all;
            std::printf("%d %d %d %ld %d\n", dynamic_cast<b *>(first.get())->value,
                        dynamic_cast<b *>(second.get()) == nullptr,
                        dynamic_cast<c *>(static_cast<b *>(&all)) != nullptr,
                        weak.lock().use_count(), std::any_cast<int>(std::any(5)));
            std::mt19937 twister(1);
            std::unordered_map<std::string, int> table{{"a", 1}, {"b", 2}};
            auto code = std::make_error_code(std::errc::no_such_file_or_directory);
            std::printf("%u %zu %s\n", (unsigned)twister(), table.size(), code.message().c_str());
        }
        """
    )
    expected = "6 42\n7 1 1 2 5\n1791095845 2 No such file or directory\n"
    assert (done.returncode, done.stdout) == (0, expected), done.stderr


@pytest.mark.full
def test_streams(run: Run) -> None:
    done = run(
        r"""
        #include <iomanip>
        #include <iostream>
        #include <sstream>
        int main()
        {
            std::cout << "hi " << 3 << " " << 2.5 << std::endl;
            std::ostringstream out;
            out << std::setw(5) << 7 << std::hex << 255;
            std::istringstream in("4 5.5 x");
            int a;
            double b;
            std::string c;
            in >> a >> b >> c;
            std::cout << out.str() << " " << a + b << c << "\n";
        }
        """
    )
    assert (done.returncode, done.stdout) == (0, "hi 3 2.5\n    7ff 9.5x\n"), done.stderr


def test_what_is_missing_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With none of its sources, as a newer wheel may have others.
    monkeypatch.setattr(ve_libcxx, "_SOURCES", ())
    done = run("#include <string>\nint main() { return std::to_string(1.5).size() != 8; }\n")
    assert done.returncode == 126
    assert "std::__1::to_string(double)" in done.stderr


def test_sources_that_cannot_be_compiled_are_an_error(
    wants_string: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(ve_libcxx, "_FLAGS", ("-std=none",))
    with pytest.raises(ChildProcessError, match="string.cpp of the ziglang wheel was not compiled"):
        ve_libcxx.libcxx_objects([wants_string])
    assert list(tmp_path.glob("offchip/veo/libcxx-*")) == []


@pytest.fixture
def wants_string(tmp_path: Path) -> Path:
    source, out = tmp_path / "wants.cpp", tmp_path / "wants.o"
    source.write_text("#include <string>\nstd::string f() { return std::to_string(1.5); }\n")
    subprocess.run([*clang_command("C++"), "-c", source, "-o", out], check=True, timeout=300)
    return out


def test_objects_are_kept(wants_string: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ve_libcxx.libcxx_objects([wants_string])
    assert first[0].name == "string.o"

    def refuse(source: Path, *rest: object) -> None:
        raise AssertionError(source)

    monkeypatch.setattr(ve_libcxx, "_compile", refuse)
    assert ve_libcxx.libcxx_objects([wants_string]) == first
    # Objects that are given need not be compiled, and define what others want.
    assert ve_libcxx.libcxx_objects([wants_string, *first]) == []
