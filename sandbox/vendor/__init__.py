# SPDX-License-Identifier: GPL-3.0-or-later
"""SIMULATED vendor repositories: packages with the vendors' names; of theirs only NCCL's library.

What there is, is data in ``packages/`` and ``payload/``; README.md explains both.
"""
