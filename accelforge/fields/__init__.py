# SPDX-License-Identifier: BSD-3-Clause
"""Objects with declared fields, which a specification consists of."""

from accelforge.fields.kinds import (
    Anything,
    Choice,
    Expression,
    Fixed,
    Items,
    Kind,
    Members,
    Nodes,
    Part,
    Table,
    Text,
)
from accelforge.fields.lists import EvalableDict, EvalableList
from accelforge.fields.model import EvalableModel, EvalExtras, field

__all__ = [
    "Anything",
    "Choice",
    "EvalExtras",
    "EvalableDict",
    "EvalableList",
    "EvalableModel",
    "Expression",
    "Fixed",
    "Items",
    "Kind",
    "Members",
    "Nodes",
    "Part",
    "Table",
    "Text",
    "field",
]
