# SPDX-License-Identifier: GPL-3.0-or-later
"""What every module that only looks has in common."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
attributes:
  check_mode:
    description: Runs the same in check mode, because it never changes the host.
    support: full
  diff_mode:
    description: Has nothing to show.
    support: none
notes:
  - Root keeps what these modules import of this collection in C(/run/ibready-engine) or
    C(/run/ibready-code), compiled, until the next boot, as Python itself does beside its sources.
author:
  - ibready contributors (@ibready)
"""
