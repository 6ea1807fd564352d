# SPDX-License-Identifier: BSD-3-Clause
"""A page with the results of one run: tables beside peers and limits, and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from offchip.measurements import PEER, Measurement, Missing, format_place, format_seconds
from offchip.speed_picture import Speed, draw_speeds, format_speed

__all__ = ["BEGIN", "END", "check_page", "write_page"]

#: What stands between these lines of a page is replaced, and the rest of it stays.
BEGIN, END = "<!-- begin of offchip bench --page -->", "<!-- end of offchip bench --page -->"

HEAD = "| what | at | time | beside | its time | times as fast |\n|---|---|---|---|---|---|\n"

TEXT = """\
Times of the packages beside those of peers, which do the same for you, and of limits, which are
what this machine takes for the work itself; all were measured in turn. Above one is faster.
`offchip bench --page FILE` measures it anew.
"""

Results = Mapping[str, Sequence[Measurement]]
Absent = Mapping[str, Sequence[Missing]]


def check_page(path: Path) -> str:
    """Return the text of the page around its marks, or of an empty one.

    Raises
    ------
    ValueError
        There is a file, which has no marks: it is another one.
    """
    if not path.exists():
        return f"# How fast it is\n\n{BEGIN}\n{END}\n"
    text = path.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(END) < text.index(BEGIN):
        raise ValueError(
            f"{path} exists and is no page of `offchip bench`: it needs a line {BEGIN} and then a "
            f"line {END}, between which results go; or name a new file"
        )
    return text


def write_page(path: Path, results: Results, missing: Absent, place: Mapping[str, str]) -> Path:
    """Write a page and, beside it, its picture.

    Parameters
    ----------
    path : Path
        A new file, or a page with marks.
    results, missing : mapping
        By package.
    place : mapping
        Where it was measured: see `offchip.bench_place.describe_place`.

    Returns
    -------
    Path
        The picture.
    """
    text = check_page(path)
    picture = path.with_suffix(".svg")
    picture.write_text(draw_speeds(list(_speeds(results))))
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    made = "".join(_parts(results, missing, place, picture.name))
    path.write_text(f"{before}{BEGIN}\n{made}{END}{after}")
    return picture


def _parts(results: Results, missing: Absent, place: Mapping[str, str], name: str) -> Iterator[str]:
    yield f"\n{TEXT}\n![Speed of each package beside its peers and limits]({name})\n\n"
    yield "".join(f"* {key}: {value}\n" for key, value in place.items())
    for package, items in results.items():
        yield f"\n## {package}, in this run\n\n{HEAD}"
        for item in items:
            at = f"{format_place(item.x)}{item.x_unit}" if item.x_unit else ""
            times = (format_seconds(item.seconds), _beside(item), format_seconds(item.baseline))
            yield _row(item.name, at, *times, format_speed(1 / item.ratio))
        for absent in missing.get(package, ()):
            yield _row(absent.name, "", "", absent.peer, f"not measured: {absent.install}", "")
    yield "\n"


def _beside(item: Measurement) -> str:
    return item.against if item.kind == PEER else f"limit: {item.against}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _speeds(results: Results) -> Iterator[Speed]:
    """Give a line per curve and baseline."""
    for package, items in results.items():
        curves: dict[tuple[str, str], list[float]] = {}
        for item in items:
            curves.setdefault((item.name, _beside(item)), []).append(1 / item.ratio)
        for (name, against), speeds in curves.items():
            yield Speed(f"{package}: {name}", against, min(speeds), max(speeds))
