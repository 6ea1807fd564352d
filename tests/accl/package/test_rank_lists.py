# SPDX-License-Identifier: BSD-3-Clause
"""The list of ranks that `accl.from_comm()` makes of the hosts of an MPI job."""

from __future__ import annotations

import math

import pytest

from accl import ACCLArgumentError, accl
from accl.bootstrap import make_ranks


@pytest.mark.parametrize("transport", ["auto", "packets"])
def test_ranks_of_one_host_have_its_address(transport):
    # Packets to another host are larger than those on this one, also where packets are forced.
    ranks = make_ranks(["a", "b", "a"], 0, 64, transport)
    assert ranks[0]["ip"] == ranks[2]["ip"] != ranks[1]["ip"]
    assert len({rank["port"] for rank in ranks}) == 3
    reach = [rank["reach"] for rank in ranks[1:]]
    assert reach == ["packets", "shared" if transport == "auto" else "packets"]


@pytest.mark.parametrize("timeout", ["5", math.nan, [], 1j])
def test_a_timeout_that_is_no_number_is_refused_before_ranks_meet(timeout):
    with pytest.raises(ACCLArgumentError, match=r"^from_comm: timeout must be a number of seconds"):
        accl.from_comm(None, timeout=timeout)
