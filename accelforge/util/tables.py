# SPDX-License-Identifier: BSD-3-Clause
"""Small tables of texts, as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import zip_longest
from typing import NamedTuple

__all__ = ["Sheet", "html_of", "html_table", "text_of"]


class Sheet(NamedTuple):
    """A table.

    Attributes
    ----------
    title : str
        What it shows.
    heads : sequence of str
        Names of columns.
    rows : sequence of sequence of str
        Cells; one of several lines takes several lines of the table.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def text_of(sheet: Sheet) -> str:
    """Write a table in columns.

    Parameters
    ----------
    sheet : Sheet
        The table; one without rows says so.
    """
    if not sheet.rows:
        return f"{sheet.title}: nothing"
    lines = [
        line
        for row in (sheet.heads, *sheet.rows)
        for line in zip_longest(*(cell.split("\n") for cell in row), fillvalue="")
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n  ".join([f"{sheet.title}:", *texts])


def html_of(sheet: Sheet) -> str:
    """Write a table as HTML, with its title above.

    Parameters
    ----------
    sheet : Sheet
        The table; one without rows says so.
    """
    body = html_table(sheet.heads, sheet.rows) or "nothing"
    return f"<p>{escape(sheet.title)}</p>{body}"


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table as HTML; nothing if it has no rows.

    Parameters
    ----------
    heads : sequence of str
        Names of columns.
    rows : sequence of sequence of str
        Cells; the first one of a row is its name.
    """
    if not rows:
        return ""
    head = "".join(f'<th style="text-align: right">{escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th style="text-align: left">{escape(row[0])}</th>'
        + "".join(f'<td style="text-align: right">{_lines(text)}</td>' for text in row[1:])
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _lines(cell: str) -> str:
    return escape(cell).replace("\n", "<br>")
