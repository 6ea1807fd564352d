# SPDX-License-Identifier: BSD-3-Clause
from typing import Any, NoReturn, SupportsIndex

from typing_extensions import disjoint_base

from offchip.request import Request
from veo._context import VeoCtxt

__all__ = ["VeoMemRequest", "VeoRequest"]

@disjoint_base
class VeoRequest(Request):
    ctx: VeoCtxt
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    @property
    def req(self) -> int: ...
    def wait_result(self, timeout: float | None = None) -> Any: ...
    def peek_result(self) -> Any: ...

class VeoMemRequest(VeoRequest): ...
