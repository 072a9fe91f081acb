#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""simulated-kmod: modprobe, modinfo and the like of a node, by the name that it is called by."""

from __future__ import annotations

import os
import sys

from sandbox.hardware.kmod import main

if __name__ == "__main__":
    sys.exit(main(os.path.basename(sys.argv[0]), sys.argv[1:]))
