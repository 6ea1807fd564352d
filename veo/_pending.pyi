# SPDX-License-Identifier: BSD-3-Clause
from typing_extensions import disjoint_base

from veo._process_handle import ContextBase

__all__: list[str] = []

@disjoint_base
class PendingRequests(ContextBase): ...
