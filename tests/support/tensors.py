# SPDX-License-Identifier: BSD-3-Clause
"""Objects that have DLPack or __array_interface__ and no buffer."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Interface", "OldTensor", "Tensor", "WritableTensor"]


class Tensor:
    """Has DLPack and nothing else, as PyTorch's."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **how: Any) -> Any:
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class OldTensor(Tensor):
    """Has the first DLPack, which cannot say what may be written to."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class Interface:
    """Has __array_interface__ and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


#: What a transfer may write to: NumPy says so in DLPack since 2.1.
WritableTensor = OldTensor if np.lib.NumpyVersion(np.__version__) < "2.1.0" else Tensor
