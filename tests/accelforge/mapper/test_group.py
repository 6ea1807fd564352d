# SPDX-License-Identifier: BSD-3-Clause
"""Groups of pmappings give back whole mappings."""

from __future__ import annotations

import numpy as np

from accelforge.mapper.FFM.group import PmappingGroup


def test_a_row_gives_its_mapping() -> None:
    template = [
        {"hold": "DRAM", "tensors": ["A"]},
        {"temporal": "m"},
        {"spatial": "k", "component": "PE", "dim": "X"},
        {"compute": "MAC", "einsum": "E"},
    ]
    group = PmappingGroup(
        einsum="E",
        nodes=(("temporal", "m"), ("hold", "DRAM", "A")),
        objectives=np.zeros((2, 1)),
        tiles=np.ones((2, 1), np.int64),
        template=np.zeros(2, np.int32),
        full_tiles=[(4, 1), (2, 3)],
        templates=[template],
    )

    assert len(group) == 2
    assert group.loops == (("temporal", "m"),)
    assert group.mapping(1) == [
        {"hold": "DRAM", "tensors": ["A"]},
        {"temporal": "m", "tile": 2},
        {"spatial": "k", "component": "PE", "dim": "X", "tile": 3},
        {"compute": "MAC", "einsum": "E"},
    ]
    assert "tile" not in template[1]
