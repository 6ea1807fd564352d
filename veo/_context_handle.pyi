# SPDX-License-Identifier: BSD-3-Clause
from typing import final

from veo._pending import PendingRequests

__all__: list[str] = []

@final
class CtxHandle(PendingRequests): ...
