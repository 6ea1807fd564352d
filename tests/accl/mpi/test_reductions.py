# SPDX-License-Identifier: BSD-3-Clause
"""Reductions that MPI makes itself: right, and the same bits again."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("ranks", [2, 3])
def test_reductions_by_packets(run_ranks, ranks):
    assert run_ranks(ranks, "run_reductions", "packets") == []


def test_reductions_of_two_hosts_with_two_ranks(run_ranks):
    assert run_ranks(4, "run_reductions", "hosts") == []
