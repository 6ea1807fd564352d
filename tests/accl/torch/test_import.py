# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch is imported by `accl.torch` alone."""

from __future__ import annotations


def test_accl_without_torch_is_whole(run_python):
    done = run_python("import sys, accl\nfrom accl import accl\nassert 'torch' not in sys.modules")
    assert done.returncode == 0, done.stderr


def test_import_without_torch_says_what_to_install(run_python):
    done = run_python("import sys; sys.modules['torch'] = None\nimport accl.torch")
    assert "ImportError: accl.torch needs PyTorch" in done.stderr
    assert "pip install torch" in done.stderr
