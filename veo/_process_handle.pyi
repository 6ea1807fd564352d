# SPDX-License-Identifier: BSD-3-Clause
from typing import final

from typing_extensions import disjoint_base

__all__: list[str] = []

@disjoint_base
class ContextBase: ...

@final
class ProcHandle: ...

@disjoint_base
class ProcessOwner: ...
