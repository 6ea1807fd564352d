# SPDX-License-Identifier: BSD-3-Clause
"""Settings of all mappers, of which there is one."""

from __future__ import annotations

from accelforge.fields import EvalableModel, Part, field
from accelforge.frontend.mapper.ffm import FFM

__all__ = ["Mapper"]


class Mapper(EvalableModel):
    """Settings of all mappers."""

    ffm: FFM = field(Part(FFM), FFM())
    """Those of the Fast and Fusiest Mapper."""
