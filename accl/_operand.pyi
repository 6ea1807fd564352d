# SPDX-License-Identifier: BSD-3-Clause
from typing import Any

import numpy as np

from accl._memory import Block

__all__ = ["block_of", "dtype_number"]

def block_of(array: object) -> tuple[Block, int] | None: ...
def dtype_number(dtype: np.dtype[Any]) -> int: ...
