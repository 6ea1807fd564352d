# SPDX-License-Identifier: BSD-3-Clause
"""Reductions between two hosts are NumPy's to the bit, in place or not, at all sizes."""

from __future__ import annotations


def test_sums_of_two_ranks_by_packets(run_ranks):
    assert run_ranks(2, "run_sums") == []
