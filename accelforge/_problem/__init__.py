# SPDX-License-Identifier: BSD-3-Clause
"""Flattens a problem: names become indices, and all numbers go into one array.

The format is described in docs/design/accelforge.md, the tables in
csrc/accelforge/model/problem.h. Names, types and fields are checked here; the engine checks
ranges, and that the mapping makes sense.
"""

from __future__ import annotations

from accelforge._problem.flatten import flatten
from accelforge._problem.format import ANY, FIELDS, WORDS
from accelforge._problem.tables import ProblemError, Tables, path_text

__all__ = ["ANY", "FIELDS", "WORDS", "ProblemError", "Tables", "flatten", "path_text"]
