# SPDX-License-Identifier: GPL-3.0-or-later
"""The least that a training node must grant. Data only."""

from __future__ import annotations

# Open files, hard limit. A rank holds several sockets for each peer, a data loader its own files;
# role host_tuning grants 1048576, systemd's own default is 524288. source: field practice,
# recalled; below it large jobs stop with "Too many open files".
NOFILE_HARD = 65536
