# SPDX-License-Identifier: BSD-3-Clause
"""C programs against libdpu.so and its headers."""
