# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs inside the fabric container. Standard library only."""
