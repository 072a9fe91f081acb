# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that stand-in packages bring. They run on nodes: Python 3.8, standard library only."""
