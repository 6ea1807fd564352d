# SPDX-License-Identifier: BSD-3-Clause
"""The backend ``accl`` of torch.distributed, for tensors in the memory of the host.

>>> import accl.torch
>>> import torch.distributed as dist
>>> dist.init_process_group("accl")
>>> dist.all_reduce(torch.ones(4))

The import registers the backend. PyTorch is not a requirement of offchip, and only this module
imports it.
"""

from __future__ import annotations

try:
    import torch.distributed as _distributed
except ImportError as error:
    raise ImportError(
        f"accl.torch needs PyTorch, which cannot be imported ({error}): pip install torch"
    ) from error

from accl.torch.group import ProcessGroupACCL
from accl.torch.meeting import create, rendezvous_by_mpi
from accl.torch.traffic import Traffic, report

__all__ = ["ProcessGroupACCL", "Traffic", "report"]

_distributed.Backend.register_backend("accl", create, extended_api=True, devices=["cpu"])
_distributed.register_rendezvous_handler("mpi", rendezvous_by_mpi)
