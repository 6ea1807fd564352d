# SPDX-License-Identifier: BSD-3-Clause
"""C programs against accl.h: ranks as processes and as threads."""
