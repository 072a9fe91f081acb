# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader

from ansible_collections.ibready.cluster.plugins.module_utils._data.bench import TESTS
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import SPEC
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench import values
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import rollback
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.defined import TOP, registered
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.launchers import KINDS
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.variables import (
    OURS,
    near_misses,
    playbook_options,
    problems,
    role_options,
)
from tests import cases
from tests.unit.docs.known import PLAYBOOKS

ROLES = {
    "rdma": {
        "rdma_flavour": {"type": "str", "choices": ["inbox"], "default": "inbox"},
        "rdma_min_free_mb": {"type": "int", "default": 300},
    }
}


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({"ibready_expct": {}}, "did you mean ibready_expect?", id="misspelt own"),
        pytest.param({"rdma_min_free_mb": "lots"}, "unable to convert to int", id="wrong type"),
        pytest.param({"rdma_flavour": "mlx"}, "must be one of: inbox", id="wrong choice"),
        pytest.param({"ibready_expect": [1]}, "dict", id="a list where a dict is due"),
        pytest.param({"ibready_expect": {"rate": 4}}, "ibready_expect.rate", id="unknown key"),
        pytest.param({"ibready_ping_count": "x"}, "unable to convert to int", id="not a number"),
    ],
)
def test_what_cannot_be_meant_is_named(variables: dict[str, Any], expected: str) -> None:
    found = problems(variables, ROLES)
    assert len(found) == 1
    assert expected in found[0]


def test_good_and_foreign_variables_pass() -> None:
    variables = {
        "rdma_flavour": "inbox",
        "rdma_min_free_mb": "500",
        "ibready_expect": {"hcas": 8, "ignore": ["mlx5_9"]},
        "ibready_node": {"node": {}},
        "nccl_version": "2.27",
        "ansible_host": "10.0.0.1",
        "my_rdma_flavor": "whatever",
    }
    assert problems(variables, ROLES) == []


@pytest.mark.parametrize("size", [1, "8", "25%", "100%", [1, "10%", 50], [], 0, "0", [1, 0]])
def test_a_batch_as_ansible_counts_it(size: Any) -> None:
    assert problems({"ibready_serial": size, "ibready_max_fail_percentage": 20}, {}) == []


@pytest.mark.parametrize("size", ["half", "00", -1, "0%", "150%", 2.5, True, [1, "half"], {"n": 1}, ""])
def test_a_batch_that_ansible_would_end_over_is_told(size: Any) -> None:
    (told,) = problems({"ibready_serial": size}, {})
    wrong = size[1] if isinstance(size, list) else size
    assert told.startswith(f"ibready_serial holds {wrong!r}, and a batch is a number of hosts")
    assert "Next: " in told


@pytest.mark.parametrize("most", [-1, 101, "120"])
def test_a_share_that_is_none_is_told(most: Any) -> None:
    (told,) = problems({"ibready_max_fail_percentage": most}, {})
    assert f"ibready_max_fail_percentage is {most}, and" in told


@pytest.mark.parametrize("value", [["gpus: 8"], {"a": 1}, 7, 1.5, "word", True, None])
def test_no_message_names_a_type_that_only_ansible_knows(value: Any) -> None:
    known = {*playbook_options(), *(name for options in role_options().values() for name in options)}
    # As Ansible reads it, of types of its own.
    told = problems(DataLoader().load(json.dumps(dict.fromkeys(known, value))), role_options())
    assert told
    assert [said for said in told if "<class" in said or "_internal" in said or "Tagged" in said] == []


def first(playbook: str) -> str:
    """The playbook that the first play of this one stands in."""
    play = yaml.safe_load((TOP / "playbooks" / playbook).read_text())[0]
    part = play.get("ansible.builtin.import_playbook")
    return first(os.path.join(os.path.dirname(playbook), part)) if part else playbook


def test_every_playbook_begins_with_a_look_at_what_was_typed() -> None:
    # report.yml touches no host and needs no inventory.
    begins = {name: first(f"{name}.yml") for name in PLAYBOOKS - {"report"}}
    assert {name: book for name, book in begins.items() if book != "parts/validate.yml"} == {}


def slips(name: str) -> Iterator[str]:
    """The name with a letter left out, typed twice, typed wrong, or after the next."""
    for at, letter in enumerate(name):
        yield name[:at] + name[at + 1 :]
        yield name[:at] + letter + name[at:]
        yield name[:at] + ("x" if letter != "x" else "y") + name[at + 1 :]
        yield name[:at] + name[at + 1 : at + 2] + letter + name[at + 2 :]


def test_a_slip_in_any_name_of_ours_is_told_or_refused() -> None:
    known = {*playbook_options(), *(name for options in role_options().values() for name in options)}
    # `since` is a word that anything is near to.
    typed = sorted({slip for name in known - {"since"} for slip in slips(name)} - known - registered())
    some = typed if cases.ALL else typed[::10]
    near = near_misses(some, role_options())
    assert [name for name in some if name not in near and not name.startswith(OURS)] == []


def test_only_what_is_a_letter_or_two_from_a_name_of_ours_is_near() -> None:
    foreign = ["firewall_allowed_tcp_ports", "mpi_version", "nvidia_driver_branch", "stack_name", "rdma_devices"]
    assert near_misses(foreign, role_options()) == {}
    foreign = ["nccl_version", "my_rdma_flavor", "rdma_0", "rdma_flavours_of_the_site", "ibready_expct", "rdma_flavour"]
    assert near_misses([*foreign, "rdma_flavor"], ROLES) == {"rdma_flavor": "rdma_flavour"}


def test_what_the_playbooks_options_list_is_what_the_code_knows() -> None:
    options = playbook_options()
    choices = {name: option["choices"] for name, option in options.items() if "choices" in option}
    assert choices["launch_kind"] == ["all", *KINDS]
    assert choices["bench_what"] == list(values.WHAT)
    assert choices["bench_tests"] == list(TESTS)
    assert choices["stack_rollback_to"] == list(rollback.ROADS)
    assert options["ibready_expect"]["description"].endswith(f"keys {', '.join(f'`{key}`' for key in SPEC)}.")
    assert ", ".join(f"`{name}`" for name in values.FLOORS) in options["bench_floors"]["description"]
