# SPDX-License-Identifier: BSD-3-Clause
"""Programs of PyTorch run on the backend, however they are started, and end if a rank is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.accl.torch.conftest import PACKAGE, RUN_MODULE
from tests.support.full import rest_if_full

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def check(answers, ranks):
    """Check what the ranks of `run_training` have printed."""
    assert sorted(answer["rank"] for answer in answers) == list(range(ranks))
    for answer in answers:
        assert all(answer["functions"].values()), answer["functions"]
        assert answer["backend"] in ("accl", "cpu:accl")
        if ranks <= 2:
            # Of two numbers there is only one sum.
            assert answer["accl"] == answer["gloo"]
        assert answer["accl"] == pytest.approx(answer["gloo"], rel=1e-5)
        assert answer["fully_shard"] == pytest.approx(answer["accl"]["FSDP"], rel=1e-5)
        words = {line.split()[0]: line.split()[1:] for line in answer["report"].splitlines()[1:]}
        assert {"all_reduce", "all_gather", "broadcast"} <= set(words)
        assert ranks == 1 or words["all_reduce"][1] != "0"


@pytest.mark.parametrize("ranks", rest_if_full([3, 1], 1))
def test_training_is_gloos(run_job, ranks):
    check(run_job(ranks, "run_training", "cpu", limit=250), ranks)


def answers_of(command, folder, **env):
    """Run a launcher; give what the ranks have printed."""
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=250, env={**os.environ, **env}
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if '"functions"' in line]
    decoder, found = json.JSONDecoder(), []
    for line in lines:
        # A launcher may put the lines of its ranks together.
        while line := line.strip():
            answer, end = decoder.raw_decode(line)
            found.append(answer)
            line = line[end:]
    return found


def test_training_under_torchrun_is_gloos(tmp_path):
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    words += [str(RUN_MODULE), f"{PACKAGE}.run_training", "env://"]
    check(answers_of(words, tmp_path), 2)


@pytest.mark.parametrize("transport", rest_if_full(["packets", "auto"], 1))
def test_training_under_mpiexec_is_gloos(tmp_path, transport):
    pytest.importorskip("mpi4py")
    launcher = Path(sys.executable).parent / "mpiexec"
    if not launcher.exists():
        pytest.skip(f"{launcher} is not there: install offchip with the extra mpi")
    words = [str(launcher), "-n", "2", sys.executable, str(RUN_MODULE)]
    words += [f"{PACKAGE}.run_training", "mpi://"]
    check(answers_of(words, tmp_path, ACCL_TRANSPORT=transport), 2)


def test_lost_rank_is_an_error_in_all_others(start_job):
    first, second, third = start_job(3, "run_death")
    for process in (first, second):
        out, err = process.communicate(timeout=200)
        assert process.returncode == 0, err
        answer = json.loads(out.strip().splitlines()[-1])
        for how in ("started", "message", "waited for"):
            kind, text = answer[how]
            assert kind == "ACCLPeerError" and "rank 2" in text, (how, kind, text)
        for how in ("backward", "future"):
            # PyTorch keeps the text of an error, and not its type.
            kind, text = answer[how]
            assert kind == "RuntimeError" and "PEER" in text, (how, kind, text)
    assert third.wait(timeout=60) == -9


def test_a_rank_that_is_left_alone_waits_for_nobody(start_job):
    first, *_ = start_job(3, "run_alone")
    out, err = first.communicate(timeout=200)
    assert first.returncode == 0, err
    kind, text = json.loads(out.strip().splitlines()[-1])
    assert kind == "ACCLPeerError", text
    assert "nobody is left" in text and "rank 1 has died" in text and "rank 2 has died" in text
