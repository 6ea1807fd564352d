# SPDX-License-Identifier: BSD-3-Clause
"""C sources can be given to `DpuSet` and to `dpu.compiler`, and are compiled once."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu import DpuSet
from dpu.compiler import Compiler
from dpu.toolchain import Toolchain, find_toolchain

MAIN = """#include <defs.h>
#include <stdio.h>
__host int found;
int value(void);
int main(void) { found = value(); printf("tasklet %d\\n", me()); return 0; }
"""
VALUE = "int value(void);\nint value(void) { return 7; }\n"


@pytest.fixture(autouse=True)
def _own_compiler(toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UPMEM_HOME", raising=False)
    if find_toolchain().kind is not toolchain.kind:
        pytest.skip("the vendor's compiler would be run")


def files(folder: Path) -> list[object]:
    (folder / "main.c").write_text(MAIN)
    (folder / "value.c").write_text(VALUE)
    return [str(folder / "main.c"), folder / "value.c"]


GIVEN: dict[str, Callable[[Path], object]] = {
    "files": files,
    "streams": lambda folder: [io.StringIO(MAIN), io.BytesIO(VALUE.encode())],
    "a file and a stream": lambda folder: (files(folder)[0], io.StringIO(VALUE)),
    "one stream": lambda folder: io.StringIO(MAIN + VALUE),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_sources_are_compiled_and_loaded(kind: str, tmp_path: Path) -> None:
    output = io.StringIO()
    with DpuSet(nr_dpus=2, c_source=GIVEN[kind](tmp_path), log=output) as dpus:
        dpus.exec(log=output)
        assert [int(dpu.found.int32()) for dpu in dpus] == [7, 7]
    assert output.getvalue().count("tasklet 0") == 2


def test_what_the_compiler_says_comes_with_the_error() -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        DpuSet(nr_dpus=1, c_source=io.StringIO("int main(void) { return nothing; }\n"))
    assert "src0.c:1:25: error: use of undeclared identifier 'nothing'" in caught.value.stderr
    shown = "".join(traceback.format_exception_only(caught.value))
    assert shown.count("undeclared identifier 'nothing'") == 1


def test_what_does_not_fit_is_told() -> None:
    source = "int large[20000];\nint main(void) { return large[*(volatile int *)8]; }\n"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        DpuSet(nr_dpus=1, c_source=io.StringIO(source))
    assert "WRAM overflows" in caught.value.stderr
    assert "large (80000 bytes)" in caught.value.stderr


def test_a_failed_load_leaves_the_set_usable() -> None:
    with DpuSet(nr_dpus=1) as dpus:
        with pytest.raises(subprocess.CalledProcessError):
            dpus.load(c_source=io.StringIO("int main(void) { return 0 }\n"))
        dpus.load(c_source=io.StringIO(MAIN + VALUE))
        dpus.exec()
        assert int(dpus.found.int32()) == 7


def test_without_a_compiler_it_is_said_what_to_install() -> None:
    script = (
        "import io, os, sys\n"
        "sys.modules['ziglang'] = None\n"
        "os.environ['PATH'] = ''\n"
        "from dpu import DpuError, DpuSet\n"
        "try:\n"
        "    DpuSet(nr_dpus=1, c_source=io.StringIO('int main(void) { return 0; }'))\n"
        "except DpuError as error:\n"
        "    print(error)\n"
        "from dpu.__main__ import main\n"
        "main(['--json'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True
    )
    error, _, rest = done.stdout.partition("\n")
    assert "no C compiler for the DPU found: install offchip[toolchain]" in error
    assert json.loads(rest)["compiler"].startswith("none: no C compiler")


@pytest.mark.parametrize("verbose", [True, False])
def test_compiler_returns_warnings(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], verbose: bool
) -> None:
    source = tmp_path / "main.c"
    source.write_text("int main(void) { int unused; return 0; }\n")
    done = Compiler(verbose=verbose).compile(
        source, output=tmp_path / "out", options=["-Wall"], defines={"NR_TASKLETS": 4}
    )
    assert done.returncode == 0
    assert "unused variable" in done.stderr
    written = capfd.readouterr().err
    assert ("-DNR_TASKLETS=4" in written) == verbose
    assert ("unused variable" in written) == verbose
    with DpuSet(nr_dpus=1, binary=tmp_path / "out") as dpus:
        dpus.exec()


# Others that compile beside it would change which of the times is the shortest.
@pytest.mark.alone
def test_a_program_is_not_compiled_again(own_cache: Path) -> None:
    took = []
    for _ in range(3):
        start = time.perf_counter()
        with DpuSet(nr_dpus=1, c_source=io.StringIO(MAIN + VALUE)) as dpus:
            dpus.exec()
        took.append(time.perf_counter() - start)
    programs = list(own_cache.glob("program-*"))
    assert len(programs) == 1, "the folder of a stream's file must not matter"
    assert min(took[1:]) < took[0]


def test_module_names_the_compiler(toolchain: Toolchain) -> None:
    command = [sys.executable, "-P", "-m", "dpu"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"C compiler   {toolchain.describe()}" in done.stdout
