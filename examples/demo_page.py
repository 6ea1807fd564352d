# SPDX-License-Identifier: BSD-3-Clause
"""The page that the demonstration writes: what was printed, the pictures, and what to do next."""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

__all__ = ["ENERGY", "Page", "draw_calls", "profile_kernel", "shown_path", "timed"]

STYLE = """
:root { color-scheme: light dark; --quiet: #666; --line: #ccc; --box: #f4f6f5; --good: #2a7f62; }
@media (prefers-color-scheme: dark) {
  :root { --quiet: #aaa; --line: #444; --box: #222826; --good: #5cc29f; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1em; max-width: 60em; }
h1, h2 { line-height: 1.2; }
h2 { margin-top: 2em; border-top: 1px solid var(--line); padding-top: 1em; }
pre, .wide { overflow-x: auto; } pre { background: var(--box); padding: .8em; font-size: 13px; }
img, svg { max-width: 100%; height: auto; } svg { background: white; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(16em, 1fr)); gap: 1em; }
figure { margin: 1em 0; overflow-x: auto; } figure svg { min-width: 27rem; }
figcaption, .quiet { color: var(--quiet); font-size: 14px; }
.verdict { background: var(--box); border-left: 4px solid var(--good); padding: .6em 1em; }
.failed { border-color: #c0392b; }
table { border-collapse: collapse; } td, th { padding: 3px 12px 3px 0; text-align: left; }
td { border-top: 1px solid var(--line); vertical-align: top; } code { font-size: 14px; }
"""

# The parts by their titles, and what is said of each.
ABOUT = {
    "Edges of a picture, on a Vector Engine": """A kernel in C is compiled and called in two queues
at a time; NumPy does the same beside it. <code>examples/demo_vector_engine.py</code>,
<code>examples/demo_kernels.c</code>""",
    "A checksum on 64 DPUs": """Each DPU has a part of a text in its memory; zlib checks the sum of
all. <code>examples/dpu_checksum.py</code>, <code>examples/dpu_checksum.c</code>""",
    "A sum over four ranks": """Each rank counts pairs of bytes in some files, and one call adds the
counts up. <code>examples/accl_allreduce.py</code>""",
    "A profile of a kernel on a DPU": """A sum over numbers in a DPU's memory, by a kernel that is
slow on purpose. The first line of the profile says why. <code>examples/dpu_reduction.py</code>;
docs/dpu_profile.md makes it fast.""",
    "What a design would cost": """Two products of matrices on a simple design: predicted, by
counting. Each picture is what the design does, from the outer loops to the multiplier.
<code>examples/accelforge_matmuls.py</code>""",
    "What a kernel does cost": """A matrix times a vector on a DPU: predicted, and run.
<code>examples/accelforge_gemv.py</code>""",
}
ENERGY = "Energy, where an operation takes 1 J: fused, the matrix in between stays in the buffer"

# Things that a newcomer may have, and what to type next.
NEXT = (
    ("C or Python programs for UPMEM's SDK", 'eval "$(dpu-env)"; make', "docs/unchanged.md"),
    (
        "a slow DPU program",
        "python -m dpu.profile --html profile.html -- ./host",
        "docs/dpu_profile.md",
    ),
    ("a wrong DPU program", "DPU_CHECK=all ./host", "docs/dpu_checks.md"),
    ("programs for py-veo", "python program.py", "docs/veo.md"),
    ("C programs for NEC's SDK", 'eval "$(veo-env)"; make', "docs/veo.md"),
    ("programs for pyaccl", "mpiexec -n 4 python -m accl.as_pyaccl program.py", "docs/accl.md"),
    ("YAML files of AccelForge", "python examples/accelforge_matmuls.py", "docs/accelforge.md"),
    (
        "C++ programs for ACCL",
        "g++ -std=c++17 program.cpp $(accl-pkg-config --cflags --libs accl)",
        "docs/accl_cpp.md",
    ),
    ("none yet", "python examples/veo_hello.py", "docs/start"),
    ("tests to write", "pip install pytest; pytest", "docs/testing.md"),
)


def timed(work: Callable[[], Any], repeat: int = 3) -> tuple[float, Any]:
    """Return the best time in seconds, and what the work gave."""
    best, result = float("inf"), None
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def shown_path(info: dict[str, Any]) -> str:
    """Return the path of a library, from here if it is below this folder."""
    path = os.path.relpath(info["path"])
    return str(info["path"]) if path.startswith("..") else path


class _Both(io.TextIOBase):
    """Writes to two streams."""

    def __init__(self, *streams: Any) -> None:
        self.streams = streams

    def write(self, text: str) -> int:
        for stream in self.streams:
            stream.write(text)
            stream.flush()
        return len(text)


class Page:
    """Collects what becomes the page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts: list[str] = []
        self.begin = time.perf_counter()
        folder.mkdir(parents=True, exist_ok=True)

    def keep(self) -> None:
        """Keep what there is for another process."""
        (self.folder / "first.json").write_text(json.dumps(self.parts))

    def read(self) -> None:
        """Go on where another process kept what it had."""
        self.parts = json.loads((self.folder / "first.json").read_text())

    @contextlib.contextmanager
    def section(self, title: str) -> Iterator[None]:
        """Print a title, and keep what is printed in the block."""
        print(f"\n{title}, after {time.perf_counter() - self.begin:.0f} s", flush=True)
        text = io.StringIO()
        self.parts.append(f"<h2>{escape(title)}</h2>\n<p>{ABOUT[title]}</p>")
        at = len(self.parts)
        with contextlib.redirect_stdout(_Both(sys.stdout, text)):
            yield
        self.parts.insert(at, f"<pre>{escape(text.getvalue().strip(chr(10)))}</pre>")

    def pictures(self, pictures: Iterable[tuple[str, str]]) -> None:
        """Add pictures beside each other: file or SVG, and what it shows."""
        shown = []
        for picture, about in pictures:
            is_svg = picture.lstrip().startswith("<")
            image = picture if is_svg else f'<img src="{escape(picture)}" alt="{escape(about)}">'
            shown.append(f"<figure>{image}<figcaption>{escape(about)}</figcaption></figure>")
        self.parts.append(f'<div class="two">{"".join(shown)}</div>')

    def html(self, text: str) -> None:
        """Add HTML."""
        self.parts.append(text)

    def write(self, failures: list[str], ended: bool = True) -> Path:
        """Write the page, which loads itself again as long as more is to come; return its path."""
        seconds = time.perf_counter() - self.begin
        verdict = "<br>".join(escape(line) for line in failures) or (
            "All results are right: NumPy, zlib and a formula agree."
            if ended
            else "More follows, as soon as it is built."
        )
        again = "" if ended else '<meta http-equiv="refresh" content="5">'
        rows = "".join(
            f"<tr><td>{escape(have)}</td><td><code>{escape(command)}</code></td>"
            f"<td>{escape(page)}</td></tr>"
            for have, command, page in NEXT
        )
        when = f"{time.strftime('%Y-%m-%d %H:%M')}, {seconds:.0f} s on {platform.node()}"
        text = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">{again}
<title>offchip demo</title><style>{STYLE}</style></head><body>
<h1>offchip demo</h1>
<p class="verdict{" failed" if failures else ""}">{verdict}</p>
<p class="quiet">{escape(when)}, Python {platform.python_version()}</p>
{chr(10).join(self.parts)}
<h2>What next?</h2>
<p><code>. .venv/bin/activate</code> first, so that the commands are found. <code>make docs</code>
makes a site of the pages.</p>
<div class="wide"><table><tr><th>you have</th><th>type</th><th>read</th></tr>{rows}</table></div>
</body></html>
"""
        path = self.folder / "index.html"
        path.write_text(text)
        return path


def profile_kernel(script: Path, step: int, folder: Path) -> dict[str, str]:
    """Profile a step of the reduction on a DPU; return what was printed, and pictures by name."""
    pictures = {name: folder / f"{name}.svg" for name in ("tasklets", "picture")}
    command = [sys.executable, "-m", "dpu.profile", "--text", "--lines", "5"]
    command += ["--html", str(folder / "profile.html")]
    for name, path in pictures.items():
        command += [f"--{name}", str(path)]
    command += ["--", sys.executable, str(script), str(step)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"python -m dpu.profile: {done.stderr.strip()}")
    return {"text": done.stdout} | {name: path.read_text() for name, path in pictures.items()}


COLOURS = {"veo": "#2a7f62", "dpu": "#2e6da4", "accl": "#e0a030"}


def draw_calls(path: Path) -> str:
    """Draw a timeline of `offchip.trace`: a row per package and rank, a box per call."""
    events = json.loads(path.read_text())["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    calls = [event for event in events if event["ph"] == "X"]
    if not calls:
        return ""
    first = min(event["ts"] for event in calls)
    span = max(event["ts"] + event["dur"] for event in calls) - first
    rows = sorted({event["pid"] for event in calls}, key=lambda pid: names[pid])
    left, width, row = 110, 730, 22
    parts = []
    for index, pid in enumerate(rows):
        name = names[pid].partition(", process")[0].partition(" (process")[0]
        package, text = name.split()[0], name.replace("(", "").replace(")", "")
        y = 26 + row * index
        parts.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{escape(text)}</text>')
        drawn = 0.0
        for event in calls:
            x = left + (event["ts"] - first) / span * width
            wide = max(1.0, event["dur"] / span * width)
            if event["pid"] == pid and x + wide > drawn + 0.5:  # else it hides behind others
                drawn = x + wide
                parts.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{row - 6}" '
                    f'fill="{COLOURS[package]}"><title>{escape(event["name"])}, '
                    f"{event['dur'] / 1e3:.3f} ms</title></rect>"
                )
    bottom = 26 + row * len(rows) + 12
    parts.append(f'<text x="{left}" y="{bottom}">0 s</text>')
    parts.append(
        f'<text x="{left + width}" y="{bottom}" text-anchor="end">{span / 1e6:.1f} s</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {bottom + 10}" width="860" '
        'font-family="sans-serif" font-size="12"><rect width="860" height="100%" fill="white"/>'
        f'<text x="{left}" y="16" font-size="13">Calls of the C libraries</text>'
        + "".join(parts)
        + "</svg>"
    )
