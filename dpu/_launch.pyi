# SPDX-License-Identifier: BSD-3-Clause
from typing import NoReturn, SupportsIndex

from typing_extensions import disjoint_base

from dpu._set import DpuSet
from offchip.request import Request

__all__ = ["DpuRequest"]

@disjoint_base
class DpuRequest(Request):
    dpu_set: DpuSet
    def __init__(self, dpu_set: DpuSet) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
