# SPDX-License-Identifier: GPL-3.0-or-later
"""What can become of a connection, in one word each."""

from __future__ import annotations

ANSWERED = "answered"  # the listener of that node proved itself
CONNECTED = "connected"  # nobody was to prove anything
DROPPED = "dropped"  # nothing came back in time
REFUSED = "refused"
UNREACHABLE = "unreachable"  # an ICMP message came back, or there is no route
SILENT = "silent"  # connected, and nothing came back in time
OTHER = "other"  # somebody else answered
UNRESOLVED = "unresolved"  # the name has no address
UNABLE = "unable"  # the node could not even try

PROVED = (ANSWERED, CONNECTED)
# The way was tried and is not there.
BARRED = (DROPPED, REFUSED, UNREACHABLE, SILENT, OTHER)
