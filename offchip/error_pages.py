# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the documentation that explain errors."""

from __future__ import annotations

__all__ = ["PAGES", "format_error", "point_to_page"]

#: Pages of the documentation that explain errors of a class and of those derived from it.
PAGES = {
    "offchip.errors.LibraryNotFoundError": "docs/backends.md",
    "veo.errors.VeoError": "docs/veo.md#requests",
    "dpu.errors.DpuError": "docs/reference/error_codes.md#dpu",
    "dpu.errors.DpuTimeoutError": "docs/dpu.md#launches",
    "dpu.toolchain.errors.ToolchainError": "docs/dpu_toolchain.md#errors",
    "accl.errors.ACCLError": "docs/accl.md#when-something-goes-wrong",
}


def point_to_page(error: BaseException) -> None:
    """Add a note with the page that explains an error, which tracebacks show, if there is one."""
    for kind in type(error).__mro__:
        page = PAGES.get(f"{kind.__module__}.{kind.__qualname__}")
        if page is not None:
            error.add_note(f"See {page}")
            return


def format_error(error: BaseException) -> str:
    """Format an error as commands print it: its message, then its notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])
