# SPDX-License-Identifier: BSD-3-Clause
"""Ends of processes that use libdpu."""
