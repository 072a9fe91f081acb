# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs inside a node container. Python 3.8, standard library only."""
