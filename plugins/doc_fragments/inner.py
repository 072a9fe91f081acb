# SPDX-License-Identifier: GPL-3.0-or-later
"""What modules have in common that only this collection's own roles and playbooks are meant to call."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
# ansible-doc demands some.
options: {}
notes:
  - Called by the roles and playbooks of this collection; its options and answer may change in any release.
"""
