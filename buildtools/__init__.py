# SPDX-License-Identifier: BSD-3-Clause
"""Build of the native parts of the distribution; used by setup.py only."""
