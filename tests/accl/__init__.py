# SPDX-License-Identifier: BSD-3-Clause
"""Tests of accl and libaccl."""
