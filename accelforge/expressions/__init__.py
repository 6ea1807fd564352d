# SPDX-License-Identifier: BSD-3-Clause
"""Expressions of specifications: arithmetic, and sets of tensors and rank variables."""

from accelforge.expressions.arithmetic import (
    LiteralString,
    evaluate,
    evaluate_text,
    is_literal_string,
    user_functions,
)
from accelforge.expressions.functions import FUNCTIONS
from accelforge.expressions.sets import (
    RANK_VARIABLES,
    TENSORS,
    InvertibleSet,
    evaluate_set,
    evaluate_set_keys,
)

__all__ = [
    "FUNCTIONS",
    "RANK_VARIABLES",
    "TENSORS",
    "InvertibleSet",
    "LiteralString",
    "evaluate",
    "evaluate_set",
    "evaluate_set_keys",
    "evaluate_text",
    "is_literal_string",
    "user_functions",
]
