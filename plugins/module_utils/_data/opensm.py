# SPDX-License-Identifier: GPL-3.0-or-later
"""What opensm is told: its files, the values that it takes, and what it takes without a restart (opensm.yml)."""

from __future__ import annotations

from ._rows import opensm as rows

# A second one, started beside one that is still discovering, splits the fabric or takes it over.
START_NO_OTHER = "start no other subnet manager; read the log of the one that is named and let it sweep"

# One folder and one unit for each instance's name; the unit is a template.
FOLDER = "/etc/ibready/opensm"
UNIT = "ibready-opensm@{}.service"
UNIT_FILE = "/etc/systemd/system/ibready-opensm@.service"
LOGROTATE = "/etc/logrotate.d/ibready-opensm"
LOGS = "/var/log/ibready-opensm"
CACHE = "/var/lib/ibready-opensm"

ROUTING_ENGINES: tuple[str, ...] = rows.ROUTING_ENGINES
NO_FALLBACK = "no_fallback"
# They read root_guid_file, at each heavy sweep.
ROOTED = ("updn", "dnup", "ftree")

MTU_CODES: dict[int, int] = rows.MTU_CODES
RATE_CODES: dict[float, int] = rows.RATE_CODES

DEFAULT_PKEY = 0x7FFF
# Words for members. opensm takes a beginning of one as well ("A" is ALL), so only whole words pass.
KEYWORDS = ("ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF")

LIVE: frozenset[str] = frozenset(rows.LIVE)
OWN: dict[str, str] = rows.OWN
# How often a standby asks before it takes over (opensm's own number).
POLLS = 4
