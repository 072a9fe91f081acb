# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the settings of NCCL that somebody wrote down: nccl.conf, ``env``, exports, launchers' options, YAML, Python."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Iterable, Iterator

from .._ground.bound import Bound
from .._ground.text import clean_lines, no_facts

_TOOL = "nccl_settings"
NOTHING: dict[str, Any] = {"settings": []}

# A job has some dozens; each is judged by the lint.
_MOST: Bound = 200
_NAME = r"(?P<name>N?CCL_[A-Z0-9_]{1,60})"
_VALUE = r"(?P<value>\"[^\"]{0,500}\"|'[^']{0,500}'|(?:(?!,N?CCL_)[^\s\"'`;\\]){0,500})"
_FORMS = (
    # A shell's, mpirun's -x, srun's --export, docker's -e, ENV of a Dockerfile; what a sentence quotes is none.
    re.compile(rf"(?<![\w$./{{`-]){_NAME}={_VALUE}"),
    re.compile(rf"\bsetenv {_NAME} {_VALUE}"),
    re.compile(rf"environ(?:\.setdefault\(|\[)['\"]{_NAME}['\"]\]?\s*[=,]\s*{_VALUE}"),
    re.compile(rf"^[\s{{-]*['\"]?{_NAME}['\"]?\s*:\s+{_VALUE}\s*[,}}]?\s*$"),
)
# Kubernetes names a variable in one line and its value in the next.
_NAMED = re.compile(rf"^\s*-?\s*name:\s*['\"]?{_NAME}['\"]?\s*$")
_ITS_VALUE = re.compile(rf"^\s*value:\s*{_VALUE}\s*$")
# Lines of nccl.conf are NCCL's to read, with their blanks and quotes; words behind a blank are a command's.
_CONF = re.compile(
    rf"\s*(?:#.*|{_NAME}\s*=\s*(?P<value>\"[^\"]*\"|[^\s,]*(?:,\s{{0,8}}[^\s,]{{1,200}}){{0,200}},?)\s*)?"
)
_LOG = re.compile(r"\bNCCL (?:INFO|WARN|TRACE) ")
_COMMENT = re.compile(r"\s*(?:#(?!SBATCH|PBS)|//)")


@dataclass(frozen=True)
class Setting:
    """``value``: without the quotes that a shell takes off."""

    name: str
    value: str


@dataclass(frozen=True)
class NcclSettings:
    """``conf``: the same as the nccl.conf that says it, line by line."""

    settings: tuple[Setting, ...]
    conf: str


def parse(text: str) -> NcclSettings:
    """Read every setting; raise ParseError where there is none."""
    lines = clean_lines(text)
    whole = [_CONF.fullmatch(line) for line in lines]
    conf = [match for match in whole if match is not None]
    is_conf = len(conf) == len(lines)
    told = _of_conf(conf) if is_conf else _settings(lines)
    found = [setting for setting, _at in zip(told, range(_MOST))]
    if not found:
        raise no_facts(_TOOL, lines, "no setting of NCCL")
    if is_conf:
        return NcclSettings(tuple(found), "\n".join(lines))
    return NcclSettings(tuple(found), "".join(f"{one.name}={one.value}\n" for one in found))


def _of_conf(lines: Iterable[re.Match[str]]) -> Iterator[Setting]:
    return (Setting(match["name"], match["value"]) for match in lines if match["name"])


def _settings(lines: list[str]) -> Iterator[Setting]:
    named = ""
    for line in lines:
        if _LOG.search(line) or _COMMENT.match(line):
            continue
        if named and (value := _ITS_VALUE.match(line)):
            yield Setting(named, _plain(value["value"]))
        name = _NAMED.match(line)
        named = name["name"] if name else ""
        for match in (match for form in _FORMS for match in form.finditer(line)):
            # What the shell puts in is not known.
            if "$" not in match["value"]:
                yield Setting(match["name"], _plain(match["value"]))


def _plain(value: str) -> str:
    return value[1:-1] if value[:1] in ("'", '"') else value


def facts(read: NcclSettings) -> dict[str, Any]:
    """The settings in the names of docs/parsers.md."""
    return {"settings": [asdict(one) for one in read.settings]}
