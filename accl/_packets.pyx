# SPDX-License-Identifier: BSD-3-Clause
"""Packets between a device and ranks that it does not share memory with."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from accl._device cimport Device
from accl.libaccl cimport ACCL_OK, ACCL_PENDING, accl_packet

__all__ = ["PacketQueue"]


cdef class PacketQueue:
    """The engine's side of a `PacketPump`.

    Parameters
    ----------
    device : Device
        The device, which is not kept open.
    """

    cdef object reference

    def __init__(self, device):
        import weakref

        self.reference = weakref.ref(device)

    def take(self):
        """Return the next packet as (rank, bytes), or None."""
        cdef accl_packet packet
        cdef Device device = self.reference()
        cdef int status
        if device is None or device.closing or device.c is NULL:
            return None

        memset(&packet, 0, sizeof(packet))
        packet.size = sizeof(packet)
        device.enter("take")
        try:
            status = device.table.accl_packet_next(device.c, &packet)
            if status == ACCL_PENDING:
                return None
            if status != ACCL_OK:
                device.fail(status, "take")
            data = PyBytes_FromStringAndSize(<char *>packet.data, packet.bytes)
            status = device.table.accl_packet_done(device.c, packet.id)
            if status != ACCL_OK:
                device.fail(status, "take")
            return packet.rank, data
        finally:
            device.leave()

    def deliver(self, rank, data):
        """Deliver a packet from `rank`."""
        cdef accl_packet packet
        cdef Device device = self.reference()
        cdef const unsigned char[::1] view = data
        cdef uint64_t size = view.shape[0]
        cdef uint32_t source = rank
        cdef int status
        if device is None or device.closing or device.c is NULL:
            return

        memset(&packet, 0, sizeof(packet))
        packet.size = sizeof(packet)
        device.enter("deliver")
        try:
            status = device.table.accl_packet_space(device.c, size, &packet)
            if status != ACCL_OK:
                device.fail(status, "deliver")
            if size:
                memcpy(packet.data, &view[0], size)
            status = device.table.accl_packet_arrived(device.c, source, packet.id)
            if status != ACCL_OK:
                device.fail(status, "deliver")
        finally:
            device.leave()

    def wait(self, seconds):
        """Wait for an outgoing packet; return whether there is one, False after a timeout."""
        cdef Device device = self.reference()
        cdef int64_t limit = <int64_t>(<double>seconds * 1e9)
        cdef int status
        if device is None or device.closing or device.c is NULL:
            return False

        device.enter("wait")
        try:
            with nogil:
                status = device.table.accl_packet_wait(device.c, limit)
        finally:
            device.leave()

        return status == ACCL_OK

    def busy(self):
        """Whether a call runs, so that packets may arrive at any time."""
        cdef Device device = self.reference()
        return device is not None and (device.users > 0 or len(device.outstanding) > 0)

    def farewell(self):
        """Make the engine queue its last packets, which tell the other ranks that it leaves."""
        cdef Device device = self.reference()
        if device is None or device.closing or device.c is NULL:
            return

        device.enter("farewell")
        try:
            device.table.accl_packet_leave(device.c)
        finally:
            device.leave()

    def lost(self, rank, why):
        """Report that a rank is gone."""
        cdef Device device = self.reference()
        cdef uint32_t number = rank
        cdef bytes text = why.encode()
        if device is None or device.closing or device.c is NULL:
            return

        device.enter("lost")
        try:
            device.table.accl_packet_lost(device.c, number, text)
        finally:
            device.leave()
