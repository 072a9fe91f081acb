# SPDX-License-Identifier: GPL-3.0-or-later
"""Read texts that somebody pasted: whose each is, what of it nobody read, and what it says by its form. No I/O.

Each text is read as the tool's whose it is, each host's lines apart.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from typing import Any, Iterable, Mapping, Sequence

from .._areas.nccl import observe_rdma
from .._data.nccl_reading import SYSTEM_FILE
from .._evidence.pasted import Pasted
from .._expect.expectations import from_inventory
from .._ground import check as model
from .._ground.bound import Bound
from .._ground.text import ParseError, printable
from .._parse import failures, flight_recorder, layers, names, nccl_settings, prefix, used_lines
from .._parse._kernel_drivers import HARMLESS
from .._parse._times import Times
from .._slow import settings
from . import slow
from .said import said
from .typed import Piece, is_frame, pieces
from .verify import AREAS as _EVERY, verify

# Containers are started, and not pasted.
AREAS = tuple(area for area in _EVERY if area != "container")
# A parser that comes so far knows the text, and what it stumbles over; of a long one nobody asks all again.
_FAR, _SHORT = 5, 5000
# Each prompt of a text and each host is a run of all checks, of a tenth of a second.
_MOST_PROMPTS: Bound = 200
_MOST_HOSTS: Bound = 2000
_RECORDER, _END = "flight_recorder", "job_end"
_WATCHDOG = "Watchdog caught collective operation timeout"
# How a pickle of the protocols from 2 on begins.
_PICKLE = b"\x80"
# What Windows saves as text begins with these.
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstd", b"BZh": "bzip2"}
OF_JOBS = {
    *(
        "deepspeed_log",
        "flight_recorder",
        "job_end",
        "kineto",
        "megatron_log",
        "nccl_inspector",
        "nccl_ras",
        "nccl_tests",
    ),
    *("nvsmi_dmon", "progress_bar", "step_csv"),
}
# Tools whose lines stand among others', and the facts in which they tell what is wrong.
_ALSO = {
    "beegfs_log": ("problems",),
    "dmesg": ("failures", "xids", "sxids", "kernel", "unexplained", "beegfs"),
    "job_end": ("ends",),
    "nccl_log": ("errors",),
    "nvsmi_error": ("unreachable",),
}
# Logs whose lines stand among a program's other lines, NCCL's own too; and how many steps are no accident.
_STEPS_OF = ("megatron_log", "deepspeed_log", "progress_bar")
_MANY_STEPS, _MANY_LINES = 3, 3
_LOGS = {*_STEPS_OF, *_ALSO, "mpi_log"}
# How JSON and XML begin, which are read whole.
_DOCUMENT = re.compile(r"\s*(?:[{<]|\[\s*[{\[\"])")
_NCCL = used_lines.OWN["nccl_log"]
# A text that a parser stops in is read in two so often; so few of its hosts tell whether any check goes by it.
_AGAIN: Bound = 20
_HOSTS_ASKED: Bound = 8
# By so many letters it is told whether a file is a text.
_HEAD = 4096
# So many lines may stand over a tool's first line in use.
_HEADS = 2
# What begins with the same letters as a tool's lines may be a damaged one of them.
_ALIKE = 2
_OF_DUMP = re.compile(r"(?:trace|dump)\D{0,6}(\d{1,7})(?:\D|$)")
_TRACEBACK = "traceback"


@dataclass
class Heard:
    """``texts``: by host and tool. ``unread``: what is no text of a tool that is known. ``times``: by
    file, of a job's steps; ``settings``: what the job was told. ``failed``: what was read by its form. ``left``: lines
    that nobody read, and ``alike`` more of a long log that are worded like them; ``doubts``: those that tell of a
    failure, one of each wording."""

    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    times: list[tuple[str, Times]] = field(default_factory=list)
    settings: settings.Settings = field(default_factory=settings.Settings)
    failed: list[failures.Failed] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    alike: int = 0
    doubts: list[str] = field(default_factory=list)

    def give(self, label: str, data: bytes) -> None:
        """Read one file: a text, or what PyTorch's flight recorder pickled."""
        packed = next((name for mark, name in _PACKED.items() if data.startswith(mark)), "")
        if packed:
            self.unread.append(f"{label}: it is packed ({packed}); next: unpack it, and give what is in it")
            return
        if not data.startswith(_PICKLE):
            self.take(label, data.decode("utf-16" if data[:2] in _UTF_16 else "utf-8", "replace"))
            return
        try:
            recorded = flight_recorder.parse_bytes(data)
        except ParseError as exc:
            self.unread.append(f"{label}: {exc}")
            return
        self.times.append((label, flight_recorder.times(recorded, _rank(label))))

    def take(self, label: str, text: str) -> None:
        """Read one file's text."""
        # A node that went down in the midst leaves zero bytes in its logs.
        head = text[:_HEAD].replace("\0", "")
        odd = sum(letter == "\ufffd" or not (letter.isprintable() or letter.isspace()) for letter in head)
        if not text.strip() or 4 * odd > len(head) > 0:
            self.unread.append(f"{label}: it is {'no text' if text.strip() else 'empty'}")
            return
        told = pieces(layers.undone(text))
        del text
        # The first stands before every prompt.
        if len(told) > _MOST_PROMPTS + 1:
            self._left_out(label, f"{len(told) - 1:,} prompts, and the first {_MOST_PROMPTS:,}")
        del told[_MOST_PROMPTS + 1 :]
        while told:
            # Of a long text nothing is kept twice.
            self._piece(label, told.pop(0), _AGAIN)

    def _piece(self, label: str, of: Piece, again: int) -> None:
        """Read a piece as the tool's whose it is, then what of it this tool did not use."""
        whole = layers.undone(of.text)
        if not whole.strip():
            return
        lines, out = _thinned(whole)
        of = replace(of, lines=lines)
        host, command, piece = of.host, of.tool, of.text
        guessed = dict.fromkeys(
            (*_by_command(command, piece), *_job_before_end(_sure(names.guess(piece), piece, command)))
        )
        tool, *others = guessed or ("",)
        if not tool and settings.settings(piece).framework:
            self.settings = settings.merged(self.settings, settings.settings(piece))
            return
        if again and (some := _apart(tool, piece) if tool else _in_two(piece)):
            for text in some:
                self._piece(label, replace(of, lines=text.splitlines(keepends=True)), again - 1)
            return
        taken = [tool] if tool else []
        of_job = "nccl_log" in guessed
        for part in prefix.parts(tool, whole if tool in _STEPS_OF else piece) if tool else ():
            text_of = _devices(tool, part.text) if of_job else ""
            self._put(part.who or host, label, tool, text_of or part.text)
            self._time(part.who or host, label, tool, part.text)
        for other in others if of_job else ():
            part = prefix.parts(other, piece)[0]
            text_of = _devices(other, part.text) if other not in _ALSO else ""
            if text_of:
                self._put(part.who or host, label, other, text_of)
                taken.append(other)
        for also in (also for also in _ALSO if tool and also != tool):
            # What a job prints holds lines of NCCL's, and what people paste lines of the kernel's.
            for part in prefix.parts(also, piece):
                if _speaks(also, part.text):
                    self._put(part.who or host, label, also, part.text)
                    taken.append(also)
                if not _goes_on(tool, part.text if len(piece) == len(whole) else whole, _last_word(also, part.text)):
                    self._time(part.who or host, label, also, part.text)
        if tool and tool not in OF_JOBS and (steps := _steps_within(piece)):
            taken.append(steps)
            for part in prefix.parts(steps, whole):
                self._put(part.who or host, label, steps, part.text)
                self._time(part.who or host, label, steps, part.text)
        if not self._rest(label, of, dict.fromkeys(taken), out):
            self.unread.append(f"{label}: {_why_unread(command, piece)}")

    def _rest(self, label: str, of: Piece, taken: Iterable[str], out: Mapping[str, int]) -> bool:
        """What no tool used: another tool's text, a complaint among others' lines, or told as it is.

        ``out``: how many more lines there are of a wording. Whether any line is a tool's.
        """
        piece = of.text
        lines = piece.splitlines(keepends=True)
        used: set[int] = set()
        within: set[int] = set()
        faulty: dict[str, bool] = {}
        for tool in taken:
            looked, fault = gone_by(tool, piece)
            faulty[tool] = fault
            mine = used_lines.used(tool, lines, fault) if looked else used_lines.of_ours(tool, lines)
            used |= mine
            within.update(range(min(mine, default=0), max(mine, default=0)))
        every = [at for at, line in enumerate(lines) if at not in used and line.strip() and not is_frame(line)]
        left = self._others(label, of, lines, every, faulty, within)
        if "dmesg" in faulty:
            self.doubts += list(_nobody_s(piece, [lines[at] for at in sorted(used.difference(left))]))
        read = bool(taken) or len(left) < len(every)
        # Between a tool's own lines stand its heads and rules, and whatever it says besides.
        rest = "".join(lines[at] for at in left if at not in within or used_lines.fails(lines[at]))
        plain = [line.strip("\n") for part in prefix.parts("", rest) for line in part.text.splitlines()]
        asked = plain
        if len(plain) > failures.LINES:
            wordings = {used_lines.shape(line): line for line in plain if used_lines.fails(line)}
            asked = list(wordings.values())[: failures.LINES]
        found = failures.read(asked, of.program)
        self.failed += found
        known = {asked[at] for one in found for at in one.lines}
        told = {plain[at] for at in failures.frames(plain)} if any(one.form == _TRACEBACK for one in found) else ()
        unread = [line.strip() for line in plain if line.strip() and line not in known and line not in told]
        self.left += unread if read or found else []
        if out:
            shapes = {used_lines.shape(lines[at]) for at in left if at not in within}
            more = [at for at in left if at in within and used_lines.shape(lines[at]) in shapes]
            self.alike += sum(out.get(wording, 0) for wording in shapes)
            self.alike += sum(not used_lines.fails(lines[at]) for at in more)
        self.doubts += list({used_lines.shape(line): line for line in unread if used_lines.fails(line)}.values())
        return read or bool(found)

    def _others(
        self, label: str, of: Piece, lines: Sequence[str], left: list[int], taken: Mapping[str, bool], within: set[int]
    ) -> list[int]:
        """Read what is left as texts of tools that are not yet ``taken``, then line by line; the numbers that stay.

        ``taken``: whether something is wrong by what was read of each; ``within``: lines between those of one.
        """
        for some in (left, [at for at in left if at not in within]) if taken else ():
            for tool in names.guess("".join(lines[at] for at in some)):
                found = None if tool in taken else self._another(label, of, tool, lines, some)
                if found is not None:
                    own, fault = found
                    stays = [at for at in left if at not in own]
                    return self._others(label, of, lines, stays, {**taken, tool: fault}, within)
        told: dict[str, str] = {}
        for at in left:
            wording = used_lines.shape(lines[at])
            if wording not in told and len(told) < used_lines.WORDINGS and used_lines.fails(lines[at]):
                told[wording] = _complains(lines[at], of.tool)
        whose = {at: told.get(used_lines.shape(lines[at]), "") for at in left}
        # Where a tool's own text tells of a failure, its words for what follows are no other host's.
        for tool in dict.fromkeys(tool for tool in whose.values() if tool and not taken.get(tool)):
            self._put(of.host, label, tool, "".join(lines[at] for at in left if whose[at] == tool))
        return [at for at in left if not whose[at]]

    def _another(
        self, label: str, of: Piece, tool: str, lines: Sequence[str], some: Sequence[int]
    ) -> tuple[set[int], bool] | None:
        """Read these lines as another tool's text, if they are; the numbers that it used, and whether it tells of a
        fault."""
        text = [lines[at] for at in some]
        mine = used_lines.used(tool, text, gone_by(tool, "".join(text))[1])
        if not mine:
            return None
        # From its head and its first line to its last: what stands around is others'.
        first = min(mine)
        while first > max(min(mine) - _HEADS, 0) and some[first - 1] == some[first] - 1:
            first -= 1
        span = range(first, max(mine) + 1)
        part = prefix.parts(tool, "".join(text[span.start : span.stop]))[0]
        looked, fault = gone_by(tool, part.text)
        most = len(mine) >= _MANY_LINES and (2 * len(span) >= len(text) or 3 * len(mine) >= len(span))
        if not fault and not (most and (looked or names.weight(tool, part.text))):
            return None
        self._put(part.who or of.host, label, tool, part.text)
        # By what no check goes by nobody has told what fails in it.
        return {some[at] for at in span if (looked and at in mine) or not used_lines.fails(text[at])}, fault

    def _time(self, host: str, label: str, tool: str, text: str) -> None:
        if tool == _RECORDER:
            self.times.append((label, flight_recorder.times(flight_recorder.parse(text), _rank(label), host)))
            return
        found = names.times(tool, text)
        if found is not None:
            # GPU 0 of two files is not the same: where nobody tells the host, the file stands for it.
            of = host or (label if found.busy else "")
            self.times.append((label, slow.on(of, found)))

    def _put(self, host: str, label: str, tool: str, text: str) -> None:
        """A second text of the same tool is another host's, or of another time."""
        name, number = host, 1
        while tool in self.texts.get(name, {}):
            number += 1
            name = f"{host or 'host'} ({label})" if number == 2 else f"{host or 'host'} ({label}, {number})"
        if name not in self.texts and len(self.texts) >= _MOST_HOSTS:
            self._left_out(label, f"more than {_MOST_HOSTS:,} hosts, and the first of them")
            return
        self.texts.setdefault(name, {})[tool] = text

    def _left_out(self, label: str, what: str) -> None:
        """Once a file; what was not read is unknown."""
        line = f"{label}: it has {what} are read; next: give the rest in a file and a run of its own"
        if line not in self.unread:
            self.unread.append(line)


def _thinned(text: str) -> tuple[list[str], Mapping[str, int]]:
    """The lines of a text that all tools read: of a long log few of each wording, and how many more there are."""
    lines = text.splitlines(keepends=True)
    if len(text) > used_lines.LONGEST and not _DOCUMENT.match(text):
        some, out = used_lines.thinned(lines)
        # Other tools' texts may be none of theirs with lines left out.
        if out and _LOGS.issuperset(names.guess("".join(some)) or names.guess(text)):
            return some, out
    return lines, {}


def _job_before_end(guessed: tuple[str, ...]) -> tuple[str, ...]:
    """How a job ended is told in the midst of its log, however many lines of it there are."""
    others = tuple(tool for tool in guessed if tool != _END)
    return others or guessed


def _last_word(tool: str, text: str) -> str:
    """What the last line begins with by which a job ended, "" where this tool tells of no end."""
    if tool == _END:
        told, error = names.facts(tool, text)
        return str(told["ends"][-1]["line"]) if error is None else ""
    return _WATCHDOG if tool == "nccl_log" else ""


def _goes_on(tool: str, text: str, mark: str) -> bool:
    """Whether steps follow the last word of a failure: the job was started again."""
    lines = text.splitlines(keepends=True) if mark and mark.split()[0] in text else []
    # Parsers see every run of blanks as one.
    last = [at for at, line in enumerate(lines) if mark in " ".join(line.split())][-1:]
    after = names.times(tool, "".join(lines[last[0] :])) if last else None
    # The step in which a rank failed may end for the others.
    return after is not None and len({step.step for step in after.steps}) > 1


def _devices(tool: str, text: str) -> str:
    """Without NCCL's lines what the text shows of RDMA devices, which tell how to judge the log; "" where nothing."""
    if tool in OF_JOBS:
        return ""
    bare = "".join(line for line in text.splitlines(keepends=True) if not _NCCL.search(line))
    return bare if observe_rdma.of_job(Pasted({tool: bare})) else ""


def _apart(tool: str, text: str) -> list[str]:
    """A text that is this tool's in part, and whole texts of others before or behind it; nothing where it is not so.

    A tool that takes what follows for a damaged end of its own cannot be gone by.
    """
    looked, fault = gone_by(tool, text)
    if fault or len(text) > used_lines.LONGEST or len(prefix.parts(tool, text)) > 1:
        return []
    if looked and not any(partly(tool, names.read(tool, text).facts)):
        return []
    lines = text.splitlines(keepends=True)
    span = used_lines.span(tool, lines)
    before, mine, behind = lines[: span.start], lines[span.start : span.stop], lines[span.stop :]
    before, mine = (before, mine) if _another_s(before, mine, tool) else ([], before + mine)
    mine, behind = (mine, behind) if _another_s(behind, mine, tool) else (mine + behind, [])
    return ["".join(part) for part in (before, mine, behind) if part] if before or behind else []


def _another_s(lines: Sequence[str], mine: Sequence[str], tool: str) -> bool:
    """Whether these lines are the text of another tool, with nothing that could be a damaged line of this one's."""
    text = "".join(lines)
    for other in names.guess(text):
        if other == tool or not gone_by(other, text)[0] or any(partly(other, names.read(other, text).facts)):
            continue
        span = used_lines.span(other, lines)
        around = {line.strip()[:_ALIKE] for at, line in enumerate(lines) if at not in span and line.strip()}
        return not around & {line.strip()[:_ALIKE] for line in mine}
    return False


def _in_two(text: str) -> tuple[str, str] | None:
    """Where a tool's parser stops in the midst, as where a second host's output follows without a word between."""
    if len(text) > used_lines.LONGEST:
        return None
    for name in names.NAMES:
        whole = prefix.parts(name, text)
        error = names.facts(name, whole[0].text)[1]
        lines = whole[0].text.splitlines(keepends=True)
        before = "".join(lines[: error.line_no - 1]) if error is not None and len(whole) == 1 else ""
        if before and names.weight(name, before) > _FAR:
            return before, "".join(lines[error.line_no - 1 :]) if error is not None else ""
    return None


def _sure(guessed: Iterable[str], text: str, command: str) -> tuple[str, ...]:
    """Those of whose facts some are there, or whom a check goes by: a bare complaint may be anybody's, and is no other
    tool's than that of the command."""
    weight = {tool: names.weight(tool, prefix.parts(tool, text)[0].text) for tool in guessed}
    # A log's form alone is anybody's.
    weight = {tool: facts for tool, facts in weight.items() if tool == command or not _form_alone(tool, text)}
    # What several tools complain of in the same words is none of theirs alone.
    alone = not command and sum(not facts for facts in weight.values()) == 1
    return tuple(tool for tool, facts in weight.items() if facts or (alone and gone_by(tool, text)[0]))


def _nobody_s(text: str, lines: Iterable[str]) -> Iterable[str]:
    """Of an excerpt of the kernel's log, lines of failures of which its parser tells nothing, nor that they do no harm.

    A whole log has such lines of devices that no job needs; who pastes a few has chosen them.
    """
    failing = {used_lines.shape(line): line for line in lines if used_lines.fails(line)}
    if names.facts("dmesg", text)[0].get("beginning_lost") is not False:
        for line in list(failing.values())[: used_lines.WORDINGS]:
            told = names.weight("dmesg", line) or HARMLESS.search(line)
            if names.KERNEL.match(line) and not told:
                yield line.strip()


def _form_alone(tool: str, text: str) -> bool:
    """Whether it is a log of which nothing is gone by, and no line of which is this tool's own."""
    if tool == "dmesg" and not any(map(names.KERNEL.match, text.splitlines())):
        # By the beginning of a driver's line alone.
        told = names.facts(tool, text)[0]
        return [name for name in _ALSO[tool] if told.get(name)] == ["unexplained"]
    log = tool.endswith("_log") and tool not in OF_JOBS and tool not in used_lines.OWN
    return log and not gone_by(tool, text)[0]


def _complains(line: str, command: str) -> str:
    """The tool that says with this line alone what is wrong; "" of none."""
    return next((tool for tool in _sure(names.guess(line), line, command) if gone_by(tool, line)[1]), "")


@functools.lru_cache(maxsize=8)
def gone_by(tool: str, text: str) -> tuple[bool, bool]:
    """Whether this text of a tool is gone by, and whether something is wrong by it."""
    looked = fault = False
    for part in prefix.parts(tool, text)[:_HOSTS_ASKED]:
        read = names.read(tool, part.text)
        results = {check.result for check in verify(evidence({tool: part.text}), from_inventory({}), AREAS).checks}
        fault |= model.FAIL in results or bool(read.wrong)
        looked |= model.PASS in results or read.times is not None or bool(not read.error and said(tool, read.facts))
    return looked or fault, fault


def _speaks(tool: str, text: str) -> bool:
    """Whether lines of this tool tell something wrong in the midst of another's text."""
    if tool == "nccl_log" and _NCCL.search(text):
        return True  # It is a log of NCCL's as well.
    told, error = names.facts(tool, text)
    return error is None and any(told.get(name) for name in _ALSO[tool])


def _steps_within(text: str) -> str:
    """The log whose steps stand in the midst of another's text, that of which the most do; "" where none do."""
    steps = {}
    for tool in _STEPS_OF:
        found = [names.times(tool, part.text) for part in prefix.parts(tool, text)]
        steps[tool] = sum(len(times.steps) for times in found if times is not None)
    most = max(_STEPS_OF, key=lambda tool: steps[tool])
    return most if steps[most] >= _MANY_STEPS else ""


def _rank(label: str) -> str:
    """The rank that a recorder's file is of: nccl_trace_rank_3."""
    found = _OF_DUMP.search(label)
    return slow.rank_of(label) or (found.group(1) if found is not None else "")


def evidence(texts: Mapping[str, str], name: str = "", beside: Sequence[Pasted] = ()) -> Pasted:
    """The texts; settings as the nccl.conf that says them."""
    written = texts.get("nccl_settings")
    files = {SYSTEM_FILE: nccl_settings.parse(written).conf} if written else {}
    return Pasted(texts, name, beside, files)


def partly(tool: str, told: Mapping[str, Any]) -> Iterable[str]:
    """Whether the text is cut, or has lines that nobody knows."""
    unread = told.get("unread") or 0
    count = unread if isinstance(unread, int) else len(unread)
    if count:
        yield f"{count} line{'s' if count > 1 else ''} of {tool} {'are' if count > 1 else 'is'} unread"
    if told.get("cut"):
        yield f"the text of {tool} is cut"


def _by_command(tool: str, text: str) -> tuple[str, ...]:
    """The tool of the command that was typed, where it has printed this."""
    read = tool in names.NAMES and names.facts(tool, prefix.parts(tool, text)[0].text)[1] is None
    return (tool,) if read else ()


def _why_unread(tool: str, text: str) -> str:
    if tool in names.NAMES:
        return str(names.facts(tool, prefix.parts(tool, text)[0].text)[1])
    if foreign := names.not_read(text):
        return foreign
    lines = len(text.splitlines())
    errors = [names.facts(name, text)[1] for name in names.NAMES if lines < _SHORT]
    # Who found nothing of its own knows nothing of the text.
    refused = [
        (error.line_no, str(error), name)
        for name, error in zip(names.NAMES, errors)
        if error and not error.reason.startswith("no ")
    ]
    at, why, name = max(refused, default=(0, "", ""))
    # A head and comments, which many parsers pass by, make no text of theirs.
    if at > _FAR and names.weight(name, "".join(text.splitlines(keepends=True)[: at - 1])):
        return why
    first = next(line for line in text.splitlines() if line.strip() and not is_frame(line))
    return f"no tool is known that prints {printable(first.strip())!r}"
