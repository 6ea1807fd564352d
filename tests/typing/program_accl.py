# SPDX-License-Identifier: BSD-3-Clause
"""Correct use of the accl package; looked at by the type checker only."""

from __future__ import annotations

import numpy as np

import accl as package
from accl import TAG_ANY, ACCLBuffer, ACCLHandle, ACCLReduceFunctions, ACCLStreamFlags, accl
from accl.overlay import Overlay, allocate

with accl(2, 0, job="job", unified=True, library="soft") as device:
    buffer: ACCLBuffer = device.allocate((4, 5), dtype=np.float32)
    result = device.allocate(20, np.float32, host=True)
    address: int | None = buffer[1:].physical_address
    device.set_timeout(1000)
    device.send(buffer, 20, 1, 5)
    device.recv(result, src=1, tag=TAG_ANY, compress_dtype="float16")
    device.send(np.float32, 20, 1, stream_flags=ACCLStreamFlags.OP0_STREAM)
    device.allgatherv(buffer, result, [20], displs=[0])
    device.sendrecv(buffer, 0, result, 0)
    device.free_communicator(device.split_communicator([0]))
    device.allreduce(buffer, result, 20, ACCLReduceFunctions.MAX, compress_dtype=np.float16)
    device.reduce(buffer, None, 20, root=1)
    handle: ACCLHandle = device.bcast(buffer, 20, 0, run_async=True)
    other = device.allgather(buffer, result, 1, run_async=True, waitfor=[handle])
    done: bool = other.wait(timeout=0.5) and other.test()
    device.copy(buffer, result, waitfor=handle, **{"async": False})
    number: int = device.split_communicator([0])
    device.barrier(comm_id=number)
    device.streams.hook(lambda stream, data: print(stream, len(data)))
    handle.add_done_callback(lambda ended: print(ended.operation, ended.retcode))
    size: int = device.memory_info()["allocated"]


async def program(device: accl) -> None:
    await device.nop(run_async=True)


try:
    device.deinit()
except package.ACCLError as error:
    names: list[str] = error.flag_names
overlay = Overlay("x.xclbin")
overlay.cclo.setup_rx_buffers(16, 1024, devicemem=overlay.bank0)
allocate((3,), target=overlay.bank1).sync_to_device()
path: str = package.library_info()["path"]
