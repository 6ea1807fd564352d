# SPDX-License-Identifier: BSD-3-Clause
from typing import NoReturn, SupportsIndex, final

from typing_extensions import disjoint_base

__all__ = ["Calls"]

@final
class Caller: ...

@disjoint_base
class Calls:
    check_return_value_flag: bool
    config_rdy: bool
    @property
    def _caller(self) -> Caller: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
