# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that a package has loaded, each once, and the default one."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offchip.loader import Choice, LibrarySpec

__all__ = ["Libraries", "defaults", "describe", "loaded", "on_load"]

#: The libraries of all packages, in the order in which they were loaded.
loaded: list[Any] = []
#: The default library of each package that has one by now, by its kind.
defaults: dict[type[Any], Any] = {}
#: Called with each that is loaded.
on_load: list[Callable[[Any], None]] = []


class Libraries:
    """The loaded libraries of a package, which `offchip.loader` finds. A library stays loaded.

    Parameters
    ----------
    kind : type
        The package's `Library`.
    spec : callable
        Makes the package's `LibrarySpec`, when a library is searched for.
    load : callable
        Loads the library of a `Choice`; returns a `Library`.
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
        """Return a library: a loaded one, one by name or path, or the default for None."""
        if isinstance(which, self._kind):
            if which.path is None:
                raise ValueError("this Library was not loaded")
            return which
        if which is not None:
            return self._find(which)
        if self._default is None:
            self._set_default(self._find(None))
        return self._default

    def _set_default(self, library: Any) -> None:
        self._default = defaults[self._kind] = library

    def use(self, which: object) -> Any:
        """Make a library the default, and return it."""
        if which is None:
            raise TypeError("a library is required: 'vendor', 'soft', a path or a Library")
        self._set_default(self.get(which))
        return self._default

    def _find(self, which: Any) -> Any:
        # Imported late: before a library is needed, only extension modules are loaded.
        from offchip.loader import choose

        choice = choose(self._spec(), which)
        real = os.path.realpath(choice.path)
        if real not in self._by_real_path:
            self._by_real_path[real] = library = self._load(choice)
            loaded.append(library)
            if os.environ.get("OFFCHIP_TRACE"):
                # It begins with the first library, and asks for the others itself.
                importlib.import_module("offchip.trace")

            for notify in on_load:
                notify(library)
        return self._by_real_path[real]


def describe(library: Any) -> dict[str, Any]:
    """Describe a library and why it was chosen; `library_info()` of a package returns this."""
    names = ("path", "kind", "found_via", "version", "api_version", "devices")
    return {
        **{name: getattr(library, name) for name in names},
        "missing": list(library.missing),
        "refused": [
            {"path": item.path, "found_via": item.found_via, "reason": item.reason}
            for item in library.refused
        ],
    }
