# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags that nobody has, and files of variables that nothing reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._site import defined, misspelt

GROUPS = {"all": ["n1", "gpu01.example.com"], "hgx_h100": ["n1"], "ungrouped": []}


@pytest.mark.parametrize(
    ("tag", "near"),
    [
        pytest.param("nvidia-driver", "nvidia_driver_packages", id="a role, with a hyphen"),
        pytest.param("nvidia_driver", "nvidia_driver_packages", id="a role, whose tags begin with its name"),
        pytest.param("nccl-conf", "nccl_conf", id="a hyphen"),
        pytest.param("rdma_packges", "rdma_packages", id="a letter left out"),
    ],
)
def test_a_tag_that_nobody_has_is_told_with_what_may_be_meant(tag: str, near: str) -> None:
    found = misspelt.strange_tags(["all", tag, "nccl_conf"])
    assert list(found) == [tag]
    assert near in found[tag]
    assert f"has the tag {tag}; did you mean " in misspelt.told_tag(tag, found[tag])


def test_a_tag_like_none_of_ours_is_strange_and_means_nothing() -> None:
    assert misspelt.strange_tags(["monitoring"]) == {"monitoring": []}
    assert misspelt.strange_tags(["all", "tagged", "untagged", "never", "always", *defined.tags()]) == {}


def test_a_tag_is_refused_where_only_ours_can_be_meant_and_told_where_the_site_may_have_it() -> None:
    ours, theirs = [str(defined.TOP / "site.yml")], ["/srv/site.yml"]
    near, foreign = "has the tag nccl-conf; did you mean nccl_conf?", "has the tag notest; next: "

    def said(run: list[str], skip: list[str], playbooks: list[str]) -> tuple[str, str]:
        refused, told = misspelt.tags(run, skip, playbooks)
        return " ".join(refused), " ".join(told)

    for tags in (["nccl-conf"], []), ([], ["nccl-conf"]):
        assert near in said(*tags, ours)[0]
        assert near in said(*tags, theirs)[1]
    assert foreign in said(["notest"], [], ours)[0]
    assert foreign in said([], ["notest"], ours)[1]
    assert said(["notest"], ["notest"], theirs) == ("", "")
    assert said(["all"], ["nccl_conf"], ours) == ("", "")


@pytest.mark.parametrize(
    ("playbooks", "ours"),
    [
        pytest.param([], False, id="none, as where nobody typed a command"),
        pytest.param([str(defined.TOP / "site.yml")], True, id="the checkout's"),
        pytest.param([str(defined.TOP / "playbooks/converge.yml"), "ibready.cluster.verify"], True, id="two of ours"),
        pytest.param([str(defined.TOP / "mine.yml")], False, id="the site's, in the checkout"),
        pytest.param(["/srv/site.yml"], False, id="the site's, of the same name"),
        pytest.param(["ibready.cluster.verify", "/srv/site.yml"], False, id="one of each"),
    ],
)
def test_whose_tags_are_all_that_there_are(playbooks: list[str], ours: bool) -> None:
    assert misspelt.only_ours(playbooks) is ours


def site(tmp_path: Path, *names: str) -> list[str]:
    """What is told of these files of variables beside an inventory."""
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir()
        else:
            path.write_text("---\n")
    return [said.removeprefix(f"{tmp_path}/") for said in misspelt.strays([str(tmp_path / "hosts.yml")], "", GROUPS)]


@pytest.mark.parametrize(
    ("name", "what", "near"),
    [
        ("group_vars/hgx-h100.yml", "group hgx-h100", "group_vars/hgx_h100.yml"),
        ("group_vars/hgx-h100/", "group hgx-h100", "group_vars/hgx_h100"),
        ("host_vars/gpu1.example.com", "host gpu1.example.com", "host_vars/gpu01.example.com"),
        ("host_vars/hgx_h100.yaml", "host hgx_h100", "group_vars/hgx_h100.yaml"),
        ("group_vars/storage.yml", "group storage", ""),
    ],
)
def test_a_file_that_nothing_reads_is_told_with_what_may_be_meant(
    tmp_path: Path, name: str, what: str, near: str
) -> None:
    (tmp_path / "hosts.yml").write_text("---\n")
    more = f"; did you mean {near}?" if near else ""
    assert site(tmp_path, name) == [f"{name.rstrip('/')}: this inventory has no {what}, so nothing reads it{more}"]


def test_what_ansible_reads_or_is_a_text_for_people_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text("---\n")
    (tmp_path / "stack.lock.yml").write_text("---\n")
    names = ("all.yml", "ungrouped.json", "hgx_h100/", "README.md", ".hidden", "old.yml~")
    hosts = ("n1.yml", "gpu01.example.com", "gpu01.example.com.yml", "localhost.yml")
    assert site(tmp_path, *(f"group_vars/{name}" for name in names), *(f"host_vars/{name}" for name in hosts)) == []


def test_what_another_inventory_may_have_is_told_only_where_it_is_like_one_of_this(tmp_path: Path) -> None:
    for name in ("hosts.yml", "other.yml"):
        (tmp_path / name).write_text("---\n")
    assert site(tmp_path, "group_vars/storage.yml") == []
    assert len(site(tmp_path, "group_vars/hgx_h10.yml")) == 1


def test_of_a_folder_full_of_another_inventory_s_files_few_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text("---\n")
    found = site(tmp_path, *(f"host_vars/other{number:04}.yml" for number in range(500)))
    assert len(found) == 21
    assert found[-1] == "host_vars: 480 more files are no group's and no host's"


def test_beside_the_playbook_and_in_a_folder_as_inventory(tmp_path: Path) -> None:
    for name in ("book/group_vars/hgx-h100.yml", "book/group_vars/storage.yml", "inv/host_vars/n2/x.yml", "inv/a.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("---\n")
    inventories = [str(tmp_path / "inv"), "n1,n2,", str(tmp_path / "gone.yml")]
    told = misspelt.strays(inventories, str(tmp_path / "book"), {**GROUPS, "all": ["login"]})
    assert [said.partition(": ")[0].removeprefix(f"{tmp_path}/") for said in told] == [
        "inv/host_vars/n2",
        "book/group_vars/hgx-h100.yml",
    ]


def test_what_roles_and_playbooks_set_themselves_is_known() -> None:
    assert defined.registered() >= {"__container_runtime_engines", "__rdma_firmware_turns", "ibready_incast_told"}
    assert defined.registered() >= {"ibready_node", "ibready_report_follows", "ibready_bench_round"}
