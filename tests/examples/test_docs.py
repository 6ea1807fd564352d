# SPDX-License-Identifier: BSD-3-Clause
"""The examples on the pages of the documentation run, and print what the pages say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from offchip.environment import VARIABLES

ROOT = Path(__file__).resolve().parents[2]
# Pages of the site that have nothing to run are not listed; see the test of that.
PAGES = [
    "README.md",
    "docs/commands.md",
    "docs/veo.md",
    "docs/veo_code.md",
    "docs/dpu.md",
    "docs/dpu_toolchain.md",
    "docs/dpu_debug.md",
    "docs/dpu_chip.md",
    "docs/accl.md",
    "docs/accelforge.md",
    "docs/component_models.md",
    "docs/mpi4py.md",
    "docs/trace.md",
    "docs/trouble.md",
    "docs/start/veo.md",
    "docs/start/dpu.md",
    "docs/start/accl.md",
    "docs/start/accelforge.md",
]
FIRST = [page for page in PAGES if page == "README.md" or page.startswith("docs/start/")]
# A block of C, C++ or Python that is a file begins with its name.
FILE = re.compile(r"(?:#|/\*) (\w+\.(?:py|c|cpp))(?: \*/)?\n")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Pages that another test runs.
ELSEWHERE = {
    "docs/dpu_profile.md": "tests/dpu/profile/test_page.py",
    "docs/accl_cpp.md": "tests/accl/cpp/test_programs.py",
    "docs/torch.md": "tests/accl/torch/test_docs.py",
}

# One page is one session. Prints a JSON list with what each block has printed.
RUNNER = """
import contextlib, io, json, os, pathlib, subprocess, sys
page, blocks = json.loads(sys.stdin.read())
names, printed = {}, []
for line, language, text in blocks:
    output = io.StringIO()
    if "." in language:
        pathlib.Path(language).write_text(text)
    elif language == "sh":
        done = subprocess.run(["sh", "-euc", text], text=True, stdout=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(f"{page}:{line}: status {done.returncode}")
        output.write(done.stdout)
    else:
        with contextlib.redirect_stdout(output):
            exec(compile("\\n" * line + text, page, "exec"), names)
    printed.append(output.getvalue())
print(json.dumps(printed))
"""


class Block(NamedTuple):
    line: int
    language: str
    text: str
    expected: str | None


def read_blocks(text: str) -> list[Block]:
    """Find the blocks of a page that can be run, each with the output that follows it."""
    blocks: list[Block] = []
    end = -1
    for found in FENCE.finditer(text):
        language, content = found.groups()
        line = text.count("\n", 0, found.start()) + 1
        file = FILE.match(content)
        if file is not None:
            language = file[1]
        if file is not None or language in ("python", "sh"):
            blocks.append(Block(line, language, content, None))
            end = found.end()
        elif language == "text" and blocks and text[end : found.start()].strip() == "":
            blocks[-1] = blocks[-1]._replace(expected=content)
    return blocks


def run_blocks(page: str, blocks: list[Block], folder: Path, may_warn: bool = True) -> list[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", RUNNER],
        input=json.dumps([page, [block[:3] for block in blocks]]),
        capture_output=True,
        text=True,
        timeout=100,
        cwd=folder,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert may_warn or done.stderr == ""
    printed: list[str] = json.loads(done.stdout)
    return printed


@pytest.mark.parametrize("page", PAGES)
def test_page_runs_and_prints_what_it_says(page: str, tmp_path: Path) -> None:
    blocks = read_blocks((ROOT / page).read_text())
    assert blocks
    # A newcomer wonders about what a first page does not mention.
    printed_by = run_blocks(page, blocks, tmp_path, may_warn=page not in FIRST)
    for block, printed in zip(blocks, printed_by, strict=True):
        if block.expected is not None:
            assert printed == block.expected, f"{page}:{block.line}"


def test_every_page_that_can_be_run_is() -> None:
    pages = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    found = [str(page.relative_to(ROOT)) for page in pages if read_blocks(page.read_text())]
    assert sorted(found) == sorted([*PAGES, *ELSEWHERE])
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (ROOT / test).read_text()


def test_readme_is_short_and_its_links_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 150
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_set_up_is_the_same_on_all_pages_and_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    pages = [
        (ROOT / page).read_text() for page in ("README.md", "docs/index.md", "CONTRIBUTING.md")
    ]
    [packages] = {line for page in pages for line in re.findall("^apt-get install .*", page, re.M)}
    needed = {
        name
        for line in re.findall(r"apt-get install ([\w. -]+)", makefile)
        for name in line.split()
    }
    assert needed - {"valgrind", "make"} <= set(packages.split())
    for page in pages:
        for target in re.findall(r"^make ([\w-]+)", page, re.MULTILINE):
            assert f"\n{target}: " in makefile


def test_pages_link_to_pages_of_the_site() -> None:
    """Sphinx knows nothing above docs/; pages there are included in one of the site."""
    wrong = [
        (page.name, link)
        for page in sorted(ROOT.glob("docs/**/*.md"))
        for link in re.findall(r"\]\(([^)#:]+\.md)[^)]*\)", page.read_text())
        if ROOT / "docs" not in (page.parent / link).resolve().parents
    ]
    assert wrong == []


def test_sidebar_is_short_and_shows_each_page_once() -> None:
    text = (ROOT / "docs/index.md").read_text()
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [tree.partition("\n")[0] for tree in trees] == [
        f":caption: {caption}" for caption in ("Packages", "Tasks", "About")
    ]
    entries = [line for tree in trees for line in tree.splitlines() if line and line[0] != ":"]
    assert len(entries) <= 16
    assert len(entries) == len(set(entries))


def test_reference_pages_are_those_of_the_tables() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_reference_pages_are_written_by_name() -> None:
    """A page that is asked for exists, or the answer says which ones do."""
    command = [sys.executable, "docs/generate.py", "--check"]
    done = subprocess.run([*command, "error_codes"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run([*command, "nothing"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no page nothing: there are " in done.stderr and ", profile_keys," in done.stderr


def test_picture_of_speeds_has_the_numbers_of_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import peers

    page = (ROOT / "docs/performance.md").read_text()
    for row in peers.PEERS:
        assert re.search(rf"\b{re.escape(row.low)}\b", page), row
        assert re.search(rf"\b{re.escape(row.high)}\b", page), row
    assert peers.Peer("x", "y", "0.5", "0.8", True).speeds() == (1.25, 2.0)


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(
        '<a href="sub/page.html#here">x</a><a href="#no">y</a><a href="https://a.example/">z</a>'
    )
    (tmp_path / "sub/page.html").write_text('<p id="here"><img src="lost.png"></p>')
    command = [sys.executable, str(ROOT / "docs/check_links.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "index.html: #no: no such place on the page\nsub/page.html: lost.png: no such file\n"
    )


def read_workflow() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="workflows are YAML (extra forge)")
    text = (ROOT / "docs/testing.md").read_text()
    found = re.search(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    workflow: dict[str, Any] = yaml.safe_load(found[1])
    return workflow


def test_recipe_for_ci_defines_what_it_uses() -> None:
    workflow = read_workflow()
    runs = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    used = {name for run in runs for name in re.findall(r"\$\{?([A-Z_]{4,})", run)}
    assert used - {"RUNNER_TEMP", "GITHUB_ENV"} <= set(workflow["env"])
    known = {variable.name for variable in VARIABLES}
    assert {name for name in workflow["env"] if name.endswith("_LIBRARY")} <= known
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [spec] = project["optional-dependencies"]["toolchain"]
    least, limit = re.findall(r"[\d.]+", spec)
    version = [
        tuple(map(int, one.split("."))) for one in (least, workflow["env"]["ZIGLANG"], limit)
    ]
    assert version[0] <= version[1] < version[2]
    assert {extra for run in runs for extra in re.findall(r"\.whl\)\[([\w,]+)\]", run)} == {
        "toolchain,mpi,forge,plot"
    }


def test_recipe_for_ci_goes_on_where_checks_found_something(tmp_path: Path) -> None:
    steps = read_workflow()["jobs"]["test"]["steps"]
    [step] = [step for step in steps if "dpu.checks" in step.get("run", "")]
    [upload] = [step for step in steps if "upload-sarif" in step.get("uses", "")]
    assert step["if"] == upload["if"] == "always()"
    log, path = tmp_path / "checks.txt", f"{Path(sys.executable).parent}:/usr/bin:/bin"
    command = ["bash", "-eo", "pipefail", "-c", step["run"]]
    log.write_text(
        "== DPU 0.0.0 /k.dpu: race: tasklet 1 reads\n==    at pc 0xd (f+0x0, f.c:7)\n==\n"
    )
    subprocess.run(command, env={"PATH": path}, cwd=tmp_path, check=True)
    [run] = json.loads((tmp_path / upload["with"]["sarif_file"]).read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["race"]
    log.unlink()
    assert subprocess.run(command, env={"PATH": path}, cwd=tmp_path).returncode != 0


def test_recipe_for_ci_keeps_the_variables_of_the_sdks(tmp_path: Path) -> None:
    steps = read_workflow()["jobs"]["test"]["steps"]
    [step] = [step for step in steps if "veo-env" in step.get("run", "")]
    kept = tmp_path / "kept"
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    places = {"HOME": tmp_path, "RUNNER_TEMP": tmp_path, "GITHUB_ENV": kept}
    environment = {"PATH": path, **{name: str(place) for name, place in places.items()}}
    subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], env=environment, check=True)
    found = dict(line.split("=", 1) for line in kept.read_text().splitlines())
    assert Path(found["NCC"]).is_file()
    assert Path(found["UPMEM_HOME"], "bin/dpu-pkg-config").is_file()
    assert str(Path(found["NCC"]).parent) in found["PATH"].split(os.pathsep)


# Code that reads a variable of the environment, in C and in Python.
READS = re.compile(
    r"""(?:getenv|veolib_env_\w+)\(\s*"(\w+)"|environ(?:\.get\(|\[)\s*"(\w+)"|env_var="(\w+)"|"""
    r"""X\(((?:UPMEM|DPU)_\w+), \""""  # the table of libdpu's
)


def test_every_variable_that_is_read_is_documented() -> None:
    sources = [
        path
        for folder in ("csrc", "offchip", "veo", "dpu", "accl", "accelforge")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".c", ".h", ".py", ".pyx") and "dpu/runtime" not in str(path)
    ]
    read = {name for path in sources for found in READS.findall(path.read_text()) for name in found}
    read.discard("")
    names = [variable.name for variable in VARIABLES]
    documented = set(names)
    assert len(names) == len(documented)
    assert "DPU_SOFT_REPORT" in read
    assert read - documented == set()


def test_wrong_output_and_errors_are_noticed(tmp_path: Path) -> None:
    warns = [Block(1, "sh", "echo what >&2", None)]
    assert run_blocks("page", warns, tmp_path) == [""]
    with pytest.raises(AssertionError, match="what"):
        run_blocks("page", warns, tmp_path, may_warn=False)
    page = "```python\nx = 1\nprint(x)\n```\n\n```text\n2\n```\n```sh\nexit 3\n```\n"
    first, second = read_blocks(page)
    assert (first.line, first.expected, second.expected) == (1, "2\n", None)
    assert run_blocks("page", [first], tmp_path) == ["1\n"]
    with pytest.raises(AssertionError, match="page:9: status 3"):
        run_blocks("page", [first, second], tmp_path)
    files = "```c\n/* a.c */\nint a;\n```\n```c\nint b;\n```\n```sh\ncat a.c\n```\n"
    assert run_blocks("page", read_blocks(files), tmp_path) == ["", "/* a.c */\nint a;\n"]
    with pytest.raises(AssertionError, match='"page", line 2.*\n.*ZeroDivisionError'):
        run_blocks("page", [Block(1, "python", "1 / 0\n", None)], tmp_path)
