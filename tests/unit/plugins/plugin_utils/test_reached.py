# SPDX-License-Identifier: GPL-3.0-or-later
"""A play that goes by what hosts answered is for those that did, or says why it would be for nobody."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.releases import TESTED
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks import filters
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import reached

BOOKS = Path(__file__).parents[4] / "playbooks"
ANSWERED = {"node": {"hostname": "n"}, "changed": False}
LOST = {"unreachable": True, "msg": "no route"}
VISITED = {"packed": "", "verdict": "ready"}


def hostvars(key: str, **answers: Any) -> dict[str, Any]:
    return {name: {} if answer is None else {key: answer} for name, answer in answers.items()}


def groups(*members: str, names: str = "abc") -> dict[str, list[str]]:
    return {"all": list(names), **({reached.GROUP: list(members)} if members else {})}


def test_those_who_are_in_the_group_take_part() -> None:
    known = hostvars("ibready_node", a=ANSWERED, b=LOST, c=ANSWERED)
    assert filters.reached(groups("c", "a"), known) == "all:&ibready_reached"


@pytest.mark.parametrize("failed", [LOST, {"failed": True, "msg": "sudo: a password is required"}])
def test_where_nobody_answered_nobody_takes_part(failed: dict[str, Any]) -> None:
    known = hostvars("ibready_node", a=failed, b=failed, c=None)
    assert filters.reached(groups(), known) == "all:!all"


def test_an_empty_group_though_hosts_answered_is_an_error() -> None:
    known = hostvars("ibready_node", a=ANSWERED, b=LOST, c=ANSWERED)
    with pytest.raises(AnsibleFilterError, match=r"^a, c answered.*ansible-core [\d.]+\w* has put.*Next: ") as raised:
        filters.reached(groups(), known)
    assert ", ".join(TESTED) in str(raised.value)


def test_of_many_hosts_a_few_are_named() -> None:
    known = {f"n{number}": ANSWERED for number in range(2000)}
    with pytest.raises(reached.ReachedError, match=r"^n0, n1, n2, n3 and 1996 more answered"):
        reached.pattern([], known, "2.31.0")


@pytest.mark.parametrize("asked", [filters.reached, filters.visited])
def test_a_run_that_asked_no_host_is_an_error(asked: Any) -> None:
    known = hostvars("ibready_node", a=None, b=None, c=None)
    with pytest.raises(AnsibleFilterError, match=r"no host was asked.*--start-at-task.*--skip-tags.*Next: "):
        asked(groups(), known)


def test_plays_that_are_only_listed_are_no_error() -> None:
    assert filters.reached(groups(), {}) == "all:&ibready_reached"
    assert filters.visited(groups(), {}) == "all"


def test_of_the_visited_those_take_part_that_answered() -> None:
    known = hostvars("ibready_ibverify", a=VISITED, b=LOST, **{"2001:db8::7": LOST}, c="no answer")
    assert filters.visited(groups(names=list(known)), known) == "all,!b,!2001:db8::7,!c"  # type: ignore[arg-type]


def test_a_visit_that_was_left_out_on_purpose_was_asked_for() -> None:
    skipped = {"changed": False, "skipped": True}
    known = hostvars("ibready_ibverify", a=skipped, b=skipped, c=skipped)
    assert filters.visited(groups(), known) == "all,!a,!b,!c"


def plays() -> list[tuple[str, str]]:
    """Of each play of each playbook the file and the pattern of its hosts."""
    return [
        (path.name, str(play["hosts"]))
        for path in sorted([*BOOKS.glob("*.yml"), *BOOKS.glob("parts/*.yml")])
        for play in yaml.safe_load(path.read_text())
        if "hosts" in play
    ]


def test_no_play_goes_by_answers_past_the_filters() -> None:
    assert len(plays()) > 40
    by = re.compile(r"\{\{ groups \| ibready\.cluster\.(?:reached|visited)\(hostvars \| default\(\{\}\)\) \}\}")
    plain = {(name, by.sub("ANSWERED", hosts)) for name, hosts in plays()}
    assert {hosts for _name, hosts in plain} == {
        *("all", "localhost", "all,localhost", "ANSWERED", "ibready_repair_now:&ANSWERED")
    }


def test_every_playbook_that_contacts_hosts_goes_by_their_answers() -> None:
    contacting = {path.name for path in BOOKS.glob("*.yml") if "import_playbook: parts/contact.yml" in path.read_text()}
    assert len(contacting) > 10
    assert contacting <= {name for name, hosts in plays() if "cluster.reached" in hosts}
