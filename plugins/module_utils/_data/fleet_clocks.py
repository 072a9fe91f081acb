# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of clocks that are compared over the network. Data only."""

from __future__ import annotations

# How much a disciplined clock may gain or lose against another: the kernel's MAXFREQ
# (include/linux/timex.h, 500 ppm). source: Linux; confidence: confirmed.
DRIFT = 500e-6
# A comparison that is vaguer than this many seconds tells nothing: a credential of MUNGE, which
# Slurm takes from host to host, lives for 300 s (munge_defs.h, MUNGE_DEFAULT_TTL).
# confidence: recalled.
VAGUE_S = 300.0
