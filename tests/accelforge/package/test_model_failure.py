# SPDX-License-Identifier: BSD-3-Clause
"""Message for a model of hwcomponents that gives no costs: one line, with what to do."""

from __future__ import annotations

import re
import sys
import tomllib
import types
from pathlib import Path
from typing import Any

import pytest

import accelforge as af
from accelforge.frontend.arch import model_failure
from accelforge.frontend.arch.model_failure import explain_failure, explain_missing, warn_of_node

ROOT = Path(__file__).parents[3]
TRACEBACK = """Can not find a model for sram(size=8, name=Buf)
Logs for models that could estimate query:
| SRAM with priority 0.3 estimating value:
|  | Exception: {reason}
|  | Traceback (most recent call last):
|  |   File "x.py", line 39, in call
|  | Exception: {reason}
|  |
Why models did not estimate:
.
"""


def test_a_model_that_fails_is_named_with_its_reason() -> None:
    error = explain_failure("SRAM", RuntimeError(TRACEBACK.format(reason="depth is 0")))
    assert error.message == "the model SRAM of hwcomponents failed: Exception: depth is 0"


def test_a_program_that_the_c_library_cannot_start(tmp_path: Path) -> None:
    log = tmp_path / "cacti.log"
    log.write_text("first\n./cacti: version `GLIBC_2.38' not found (required by ./cacti)\n")
    reason = (
        f"CACTI failed. Please check {log} for CACTI output. Run command: cd /x/cacti ; ./cacti"
    )
    message = explain_failure("SRAM", RuntimeError(TRACEBACK.format(reason=reason))).message
    assert message is not None
    assert "failed: CACTI says: ./cacti: version `GLIBC_2.38' not found" in message
    assert message.endswith("make -C /x/cacti clean; make -C /x/cacti opt")
    assert "\n" not in message


def test_a_log_that_is_not_there_leaves_the_exception(tmp_path: Path) -> None:
    reason = f"CACTI failed. Please check {tmp_path}/none for CACTI output."
    message = explain_failure("SRAM", RuntimeError(TRACEBACK.format(reason=reason))).message
    assert "CACTI says: Exception: CACTI failed" in str(message)


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("hwcomponents_neurosim.adc", "pip install 'offchip[forge-components]'"),
        ("some_table", "pip install some-table"),
    ],
)
def test_a_package_that_is_missing(module: str, command: str) -> None:
    missing = ModuleNotFoundError(f"No module named '{module}'")
    missing.name = module
    message = explain_failure("ADC", missing).message
    assert f"Type: {command}" in str(message)


def test_the_extra_that_is_named_brings_all_packages_of_models() -> None:
    named = re.search(r"offchip\[(.*?)\]", explain_missing("SRAM", "area"))
    assert named is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["optional-dependencies"][named[1]]
    names = [re.split("[>=;]", entry)[0] for entry in wanted]
    parts = ["", "-library", "-adc", "-cacti", "-neurosim"]
    assert names == [f"hwcomponents{part}" for part in parts]
    marker = "python_version >= '{}.{}'".format(*model_failure.NEEDED_PYTHON)
    assert all(entry.endswith(marker) for entry in wanted)


@pytest.mark.parametrize(
    ("name", "end"), [("SRAN", "Similar: sram"), ("Foo", "To list them: hwc --list")]
)
def test_a_class_that_no_model_has(name: str, end: str) -> None:
    text = f"Component {name} is not supported by any models. Supported components: adc, sram, dac."
    message = str(explain_failure(name, ValueError(text)).message)
    assert message.startswith(f"no model of hwcomponents is named {name}")
    assert message.endswith(end)


@pytest.mark.parametrize("text", ["", "nothing of use", "\n\n"])
def test_any_text_gives_a_line(text: str) -> None:
    message = str(explain_failure("SRAM", RuntimeError(text)).message)
    assert message.startswith("the model SRAM of hwcomponents failed: ")
    assert "\n" not in message


def test_an_old_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_failure, "NEEDED_PYTHON", (99, 0))
    assert "it needs Python 3.12, and this is" in explain_missing("SRAM", "area")
    monkeypatch.setattr(model_failure, "NEEDED_PYTHON", (3, 0))
    assert "Python" not in explain_missing("SRAM", "area")


@pytest.mark.parametrize(
    ("node", "jumps"),
    [(22, False), (45, False), (90, False), (180, True), (16, True), (90 * 1e-9 * 1e9, True)],
)
@pytest.mark.parametrize("inside", [False, True])
def test_nodes_that_cacti_does_not_know_warn(
    recwarn: pytest.WarningsRecorder, node: float, jumps: bool, inside: bool
) -> None:
    sram = type("SRAM", (), {"__module__": "hwcomponents_cacti.hwcomponents_cacti"})()
    sram.tech_node = node
    warn_of_node("Buf", types.SimpleNamespace(sram=sram) if inside else sram)
    assert [str(w.message)[:30] for w in recwarn] == ["Buf: CACTI has nodes of 22 to "] * jumps


def test_other_models_do_not_warn() -> None:
    warn_of_node("Buf", types.SimpleNamespace(tech_node=180))
    warn_of_node("Buf", None)


def test_the_error_has_field_and_line(spec: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def get_model(*args: object, **kwargs: object) -> None:
        raise RuntimeError(TRACEBACK.format(reason="no luck"))

    package = types.ModuleType("hwcomponents")
    package.get_models = lambda *args, **kwargs: []  # type: ignore[attr-defined]
    package.get_model = get_model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hwcomponents", package)
    spec.arch["Buffer"].area = None
    spec.arch["Buffer"].component_class = "SRAM"
    with pytest.raises(af.EvaluationError, match="SRAM.*no luck") as caught:
        spec.calculate_component_costs()
    assert caught.value.path == "spec.arch.Buffer.area"
    assert "spec.yaml, line" in str(caught.value)
