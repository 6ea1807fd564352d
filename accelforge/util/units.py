# SPDX-License-Identifier: BSD-3-Clause
"""Numbers with units, as people read them."""

from __future__ import annotations

import math

__all__ = ["size_text", "with_unit"]

_PREFIXES = ("y", "z", "a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y")


def with_unit(value: float, unit: str, digits: int = 3) -> str:
    """Write a number with an SI prefix.

    Parameters
    ----------
    value : float
        The number.
    unit : str
        Its unit, such as ``J``.
    digits : int
        How many significant digits.

    Examples
    --------
    >>> with_unit(2.03e-5, "J")
    '20.3 µJ'
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}".strip()
    exponent = math.floor(math.log10(abs(value)))
    # A number that is rounded up to 1000 takes the next prefix.
    if round(abs(value) / 10.0**exponent, digits - 1) >= 10:
        exponent += 1
    step = exponent // 3
    if not -8 <= step <= 8:
        return f"{value:.{digits - 1}e} {unit}".strip()
    scaled = value / 10.0 ** (3 * step)
    places = max(digits - 1 - (exponent - 3 * step), 0)
    text = f"{scaled:.{places}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {_PREFIXES[step + 8]}{unit}".strip()


def size_text(bits: object) -> str:
    """Write the size of a memory, in bytes if these are whole.

    Parameters
    ----------
    bits : float or str
        The size; text is an expression that is not evaluated yet.
    """
    if not isinstance(bits, (int, float)):
        return f"size: {bits}"
    if not math.isfinite(bits) or bits < 8 or bits % 8:
        return with_unit(bits, "bit") if math.isfinite(bits) else f"size: {bits}"
    amount, step = bits / 8, 0
    while amount % 1024 == 0 and amount and step < 4:
        amount, step = amount / 1024, step + 1
    # 10.5 MiB rather than 10752 KiB.
    while amount >= 1024 and step < 4 and amount * 64 % 1024 == 0:
        amount, step = amount / 1024, step + 1
    if amount >= 10000:
        return with_unit(amount * 1024**step, "B")
    return f"{amount:g} {('', 'Ki', 'Mi', 'Gi', 'Ti')[step]}B"
