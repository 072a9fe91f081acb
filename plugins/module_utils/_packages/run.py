# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a package manager: argv only, C locale, no questions, and not ended when a login ends."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import Callable, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Output,
    Unavailable,
    decode,
    find_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import PackageError

# Runs argv; whatever the exit status, the output comes back.
Runner = Callable[[Sequence[str]], Output]

# Building kernel modules for several kernels takes a quarter of an hour on a slow machine.
_TIMEOUT_S = 2 * 60 * 60
_KEPT = 32 * 1024 * 1024
_QUIET = {
    "LC_ALL": "C",
    "LANGUAGE": "",
    "DEBIAN_FRONTEND": "noninteractive",
    "DEBIAN_PRIORITY": "critical",
    "APT_LISTCHANGES_FRONTEND": "none",
    # Ubuntu's needrestart would restart services, and ask first.
    "NEEDRESTART_SUSPEND": "1",
    "UCF_FORCE_CONFFOLD": "1",
}


def run(argv: Sequence[str]) -> Output:
    """Run a program to its end; PackageError where it is missing or never ends.

    Its output goes to files: a full pipe would stop a package manager in the middle.
    """
    try:
        program = find_program(argv[0])
    except Unavailable as exc:
        raise PackageError("failed", str(exc), "install it, or see that it is in PATH") from exc
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            done = subprocess.run(
                [program, *argv[1:]],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, **_QUIET},
                start_new_session=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise PackageError(
                "failed",
                f"{argv[0]} did not end within {_TIMEOUT_S // 60} minutes",
                "look on the host what it waits for; the next run repairs what it left",
                changed=True,
            ) from None
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(decode(stream.read(_KEPT)))
    return Output(done.returncode, texts[0], texts[1])
