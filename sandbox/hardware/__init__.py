# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated hardware of a node, and its kernel: what is on the bus, which modules drive it."""
