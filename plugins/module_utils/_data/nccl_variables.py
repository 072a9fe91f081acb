# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that NCCL reads: how, since and until when, and their defaults (nccl_variables.yml).

What is in no source is in nccl_names.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import nccl_variables as rows

# How NCCL reads the value.
INT = "integer"  # strtoll, base 0: what follows the number is ignored, no number is 0
FLAG = "flag"  # an integer that means yes or no
STRING = "string"
PATH = "path"
WORD = "word"  # one of a few: nccl_words.WORDS
LEVEL = "level"  # how far away: nccl_values.LEVELS
LIST = "list"  # words between commas
HCAS = "HCA list"  # the selection syntax
INTERFACES = "interface list"  # the same
ADDRESS = "address"  # host:port
NETWORK = "network"  # address/length

# What of a host's own a variable names: an interface or a device, or a file or an id.
DEVICE, FILE = "device", "file"
# The file that NCCL looks for by itself.
TOPO_FILE = "/var/run/nvidia-topologyd/virtualTopology.xml"


@dataclass(frozen=True)
class Variable:
    """One variable.

    ``default``: what holds without it; "" for nothing, -2, -1 and INT_MIN mostly for: decided at
    run time, and "or" between two that hang on the hardware. Where it changed, the later ones
    follow with their release: ``14; 2.14.3: 18``. A flag whose default is ``false`` is no longer
    read as an integer, but as 1, T, TRUE, 0, F or FALSE.
    ``first``: the first release that reads it; 2.3.5, the oldest that was seen, or earlier.
    ``last``: the last release that reads it, "" where the newest does.
    ``own``: what of a host's own it names, which equal hosts need not have alike: DEVICE or FILE, "" for nothing.
    """

    name: str
    kind: str
    default: str
    first: str
    last: str = ""
    own: str = ""


GUIDE: tuple[Variable, ...] = load(Variable, rows.GUIDE)

UNDOCUMENTED: tuple[Variable, ...] = load(Variable, rows.UNDOCUMENTED)

VARIABLES = {variable.name: variable for variable in (*GUIDE, *UNDOCUMENTED)}

OWN = {variable.name: variable.own for variable in VARIABLES.values() if variable.own}
