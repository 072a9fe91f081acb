# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of causes: complete, in one order, and with commands that exist."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from string import Formatter

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import command, table
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import CONFIDENCE, Row
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.variables import playbook_options, role_options

ROOT = Path(__file__).parents[5]
KNOWN = set(CATALOG)
# Checks that are unknown where they do not pass, and so are never a cause.
NEVER_WRONG = frozenset(("fabric.ping.tested",))
OTHER = table.rows()[-1]
ROWS = [pytest.param(one, id=one.id) for one in table.rows() if one is not OTHER]


def check_of(sign: str) -> str:
    return sign.partition("~")[0]


def test_every_cause_is_there_once() -> None:
    names = [one.id for one in table.rows()]
    assert sorted(names) == sorted(set(names))
    assert OTHER.signs == ("*",)


@pytest.mark.parametrize("check_id", sorted({*CATALOG} - NEVER_WRONG))
def test_every_check_of_the_catalog_is_a_cause_or_a_sign_of_one(check_id: str) -> None:
    signs = {check_of(sign) for row in table.rows() if row is not OTHER for sign in row.signs}
    # Without a word to look for: whatever the check says, some row has it.
    bare = {sign for row in table.rows() if row is not OTHER for sign in row.signs if "~" not in sign}
    missing = f"no cause in causes/*.yml has {check_id} among its signs"
    assert any(fnmatchcase(check_id, sign) for sign in signs), missing
    assert any(fnmatchcase(check_id, sign) for sign in bare) or check_id in _IN_PARTS, missing


# Told apart by what they say, in rows that together have all of it.
_IN_PARTS = ("ib.port.state", "nccl.conf.harm")


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_checks_that_there_are(row: Row) -> None:
    for sign in (*row.signs, *row.explains):
        name, _, says = sign.partition("~")
        assert any(fnmatchcase(one, name) for one in KNOWN), sign
        re.compile(says)


@pytest.mark.parametrize("row", ROWS)
def test_what_needs_no_rdma_is_not_laid_at_its_door(row: Row) -> None:
    areas = ("ib.", "roce.", "pci.hca.", "stack.rdma.", "host.rdma.", "host.module.rdma")
    apart = ("fabric.tcp.", "fleet.host.", "fleet.time.", "fleet.container.", "fleet.gpu.", "fleet.driver.")
    if any(sign.startswith(areas) for sign in row.signs):
        names = [check_of(sign) for sign in row.here]
        told = {one for one in KNOWN if one.startswith(apart) and any(fnmatchcase(one, name) for name in names)}
        assert told == set()


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_told_in_full(row: Row) -> None:
    assert row.effect in table.effects().values()
    assert row.confidence in CONFIDENCE
    assert row.source
    assert not (row.ratio and row.share)
    assert row.loss is None or 0 < row.loss <= 1
    assert bool(row.fix.play) != bool(row.fix.words)
    assert row.fix.mends or row.fix.note, "what hands have to do is not told"


@pytest.mark.parametrize("row", ROWS)
def test_a_command_needs_only_what_can_be_known(row: Row) -> None:
    needs = {name for word in (*row.fix.play, *row.fix.words) for _, name, _, _ in Formatter().parse(word) if name}
    assert needs <= set(command.VALUES)
    assert not needs or (row.fix.otherwise and not row.fleet)
    assert not any("{" in word for word in row.fix.otherwise)


@pytest.mark.parametrize("row", [pytest.param(one, id=one.id) for one in table.rows() if one.fix.play])
def test_a_playbook_its_tags_and_its_variables_exist(row: Row) -> None:
    book, *words = row.fix.play
    assert (ROOT / book).exists()
    tags = " ".join(path.read_text() for path in ROOT.glob("roles/*/tasks/*.yml"))
    variables = {*playbook_options(), *(name for one in role_options().values() for name in one)}
    for option, value in zip(words[::2], words[1::2], strict=True):
        if option == "--tags":
            assert all(re.search(rf"\b{tag}\b", tags) for tag in value.split(",")), value
        else:
            assert option == "-e"
            assert value.partition("=")[0] in variables


def test_losses_put_the_effects_in_a_sensible_order() -> None:
    loss = {one.id: one.loss for one in table.effects().values()}
    assert all(0 < one <= 1 for one in loss.values())
    order = ["stops", "tcp", "nvlink", "no_gdr", "detour", "gpu_slow", "skew", "jitter", "risk"]
    assert sorted(order, key=lambda name: -loss[name]) == order
    assert all(one.source for one in table.effects().values())


def test_every_check_that_the_table_names_is_in_the_catalog() -> None:
    named = {check_of(sign) for row in table.rows() for sign in (*row.signs, *row.explains)}
    assert {one for one in named if "*" not in one} <= set(CATALOG)
