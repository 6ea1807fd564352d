# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Mapping
from typing import Any, NoReturn, SupportsIndex

from typing_extensions import disjoint_base

from accl._device import Device

__all__: list[str] = []

@disjoint_base
class Caller:
    check_return_value_flag: bool
    config_rdy: bool
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    def _set_device(self, device: Device) -> None: ...
    def _add_communicator(self, size: int, local_rank: int) -> None: ...
    def _set_configs(self, configs: Mapping[tuple[str, str], Any]) -> None: ...
