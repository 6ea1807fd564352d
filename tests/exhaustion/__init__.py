# SPDX-License-Identifier: BSD-3-Clause
"""Each library while allocations fail."""
