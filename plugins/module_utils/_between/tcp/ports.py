# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ports stand for a whole range: a few, spread over it, the same ones in every run."""

from __future__ import annotations

from typing import Iterator, List, Tuple

# The kernel takes the port of a socket that is bound to port 0 from here, and NCCL's all are.
RANGE = "/proc/sys/net/ipv4/ip_local_port_range"
# But for these.
RESERVED = "/proc/sys/net/ipv4/ip_local_reserved_ports"
LAST = 65535
# How far from its place a port may be where that one is in use.
_NEAR = 200

Span = Tuple[int, int]
Spans = List[Span]


def parse_range(text: str) -> Span:
    """First and last port of RANGE; ValueError where it holds no range."""
    words = text.split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        raise ValueError(f"{text.strip()[:40]!r} is not two port numbers")
    low, high = int(words[0]), int(words[1])
    if not 0 < low <= high <= LAST:
        raise ValueError(f"{low} to {high} is not a range of ports")
    return low, high


def parse_reserved(text: str) -> Spans:
    """The spans of RESERVED (``30000-30010,40000``); ValueError where it holds something else."""
    found = []
    for part in text.strip().split(","):
        if not part:
            continue
        ends = part.split("-")
        if len(ends) > 2 or not all(end.isdigit() for end in ends):
            raise ValueError(f"{part[:40]!r} is neither a port nor a range of ports")
        found.append((int(ends[0]), int(ends[-1])))
    return found


def spread(low: int, high: int, count: int) -> list[int]:
    """``count`` ports from ``low`` to ``high``, both included; fewer where there are fewer."""
    if count < 2:
        return [low][:count]
    width = high - low
    return sorted({low + width * index // (count - 1) for index in range(count)})


def near(place: int, low: int, high: int, reserved: Spans) -> Iterator[int]:
    """The port, then others ever farther from it, that the kernel may give to a program."""
    for distance in range(_NEAR):
        for port in dict.fromkeys((place + distance, place - distance)):
            if low <= port <= high and not any(entry <= port <= two for entry, two in reserved):
                yield port
