# SPDX-License-Identifier: BSD-3-Clause
"""What type checkers say to programs of users."""
