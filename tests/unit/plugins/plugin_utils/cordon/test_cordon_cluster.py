# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster as kubectl shows it: a stand-in for the API server, asked by the real kubectl where there is one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon import cluster, plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon.cluster import Cluster, do
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon.node import TAINT, ClusterError
from tests.unit import api_server
from tests.unit.api_server import Server

LIMITS = plan.Limits(plan.KINDS, 1)
HOST = plan.Host("node1", "node1", "not_ready", ("ib.port.state",))
AT = "2026-11-27T03:00:00+00:00"
Make = Callable[[Server], Cluster]
THEIRS = {"key": "maintenance", "value": "disk", "effect": "NoSchedule"}


@pytest.fixture(params=["simulated", "real"])
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """A cluster, asked by our own idea of kubectl and by the real one."""
    if request.param == "simulated":
        yield lambda server: Cluster("kubectl", "training", lambda words: api_server.kubectl(server, words))
        return
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed: its words are held against our idea of it alone")
    monkeypatch.setenv("HOME", str(tmp_path))
    opened = []

    def real(server: Server) -> Cluster:
        served = api_server.served(server, tmp_path)
        monkeypatch.setenv("KUBECONFIG", str(served.__enter__()))
        opened.append(served)
        return Cluster("kubectl", "training")

    yield real
    for served in opened:
        served.__exit__(None, None, None)


def step(cluster: Cluster, host: plan.Host = HOST) -> plan.Step:
    (found,) = plan.plan([host], cluster.nodes(), LIMITS, AT).steps
    return found


def test_all_pages_are_read(make: Make) -> None:
    server = Server(*[api_server.node(f"node{at}") for at in range(601)])
    assert len(make(server).nodes()) == 601
    assert server.asked.count("/api/v1/nodes") == 3


def test_out_and_back(make: Make) -> None:
    server = Server(api_server.node("node1", taints=[THEIRS]), api_server.node("node2"))
    cluster = make(server)
    assert do(cluster, HOST, step(cluster), LIMITS, AT, dry=False)
    spec = server.nodes["node1"]["spec"]
    assert (spec["unschedulable"], [one["key"] for one in spec["taints"]]) == (True, ["maintenance", TAINT])
    host = plan.Host("node1", "node1", "ready", seen=frozenset(HOST.bad))
    assert do(cluster, host, step(cluster, host), LIMITS, AT, dry=False)
    assert server.nodes["node1"]["spec"] == {"taints": [THEIRS]}
    assert server.nodes["node1"]["metadata"]["annotations"] == {}
    assert server.nodes["node2"] == api_server.node("node2")


def test_a_dry_run_asks_the_server_and_keeps_nothing(make: Make) -> None:
    server = Server(api_server.node("node1"))
    cluster = make(server)
    assert do(cluster, HOST, step(cluster), LIMITS, AT, dry=True)
    assert server.nodes == {"node1": api_server.node("node1")}
    ((_name, _patch, query),) = server.patches
    assert query["dryRun"] == ["All"]


def test_what_somebody_changed_meanwhile_is_kept(make: Make) -> None:
    server = Server(api_server.node("node1"))
    cluster = make(server)
    planned = step(cluster)
    server.between = [lambda: server.change("node1", taints=[THEIRS])]
    assert do(cluster, HOST, planned, LIMITS, AT, dry=False)
    assert [one["key"] for one in server.nodes["node1"]["spec"]["taints"]] == ["maintenance", TAINT]


def test_what_somebody_did_meanwhile_is_theirs(make: Make) -> None:
    server = Server(api_server.node("node1"))
    cluster = make(server)
    planned = step(cluster)
    server.between = [lambda: server.change("node1", unschedulable=True)]
    assert do(cluster, HOST, planned, LIMITS, AT, dry=False) is None
    assert server.nodes["node1"]["spec"] == {"unschedulable": True}


def test_what_a_webhook_takes_away_is_no_success(make: Make) -> None:
    server = Server(api_server.node("node1"))
    server.drops = {"taints"}
    cluster = make(server)
    with pytest.raises(ClusterError, match="webhook"):
        do(cluster, HOST, step(cluster), LIMITS, AT, dry=False)


def test_a_refusal_is_told_without_a_secret(make: Make) -> None:
    server = Server(api_server.node("node1"))
    server.forbidden = True
    cluster = make(server)
    with pytest.raises(ClusterError, match=r"kubectl could not patch node node1: .*forbidden.*Next: .*can-i") as said:
        do(cluster, HOST, step(cluster), LIMITS, AT, dry=False)
    assert api_server.TOKEN not in str(said.value)


def test_a_node_that_is_gone_is_an_error(make: Make) -> None:
    with pytest.raises(ClusterError, match=r"could not read node node7: .*not found"):
        make(Server()).node("node7")


def test_secrets_in_kubectls_words_are_masked() -> None:
    said = "error: Authorization: Bearer abcdef0123456789 was refused\x1b[2J"
    cluster = Cluster("kubectl", "training", lambda _words: Output(1, "", said))
    with pytest.raises(ClusterError) as raised:
        cluster.nodes()
    assert "abcdef0123456789" not in str(raised.value)
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize("before", ["error: Authorization: Bearer ", "token="])
def test_a_secret_that_is_longer_than_a_message_is_masked_whole(before: str) -> None:
    secret = "a1B2-c3D4_" * 90
    for done in (Output(1, "", before + secret), Output(1, before + secret, "")):
        with pytest.raises(ClusterError) as raised:
            Cluster("kubectl", "training", lambda _words, done=done: done).nodes()
        assert secret[:10] not in str(raised.value)


def test_a_kubectl_that_is_missing_or_hangs_is_told() -> None:
    def hangs(_words: list[str]) -> Output:
        raise Unavailable("kubectl", "gave no complete answer within 60 s")

    with pytest.raises(ClusterError, match=r"could not list the nodes: .*60 s"):
        Cluster("kubectl", "training", hangs).nodes()
    with pytest.raises(ClusterError, match="not installed"):
        Cluster("no-such-kubectl", "training").nodes()


def test_a_server_that_never_ends_its_list_is_left() -> None:
    page = '{"kind": "NodeList", "metadata": {"continue": "x"}, "items": []}'
    asked: list[int] = []
    with pytest.raises(ClusterError, match="pages"):
        Cluster("kubectl", "training", lambda _words: asked.append(1) or Output(0, page, "")).nodes()
    assert len(asked) == cluster._PAGES


def test_an_answer_that_does_not_end_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_MOST", 2**20)
    endless = tmp_path / "kubectl"
    endless.write_text("#!/bin/sh\nexec yes\n")
    endless.chmod(0o755)
    with pytest.raises(ClusterError, match="could not list the nodes: kubectl: printed more than 1 MiB"):
        Cluster(str(endless), "training").nodes()


@pytest.mark.parametrize("context", ["", "-x", "a b", "a\nb", "--token=x", "a" * 300])
def test_a_context_has_to_be_said_and_be_a_name(context: str) -> None:
    with pytest.raises(ClusterError, match="cordon_context"):
        Cluster("kubectl", context)


@pytest.mark.parametrize("context", ["training", "arn:aws:eks:eu-1:12:cluster/x", "admin@gpu.example.com:6443"])
def test_words_have_the_context_first_and_no_shell(context: str) -> None:
    seen: list[list[str]] = []

    def run(words: list[str]) -> Output:
        seen.append(words)
        return Output(0, '{"kind": "NodeList", "items": []}', "")

    assert Cluster("kubectl", context, run).nodes() == {}
    assert seen == [[f"--context={context}", "--request-timeout=30s", "get", "--raw", "/api/v1/nodes?limit=250"]]
