# SPDX-License-Identifier: BSD-3-Clause
"""Sets at their place in today's package; here they are in `accelforge.expressions`."""

from accelforge.expressions.sets import InvertibleSet
from accelforge.expressions.sets import evaluate_set as eval_set_expression
from accelforge.expressions.sets import evaluate_set_keys as eval_set_expression_dict

__all__ = ["InvertibleSet", "eval_set_expression", "eval_set_expression_dict"]
