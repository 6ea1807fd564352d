# SPDX-License-Identifier: BSD-3-Clause
"""Where programs find the mapper; it is not part of this version yet."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["join_pmappings", "make_pmappings", "map_workload_to_arch"]


def _missing(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}(): the mapper is not part of this version of the package. Write the mapping into "
        f"the specification, and call spec.evaluate_mapping()"
    )


def map_workload_to_arch(spec: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError: this version evaluates mappings, and does not look for them."""
    _missing("map_workload_to_arch")


def make_pmappings(spec: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError: this version evaluates mappings, and does not look for them."""
    _missing("make_pmappings")


def join_pmappings(pmappings: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError: this version evaluates mappings, and does not look for them."""
    _missing("join_pmappings")
