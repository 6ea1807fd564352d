# SPDX-License-Identifier: BSD-3-Clause
"""Makes calls of 64-bit multiplications, as UPMEM's compiler does (``--costs=upmem``).

Otherwise the compiler multiplies words, and leaves out the products that it knows to be zero.
"""

from __future__ import annotations

import re

__all__ = ["call_wide_products"]

_FUNCTION = "@__muldi3"
_DECLARATION = f"\ndeclare i64 {_FUNCTION}(i64, i64)\n"
# Not those by constants, which are shifts and sums.
_PRODUCT = re.compile(r"^(\s+%\S+ = )mul (?:n[us]w )*i64 (%[^\s,]+), (%[^\s,]+)", re.MULTILINE)
_KNOWN = re.compile(rf"^(?:declare|define) [^\n]*{_FUNCTION}\(", re.MULTILINE)


def call_wide_products(ir: str) -> str:
    """Return LLVM IR in which multiplications of 64-bit variables are calls of the run time."""
    called, count = _PRODUCT.subn(rf"\1call i64 {_FUNCTION}(i64 \2, i64 \3)", ir)
    if count == 0:
        return ir
    return called if _KNOWN.search(ir) else called + _DECLARATION
