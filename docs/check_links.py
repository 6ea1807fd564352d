# SPDX-License-Identifier: BSD-3-Clause
"""Check the links of the built site among its own pages: ``check_links.py FOLDER``.

Links to other sites are not followed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the names that links can have on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, and its name."""
        for key, value in attrs:
            if value is None:
                continue
            if key == "id" or (tag == "a" and key == "name"):
                self.names.add(value)
            elif (tag in ("a", "link") and key == "href") or (
                tag in ("img", "script") and key == "src"
            ):
                self.links.add(value)


def broken_links(folder: Path) -> Iterator[str]:
    """Yield a line for each link that leads nowhere."""
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            where = f"{path.relative_to(folder)}: {link}"
            if not target.is_file():
                yield f"{where}: no such file"
            place = unquote(parts.fragment)
            if place and target in pages and place not in pages[target].names:
                yield f"{where}: no such place on the page"


def main(arguments: list[str]) -> int:
    """Print the broken links; the status is 1 if there are some."""
    if len(arguments) != 1 or not Path(arguments[0], "index.html").is_file():
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    found = list(broken_links(Path(arguments[0]).resolve()))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
