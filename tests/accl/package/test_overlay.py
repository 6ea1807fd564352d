# SPDX-License-Identifier: BSD-3-Clause
"""Programs of 2021: an overlay whose CCLO is configured by hand."""

from __future__ import annotations

import numpy as np
import pytest

from accl import ACCLNotConfiguredError
from accl.overlay import Overlay, allocate

SIZE = 256


@pytest.fixture
def overlays(job):
    made = [Overlay("ccl.xclbin", job=job) for _ in range(2)]
    yield made
    for overlay in made:
        overlay.free()


def configure(overlay, rank):
    cclo = overlay.cclo
    ranks = {i: {"ip": "127.0.0.1", "port": 9000 + i, "max_segment_size": 16384} for i in range(2)}
    cclo.setup_rx_buffers(nbufs=16, bufsize=16384, devicemem=overlay.bank0)
    cclo.configure_communicator(ranks, rank)
    cclo.open_port()
    cclo.open_con()
    return cclo


def test_program_of_2021(overlays, everywhere):
    def body(overlay, rank):
        cclo = configure(overlay, rank)
        txb = allocate((SIZE,), target=overlay.bank0)
        rxb = allocate((SIZE,), target=overlay.bank1)
        txb[:] = np.arange(SIZE) + rank
        if rank == 0:
            cclo.recv(rxb, src=1, tag=1, to_fpga=False, **{"async": False})
            assert np.array_equal(rxb, np.arange(SIZE) + 1)
        else:
            txb.sync_to_device()
            cclo.send(txb, dst=0, tag=1, from_fpga=True, **{"async": False})
        half = SIZE // 2
        handle = cclo.allreduce(
            txb, rxb, count=half, from_fpga=False, to_fpga=True, **{"async": True}
        )
        cclo.allgather(
            txb,
            rxb,
            count=half,
            from_fpga=False,
            to_fpga=True,
            waitfor=[handle],
            **{"async": False},
        )
        rxb.sync_from_device()
        return np.array(rxb)

    for result in everywhere(overlays, body):
        want = np.concatenate([np.arange(SIZE // 2), np.arange(SIZE // 2) + 1])
        assert np.array_equal(result, want)


def test_nothing_is_called_before_it_is_configured(overlays):
    cclo = overlays[0].cclo
    buffer = allocate(4, target=cclo)
    for call in (
        cclo.barrier,
        cclo.open_port,
        lambda: cclo.bcast(buffer),
        lambda: cclo.configure_communicator([{"ip": "127.0.0.1", "port": 1}], 0),
        lambda: cclo.split_communicator([0]),
        cclo.configure_arithmetic,
    ):
        with pytest.raises(ACCLNotConfiguredError) as caught:
            call()
        assert isinstance(caught.value, AssertionError)
    configure(overlays[0], 0)
    with pytest.raises(TypeError, match="a target is required"):
        allocate(4)


def test_rx_buffers_may_be_set_up_again_before_a_communicator(overlays):
    cclo = overlays[0].cclo
    cclo.setup_rx_buffers(4, 100)
    cclo.setup_rx_buffers(8, 4096)
    configure(overlays[0], 0)
    assert len(cclo.rx_buffer_spares) == 16
    # The same once more changes nothing.
    cclo.setup_rx_buffers(16, 16384)
