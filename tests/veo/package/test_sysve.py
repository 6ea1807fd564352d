# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that attach the host's shared memory and copy by DMA, as with NEC's libsysve."""

from __future__ import annotations

import ctypes
import errno
import os

import numpy as np
import pytest

import veo

KERNELS = """
#include <errno.h>
#include <stdint.h>
#include <vedma.h>
#include <vhshm.h>

static char *attached;
static uint64_t vehva;
static double buffer[8];

long attach(long key, long size)
{
    int id = vh_shmget((key_t)key, (size_t)size, SHM_HUGETLB);
    if (id < 0)
        return -errno;
    attached = vh_shmat(id, 0, 0, (void **)&vehva);
    return attached == (char *)-1 ? -errno : ve_dma_init();
}

/* Doubles what the host has written. */
long serve(long n)
{
    int size = (int)(n * (long)sizeof(double));
    uint64_t mine = ve_register_mem_to_dmaatb(buffer, sizeof buffer);
    ve_dma_handle_t handle;
    int error = ve_dma_post(mine, vehva, size, &handle);
    while (error == 0 && (error = ve_dma_poll(&handle)) == -EAGAIN)
        ;
    for (long i = 0; error == 0 && i < n; i++)
        buffer[i] *= 2;
    if (error == 0)
        error = ve_dma_post_wait(vehva, mine, size);
    return error != 0 ? error : ve_unregister_mem_from_dmaatb(mine);
}

long detach(void) { return vh_shmdt(attached); }
long post(long dst, long src, long size)
{
    ve_dma_handle_t handle;
    return ve_dma_post((uint64_t)dst, (uint64_t)src, (int)size, &handle);
}
"""


@pytest.fixture
def segment():
    """A segment of System V: its key, and its memory as an array."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    key = 0x0FF00000 | os.getpid() & 0xFFFFF
    number = libc.shmget(key, 4096, 0o600 | 0o1000)
    assert number >= 0, os.strerror(ctypes.get_errno())
    address = libc.shmat(number, None, 0)
    # It goes with the last that has it attached.
    yield key, np.ctypeslib.as_array((ctypes.c_double * 8).from_address(address))
    libc.shmctl(number, 0, None)
    libc.shmdt(ctypes.c_void_p(address))


@pytest.fixture(params=[(), ("-lsysve",)], ids=["worker", "libsysve"])
def sysve(request, proc, tmp_path):
    build = veo.VeBuild()
    build.set_build_dir(str(tmp_path / "build"))
    build.set_c_src("sysve", KERNELS)
    return proc.load_library(build.build_so(libs=list(request.param), check=True))


def test_memory_of_the_host_is_attached_and_copied(sysve, ctx, segment):
    key, values = segment
    values[:] = np.arange(8)
    assert sysve.attach(ctx, key, 4096).wait_result() == 0
    assert sysve.serve(ctx, 8).wait_result() == 0
    assert values.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    assert sysve.detach(ctx).wait_result() == 0


def test_errors_are_those_of_the_system(sysve, ctx, segment):
    assert sysve.attach(ctx, 0x0FEEEEEE, 4096).wait_result() == -errno.ENOENT
    assert sysve.attach(ctx, segment[0], 1 << 30).wait_result() == -errno.EINVAL
    for dst, src, size in [(2, 8, 4), (8, 2, 4), (8, 8, 3), (8, 8, -4), (8, 8, 128 << 20)]:
        assert sysve.post(ctx, dst, src, size).wait_result() == -errno.EINVAL
