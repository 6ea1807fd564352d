# SPDX-License-Identifier: BSD-3-Clause
"""Width of text, and the places where it is broken into lines."""

from __future__ import annotations

import unicodedata

__all__ = ["BOLD", "FONT", "SIZE", "measure", "wrap"]

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
SIZE = 12.0
# Width of bold text, relative to that of plain text.
BOLD = 1.1

# Widths of Helvetica's characters, in thousandths of the size.
_WIDTHS = {
    character: width
    for width, characters in {
        222: "'`ijl",
        260: "|",
        278: " !,./:;I[\\]ft",
        333: "()-r{}",
        389: '"*',
        469: "^",
        500: "Jcksvxyz",
        556: "#$0123456789?L_abdeghnopqu",
        584: "+<=>~",
        611: "FTZ",
        667: "&ABEKPSVXY",
        722: "CDHNRUw",
        778: "GOQ",
        833: "Mm",
        889: "%",
        944: "W",
        1015: "@",
    }.items()
    for character in characters
}
# The fonts that stand in for it are up to this much wider.
_WIDER = 1.16


def measure(text: str) -> float:
    """Return how wide a line is in a picture.

    Parameters
    ----------
    text : str
        The line.
    """
    thousandths = sum(_WIDTHS.get(character) or _width(character) for character in text)
    return thousandths * SIZE / 1000 * _WIDER


def _width(character: str) -> int:
    return 1000 if unicodedata.east_asian_width(character) in "WF" else 600


def wrap(text: str, limit: float) -> list[str]:
    """Break text into lines, after spaces and at line breaks.

    Parameters
    ----------
    text : str
        The text.
    limit : float
        How wide lines may be; words that are wider stay whole.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if line and measure(longer) > limit:
                lines.append(line)
                # Lines that go on are indented.
                line = f"  {word}"
            else:
                line = longer
        lines.append(line)
    return lines
