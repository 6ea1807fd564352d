# SPDX-License-Identifier: BSD-3-Clause
"""C programs against libveo.so.1 and its headers."""
