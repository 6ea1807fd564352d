# SPDX-License-Identifier: BSD-3-Clause
"""Output of kernels reaches Python's streams, before their results."""

from __future__ import annotations

import io
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import veo
from tests.veo.package.conftest import compile_shared
from veo.output import Output

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
long hello(long n) { printf("hello %ld\n", n); return n + 1; }
void both(void) { printf("out\n"); fprintf(stderr, "err\n"); }
void many(long n) { for (long i = 0; i < n; i++) puts("0123456789012345678901234567890"); }
void umlaut(void) { fputs("\xc3", stdout); fflush(stdout); fputs("\xa4\xff\n", stdout); }
void crash(void) { printf("before\n"); abort(); }
void later(void) { atexit(both); }
"""


@pytest.fixture(scope="module")
def printing(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("printing")
    (folder / "printing.c").write_text(SOURCE)
    return str(compile_shared(folder / "printing.c", folder / "libprinting.so", "-g"))


@pytest.fixture
def start(make_proc: Callable[..., veo.VeoProc], printing: str) -> Callable[..., veo.VeoLibrary]:
    def make(**targets: object) -> veo.VeoLibrary:
        return make_proc(**targets).load_library(printing)

    return make


def test_text_is_there_before_the_result(start):
    text = io.StringIO()
    library = start(stdout=text)
    ctx = library.proc.open_context()
    for i in range(200):
        assert library.hello(ctx, i).wait_result() == i + 1
        assert text.getvalue().endswith(f"hello {i}\n")
    assert text.getvalue() == "".join(f"hello {i}\n" for i in range(200))


@pytest.mark.parametrize("wait", ["result", "peek", "callback"])
def test_every_way_to_a_result_has_the_text_first(start, wait):
    text = io.StringIO()
    library = start(stdout=text)
    request = library.hello(library.proc.open_context(), 1)
    if wait == "result":
        assert request.result(10) == 2
    elif wait == "peek":
        assert request.wait(10)
        assert request.peek_result() == 2
    else:
        seen: list[str] = []
        request.add_done_callback(lambda r: (r.result(), seen.append(text.getvalue())))
        assert request.wait(10)
        while not seen:
            request.wait(0)
        assert seen == ["hello 1\n"]
    assert text.getvalue() == "hello 1\n"


def test_function_gets_more_than_a_pipe_holds(start):
    parts: list[str] = []
    library = start(stdout=parts.append)
    library.many(library.proc.open_context(), 20_000).wait_result(60)
    assert "".join(parts) == "0123456789012345678901234567890\n" * 20_000


def test_streams_are_apart(start):
    out, err = io.StringIO(), io.StringIO()
    library = start(stdout=out, stderr=err)
    library.both(library.proc.open_context()).wait_result()
    assert (out.getvalue(), err.getvalue()) == ("out\n", "err\n")


def test_characters_are_not_split_and_wrong_bytes_are_replaced(start):
    text = io.StringIO()
    library = start(stdout=text)
    library.umlaut(library.proc.open_context()).wait_result()
    assert text.getvalue() == "ä\N{REPLACEMENT CHARACTER}\n"


def test_streams_of_the_moment_are_those_that_tests_replace(start, capsys):
    library = start(stdout=True, stderr=True)
    library.both(library.proc.open_context()).wait_result()
    assert capsys.readouterr() == ("out\n", "err\n")


def test_without_a_stream_it_is_the_descriptor(start, capfd):
    library = start()
    library.both(library.proc.open_context()).wait_result()
    assert capfd.readouterr() == ("out\n", "err\n")


def test_one_stream_alone(start, capfd):
    text = io.StringIO()
    library = start(stderr=text)
    library.both(library.proc.open_context()).wait_result()
    assert (capfd.readouterr().out, text.getvalue()) == ("out\n", "err\n")


def test_descriptor_of_a_file(start, tmp_path):
    path = tmp_path / "out.txt"
    with path.open("wb") as file:
        library = start(stdout=file.fileno())
    library.hello(library.proc.open_context(), 3).wait_result()
    assert path.read_text() == "hello 3\n"


def test_what_was_printed_before_a_crash_is_there(start):
    out, err = io.StringIO(), io.StringIO()
    library = start(stdout=out, stderr=err)
    with pytest.raises(veo.VeoKernelException, match="SIGABRT"):
        library.crash(library.proc.open_context()).wait_result()
    assert out.getvalue() == "before\n"
    assert not library.proc.alive
    assert "printing.c" in library.proc.death_report


def test_what_is_printed_at_the_end_is_there_after_closing(start):
    text = io.StringIO()
    library = start(stdout=text, stderr=text)
    library.later(library.proc.open_context()).wait_result()
    assert text.getvalue() == ""
    library.proc.close()
    assert sorted(text.getvalue().split()) == ["err", "out"]


def test_functions_may_use_the_process(start):
    values: list[int] = []
    library = start(stdout=lambda text: values.append(library.proc.heap_used))
    assert library.hello(library.proc.open_context(), 1).wait_result() == 2
    assert values


def test_error_in_a_stream_is_told_once_and_the_kernel_goes_on(start, capsys):
    def fail(text: str) -> None:
        raise OSError("no space")

    library = start(stdout=fail)
    ctx = library.proc.open_context()
    assert [library.hello(ctx, i).wait_result() for i in range(3)] == [1, 2, 3]
    told = capsys.readouterr().err
    assert told.count("\nOSError: no space") == 1
    assert "the rest is discarded" in told


def test_process_that_does_not_start_leaves_nothing(make_proc, tmp_path):
    with pytest.raises(veo.VeoError):
        make_proc(0, tmp_path / "nothing", stdout=io.StringIO())


@pytest.mark.parametrize("wrong", ["text", 1.5, object()])
def test_wrong_targets_are_explained(make_proc, wrong):
    with pytest.raises(TypeError, match="stdout must be a stream, a function, a descriptor"):
        make_proc(stdout=wrong)
    with pytest.raises(OSError, match="Bad file descriptor"):
        make_proc(stdout=io.StringIO(), stderr=12345)


def test_dropped_process_and_end_of_the_interpreter(printing):
    code = f"""
import sys, veo
proc = veo.VeoProc(0, library="soft", stdout=sys.stdout)
request = proc.load_library({printing!r}).hello(proc.open_context(), 5)
request.wait_result()
if len(sys.argv) > 1:
    del proc, request
"""
    for arguments in ([], ["drop"]):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (0, "hello 5\n"), done.stderr


def test_descriptors_are_as_before(start, printing):
    before = len(os.listdir("/proc/self/fd"))
    library = start(stdout=io.StringIO(), stderr=io.StringIO())
    library.both(library.proc.open_context()).wait_result()
    library.proc.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert Path(printing).exists()


def test_dropped_process_leaves_no_descriptor_and_loses_no_text(printing, no_leaks):
    parts: list[str] = []
    with no_leaks():
        proc = veo.VeoProc(0, library="soft", stdout=parts.append, stderr=parts.append)
        # It prints when the worker ends.
        proc.load_library(printing).later(proc.open_context()).wait_result()
        del proc
    assert sorted(parts) == ["err\n", "out\n"]


def test_end_that_another_thread_reads_does_not_disturb_the_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = io.StringIO()
    output = Output(text, None)
    os.write(output.descriptors[0], b"all of it")
    wait = select.select

    def wait_late(*lists: list[int]) -> object:
        output.drain()  # as a thread that waits for a result does
        return wait(*lists)

    errors: list[object] = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    monkeypatch.setattr(select, "select", wait_late)
    output.started()  # the last writer is gone
    output.finish()
    assert (errors, text.getvalue()) == ([], "all of it")
