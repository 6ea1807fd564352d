# SPDX-License-Identifier: BSD-3-Clause
from typing import final

from veo._process_handle import ContextBase

__all__: list[str] = []

@final
class CtxHandle(ContextBase): ...
