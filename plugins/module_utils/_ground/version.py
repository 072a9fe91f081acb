# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of ibready, where galaxy.yml cannot be read: on nodes. A test keeps them equal."""

from __future__ import annotations

VERSION = "0.1.0"
