# SPDX-License-Identifier: BSD-3-Clause
"""Variables as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from dpu.variable import DpuVariable


def make(*rows):
    return DpuVariable([memoryview(bytearray(row)) for row in rows])


def test_one_dpu_is_one_dimension():
    values = np.arange(4, dtype="<i4")
    variable = make(values.tobytes())
    for array in (variable.array("<i4"), np.asarray(variable, "<i4"), np.array(variable, "<i4")):
        assert array.dtype == np.dtype("<i4")
        assert array.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("count", [2, 8])
@pytest.mark.parametrize("dtype", ["u1", "<f8", "<i4,<f4"])
def test_several_dpus_are_rows(count, dtype):
    values = np.arange(count * 24, dtype=np.uint8).view(dtype).reshape(count, -1)
    array = make(*(row.tobytes() for row in values)).array(dtype)
    assert (array.shape, array.dtype) == (values.shape, values.dtype)
    assert array.tobytes() == values.tobytes()


def test_odd_sizes():
    assert make(bytes(range(13))).array(np.uint8).tolist() == list(range(13))


def test_array_is_a_copy():
    content = bytearray(8)
    array = DpuVariable([memoryview(content)]).array(np.uint8)
    array[0] = 1
    assert content[0] == 0


def test_wrong_use_is_explained():
    variable = make(bytes(13))
    with pytest.raises(
        ValueError, match="13 bytes, which is not a multiple of the 4 bytes of int32"
    ):
        variable.array(np.int32)
    with pytest.raises(TypeError, match="what type have the elements"):
        np.asarray(variable)
    with pytest.raises(TypeError, match="no Python objects"):
        variable.array(object)
    with pytest.raises(ValueError, match="multiple of the 0 bytes"):
        variable.array("V0")
    with pytest.raises(ValueError, match="uncopied"):
        variable.__array__(np.uint8, copy=False)
