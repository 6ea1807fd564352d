# SPDX-License-Identifier: BSD-3-Clause
"""Collectives whose results are where their sources are, by each transport, between processes."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("transport", ["auto", "packets", "hosts"])
def test_results_over_their_sources_are_those_of_the_sources_before(run_ranks, ranks, transport):
    assert run_ranks(ranks, "run_overlaps", transport) == []
