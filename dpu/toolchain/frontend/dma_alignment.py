# SPDX-License-Identifier: BSD-3-Clause
"""Aligns what DMA may copy to 8 bytes: the hardware drops the low bits of addresses.

The vendor's compiler aligns arrays and structures on the stack so, and programs transfer local byte
arrays without `__dma_aligned`. A stock compiler gives them the alignment of their elements.
Variables with a section attribute keep their alignment: programs rely on them being adjacent.
"""

from __future__ import annotations

import re

__all__ = ["align_for_dma"]

_LOWER = r"\b(align) [124]\b"
_KIND = r"(?=[\[{<%])"
_LOCAL = re.compile(rf"^(\s+%\S+ = alloca {_KIND}.*, ){_LOWER}", re.MULTILINE)
_LINKAGE = (
    "dso_local|internal|weak|weak_odr|common|local_unnamed_addr|unnamed_addr|hidden|protected"
)
_GLOBAL = re.compile(
    rf"^(@(?!\.)\S+ = (?:(?:{_LINKAGE}) )*(?:global|constant) {_KIND}"
    rf'(?![^\n]*, section ")[^\n]*, ){_LOWER}',
    re.MULTILINE,
)


def align_for_dma(text: str) -> str:
    """Return LLVM IR whose arrays and structures in WRAM are aligned to 8 bytes or more."""
    return _GLOBAL.sub(r"\1\2 8", _LOCAL.sub(r"\1\2 8", text))
