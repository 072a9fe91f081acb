# SPDX-License-Identifier: GPL-3.0-or-later
"""When a round trip of ibping stands out from the fleet's, and how much loss is little. Data only.

source: the corpus' and our own recordings of ibping: averages of 0.01 to 0.14 ms on healthy ways,
0.7 ms and more where datagrams were lost and sent again; confidence: low, which is why nothing but
a warning depends on it. A program gives the answer, so that a host whose CPUs sleep or are busy
stands out as well as a bad way does.
"""

from __future__ import annotations

# So many times what the quickest quarter of the pairs stays below, and so many milliseconds above.
FACTOR = 4.0
ABOVE_MS = 0.2
# Fewer measured pairs say nothing of what is usual.
PAIRS = 6
# A busy host answers a datagram too late now and then. Up to this part of a pair's, lost once and not when the same
# pair is asked again, is nothing. source: one of fifty on a machine with other work, gone at once (own runs, recalled).
LITTLE_LOSS = 0.05
# So many answers of one host that came as late as what was lost and sent again are no accident (recalled).
LATE_PINGS = 2
