# SPDX-License-Identifier: BSD-3-Clause
"""An interpreter of DPU programs that shares nothing with the simulator but the table of forms."""

from .forms import Field, Form, Table, read_table
from .machine import Fault, Machine
from .tasklet import Tasklet

__all__ = ["Fault", "Field", "Form", "Machine", "Table", "Tasklet", "read_table"]
