# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception of the sandbox."""

from __future__ import annotations


class SandboxError(Exception):
    """The sandbox cannot do what was asked; the message says why and what to do next."""
