# SPDX-License-Identifier: BSD-3-Clause
"""C++ programs against accl.hpp: ranks as threads and as processes."""
