# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that a launcher of MPI starts."""
