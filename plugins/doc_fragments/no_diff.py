# SPDX-License-Identifier: GPL-3.0-or-later
"""What modules have in common whose diff would be empty."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
attributes:
  diff_mode:
    description: Has nothing to show.
    support: none
author:
  - ibready contributors (@ibready)
"""
