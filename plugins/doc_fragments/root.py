# SPDX-License-Identifier: GPL-3.0-or-later
"""The option of modules that tests point at another directory than the host's /."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  root:
    description: The directory that is the host's C(/) for files. Tests point it elsewhere.
    type: path
    default: /
"""
