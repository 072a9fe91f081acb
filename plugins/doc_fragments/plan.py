# SPDX-License-Identifier: GPL-3.0-or-later
"""What the filters have in common that plan over the hosts of a run."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  hosts:
    description: The names of the hosts that take part.
    type: list
    elements: str
    required: true
author:
  - ibready contributors (@ibready)
"""
