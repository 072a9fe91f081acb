# SPDX-License-Identifier: GPL-3.0-or-later
"""What every module has in common that keeps other runs from what it does on a host."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  run:
    description: What tells this run from all others; the action plugin says it.
    type: str
    default: ""
  who:
    description: Who runs it, for messages; the action plugin says it.
    type: str
    default: ""
  what:
    description: What is run, for messages; the action plugin says it.
    type: str
    default: ""
  over:
    description:
      - What tells a run that is known to have ended, whose place this one takes; the action plugin
        says it.
    type: str
    default: ""
"""
