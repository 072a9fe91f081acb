# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody typed beside the variables: tags, and names of files in group_vars and host_vars.

Ansible takes a tag that nobody has for "nothing to do", and reads no file whose name is that of no group and no host.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from ...module_utils._ground.text import few
from . import defined

_SPECIAL = ("all", "tagged", "untagged", "never", "always")
# How alike two names are of which one may be the other misspelt.
_NEAR = 0.75
_SHOWN = 6
# Files of one folder that are held against all names: where there are more they are those of another inventory.
_MOST = 20
_ENDINGS = (".yml", ".yaml", ".json")
# What lies beside an inventory and is none.
_OURS = ("stack.", "ansible.cfg")


def only_ours(playbooks: Iterable[str]) -> bool:
    """Whether a run is of playbooks of ours alone, whose tags are all that there are."""
    given = list(playbooks)
    homes = (defined.TOP, defined.TOP / "playbooks")
    return bool(given) and all(
        name.startswith("ibready.cluster.")
        or (Path(name).resolve().parent in homes and (homes[1] / Path(name).name).exists())
        for name in given
    )


def tags(run: Iterable[str], skip: Iterable[str], playbooks: Iterable[str]) -> tuple[list[str], list[str]]:
    """Of the tags that were typed those to refuse, and those to warn of, a sentence each.

    A playbook of the site that imports ours has tags of its own: of those only what looks like one of ours is told.
    What is to be skipped and is like none of ours may be skipped everywhere (molecule does so): it is told.
    """
    ours = only_ours(playbooks)
    wanted, left = strange_tags(run), strange_tags(skip)
    near = {tag: alike for tag, alike in {**wanted, **left}.items() if alike}
    refused = {**wanted, **{tag: near[tag] for tag in left if tag in near}} if ours else {}
    told = {tag: alike for tag, alike in (left if ours else near).items() if tag not in refused}
    return [told_tag(*entry) for entry in refused.items()], [told_tag(*entry) for entry in told.items()]


def strange_tags(typed: Iterable[str]) -> dict[str, list[str]]:
    """Tags that no play and no role of ours has -> which may be meant."""
    known = defined.tags()
    return {tag: _near(tag, known) for tag in dict.fromkeys(typed) if tag not in known and tag not in _SPECIAL}


def told_tag(tag: str, near: Sequence[str]) -> str:
    """That in words, with what may be meant."""
    more = f"did you mean {few(near, _SHOWN)}?" if near else "next: the README of each role lists its tags"
    return f"no playbook and no role of ibready has the tag {tag}; {more}"


def _near(name: str, known: Collection[str]) -> list[str]:
    """By another spelling, all that begin with it (the tags of a role begin with its name), or the most alike."""
    plain = name.lower().replace("-", "_")
    same = [entry for entry in sorted(known) if entry.lower().replace("-", "_") == plain]
    family = [entry for entry in sorted(known) if entry.startswith(f"{plain}_")]
    return same or family or difflib.get_close_matches(plain, sorted(known), n=1, cutoff=_NEAR)


def strays(sources: Iterable[str], playbook: str, groups: Mapping[str, Collection[str]]) -> list[str]:
    """Files and folders of variables that are no group's and no host's, a sentence each.

    ``sources``: the inventories of this run; ``playbook``: the folder of its playbook. What is like no name may be
    of another inventory: it is told only beside an inventory that lies there alone.
    """
    names = {"group_vars": {*groups, "all", "ungrouped"}, "host_vars": {*groups.get("all", ()), "localhost"}}
    given = [Path(source) for source in sources if "," not in source]
    homes = {path if path.is_dir() else path.parent: _alone(path, given) for path in given}
    homes.setdefault(Path(playbook), False)
    found = []
    for home, alone in homes.items():
        for kind, known in names.items():
            unknown = [path for path in _entries(home / kind) if _name(path) not in known]
            told = [_stray(path, kind, names, alone) for path in unknown[:_MOST]]
            if len(unknown) > _MOST and any(told):
                told.append(f"{kind}: {len(unknown) - _MOST} more files are no group's and no host's")
            found += told
    return list(filter(None, found))


def _alone(source: Path, given: Collection[Path]) -> bool:
    """Whether no other inventory can be meant by what lies beside this one."""
    if source.is_dir():
        return True
    beside = {path for path in _entries(source.parent) if path.is_file() and not path.name.startswith(_OURS)}
    return beside <= set(given)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith(".") and path.name[-1] != "~")
    except OSError:
        return []


def _name(path: Path) -> str:
    """Of whom Ansible takes a file or folder to be."""
    return path.stem if path.suffix in _ENDINGS and path.is_file() else path.name


def _stray(path: Path, kind: str, names: Mapping[str, Collection[str]], alone: bool) -> str:
    name = _name(path)
    ending = path.name.removeprefix(name)
    of = kind.partition("_")[0]
    (other,) = set(names) - {kind}
    near = (
        [f"{other}/{name}"] if name in names[other] else [f"{kind}/{entry}" for entry in _near(name, names[kind])[:1]]
    )
    # A file without such an ending may be a text for people.
    if not near and not (alone and (ending or path.is_dir())):
        return ""
    more = f"; did you mean {near[0]}{ending}?" if near else ""
    return f"{path}: this inventory has no {of} {name}, so nothing reads it{more}"
