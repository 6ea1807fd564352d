# SPDX-License-Identifier: BSD-3-Clause
"""Profiles of DPU programs: where their time goes, when, and how good that is.

``python -m dpu.profile -- ./host arguments`` runs any host and reports on its DPUs;
docs/dpu_profile.md is the manual. The functions here do the same for programs.
"""

from .figures import LaunchFigures, ProgramFigures, advise, program_figures
from .raw import ProfileError, RawProfile, merge, read
from .recording import load, record
from .text import annotate, coverage, report

__all__ = [
    "LaunchFigures",
    "ProfileError",
    "ProgramFigures",
    "RawProfile",
    "advise",
    "annotate",
    "coverage",
    "load",
    "merge",
    "program_figures",
    "read",
    "record",
    "report",
]
