# SPDX-License-Identifier: GPL-3.0-or-later
"""What pages tell people to type or to write exists."""

from __future__ import annotations

import re

import pytest

from tests.unit.docs import commands, known
from tests.unit.docs.markdown import ROOT, Page, pages

PAGES = pages()

_KEY = re.compile(r"^\s*(?:- )?([a-z][a-z0-9_]*):(?:\s|$)")
_NAMED = re.compile(r"([a-z][a-z0-9_]*)(?:[:=].*)?")
_BOOK = re.compile(r"(?:^|[\s`(])((?:playbooks/[\w/]+|site)\.yml)\b")
_FULL = re.compile(r"\bibready\.cluster\.(\w+)")


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.name)
def test_every_command_can_be_typed(one: Page) -> None:
    typed = [line for block in one.blocks for line in commands.lines(block.text)]
    typed += [line for span in one.spans if " " in span for line in commands.lines(span)]
    assert [f"{line}: {what}" for line in typed for what in commands.wrong(line)] == []


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.name)
def test_every_variable_in_a_yaml_block_is_one(one: Page) -> None:
    keys = [
        key[1]
        for block in one.blocks
        if block.language in ("yaml", "yml")
        for key in map(_KEY.match, block.text.splitlines())
        if key
    ]
    assert [name for name in keys if known.is_ours(name) and name not in known.VARIABLES] == []


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.name)
def test_every_name_of_ours_in_the_prose_is_in_the_code(one: Page) -> None:
    named = [match[1] for match in map(_NAMED.fullmatch, one.spans) if match]
    ours = [name for name in named if known.is_ours(name) and name not in known.OURS]
    assert [name for name in ours if not known.is_in_code(name)] == []


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.name)
def test_every_playbook_and_full_name_exists(one: Page) -> None:
    text = "\n".join([one.prose, *(block.text for block in one.blocks)])
    lost = [name for name in _BOOK.findall(text) if not (ROOT / name).is_file()]
    books = {path.stem for path in (ROOT / "playbooks").glob("*.yml")}
    there = known.MODULES | known.CALLBACKS | set(known.ROLES) | books
    assert lost + [name for name in _FULL.findall(text) if name not in there] == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ansible-playbook playbooks/gone.yml -i cluster", "no playbook playbooks/gone.yml"),
        ("ansible-playbook ibready.cluster.gone -i cluster", "no playbook ibready.cluster.gone"),
        ("ansible-playbook site.yml -i cluster -e ibready_gone=1", "no variable ibready_gone"),
        ("ansible-playbook site.yml -e '{\"stack_gone\": []}'", "no variable stack_gone"),
        ("ansible-playbook site.yml -i gone", "no inventory gone"),
        ("-e stack_gone=1", "no variable stack_gone"),
        ("ansible-playbook site.yml --tags gone", "no tag gone"),
        ("ansible-playbook site.yml --gone", "ansible-playbook --gone is not known here"),
        ("ansible -i cluster all -m gone", "no module gone"),
        ("ansible all -m ibready.cluster.gone", "no module ibready.cluster.gone"),
        ("ansible all -m ibverify -a gone=1", "ibverify has no option gone"),
        ("./run gone", "./run has no command gone"),
        ("./run break gone node2", "there is no fault gone"),
        ("sudo ./ibready gone", "ibready has no command in `sudo ./ibready gone`"),
        ("ibready explain ib.gone", "there is no check ib.gone"),
        ("ansible-playbook gone.yml -e 'x", "the shell does not take it: No closing quotation"),
        ("python -m sandbox gone", "python -m sandbox does not take gone"),
    ],
)
def test_what_does_not_exist_is_found(line: str, told: str) -> None:
    assert commands.wrong(line) == [told]


@pytest.mark.parametrize(
    "line",
    [
        "ansible-playbook ibready.cluster.site -i INVENTORY -e stack_relock=true --check --diff",
        ".venv/bin/ansible -i cluster all -m ibverify -a 'bundle=/srv/bundles/node7'",
        "ansible node1 -i cluster -b -a 'mlxlink -d mlx5_3'",
        "./run break cable node2",
        "apt-get install podman",
    ],
)
def test_what_exists_passes(line: str) -> None:
    assert commands.wrong(line) == []


def test_commands_are_cut_from_blocks() -> None:
    block = "ansible-playbook site.yml \\\n  -i mine   # all\n# nothing\n./run heal && ./run clean"
    assert commands.lines(block) == [
        "ansible-playbook site.yml -i mine",
        "./run heal",
        "./run clean",
    ]
