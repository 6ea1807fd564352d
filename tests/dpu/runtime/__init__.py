# SPDX-License-Identifier: BSD-3-Clause
"""The C run time, on the host and on the machine."""
