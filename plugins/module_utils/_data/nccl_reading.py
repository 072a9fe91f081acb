# SPDX-License-Identifier: GPL-3.0-or-later
"""How NCCL reads its files and its lists of devices, and since which release. Data only.

Sources: NCCL's source by release tag; lines and lists were tried with the libraries 2.18.3, 2.23.4,
2.26.2 and 2.32.3, file order with 2.22, 2.23, 2.28, 2.30 and 2.32. Confirmed.
"""

from __future__ import annotations

SYSTEM_FILE = "/etc/nccl.conf"
USER_FILE = ".nccl.conf"  # in the home directory
FILE_VARIABLE = "NCCL_CONF_FILE"

# Bytes. A longer name or value is cut.
LONGEST = 1023
# Before, a longer value had no end in memory; before, a longer name was written beyond its room.
VALUE_CUT_SINCE = (2, 8)
NAME_CUT_SINCE = (2, 23)
# Lines that start with # are skipped.
COMMENTS_SINCE = (2, 26)
# NCCL_CONF_FILE is looked at.
FILE_VARIABLE_SINCE = (2, 23)
# A file is read in pieces of so many bytes, each a line by itself; a carriage return at the end is
# dropped; the home directory is $HOME, and no longer the password file's.
PIECES_SINCE = (2, 30)
PIECE = 4095
# What a written file keeps to, in bytes a line.
SAFE_LINE = 1000

# Most entries of a list, and most devices taken by it.
MOST_INTERFACES = 16
MOST_HCAS = 32
MOST_HCAS_BEFORE = 16
MORE_HCAS_SINCE = (2, 19, 3)
# Bytes of one entry. From FIELDS_SINCE on a longer one is cut; before it spoils its neighbours.
LONGEST_ENTRY = 63
# name:port:rail:plane, and an empty field is no field; before, an empty port was port 0.
FIELDS_SINCE = (2, 30, 7)

# The order in which interfaces are looked for without a list. A list switches all of it off.
FIRST_INTERFACES = "ib"
LEFT_OUT = ("docker", "lo")
LEFT_OUT_LATER = ("docker", "lo", "virbr")
LEFT_OUT_LATER_SINCE = (2, 28)
# Only interfaces that are up and have a link.
RUNNING_SINCE = (2, 28)
# A list of interfaces that is shorter is taken for none.
SHORTEST_INTERFACES = 2
