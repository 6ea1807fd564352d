# SPDX-License-Identifier: BSD-3-Clause
"""Wrong use of the accl package: every marked line must be refused by the type checker."""

from __future__ import annotations

from accl import accl

accl("2", 0)  # mistake
accl(2, 0, unified="yes")  # mistake
device = accl(2, 0)
buffer = device.allocate((4,))
device.allocate("4")  # mistake
device.send(buffer, "4", 1)  # mistake
device.recv(buffer, 4, "1")  # mistake
device.allreduce(buffer, [1, 2])  # mistake
device.allreduce(buffer, buffer, 4, func="SUM")  # mistake
device.bcast(None)  # mistake
device.barrier(waitfor=[1])  # mistake
device.nop().wait()  # mistake
device.nop(run_async=True).wait("1")  # mistake
device.split_communicator(3)  # mistake
device.nonsense  # noqa: B018  # mistake
buffer.physical_address + 1  # mistake
