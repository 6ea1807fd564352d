# SPDX-License-Identifier: BSD-3-Clause
from typing import Any

from typing_extensions import disjoint_base

__all__ = ["SetView"]

@disjoint_base
class SetView: ...

def register(handle: Any) -> None: ...
