# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole fabrics without nodes: real ibsim, opensm and infiniband-diags in a container."""
