# SPDX-License-Identifier: BSD-3-Clause
"""The tests, sorted by what is tested; `support` is what several folders share."""
