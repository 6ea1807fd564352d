# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration: ``offchip demo``, in a folder of its own as it uses all packages."""
