# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of several folders of tests of dpu."""
