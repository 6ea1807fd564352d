# SPDX-License-Identifier: BSD-3-Clause
from typing import final

from typing_extensions import disjoint_base

__all__: list[str] = []

@final
class ProcHandle: ...

@final
class CtxHandle: ...

@disjoint_base
class ProcessOwner: ...
