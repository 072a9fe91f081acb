# SPDX-License-Identifier: GPL-3.0-or-later
"""Two virtual machines with a kernel of their own, for what a container cannot show."""
