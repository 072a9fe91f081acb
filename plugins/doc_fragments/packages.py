# SPDX-License-Identifier: GPL-3.0-or-later
"""What modules have in common that move the packages of a host."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  lock_timeout:
    description: How long to wait for another process that changes packages, in seconds.
    type: int
    default: 120
  min_free_mb:
    description:
      - The space that must be left on C(/usr) and the package cache after the installation, in MiB.
    type: int
    default: 300
  host:
    description: The host's name in messages.
    type: str
attributes:
  check_mode:
    description: Says all that would change, and changes nothing.
    support: full
  diff_mode:
    description: Shows every file, and the packages with their versions.
    support: full
author:
  - ibready contributors (@ibready)
"""
