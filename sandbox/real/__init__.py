# SPDX-License-Identifier: GPL-3.0-or-later
"""A Debian server, as a container, that installs NVIDIA's real packages and builds its real modules."""
