# SPDX-License-Identifier: BSD-3-Clause
"""C programs for DPUs, compiled and run."""
