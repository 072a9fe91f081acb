# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a command line that a page tells people to type."""

from __future__ import annotations

import json
import re
import shlex

from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verify import AREAS
from sandbox import faults
from sandbox.__main__ import parser
from tests.unit.docs import known
from tests.unit.docs.markdown import ROOT

# Words that stand for something of the reader's.
_PLACE = re.compile(r"[\[\]|<>{}]|\.\.\.")
# The reader's own inventory.
_INVENTORIES = ("INVENTORY", "inventories/mine")
_PROGRAMS = ("ansible-playbook", "ansible", "run", "ibready", "ibready.pyz")


def lines(block: str) -> list[str]:
    """The command lines of a block of code, without comments, continued ones as one."""
    joined = re.sub(r"\\\n\s*", "", block)
    found = []
    for line in joined.splitlines():
        line = re.sub(r"(^|\s)#.*$", "", line)
        found += [one.strip() for one in re.split(r"&&|;", line) if one.strip()]
    return found


def wrong(line: str) -> list[str]:
    """What in a command line of ours does not exist; nothing for the commands of others."""
    try:
        words = shlex.split(line)
    except ValueError as exc:
        ours = line.split()[0].rpartition("/")[2] in _PROGRAMS
        return [f"the shell does not take it: {exc}"] if ours else []
    while words and ("=" in words[0] or words[0] in ("sudo", "$", "time")):
        words = words[1:]
    if not words:
        return []
    if words[0] in ("-e", "--extra-vars"):
        given = [word for word, before in zip(words[1:], words, strict=False) if before == words[0]]
        return [what for value in given for what in _variables(value)]
    program = words[0].rpartition("/")[2]
    if words[:3] == ["python", "-m", "sandbox"]:
        return _sandbox(line, words[3:])
    if program not in _PROGRAMS or (program == "run" and words[0] != "./run"):
        return []
    if program == "run":
        return _run(words[1:])
    if program.startswith("ibready"):
        return _node_program(line, words[1:])
    return _ansible(program, words[1:])


def _run(words: list[str]) -> list[str]:
    name = words[0] if words else "help"
    if not name.islower():
        return []
    if name not in known.run_commands():
        return [f"./run has no command {name}"]
    if name == "break" and len(words) > 1 and words[1].islower() and words[1] not in faults.known():
        return [f"there is no fault {words[1]}"]
    return []


def _sandbox(line: str, words: list[str]) -> list[str]:
    if _PLACE.search(line) or not words:
        return []
    try:
        parser().parse_args(words)
    except SystemExit:
        return [f"python -m sandbox does not take {' '.join(words)}"]
    return []


def _node_program(line: str, words: list[str]) -> list[str]:
    """Its commands are few; what stands in brackets is looked at as well."""
    commands = {"verify", "collect", "explain", "parse", "why", "look", "metrics", "npd", "gate"}
    commands |= {"slurm-health", "slurm-prolog"}
    if not words or words[0] not in commands:
        return [f"ibready has no command in `{line}`"]
    if words[0] == "explain" and words[1:] and words[1].islower() and words[1] not in CATALOG:
        return [f"there is no check {words[1]}"]
    if "--only" in words:
        areas = next(iter(words[words.index("--only") + 1 :]), "").rstrip("]").split(",")
        return [f"there is no area {one}" for one in areas if one.islower() and one not in AREAS]
    return []


def _ansible(program: str, words: list[str]) -> list[str]:
    found: list[str] = []
    named: list[str] = []
    module = "command"
    arguments = ""
    rest = iter(words)
    for word in rest:
        name, joined, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name in known.VALUED or (program == "ansible" and name in known.AD_HOC):
            value = value if joined else next(rest, "")
            if name in ("-e", "--extra-vars"):
                found += _variables(value)
            elif name in ("--tags", "--skip-tags"):
                found += [f"no tag {one}" for one in value.split(",") if one not in known.tags()]
            elif name == "-i" and value not in _INVENTORIES and not (ROOT / value).exists():
                found.append(f"no inventory {value}")
            elif name == "-m":
                module = value
            elif name == "-a":
                arguments = value
        elif word.startswith("-"):
            found += [] if name in known.FLAGS else [f"{program} {name} is not known here"]
        else:
            named.append(word)
    if program == "ansible":
        return [*found, *_module(module, arguments)]
    return [*found, *(f"no playbook {one}" for one in named if not _playbook(one))]


def _playbook(name: str) -> bool:
    if name.startswith("ibready.cluster."):
        return (ROOT / f"playbooks/{name.removeprefix('ibready.cluster.')}.yml").is_file()
    return name.endswith(".yml") and (ROOT / name).is_file()


def _variables(value: str) -> list[str]:
    names = json.loads(value) if value.startswith("{") else [value.partition("=")[0]]
    there = known.VARIABLES | known.SANDBOX
    return [f"no variable {one}" for one in names if one.islower() and one not in there]


def _module(name: str, arguments: str) -> list[str]:
    short = name.removeprefix("ibready.cluster.")
    if name.startswith("ansible.builtin.") or name in ("command", "ping"):
        return []
    if short not in known.MODULES:
        return [f"no module {name}"]
    given = json.loads(arguments) if arguments.startswith("{") else _pairs(arguments)
    return [f"{short} has no option {one}" for one in given if one not in known.options(short)]


def _pairs(arguments: str) -> list[str]:
    return [word.partition("=")[0] for word in shlex.split(arguments)]
