# SPDX-License-Identifier: BSD-3-Clause
"""Messages of type checkers about programs of users."""
