# SPDX-License-Identifier: GPL-3.0-or-later
"""What modules have in common that change files of a host."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
attributes:
  check_mode:
    description: Says what would change and changes nothing.
    support: full
  diff_mode:
    description: Shows the files.
    support: full
author:
  - ibready contributors (@ibready)
"""
