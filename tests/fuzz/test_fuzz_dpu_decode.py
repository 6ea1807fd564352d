# SPDX-License-Identifier: BSD-3-Clause
"""Runs the fuzz target of the decoder, as test_fuzz.py runs the others."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
MACHINE = HERE.parents[1] / "csrc" / "dpu_machine"

_spec = importlib.util.spec_from_file_location("offchip_fuzz_runner", HERE / "test_fuzz.py")
assert _spec is not None
assert _spec.loader is not None
runner = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(runner)


@pytest.mark.timeout(runner.SECONDS + 110)
def test_decoder_encoder_and_disassembler_agree(tmp_path: Path) -> None:
    sources = [MACHINE / f"{name}.c" for name in ("forms", "decode", "encode", "disassemble")]
    program = runner.build(tmp_path, HERE / "fuzz_dpu_decode.c", *sources)
    inputs = runner.load_corpus(tmp_path, "dpu_decode_corpus")
    inputs += sorted((HERE / "inputs" / "dpu_decode").glob("*"))
    done = runner.fuzz(program, "--seconds", str(runner.SECONDS), *inputs)
    assert done.returncode == 0, done.stdout[-4000:]
    mutations = int(done.stdout.split()[-2])
    assert mutations > 100
