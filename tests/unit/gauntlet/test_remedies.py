# SPDX-License-Identifier: GPL-3.0-or-later
"""A remedy that changes a file, carried out to the letter, mends what it is printed for."""

from __future__ import annotations

import re

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, Check
from tests.gauntlet import fault, run
from tests.gauntlet.fault import Fault
from tests.gauntlet.tree import Tree

_REWRITE = re.compile(r"write `([^`]+)` in place of `([^`]+)` in (/[^\s,;]+)")
_APPEND = re.compile(r"add the line `([^`]+)` to (/[^\s,;]+)")
_DELETE = re.compile(r"take `([^`]+)` out of (/[^\s,;]+)")
# Checks whose remedy is a change of files that they read themselves.
_BY_FILES = ("host.limit.memlock_login", "host.boot.sysctl", "host.boot.modules")
# The remedy of these is a role.
_BY_HAND = {
    "sshd goes without PAM, whatever pam_limits says",
    "sshd does not ask pam_limits, and has systemd's small limit",
}
FAULTS = [one for one in fault.load() if one.check in _BY_FILES and one.name not in _BY_HAND]


def _plain(line: str) -> str:
    return " ".join(line.split())


def _text(tree: Tree, path: str) -> str:
    return tree.read(path) if _place(tree, path) in tree.files else ""


def _place(tree: Tree, path: str) -> str:
    return tree._resolve(path)


def carry_out(remedy: str, tree: Tree) -> bool:
    """Do what it says to the files; whether it says anything that can be done to one."""
    done = False
    for new, old, path in _REWRITE.findall(remedy):
        lines = _text(tree, path).split("\n")
        assert any(_plain(line) == old for line in lines), f"{path} has no line {old!r}: {remedy}"
        tree.file(_place(tree, path), "\n".join(new if _plain(line) == old else line for line in lines))
        done = True
    for old, path in _DELETE.findall(remedy):
        lines = _text(tree, path).split("\n")
        assert any(_plain(line) == old for line in lines), f"{path} has no line {old!r}: {remedy}"
        tree.file(_place(tree, path), "\n".join(line for line in lines if _plain(line) != old))
        done = True
    for line, path in _APPEND.findall(remedy):
        tree.file(_place(tree, path), f"{_text(tree, path)}{line}\n")
        done = True
    return done


@pytest.mark.parametrize("one", FAULTS, ids=lambda one: str(one.name))
def test_a_remedy_that_is_carried_out_mends(one: Fault) -> None:
    described, tree = fault.broken(one)
    found = [check for check in run.judge(described, tree) if check.id == one.check and check.result == FAIL]
    assert found
    assert [check for check in found if carry_out(check.remedy, tree)], [check.remedy for check in found]
    after = [check for check in run.judge(described, tree) if check.id == one.check]
    assert {check.result for check in after} == {PASS}, [_words(check) for check in after]


def _words(check: Check) -> str:
    return f"{check.observed}: {check.remedy}"
