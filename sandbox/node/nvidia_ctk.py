#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""simulated-nvidia-ctk VERSION ARGUMENT...: what NVIDIA's container toolkit does on this node.

The stand-in of the vendor's package calls it: without that package there is no nvidia-ctk.
"""

from __future__ import annotations

import sys

from sandbox.hardware.ctk import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
