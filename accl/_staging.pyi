# SPDX-License-Identifier: BSD-3-Clause
__all__ = ["Stage"]

class Stage: ...
