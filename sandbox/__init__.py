# SPDX-License-Identifier: GPL-3.0-or-later
"""A test cluster on one machine: bare nodes in containers and a simulated InfiniBand fabric."""
