# SPDX-License-Identifier: GPL-3.0-or-later
"""SIMULATED vendor repositories: packages with the vendors' names, nothing of theirs.

What there is, is data in ``packages/`` and ``payload/``; README.md explains both.
"""
