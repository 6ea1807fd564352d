# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that a package has loaded: each once, and one of them the default."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offchip.loader import Choice, LibrarySpec

__all__ = ["Libraries", "describe"]


class Libraries:
    """What a package has loaded, found by the rule of `offchip.loader`. A library stays loaded.

    Parameters
    ----------
    kind : type
        The package's `Library`.
    spec : callable
        Makes the package's `LibrarySpec`, when a library is looked for.
    load : callable
        Loads what a `Choice` names; returns a `Library`.
    """

    def __init__(
        self, kind: type[Any], spec: Callable[[], LibrarySpec], load: Callable[[Choice], Any]
    ) -> None:
        self._kind = kind
        self._spec = spec
        self._load = load
        self._by_real_path: dict[str, Any] = {}
        self._default: Any = None

    def get(self, which: object) -> Any:
        """Give a library: one that is loaded, one by name or path, the default for None."""
        if isinstance(which, self._kind):
            if which.path is None:
                raise ValueError("this Library was not loaded")
            return which
        if which is not None:
            return self._find(which)
        if self._default is None:
            self._default = self._find(None)
        return self._default

    def use(self, which: object) -> Any:
        """Make a library the default, and give it."""
        if which is None:
            raise TypeError("a library is required: 'vendor', 'soft', a path or a Library")
        self._default = self.get(which)
        return self._default

    def _find(self, which: Any) -> Any:
        # Nothing but extension modules is loaded before a library is asked for.
        from offchip.loader import choose

        choice = choose(self._spec(), which)
        real = os.path.realpath(choice.path)
        if real not in self._by_real_path:
            self._by_real_path[real] = self._load(choice)
        return self._by_real_path[real]


def describe(library: Any) -> dict[str, Any]:
    """Say which library this is, and why: what `library_info()` of a package returns."""
    names = ("path", "kind", "found_via", "version", "api_version", "devices")
    return {
        **{name: getattr(library, name) for name in names},
        "missing": list(library.missing),
        "refused": [
            {"path": item.path, "found_via": item.found_via, "reason": item.reason}
            for item in library.refused
        ],
    }
