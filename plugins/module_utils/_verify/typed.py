# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that somebody typed in a pasted text, and what each printed. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .._evidence.sources import COMMANDS

# `root@node1:~# ibstat`, `[root@node1 ~]$ ibstat`, `(base) root@node1:/work# ibstat`, `$ ibstat`.
_WHO = r"(?P<user>\[?\w[\w.-]{0,60}@(?P<host>\w[\w.-]{0,120})[^#$\n]{0,80}?\]?)"
_PROMPT = re.compile(rf" {{0,8}}(?:\([\w.-]{{1,60}}\) )?{_WHO}?[#$](?: ?(?P<words>\S.{{0,400}})| ?)")
# A command without a prompt: its words, no sentence.
_ARG = r"(?:-{1,2}[\w=,.:/-]{1,80}|[\w./:=-]{0,60}[\d/_=:-][\w./:=-]{0,60}|show)"
_BARE = re.compile(rf"[\w./-]{{2,120}} [\w./:=-]{{1,80}}(?: {_ARG}){{0,8}}")
_BARE_SECOND = re.compile(r"-{1,2}\w|nvlink\b|topo\b|status\b|diag\b|health\b|show\b|link\b")
# What a shell prints of each command with `set -x`. A patch has such lines as well.
_TRACED = re.compile(r" {0,4}\+{1,8} (?P<words>\S.{0,400})")
_PATCH = re.compile(r"@@ -\d|[+-]{3} [ab]/")
# What Markdown and HTML put around a text, and terminals before it.
_FRAME = re.compile(r" {0,8}(?:(?:`{3,}|~{3,})[\w+-]{0,20}|</?(?:pre|code|details|summary|br)\s?/?>){1,3}\s*")
_LAUNCHERS = ("sudo", "time", "timeout", "watch", "ibsim-run")
_SHOWS = frozenset(
    ("echo", "printf", "cat", "tail", "head", "less", "more", "grep", "journalctl", "logs", "exec", "ssh")
)
_TOOLS: dict[tuple[str, ...], str] = {
    **{command.argv: name for name, command in COMMANDS.items()},
    ("lspci",): "lspci",
    ("ibdev2netdev",): "ibdev2netdev",
    ("show_gids",): "show_gids",
    ("ibdiagnet",): "ibdiagnet",
    ("ibping",): "ibping",
    ("rping",): "rping",
    ("dcgmi",): "dcgmi",
    ("nvidia-imex-ctl",): "imex_status",
    ("ibv_rc_pingpong",): "rc_pingpong",
    ("rc_pingpong",): "rc_pingpong",
    ("systemctl", "status", "nvidia-fabricmanager"): "fabricmanager_status",
    ("rdma",): "rdma_link",
    ("nvidia-smi", "nvlink", "-s"): "nvlink_status",
    **{(f"ib_{verb}_{kind}",): "perftest" for verb in ("write", "read", "send", "atomic") for kind in ("bw", "lat")},
}
_FIRST = {words[0] for words in _TOOLS}
# With these a prompt without a user's name is one.
_TYPED = _FIRST | {"sudo", "ssh", "cat", "grep", "nvidia-smi", "journalctl", "mpirun", "srun", "kubectl", "pdsh"}
_TYPED |= {"clush", "fi_info", "ibportstate", "smpquery"}


@dataclass
class Piece:
    """``host``: of the prompt. ``words``: what was typed; "" of what stands before every prompt. ``tool``: the
    evidence name of the command; "" of one that is not known."""

    host: str = ""
    words: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What the command printed; "" where only Markdown stands there."""
        return "" if all(not line.strip() or is_frame(line) for line in self.lines) else "".join(self.lines)

    @property
    def program(self) -> str:
        """The program that was typed; "" where nothing was, or one that shows what others printed."""
        typed = self._typed()
        return typed[0] if typed and not _SHOWS.intersection(typed[:2]) else ""

    def _typed(self) -> list[str]:
        words = self.words.partition("|")[0].split()
        while words and words[0].rpartition("/")[2] in _LAUNCHERS:
            words = words[1:]
        return [words[0].rpartition("/")[2], *words[1:]] if words else []

    @property
    def tool(self) -> str:
        """Whose output this is by its command."""
        words = self._typed()
        known = [name for argv, name in _TOOLS.items() if tuple(words[: len(argv)]) == argv]
        return known[0] if known else ""


def pieces(text: str) -> list[Piece]:
    """The text by the commands that somebody typed in it."""
    found = [Piece()]
    every = text.splitlines(keepends=True)
    traced = sum(map(bool, map(_TRACED.match, every))) > 1 and not any(_PATCH.match(line) for line in every)
    for line in every:
        flat = line.rstrip()
        trace = _TRACED.fullmatch(flat) if traced else None
        if trace is not None:
            found.append(Piece(found[-1].host, trace["words"]))
            continue
        typed = _PROMPT.fullmatch(flat)
        if typed is not None and (typed.group("user") or _is_tool(typed.group("words"))):
            found.append(Piece(typed.group("host") or "", typed.group("words") or ""))
        elif _BARE.fullmatch(flat) and flat.split()[0] in _FIRST and _BARE_SECOND.match(flat.split()[1]):
            found.append(Piece(found[-1].host, flat))
        else:
            found[-1].lines.append(line)
    return found


def _is_tool(words: str | None) -> bool:
    return words is not None and words.split()[0].rpartition("/")[2] in _TYPED


def is_frame(line: str) -> bool:
    """Whether the line only opens or closes a block of Markdown or HTML."""
    return _FRAME.fullmatch(line) is not None
