# SPDX-License-Identifier: BSD-3-Clause
__all__ = ["check_layout"]

def check_layout() -> None: ...
