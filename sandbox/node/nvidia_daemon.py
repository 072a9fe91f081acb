#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""simulated-nvidia-daemon NAME VERSION ARGUMENT...: a daemon of the driver of this version.

The stand-ins of the vendor's packages call it: without them there is no such daemon.
"""

from __future__ import annotations

import sys

from sandbox.hardware.daemons import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
