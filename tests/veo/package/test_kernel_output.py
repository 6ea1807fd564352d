# SPDX-License-Identifier: BSD-3-Clause
"""Output of functions of `kernel` and `offload` reaches the text that they name."""

from __future__ import annotations

import gc
import io
import os

import numpy as np
import pytest

import veo

SOURCE = r"""
#include <stdio.h>
long say(long n) { printf("out %ld\n", n); fprintf(stderr, "err %ld\n", n); return n; }
void fill(long *x, long n) { printf("fill\n"); while (n--) *x++ = 7; }
"""


def make_kernel(name: str, **targets: object) -> veo.Kernel:
    def function(*args): ...

    function.__name__ = name
    return veo.kernel(SOURCE, **targets)(function)


def wait_for_end(pid: int) -> None:
    """Return when no process has the number: the worker's parent reaps it."""
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_text_is_there_before_the_result():
    out, err = io.StringIO(), io.StringIO()
    say = make_kernel("say", stdout=out, stderr=err)
    for n in range(50):
        assert say(n) == n
        assert out.getvalue().endswith(f"out {n}\n")
    assert [say.submit(n).wait_result() for n in range(3)] == [0, 1, 2]
    assert err.getvalue().count("err") == 53
    say.process.close()


def test_kernels_with_the_same_text_share_a_process():
    text = io.StringIO()
    say, fill = make_kernel("say", stdout=text), make_kernel("fill", stdout=text)
    other = make_kernel("say", stdout=io.StringIO())
    array = veo.to_device(fill.process, np.zeros(3, np.int64))
    fill(array, 3)
    say(1)
    assert array.read().tolist() == [7, 7, 7]
    assert text.getvalue() == "fill\nout 1\n"
    assert say.process is fill.process
    assert len({say.process, other.process, veo.shared_process()}) == 3
    for function in (say, other):
        function.process.close()
    veo.shared_process().close()


def test_process_ends_with_its_last_kernel():
    text = io.StringIO()
    say, fill = make_kernel("say", stdout=text), make_kernel("fill", stdout=text)
    say(1)
    pid = fill.process.pid
    del say
    gc.collect()
    os.kill(pid, 0)
    del fill
    wait_for_end(pid)


def test_offload_prints_and_leaves_no_process():
    text, pids = io.StringIO(), []
    source = SOURCE + '#include <unistd.h>\nlong id(void) { puts("here"); return getpid(); }\n'
    for _ in range(3):
        pids.append(veo.offload(source, "id", stdout=text))
        wait_for_end(pids[-1])
    assert text.getvalue() == "here\n" * 3
    say = make_kernel("say", stdout=text)
    assert veo.offload(source, "id", stdout=text) == say.process.pid
    say.process.close()


def test_true_is_the_stream_of_the_moment(capsys):
    assert veo.offload(SOURCE, "say", 5, stdout=True, stderr=True) == 5
    assert capsys.readouterr() == ("out 5\n", "err 5\n")


def test_kernel_starts_again_after_its_process_was_closed():
    text = io.StringIO()
    say = make_kernel("say", stdout=text)
    say(1)
    say.process.close()
    say(2)
    assert text.getvalue() == "out 1\nout 2\n"
    say.process.close()


def test_what_is_no_stream_is_refused():
    with pytest.raises(TypeError, match="stdout must be a stream, a function"):
        veo.offload(SOURCE, "say", 1, stdout=1.5)
