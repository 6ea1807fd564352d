# SPDX-License-Identifier: BSD-3-Clause
"""Reductions of every element type by each transport, between processes."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("transport", ["auto", "packets", "hosts"])
def test_reductions_of_every_type_are_numpys(run_ranks, ranks, transport):
    assert run_ranks(ranks, "run_types", transport) == []
