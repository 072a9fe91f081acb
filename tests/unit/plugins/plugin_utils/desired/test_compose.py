# SPDX-License-Identifier: GPL-3.0-or-later
"""What the roles want, read from their own tasks; and that nothing that cannot be followed is left out."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader
from ansible.template import Templar
from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder

from ansible_collections.ibready.cluster.plugins.module_utils._data import managed_files
from ansible_collections.ibready.cluster.plugins.module_utils._desired import compare, plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._desired import compose, facts
from ansible_collections.ibready.cluster.plugins.plugin_utils._desired.items import Wanted, document

UBUNTU = {"os": {"id": "ubuntu", "version": "24.04"}, "kernel": "6.8.0-88-generic"}
ROCKY = {"os": {"id": "rocky", "version": "9.4"}, "kernel": "5.14.0-427.el9.x86_64"}
PART = {"packages": [{"name": "thing", "version": "1"}]}
PLAN = {
    "digest": "0123",
    "stack": {"rdma": {"flavour": "doca"}, "fabric_manager": {}, "imex": {}, "nccl": {"version": "2.29.7"}},
    "install": {
        "repositories": [],
        "parts": dict.fromkeys(("rdma", "nvidia_driver", "nccl", "container_toolkit"), PART),
    },
}
KNOWN = {
    "nccl_host": {"harmful": [], "release": "2.29.7", "names": ["NCCL_DEBUG"], "nccl_host": {}, "wish": {}},
}
FACTS: dict[str, Any] = {
    "__nccl_peers": [],
    "__firewall_nodes": {"node1": {"addresses": ["10.0.0.1"], "complete": True}},
    "__nccl_derived": {"refused": {}, "hosts": {"node1": {"settings": [], "keep": []}}},
    "__nvidia_driver_domains": {"node1": {"nodes": ["10.0.0.1", "10.0.0.2"], "why": ""}},
}
# What every host gets, and what a site asks for; those of the second row look for themselves.
ROLES = (
    "host_tuning",
    "rdma",
    "nvidia_driver",
    "nccl",
    "container_runtime",
    "reboot_gate",
    "roce",
    "ipoib",
    "beegfs_client",
    "firewall",
)
LOOKS = {"subnet_manager"}


@pytest.fixture(autouse=True, scope="module")
def plugins() -> Iterator[None]:
    """Ansible finds its lookups and filters only so; and what other tests import it would look for elsewhere."""
    init_plugin_loader([])
    yield
    _AnsibleCollectionFinder._remove()


def composed(role: str, node: dict[str, Any] = UBUNTU, **variables: Any) -> Wanted:
    loader = DataLoader()
    seen = {
        "inventory_hostname": "node1",
        "groups": {"all": ["node1"]},
        "hostvars": {"node1": {}},
        "ansible_run_tags": ["all"],
        "ansible_play_batch": ["node1"],
        "ansible_facts": facts.of(node),
        "ibready_plan": PLAN,
        **FACTS,
        **variables,
    }
    return compose.Composer(Templar(loader=loader), loader, seen, KNOWN).role(role)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("node", [UBUNTU, ROCKY], ids=["ubuntu", "rocky"])
def test_a_role_is_followed_whole(role: str, node: dict[str, Any]) -> None:
    wanted = composed(role, node)

    assert wanted.always == []
    assert wanted.items
    for item in wanted.items:
        assert item.kind in plain.KINDS or item.kind.removeprefix("ibready.cluster.") in compare.MODULES, item


def files(item: Any) -> set[str]:
    """The files that an item names."""
    want = item.want
    rows = [row for kind in ("files", "lines", "absent") for row in want.get(kind) or [] if isinstance(row, dict)]
    return {str(row[name]) for row in [want, *rows] for name in ("dest", "path") if row.get(name)}


@pytest.mark.parametrize("node", [UBUNTU, ROCKY], ids=["ubuntu", "rocky"])
def test_a_rollback_puts_back_every_file_that_the_document_names(node: dict[str, Any]) -> None:
    named = set().union(*(files(item) for role in ROLES for item in composed(role, node).items))
    assert {"/etc/sysctl.d/90-ibready.conf", "/etc/infiniband/openib.conf"} <= named
    kept = [managed.glob for managed in managed_files.MANAGED]
    assert {path for path in named if not any(fnmatch.fnmatchcase(path, glob) for glob in kept)} == set()


LOADED = "/etc/modules-load.d/ibready-nvidia-fs.conf"


def brought(wanted: Wanted) -> list[tuple[list[str], list[str]]]:
    """The parts that packages are brought of, and those that go."""
    found = [item.want for item in wanted.items if item.kind == "ibready.cluster.stack_packages"]
    return [(sorted(want["parts"]), sorted(want.get("absent") or [])) for want in found]


def test_gpudirect_storage_comes_after_the_driver_and_goes_with_its_file() -> None:
    without = composed("nvidia_driver")
    assert brought(without) == [(["nvidia_driver"], ["extras", "gds"])]
    assert [item.want["state"] for item in without.items if LOADED in files(item)] == ["absent"]

    parts = {**PLAN["install"]["parts"], "extras": PART, "gds": PART}
    plan = {**PLAN, "stack": {**PLAN["stack"], "gds": {}}, "install": {**PLAN["install"], "parts": parts}}
    asked = composed("nvidia_driver", ibready_plan=plan)
    assert asked.always == []
    assert brought(asked) == [(["extras", "nvidia_driver"], []), (["gds"], [])]
    assert ["nvidia_fs" in str(item.want) for item in asked.items if LOADED in files(item)] == [True]
    # An nvidia-fs of before may not build beside the new driver: the new one comes before anything is built again.
    kinds = [item.kind.rpartition(".")[2] for item in asked.items]
    assert kinds.index("nvidia_modules") > max(i for i, kind in enumerate(kinds) if kind == "stack_packages")


FOUND = {
    **PLAN,
    "stack": {
        "rdma": {"flavour": "doca", "version": "3.2.3", "found": "25.10-3.1.8.0"},
        "driver": {"version": "580.126.20", "modules": "open", "found": "580.126.20"},
        "fabric_manager": {"version": "580.126.20", "found": "580.126.20-1"},
        "nccl": {"version": "2.29.7", "found": "2.29.7-1+cuda13.0"},
        "container_toolkit": {"version": "1.18.1", "found": "1.18.1-1"},
        "dcgm": {"version": "4.4.1", "found": "1:4.4.1-1"},
        "gds": {"version": "2.26.6", "found": "2.26.6-1"},
    },
    "install": {"repositories": [], "parts": {}, "stay": ["nvidia-*"]},
}


@pytest.mark.parametrize("role", ["rdma", "nvidia_driver", "nccl", "container_runtime"])
def test_of_what_stays_as_it_was_found_nothing_is_wanted(role: str) -> None:
    wanted = composed(role, ibready_plan=FOUND)

    assert wanted.always == []
    # Neither parts that come nor parts that go: what ibready brought once stays, too.
    assert [found for found in brought(wanted) if found != ([], [])] == []
    if role in ("rdma", "nvidia_driver"):
        told = {item.kind.rpartition(".")[2] for item in wanted.items}
        assert not told & {"rdma_users", "systemd_service", "units", "nvidia_modules", "modules_look", "command"}
        written = {path for item in wanted.items if item.want.get("files") for path in files(item)}
        assert written == set()


def test_dcgm_comes_beside_a_driver_that_stays() -> None:
    install = {**FOUND["install"], "parts": {"extras": PART}}
    stack = {key: fields for key, fields in FOUND["stack"].items() if key != "dcgm"}
    wanted = composed("nvidia_driver", ibready_plan={**FOUND, "stack": stack, "install": install})
    assert brought(wanted) == [(["extras"], [])]
    (packages,) = [item.want for item in wanted.items if item.kind.endswith("stack_packages")]
    assert packages["stay"] == ["nvidia-*"]
    assert {item.kind.rpartition(".")[2] for item in wanted.items} == {"stack_packages"}


def test_ipoib_beside_a_stack_that_stays_loads_its_own_module_alone() -> None:
    wanted = composed("rdma", ibready_plan=FOUND, rdma_ipoib=True)
    (look,) = [item.want["names"] for item in wanted.items if item.kind.endswith("modules_look")]
    assert look == ["ib_ipoib"]


def test_the_distributions_own_stack_is_followed_too() -> None:
    plan = {**PLAN, "stack": {"rdma": {"flavour": "inbox"}}, "install": {"repositories": [], "parts": {}}}

    wanted = composed("rdma", ibready_plan=plan)

    assert wanted.always == []
    query = next(item for item in wanted.items if item.rest.get("stdout_lines"))
    assert "installed rdma-core" in query.rest["stdout_lines"]


@pytest.mark.parametrize("role", sorted(LOOKS))
def test_a_role_that_cannot_be_followed_says_why(role: str) -> None:
    hosts = {f"{role}_hosts": ["node1"]}
    assert composed(role, **hosts).always


def test_every_role_of_a_converge_is_one_of_these() -> None:
    listed = (compose._ROLES.parent / "playbooks/tasks/desired.yml").read_text()
    named = {line.split("name: ")[1].split(",")[0].rstrip("}") for line in listed.splitlines() if "- {name: " in line}
    assert named == {*ROLES, *LOOKS, "health_agent", "mpi"}


def test_the_site_s_own_values_are_in_the_document() -> None:
    wanted = composed("host_tuning", host_tuning_nofile=4096)

    text = str(document([wanted]))
    assert "* hard nofile 4096" in text
    assert document([wanted])["digest"] != document([composed("host_tuning")])["digest"]


@pytest.mark.parametrize(
    ("role", "rest"),
    [("roce", {"later": False}), ("nvidia_driver", {"acts": [], "absent": []})],
)
def test_what_is_not_there_yet_is_not_as_wanted(role: str, rest: dict[str, Any]) -> None:
    assert rest in [item.rest for item in composed(role).items]


def test_a_wrong_value_makes_the_role_run_which_refuses_it() -> None:
    assert composed("host_tuning", host_tuning_memlock="much").always == [
        "See that the limits are possible: it would be refused"
    ]


def test_an_unknown_system_makes_roles_run() -> None:
    assert composed("host_tuning", {"os": {"id": "plan9"}}).always


@pytest.fixture
def role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(compose, "_ROLES", tmp_path)

    def make(tasks: str, variables: str = "", **more: Any) -> Wanted:
        for folder, text in (("tasks", tasks), ("vars", variables)):
            (tmp_path / "thing" / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / "thing" / folder / "main.yml").write_text(f"---\n{text}")
        return composed("thing", **more)

    return make


LOOK = """
- name: Look
  ansible.builtin.command:
    argv: [tool]
  register: __thing_said
  changed_when: false
- name: Act
  ansible.builtin.copy: {dest: /x, content: "{{ __thing_said.rc }}"}
  when: __thing_said.rc == 0
"""


def test_a_task_that_goes_by_an_answer_goes_by_what_the_role_says_of_it(role: Any) -> None:
    wanted = role(LOOK, "__thing_rest: {__thing_said: {rc: 0}}\n")

    assert wanted.always == []
    assert [(item.task, item.rest) for item in wanted.items] == [("Look", {"rc": 0}), ("Act", {})]
    assert wanted.items[1].want["content"] == 0


def test_without_a_word_of_the_role_it_has_to_run(role: Any) -> None:
    wanted = role(LOOK)

    assert [why.partition(":")[0] for why in wanted.always] == ["Look", "Act"]
    assert wanted.items == []


@pytest.mark.parametrize(
    "task",
    [
        "ansible.builtin.command: {argv: [rm, /x]}",
        "ansible.builtin.shell: rm /x",
        "ansible.builtin.reboot: {}",
        "ansible.builtin.include_role: {name: other}",
        "community.general.ini_file: {path: /x}",
        "ibready.cluster.host_hooks: {commands: []}",
        "ibready.cluster.written_files: {files: '{{ nowhere }}'}",
        "ansible.builtin.fail: {msg: no}",
        "ansible.builtin.meta: end_host",
        "ansible.builtin.set_fact: {x: '{{ nowhere }}'}",
        "ansible.builtin.include_tasks: nowhere.yml",
    ],
)
def test_what_cannot_be_followed_makes_the_role_run(role: Any, task: str) -> None:
    wanted = role(f"- name: It\n  {task}\n")

    assert wanted.always or wanted.items == []
    assert wanted.always, task


COPY = "ansible.builtin.copy: {dest: /x, content: a}"


@pytest.mark.parametrize(
    "keyword",
    [
        "with_items: [a]",
        "until: wish",
        "become_user: other",
        "environment: {PATH: /x}",
        "no_log: true",
        "failed_when: true",
        "ignore_errors: true",
        "run_once: true",
        "delegate_to: other",
        "become: false",
        "module_defaults: {}",
        "ansible.builtin.file: {path: /x, state: absent}",
    ],
)
@pytest.mark.parametrize("place", ["task", "block"])
def test_a_keyword_that_is_not_followed_makes_the_role_run(role: Any, keyword: str, place: str) -> None:
    task = f"{COPY}\n" if place == "task" else f"block:\n    - name: In it\n      {COPY}\n"
    assert role(f"- name: It\n  {task}", wish=True).always == []
    assert role(f"- name: It\n  {task}  {keyword}\n", wish=True).always


def test_what_an_include_lends_its_tasks_makes_the_role_run(role: Any, tmp_path: Path) -> None:
    (tmp_path / "thing/tasks").mkdir(parents=True)
    (tmp_path / "thing/tasks/more.yml").write_text(f"- name: More\n  {COPY}\n")
    lent = "- name: It\n  ansible.builtin.include_tasks:\n    file: more.yml\n    apply: {%s}\n"
    assert role(lent % "tags: [a]").always == []
    assert role(lent % "become_user: other").always


def test_what_a_block_always_does_is_wanted(role: Any) -> None:
    wanted = role(f"- name: It\n  block:\n    - name: A\n      {COPY}\n  always:\n    - name: B\n      {COPY}\n")
    assert [item.task for item in wanted.items] == ["A", "B"]


def test_blocks_loops_conditions_and_included_files(role: Any, tmp_path: Path) -> None:
    (tmp_path / "thing/tasks").mkdir(parents=True)
    (tmp_path / "thing/tasks/more.yml").write_text(
        "- name: More\n  ansible.builtin.file: {path: '{{ at }}', state: absent}\n"
    )
    wanted = role(
        """
- name: Both
  when: wish
  block:
    - name: File {{ item }}
      ansible.builtin.file: {path: "/{{ item }}", state: absent}
      loop: [a, b, c]
      when: item != 'b'
- name: Left out
  ansible.builtin.shell: rm
  when: not wish
- name: Include
  ansible.builtin.include_tasks: {file: more.yml}
  vars: {at: /d}
- name: Told
  ansible.builtin.debug: {msg: "{{ nowhere }}"}
""",
        wish=True,
    )

    assert wanted.always == []
    assert [(item.task, item.want["path"]) for item in wanted.items] == [
        ("File a", "/a"),
        ("File c", "/c"),
        ("More", "/d"),
    ]


def imex(**variables: Any) -> tuple[dict[str, str], list[str], list[str]]:
    """What role nvidia_driver wants of a rack's host: files with contents, files to go, units."""
    items = composed("nvidia_driver", **variables).items
    kept = [item.want for item in items if item.kind == "ibready.cluster.written_files"]
    written = {row["path"]: row["content"] for want in kept for row in want.get("files") or []}
    absent = [row["path"] for want in kept for row in want.get("absent") or []]
    units = next(item.want["names"] for item in items if item.kind == "ibready.cluster.units")
    return written, absent, units


CHANNEL, NODES = "/etc/modprobe.d/ibready-imex.conf", "/etc/nvidia-imex/nodes_config.cfg"


def test_a_rack_s_host_gets_the_list_the_channel_and_the_service() -> None:
    written, absent, units = imex()
    assert written[NODES] == "10.0.0.1\n10.0.0.2\n"
    assert "options nvidia NVreg_CreateImexChannel0=1\n" in written[CHANNEL]
    assert (CHANNEL in absent, "nvidia-imex" in units) == (False, True)


def test_a_scheduler_that_looks_after_imex_is_left_alone() -> None:
    written, absent, units = imex(nvidia_driver_imex="job")
    assert {NODES, CHANNEL}.isdisjoint(written)
    assert (CHANNEL in absent, "nvidia-imex" in units) == (True, False)


def test_channels_of_jobs_keep_the_list() -> None:
    written, absent, units = imex(nvidia_driver_imex_channel=False)
    assert (NODES in written, CHANNEL in written, CHANNEL in absent, "nvidia-imex" in units) == (
        True,
        False,
        True,
        True,
    )


def test_without_a_whole_list_nothing_is_written_or_started() -> None:
    written, _absent, units = imex(__nvidia_driver_domains={"node1": {"nodes": [], "why": "n9 may be of its domain"}})
    assert (NODES in written, "nvidia-imex" in units) == (False, False)


def test_no_other_host_hears_of_imex() -> None:
    plan = {**PLAN, "stack": {key: value for key, value in PLAN["stack"].items() if key != "imex"}}
    written, absent, units = imex(ibready_plan=plan)
    assert {NODES, CHANNEL}.isdisjoint(written)
    # A host that was moved out of its rack loses what it had of it.
    assert (absent, "nvidia-imex" in units) == ([CHANNEL], False)
