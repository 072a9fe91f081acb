# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask the installed Open MPI and UCX what they are."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..._evidence.sources import COMMANDS
from ..._ground.command import Unavailable, find_program, run_program
from ..._ground.text import ParseError
from ..._parse import ompi_info, ucx_info
from ..._parse.ompi_info import OmpiInfo
from ..._parse.ucx_info import UcxInfo

_PREFIX = "path:sysconfdir:"


class AskError(ValueError):
    """A tool that is there and does not answer as it should, with the next step."""


@dataclass(frozen=True)
class Installed:
    """``ucx``: None where ucx_info is not installed. ``conf_dir``: where Open MPI reads files."""

    ompi: OmpiInfo
    ucx: UcxInfo | None
    conf_dir: str


def installed(home: str | None) -> Installed | None:
    """None where no Open MPI is found; ``home``: where it is, outside of the search path."""
    program = _program("ompi_info", home)
    if program is None:
        if home:
            raise AskError(f"{home}/bin/ompi_info is not there. Next: see mpi_home")
        return None
    try:
        ompi = ompi_info.parse(_run(program, *COMMANDS["ompi_info"].argv[1:]))
        reported = _run(program, "--parsable", "--path", "sysconfdir").strip()
        tool = _program("ucx_info", None)
        ucx = ucx_info.parse(_run(tool, *COMMANDS["ucx_info"].argv[1:])) if tool else None
    except ParseError as exc:
        raise AskError(f"{exc}. Next: run it on the host") from exc
    if not reported.startswith(_PREFIX + "/"):
        raise AskError(f"{program} does not tell its sysconfdir: {reported[:80]!r}")
    return Installed(ompi, ucx, reported[len(_PREFIX) :])


def ucx_value(name: str) -> str:
    """What UCX takes for one of its variables, outside of any job."""
    program = _program("ucx_info", None)
    if program is None:
        return ""
    for line in _run(program, "-c").splitlines():
        if line.startswith(f"{name}="):
            return line[len(name) + 1 :].strip()
    return ""


def _program(name: str, home: str | None) -> str | None:
    if home:
        path = os.path.join(home, "bin", name)
        return path if os.access(path, os.X_OK) else None
    try:
        return find_program(name)
    except Unavailable:
        return None


def _run(program: str, *args: str) -> str:
    name = os.path.basename(program)
    try:
        output = run_program(name, [program, *args], COMMANDS[name].timeout)
    except Unavailable as exc:
        raise AskError(f"{exc}. Next: run `{program} {' '.join(args)}` on the host") from exc
    if output.rc != 0:
        said = output.stderr.strip()[:300] or "without a word"
        raise AskError(f"{program} ended with status {output.rc}: {said}")
    return output.stdout
