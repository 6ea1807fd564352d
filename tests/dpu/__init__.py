# SPDX-License-Identifier: BSD-3-Clause
"""Tests of dpu, libdpu, the simulated machine and the toolchain."""
