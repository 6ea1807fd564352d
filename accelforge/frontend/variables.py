# SPDX-License-Identifier: BSD-3-Clause
"""Variables that every expression of a specification can use."""

from accelforge.fields import EvalExtras

__all__ = ["Variables"]


class Variables(EvalExtras):
    """Names and values of the user's choice.

    They may use one another, and everything else in the specification may use them. Text is an
    expression, unless it is in quotes in the file or a `LiteralString`.
    """
