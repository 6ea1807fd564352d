# SPDX-License-Identifier: BSD-3-Clause
"""How the native parts of the distribution are built; used by setup.py only."""
