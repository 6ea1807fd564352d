# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of several folders of tests, and the tests of these helpers."""
