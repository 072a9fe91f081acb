# SPDX-License-Identifier: GPL-3.0-or-later
"""Where role roce keeps what it sets, by file. Data only.

Sources: systemd.network(5) (drop-ins of a .network file, MTUBytes), NetworkManager.conf(5)
(sections [connection*], which give defaults to profiles that say nothing). Confidence: confirmed.
"""

from __future__ import annotations

PROGRAM = "/usr/local/lib/ibready/roce"
UNIT = "/etc/systemd/system/ibready-roce@.service"
# Where the settings are of interest at once, and of a device that comes later.
WANTED = "/etc/systemd/system/multi-user.target.wants/ibready-roce@boot.service"
RULE = "/etc/udev/rules.d/85-ibready-roce.rules"

NETWORKD_FOLDER = "/etc/systemd/network"
NETWORKD_DROPIN = "ibready-roce.conf"
MANAGER_FILE = "/etc/NetworkManager/conf.d/90-ibready-roce.conf"
