# SPDX-License-Identifier: BSD-3-Clause
"""Everything of veo again where the kernel refuses process_vm_readv() and process_vm_writev()."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.full import FULL

DENY = "OFFCHIP_DENY_PROCESS_VM"
# Tests of transfers and waits; the rest too with OFFCHIP_FULL=1.
USUAL = [f"tests/veo/package/test_{name}.py" for name in ("memory", "requests", "onstack")]
ALL = [f"tests/veo/{folder}" for folder in ("abi", "package", "lifetime")]
SANITIZED = os.environ.get("OFFCHIP_PRESET") == "asan"
LIMIT_S = 1800 if FULL else 900 if SANITIZED else 300
MARKS = "not packaging" + (" and not slow and not nosanitize" if SANITIZED else "")

pytestmark = pytest.mark.skipif(DENY in os.environ, reason="this is the run under the filter")


@pytest.mark.timeout(LIMIT_S + 10)
def test_the_tests_pass_under_a_filter(root: Path) -> None:
    files = ALL if FULL else USUAL
    # -P: what is installed is tested, which need not be the source tree.
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider"]
    command += ["-k", "not tsan", "-m", MARKS, "-o", f"timeout={LIMIT_S}"]
    done = subprocess.run(
        command + files,
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, DENY: "1"},
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


def test_the_filter_denies(run_python, root: Path) -> None:  # type: ignore[no-untyped-def]
    text = (
        "import ctypes, os, sys\n"
        f"sys.path.insert(0, {str(root / 'tests' / 'support')!r})\n"
        "import seccomp\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "seccomp.deny_process_vm()\n"
        "for call in (libc.process_vm_readv, libc.process_vm_writev):\n"
        "    print(call(os.getpid(), None, 0, None, 0, 0), ctypes.get_errno())\n"
    )
    done = run_python(text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "-1 1\n-1 1\n", "")
