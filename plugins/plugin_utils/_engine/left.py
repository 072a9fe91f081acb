# SPDX-License-Identifier: GPL-3.0-or-later
"""What a worker of Ansible leaves on the controller when it has waited for a node in vain.

Ansible ends the worker and leaves what it waited for: an ssh, or with connection local a shell and what that runs.
These are of the worker's own process group, and are told to end with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from multiprocessing import util
from typing import Any

from ansible.executor.process import worker


def watch(owner: object) -> None:
    """Have every worker that is forked from here on end what it leaves, for as long as ``owner`` is there."""
    util.register_after_fork(owner, _begin)


def _begin(_owner: object) -> None:
    util.Finalize(None, _end, args=(time.monotonic(),), exitpriority=0)


def _end(began: float) -> None:
    task: Any = getattr(getattr(worker, "current_worker", None), "_task", None)
    bound = getattr(task, "timeout", 0)
    in_vain = isinstance(bound, int) and 0 < bound <= time.monotonic() - began
    # A group of others is none of ours.
    if in_vain and os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            os.killpg(0, signal.SIGTERM)
