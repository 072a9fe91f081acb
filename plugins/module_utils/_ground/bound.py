# SPDX-License-Identifier: GPL-3.0-or-later
"""What a number is that bounds work on somebody else's word: docs/security.md has a row of each."""

from __future__ import annotations

Bound = int
