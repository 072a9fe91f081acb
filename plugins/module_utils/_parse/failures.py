# SPDX-License-Identifier: GPL-3.0-or-later
"""Read failures by the form in which programs tell them, whatever they say: who failed, in which words, of what."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass, replace
from typing import Iterator, Sequence

from .._data import failure_forms
from .._data.package_failures import FAILURES
from .._ground.bound import Bound
from .._ground.text import few, printable
from .used_lines import OWN, fails, shape

# Of more lines one of each wording is looked at.
LINES: Bound = 2000
_LINE, _SHOWN, _BELOW = 4000, 240, 5
_FORMS = [(form, re.compile(form.pattern), re.compile(form.below)) for form in failure_forms.FORMS]
_CAUSES = [(cause, re.compile(cause.pattern)) for cause in failure_forms.CAUSES]
_OF = {kind: [re.compile(pattern) for pattern in patterns] for kind, patterns in failure_forms.OF.items()}
# What says nothing without the words before it: the kernel's names of errors, and very short ones.
_ERRORS = "|".join(sorted({re.escape(os.strerror(number)) for number in errno.errorcode}))
_BARE = re.compile(
    rf"(?i)(?:{_ERRORS}|no such file|not found|unknown error|executable file not found|exit status|.{{0,24}}$)"
)
_WORD_OF_RANK = re.compile(r"(?:WARNING|ERROR|NOTE): ")
# A file of which the error is told, and not by whom.
_PATH = re.compile(r"/\S{1,300}: ")
_SENTENCE = re.compile(r"(?<=[.:]) ")
# Open MPI and PMIx print a message between two rules of this length; the rules of tables are longer.
_LAUNCHER, _RULE, _LONG = "launcher", re.compile(r"-{74}"), 30
# What engines put behind the last message, and strings in strings within it.
_TAIL = re.compile(r"(?:: ?unknown|[\s\":.\\'](?<!\w'))+$")
_ESCAPED = re.compile(r"\\+[n\"]+")
# How a complaint begins, with the program's name or without.
_COMPLAINS = re.compile(
    r"\s{0,8}(?:[\w./-]{1,60}: |(?:exiting|aborting)[.:,]{1,3} )?"
    r"(?:[a-z]{2,12} error|error|fatal|failed|can ?not|can't|couldn't|could not|unable to"
    r"|\w{1,40}_\w{1,40}(?:\(\))? failed)\b",
    re.IGNORECASE,
)
# The head of a logger that names no program: a date, a stream, a rank or a process in brackets, and a place in its
# source; one may follow another. A time of the kernel's is its own.
_HEAD = re.compile(
    r"\[?\d{4}[/-]\d\d[/-]\d\d[ T][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]? +|\d{4} [A-Z][a-z]{2} [ \d]\d [\d:.]+ \S+ "
    r"|[IWEF]\d{4} [\d:.]+ +\d+ [\w./-]{1,80}:\d+\] |(?P<level>[A-Z]{4,8}) \d\d-\d\d [\d:.,]+ [\w./-]{1,80}:\d+\] "
    r"|\[(?! *\d{1,8}\.\d+\])(?=[^][]{0,160}\d)[^][]{1,160}\] +"
    r"|(?:\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})?\[\d{1,6},\d{1,6}\]<std\w{3}>:|std(?:err|out): +|[\d:]{8}(?:[.,]\d+)? +"
    r"|[\w./-]{1,200}\.(?:c|cc|cpp|cu|h|hpp|go|rs|py):\d{1,6}(?:[]:;]? +)"
)
_HEADS = 4
# What these say of themselves comes behind what they say of others.
_LAUNCHERS = ("srun", "sbatch", "slurmstepd", "mpirun", "mpiexec", "prterun", "orted")
# What speaks in dnf's words, or stands before it.
_AS_DNF = ("yum", "zypper", "microdnf", "tdnf", "rpm-ostree")
# Who says a line: a program with its process, as syslog has it, or with its host, as MPICH has it; or a program's, a
# driver's or a script's name before a colon, which is no key of a value.
_TAGGED = re.compile(r"(?:[\w.,:+-]{1,64} ){0,5}?(?:\S{1,200}/)?\(?([A-Za-z][\w.@-]{1,60})\)?\[\d{1,9}\]: +(.+)")
_ON_HOST = re.compile(r"\[([a-z][\w-]{1,40})(?::\d{1,6}){0,4}@[\w.-]{1,255}\] +(.+)")
_NAMED = re.compile(r"\s{0,8}(?:/\S{1,200}/)?([a-z][\w.+/-]{1,40}|[A-Z][A-Z0-9_]{1,12})(?:\(\))?: +(.+)")
_NO_NAME = re.compile(
    r"(?:err(?:or)?|fatal|warn(?:ing)?|info|notice|note|debug|crit(?:ical)?|trace|status|state|phase|result|reason|cause"
    r"|message|msg|details?|output|stderr|stdout|exception)s?",
    re.IGNORECASE,
)
_MILD = re.compile(
    r"\W{0,3}(?:warn(?:ing)?|info|notice|note|debug|hint)\b|(?-i:(?:\w{1,20} +){0,2}(?:DEBUG|TRACE|INFO) )",
    re.IGNORECASE,
)
_SEVERE = re.compile(
    r"(?:\[ *\d+\.\d+\] )?\W{0,5}"
    r"(?:(?:err(?:or)?|fatal|crit(?:ical)?)(?:[]*!]\W{0,2}|:\s+)|(?-i:ERR|ERROR|FATAL) )(?=\w)",
    re.IGNORECASE,
)
# A sentence of which the verb is that something failed, or whose last words are the kernel's for an error; and one that
# a person says.
_PREDICATE = re.compile(
    rf"(?i)\bfailed(?:[.:;,!)]|\s*$| (?:with|to|because|after|due|during|while|on|in|for|at)\b)|\[ ?failed ?\]\s*$"
    rf"|\bcaught signal \d|\bsegmentation fault\b|\bassertion\b.{{1,200}}\bfailed\b"
    rf"|\b(?:bad|failed) status \d|\bdoes not exist\b|\bis down\W*$|[:;(] ?(?:{_ERRORS})\W{{0,3}}(?:\d+\W?)?$"
)
_PERSON = re.compile(r"\b(?:I|[Ww]e|[Mm]y|[Pp]lease|[Ww]hy|[Hh]ow)\b|\?\s*$")
# What a traceback of Python has beside the exception.
_FRAME = re.compile(r"\s*File \"[^\"]{1,400}\", line \d+")
_CHAIN = ("Traceback (most recent call last)", "The above exception was the direct", "During handling of the above")


@dataclass(frozen=True)
class Failed:
    """``form``: of failure_forms.yml. ``tool``: who says it, "" where no line tells. ``words``: as it says them.
    ``of``: what it is about: a package, a module and kernel, a unit. ``lines``: numbers from 0. ``row``: of the
    table; of one form an earlier row is nearer to the cause."""

    form: str
    tool: str
    words: str
    of: str = ""
    lines: tuple[int, ...] = ()
    row: int = 0

    @property
    def told(self) -> str:
        """In one line: the words, what they mean where that is known, and the next step."""
        who = f"{self.tool or 'a program'}{f' ({self.of})' if self.of else ''} says '{self.words}'"
        means, remedy = meaning(self.form, self.tool, self.words)
        return f"{who}; it means: {means}; next: {remedy}" if means else who


def meaning(form: str, tool: str, words: str) -> tuple[str, str]:
    """What a failure means and the next step, by the rows of its form and tool; empty where no row knows it."""
    for cause, pattern in _CAUSES:
        if cause.form == form and cause.tool in ("", tool) and pattern.search(words):
            return cause.told, cause.remedy
    for failure in FAILURES if form == "package" else ():
        if re.search("|".join(failure.patterns), words):
            return failure.cause, failure.following.replace("{held}", "NAMES")
    return "", ""


def read(lines: Sequence[str], program: str = "") -> list[Failed]:
    """The failures that these lines tell, each wording once, what is the cause of others first.

    ``program``: whose output it is by the command that was typed.
    """
    found: dict[tuple[str, str], Failed] = {}
    taken: set[int] = set()
    for one in (*_blocks(lines), *range(len(lines))):
        if isinstance(one, int):
            line = _ESCAPED.sub(" ", lines[one].rstrip()[:_LINE])
            one = _failed(one, line, lines, program) if one not in taken else None
        if one is not None:
            taken.update(one.lines)
            same = found.setdefault((one.tool, shape(one.words)), one)
            found[one.tool, shape(one.words)] = replace(same, lines=(*dict.fromkeys((*same.lines, *one.lines)),))
    order = {form: number for number, form in enumerate(failure_forms.ORDER)}
    told = sorted(found.values(), key=lambda one: (order[one.form], not one.of, one.row))
    built = ", ".join(_built(lines)) if any(one.form in ("compiler", "build") for one in told) else ""
    return [replace(one, of=built or one.of) if one.form in ("compiler", "build") else one for one in told]


def _blocks(lines: Sequence[str]) -> Iterator[Failed]:
    """What Open MPI and PMIx say at length, between two rules: the first sentence."""
    rules = [at for at, line in enumerate(lines) if _RULE.fullmatch(line.strip())]
    for begin, end in zip(rules, [*rules[1:], len(lines)]):
        said = " ".join(line.strip() for line in lines[begin + 1 : end]) if end - begin <= _LONG else ""
        words = _SENTENCE.split(_WORD_OF_RANK.sub("", said))[0]
        if words and fails(words):
            shown = printable(_TAIL.sub("", words), _SHOWN)
            yield Failed(_LAUNCHER, "Open MPI", shown, lines=tuple(range(begin, end)), row=len(_FORMS))


def _failed(at: int, line: str, lines: Sequence[str], program: str) -> Failed | None:
    """The failure that begins in this line; a complaint without a form is one of who says it."""
    who, body = sayer(line)
    follows = False
    for row, (form, pattern, below) in enumerate(_FORMS):
        match = pattern.search(line) or (pattern.search(body) if body != line and not follows else None)
        if match is None or any(words in line for words in form.unless):
            follows |= match is not None
            continue
        under = _under(at, lines, below) if form.below else []
        groups = match.groupdict()
        words = " ".join([groups.get("words") or "", *(lines[number].strip() for number in under)]).strip()
        words = innermost(words or line.strip()) if form.nested else _TAIL.sub("", words or line.strip())
        tool = (match.expand(form.tool) if match.groups("") else form.tool) or who or program
        tool = program if tool == groups.get("of") or (tool == "dnf" and program in _AS_DNF) else tool
        shown = printable(" ".join(words.split()), _SHOWN)
        return Failed(form.form, tool, shown, groups.get("of") or "", (at, *under), row)
    level = _beheaded(line)[0]
    if follows or _MILD.match(level) or _MILD.match(body) or not fails(body):
        return None
    severe = _SEVERE.match(body)
    words = printable(" ".join(body[severe.end() if severe else 0 :].split()), _SHOWN)
    if who:
        of = "unit" if who == "systemd" else _LAUNCHER if who in _LAUNCHERS else "program"
        return Failed(of, who, words, lines=(at,), row=len(_FORMS))
    # Of the kernel's own lines its parser says what fails.
    sentence = not any(own.match(line) for own in OWN.values()) and not _PERSON.search(body)
    complains = _COMPLAINS.match(body) or (sentence and _PREDICATE.search(body))
    return Failed("line", program, words, lines=(at,)) if severe or level or complains else None


def sayer(line: str) -> tuple[str, str]:
    """Who says a line by its own words, "" where it does not tell, and what is said."""
    tagged = None if _SEVERE.match(line) else _TAGGED.match(line) or _ON_HOST.match(line)
    who, body = (tagged[1], tagged[2]) if tagged else ("", line)
    body = _beheaded(body)[1]
    named = _NAMED.match(body)
    if named is None or _NO_NAME.fullmatch(named[1]):
        return who, body
    # A program that names itself again behind its tag.
    return who or named[1], body if who and who != named[1] else _beheaded(named[2])[1]


def _beheaded(line: str) -> tuple[str, str]:
    """The level that a logger's head tells, "" where none does, and what stands behind the heads."""
    level = ""
    for _head in range(_HEADS):
        head = _HEAD.match(line)
        if head is None:
            break
        level, line = head["level"] or level, line[head.end() :]
    return level, line


def frames(lines: Sequence[str]) -> set[int]:
    """The numbers of lines that a traceback of Python has beside its exception: they tell where, and not what."""
    found = set()
    lines = [_beheaded(line)[1] for line in lines]
    for at, line in enumerate(lines):
        if _FRAME.match(line):
            found.add(at)
            deep = len(line) - len(line.lstrip())
            below = lines[at + 1 : at + 3]
            source = [number for number, one in enumerate(below, at + 1) if len(one) - len(one.lstrip()) > deep]
            found.update(source if at + 1 in source else ())
        elif line.strip().startswith(_CHAIN):
            found.add(at)
    return found


def _under(at: int, lines: Sequence[str], below: re.Pattern[str]) -> list[int]:
    """The lines right below that belong to it."""
    found = []
    for number in range(at + 1, min(at + 1 + _BELOW, len(lines))):
        if not below.search(lines[number]):
            break
        found.append(number)
    return found


def _built(lines: Sequence[str]) -> Iterator[str]:
    """The module and the kernel that a build was of, and of several how many more."""
    for kind, patterns in _OF.items():
        for pattern in patterns:
            told = dict.fromkeys(match[1] for line in lines if (match := pattern.search(line)))
            if told:
                yield f"{'' if kind == 'module' else f'{kind} '}{few(tuple(told), 1)}"
                break


def innermost(words: str) -> str:
    """Of messages that stand in each other the last that says something."""
    *outer, inner = _TAIL.sub("", words).split(": ")
    for part in reversed(outer):
        if fails(inner) and not _BARE.match(inner) and not _PATH.match(inner):
            break
        inner = f"{part}: {inner}"
    return inner
