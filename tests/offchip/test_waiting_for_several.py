# SPDX-License-Identifier: BSD-3-Clause
"""One wait for requests of several packages."""

from __future__ import annotations

import io

import pytest

import veo
from dpu import DpuSet
from tests.veo.package.conftest import compile_shared

SPIN = """
    .globl main
main: jump main
"""
STOP = """
    .globl main
main: jump r23
"""


@pytest.fixture
def square(tmp_path):
    (tmp_path / "square.c").write_text("long square(long n) { return n * n; }\n")
    path = compile_shared(tmp_path / "square.c", tmp_path / "libsquare.so", "-g")
    with veo.VeoProc(0, library="soft") as proc:
        yield proc.load_library(str(path)).square, proc.open_context()


def test_requests_of_two_packages(square):
    function, context = square
    with DpuSet(nr_dpus=2, asm_source=io.StringIO(STOP), library="soft") as dpus:
        requests = [function(context, 3), dpus.exec_async()]
        assert veo.wait(requests, 30) == (set(requests), set())
        assert [request.result() for request in requests] == [9, None]
        assert set(veo.as_completed(requests, 30)) == set(requests)


def test_one_that_never_ends_is_not_done(square):
    function, context = square
    with DpuSet(nr_dpus=1, asm_source=io.StringIO(SPIN), library="soft") as dpus:
        endless, short = dpus.exec_async(), function(context, 4)
        done, not_done = veo.wait([endless, short], 30, veo.FIRST_COMPLETED)
        assert (done, not_done) == ({short}, {endless})
        dpus.interrupt()
        assert veo.wait([endless], 30).done == {endless}
        assert endless.exception() is not None
