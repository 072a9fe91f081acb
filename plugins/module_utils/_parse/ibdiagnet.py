# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibdiagnet`` shows and writes into its log: stages, their errors and warnings, the fabric in numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from .._ground.text import ParseError, flat_lines, no_facts
from . import _ibdiagnet as told

_TOOL = "ibdiagnet"
NOTHING: dict[str, Any] = {
    "release": None,
    "version": "",
    "command": "",
    "nodes": None,
    "switches": None,
    "cas": None,
    "counts": {},
    "sms": [],
    "stages": [],
    "checks": [],
    "errors": None,
    "warnings": None,
    "error_lines": 0,
    "warning_lines": 0,
    "findings": [],
    "links": [],
    "counters": [],
    "firmware": [],
    "duplicated_guids": [],
    "unread": 0,
    "cut": False,
}
# So many texts of one class are shown; its count tells how many there are.
_SHOWN = 20
_TOLD = 10


@dataclass(frozen=True)
class Stage:
    """One row of the summary."""

    stage: str
    warnings: int
    errors: int
    comment: str = ""


@dataclass(frozen=True)
class Check:
    """How one check of a stage ended: ``successfully``, ``with errors`` or ``with warnings``."""

    stage: str
    check: str
    result: str


@dataclass(frozen=True)
class Finding:
    """One line of an error (``E``) or a warning (``W``), and for a duplicate the list of places below it.

    ``kind`` is one of _ibdiagnet.KINDS.
    """

    level: str
    stage: str
    kind: str
    text: str
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ibdiagnet:
    """``release``: 2, or 1 for the tool of ibutils. The numbers of nodes are None where the text tells none."""

    release: int
    version: str = ""
    command: str = ""
    nodes: int | None = None
    switches: int | None = None
    cas: int | None = None
    counts: tuple[tuple[str, int], ...] = ()
    sms: tuple[told.Manager, ...] = ()
    stages: tuple[Stage, ...] = ()
    checks: tuple[Check, ...] = ()
    findings: tuple[Finding, ...] = ()
    unread: int = 0
    cut: bool = False


class _Reading:
    """What the lines told so far, and where in the text they stand."""

    def __init__(self) -> None:
        self.release = 0
        self.version = self.command = ""
        self.nodes: tuple[int, int, int] | None = None
        self.counts: dict[str, int] = {}
        self.sms: list[told.Manager] = []
        self.stages: list[Stage] = []
        self.checks: list[Check] = []
        self.findings: list[Finding] = []
        self.unread = 0
        self.ours = False
        self.stage = ""
        self.table = ""
        self.standby = False
        self.titled = False
        self.more = 0

    def line(self, line: str) -> None:
        """Take one line that is not empty."""
        titled, self.titled = self.titled, False
        more, self.more = self.more, 0
        tagged = told.TAGGED.fullmatch(line)
        if told.RULE.fullmatch(line):
            self.titled, self.table = True, ""
        elif tagged is not None:
            self._tagged(tagged.group(1), tagged.group(2))
        elif (self.table == "1" and self._row(line, self.table)) or self._named(line):
            return
        elif titled and told.TITLE.fullmatch(line):
            self.stage = line
        elif more:
            # Lists of what an error's line announces, and the rest of a sentence.
            self.more = more - 1
            if self.findings[-1].kind in told.LISTED:
                self.findings[-1] = replace(self.findings[-1], below=(*self.findings[-1].below, line))
        else:
            self.unread += 1

    def _named(self, line: str) -> bool:
        """The lines without a tag that have a form of their own."""
        if told.HEAD_1.fullmatch(line):
            self.table, self.ours, self.release = "1", True, 1
            return True
        command, version = told.COMMAND.fullmatch(line), told.VERSION.search(line)
        if command is not None:
            self.command, self.ours, self.release = command.group(1), True, self.release or 2
        if version is not None and told.ABOUT.match(line):
            self.version = version.group(1)
        if command is not None or told.ABOUT.match(line) or told.PLUGIN.fullmatch(line):
            return True
        count, manager = told.COUNT.fullmatch(line), told.manager(line, standby=self.standby)
        if manager is not None:
            self.sms.append(manager)
        if told.STANDBY.match(line):
            self.standby = True
        if count is not None:
            self.counts[count.group(1)] = int(count.group(2))
        if line.startswith(told.LOADING):
            self.release, self.ours = 1, True
            return True
        return count is not None or manager is not None or told.OTHER.match(line) is not None

    def _tagged(self, level: str, text: str) -> None:
        found = told.DISCOVERED.fullmatch(text)
        finished = told.FINISHED.fullmatch(text)
        if level == "I" and told.HEAD_2.fullmatch(text):
            self.table, self.ours, self.release, self.stage = "2", True, 2, "Summary"
        elif level == "I" and self.table == "2" and self._row(text, "2"):
            return
        elif found is not None:
            self.nodes, self.ours = (int(found.group(1)), int(found.group(2)), int(found.group(3))), True
        elif finished is not None:
            self.checks.append(Check(self.stage, finished.group(1), finished.group(2)))
            self.ours = True
        elif level == "I":
            self._information(text)
        elif text:
            kind = told.kind_of(text)
            self.ours = self.ours or kind in told.OWN
            self.findings.append(Finding(level, self.stage, kind, text))
            self.more = told.MORE_LINES

    def _information(self, text: str) -> None:
        """A tagged line of ibdiagnet 1 names a stage, another one tells something that is all right."""
        count, manager = told.COUNT.fullmatch(text), told.manager(text, standby=self.standby)
        if count is not None:
            self.counts[count.group(1)] = int(count.group(2))
        if manager is not None:
            self.sms.append(manager)
        if told.STAGES_1.match(text):
            self.release, self.ours = 1, True
        if text in told.TITLES_1 or text.startswith(told.BEGUN_1):
            self.stage, self.ours, self.release = text, True, 1

    def _row(self, line: str, table: str) -> bool:
        row = told.ROW.fullmatch(line)
        if row is None:
            return False
        first, second = int(row.group(2)), int(row.group(3))
        warnings, errors = (first, second) if table == "2" else (second, first)
        self.stages.append(Stage(row.group(1), warnings, errors, row.group(4) or ""))
        return True


def parse(text: str) -> Ibdiagnet:
    """Read the output or the log; raise ParseError where it is another tool's."""
    lines = flat_lines(text)
    reading = _Reading()
    for line in lines:
        if line:
            reading.line(line)
    if not reading.ours:
        raise _not_ours(lines)
    return Ibdiagnet(
        reading.release or 2,
        reading.version,
        reading.command,
        reading.nodes[0] if reading.nodes else None,
        reading.nodes[1] if reading.nodes else None,
        reading.nodes[2] if reading.nodes else None,
        tuple(reading.counts.items()),
        tuple(dict.fromkeys(reading.sms)),
        tuple(reading.stages),
        tuple(reading.checks),
        tuple(reading.findings),
        reading.unread,
        not reading.stages,
    )


def facts(parsed: Ibdiagnet) -> dict[str, Any]:
    """As docs/parsers.md has it. Of each class of findings the first texts are shown, and how many there are.

    ``errors`` and ``warnings`` are those of the summary, None without it; on the screen fewer lines are shown.
    """
    texts = [finding.text for finding in parsed.findings]
    return {
        "release": parsed.release,
        "version": parsed.version,
        "command": parsed.command,
        "nodes": parsed.nodes,
        "switches": parsed.switches,
        "cas": parsed.cas,
        "counts": dict(parsed.counts),
        "sms": [asdict(manager) for manager in parsed.sms],
        "stages": [asdict(stage) for stage in parsed.stages],
        "checks": [asdict(check) for check in parsed.checks],
        "errors": sum(row.errors for row in parsed.stages) if parsed.stages else None,
        "warnings": sum(row.warnings for row in parsed.stages) if parsed.stages else None,
        "error_lines": sum(finding.level == "E" for finding in parsed.findings),
        "warning_lines": sum(finding.level == "W" for finding in parsed.findings),
        "findings": _classes(parsed.findings),
        "links": [found for found in map(told.link_of, texts) if found][:_SHOWN],
        "counters": [found for found in map(told.counter_of, texts) if found][:_SHOWN],
        "firmware": [found for found in map(told.firmware_of, texts) if found][:_SHOWN],
        "duplicated_guids": _duplicates(parsed.findings),
        "unread": parsed.unread,
        "cut": parsed.cut,
    }


def wrong(parsed: Ibdiagnet) -> tuple[str, ...]:
    """What the tool itself calls an error, worst first."""
    errors = [finding for finding in parsed.findings if finding.level == "E"]
    found: list[str] = []
    for kind in told.KINDS:
        texts = list(dict.fromkeys(_sentence(finding) for finding in errors if finding.kind == kind))
        found += texts[:_TOLD]
        if len(texts) > _TOLD:
            found.append(f"{len(texts) - _TOLD} more errors of the kind {kind!r}")
    shown = [finding.stage for finding in errors]
    # On the screen it shows five lines of a check; its log and the summary have all.
    found += [
        f"{row.stage}: {_errors(row.errors)} in all" for row in parsed.stages if row.errors > shown.count(row.stage)
    ]
    told_of = {finding.stage for finding in parsed.findings} | {row.stage for row in parsed.stages}
    found += [
        f"{check.check} finished {check.result}"
        for check in parsed.checks
        if check.result == "with errors" and check.stage not in told_of
    ]
    return tuple(dict.fromkeys(found))


def _errors(count: int) -> str:
    return "1 error" if count == 1 else f"{count} errors"


def _sentence(finding: Finding) -> str:
    return " ".join([f"{finding.stage}: {finding.text}" if finding.stage else finding.text, *finding.below])


def _duplicates(findings: tuple[Finding, ...]) -> list[dict[str, Any]]:
    found = ((told.duplicate_of(finding.text), finding.below) for finding in findings)
    return [{"guid": guid, "at": list(places)} for guid, places in found if guid is not None][:_SHOWN]


def _classes(findings: tuple[Finding, ...]) -> list[dict[str, Any]]:
    classes: dict[tuple[str, str, str], list[str]] = {}
    for finding in findings:
        classes.setdefault((finding.level, finding.stage, finding.kind), []).append(finding.text)
    return [
        {"level": level, "stage": stage, "kind": kind, "count": len(texts), "texts": texts[:_SHOWN]}
        for (level, stage, kind), texts in sorted(classes.items(), key=lambda item: item[0][0])
    ]


def _not_ours(lines: list[str]) -> ParseError:
    return no_facts(_TOOL, lines, "no line of ibdiagnet from here to the end")
