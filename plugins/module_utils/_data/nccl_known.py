# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of a message in NCCL's log. Data only."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.text import UNSAID

ERROR = "error"  # ends the job
LOSS = "loss"  # NCCL goes on without a way that it might have had
REFUSED = "refused"  # NCCL goes on without what a setting asks for
CONSEQUENCE = "consequence"  # follows a failure of another rank, or an earlier one
AGAIN = "again"  # tells once more that something failed, and not what
UNREAD = "unread"  # a warning, or an end, that nothing here explains
NOTE = "note"  # worth a look, or harmless
# What tells most of why a job failed comes first.
KINDS = (ERROR, UNREAD, CONSEQUENCE, AGAIN, REFUSED, LOSS, NOTE)

SOURCE = "NCCL release tags"
BINARY = "NCCL binaries, run without GPUs"
WORDS = "words in NCCL's binaries 2.18 and 2.32"
FIELD = "logs of public issue threads"
CONFIRMED = "confirmed"
MEDIUM = "medium"


@dataclass(frozen=True)
class Known:
    """A message. Several wordings, or severities, may share one ``id``.

    ``id`` may hold ``{}``: what the pattern's group says takes its place, in lower case. A group
    that is called peer is the host or address of the other end, and hca a device. ``place``: how the source file of
    the line begins that says so, "" for any. ``loud``: a warning alone counts, for NCCL goes on
    where it says so at INFO, or never does. ``anywhere``: programs that report NCCL's last error
    print it without NCCL's prefix, within a line of theirs; nccl_sure has what is read so at its beginning.
    ``shown``: the words themselves show the cause; without it they only fit it.
    """

    id: str
    kind: str
    pattern: str
    versions: str
    means: str
    cause: str
    remedy: str
    source: str = SOURCE
    confidence: str = MEDIUM
    anywhere: bool = False
    place: str = ""
    loud: bool = False
    shown: bool = False

    @property
    def why(self) -> str:
        return self.cause if self.shown else UNSAID + self.cause
