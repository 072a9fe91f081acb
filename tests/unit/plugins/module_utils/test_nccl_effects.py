# SPDX-License-Identifier: GPL-3.0-or-later
"""What values do to jobs: numbers and words by release, files and plugins, what is left from debugging, lists."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_left, nccl_names
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_variables import VARIABLES
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import redact
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import sendable
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import registry, values
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.made import HARMFUL, Made
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import release
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import verdict_object
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verify import verify
from tests.gauntlet import render
from tests.unit.corpus import CORPUS
from tests.unit.plugins.module_utils.test_checks_nccl import judge, node, one

pytestmark = pytest.mark.thorough

FACTS = CORPUS.parent / "facts" / "nccl_env.json"


def made(name: str, value: str, version: str | None = None) -> Made:
    return values.made(name, value, release(version) if version else None)


@pytest.mark.parametrize(
    ("name", "value", "version", "harmless", "says"),
    [
        ("NCCL_IB_QPS_PER_CONNECTION", "0", None, False, "no queue pair to send on"),
        ("NCCL_IB_QPS_PER_CONNECTION", "129", None, False, "no room for so many"),
        ("NCCL_IB_QPS_PER_CONNECTION", "64", None, True, "HCA's cache"),
        ("NCCL_IB_TIMEOUT", "1", None, True, "error 12"),
        ("NCCL_IB_TIMEOUT", "32", None, False, "no timeout at all"),
        ("NCCL_MAX_NCHANNELS", "1", None, True, "so few channels"),
        ("NCCL_MAX_CTAS", "0", None, True, "the guide knows 1 to 64"),
        ("NCCL_NTHREADS", "100", None, True, "the guide knows 64, 128, 256, 512"),
        ("NCCL_BUFFSIZE", "4", None, False, "fail or hang"),
        ("NCCL_BUFFSIZE", "65536", None, True, "a part of the bandwidth"),
        ("NCCL_IB_GID_INDEX", "-3", None, False, "no HCA has such an entry"),
        ("NCCL_IB_ROCE_VERSION_NUM", "3", None, False, "no GID has this version"),
        ("NCCL_PXN_DISABLE", "7", None, True, "the guide knows 0 to 1"),
        ("NCCL_ALGO", "Tre", "2.24.3", False, "every job ends"),
        ("NCCL_ALGO", "Tre", "2.22.3", False, "passes over the word"),
        ("NCCL_ALGO", "Tre", None, False, "from 2.24 on every job ends"),
        ("NCCL_ALGO", "PAT", "2.22.3", False, "none of RING, TREE"),
        ("NCCL_ALGO", "ring;allreduce:tree", "2.22.3", False, "passes over"),
        ("NCCL_ALGO", "allredce:tree", "2.27.3", False, "none of ALLGATHER"),
        ("NCCL_ALGO", ";Ring", "2.27.3", False, "'Ring' is none of ALLGATHER"),
        ("NCCL_ALGO", "Ring;Tree", "2.27.3", False, "'Tree' is none of ALLGATHER"),
        ("NCCL_ALGO", "Ring;", "2.22.3", False, "'Ring;' is none of"),
        ("NCCL_ALGO", "allreduce:", "2.27.3", False, "'allreduce' is none of"),
        ("NCCL_ALGO", ",", "2.27.3", False, "'' is none of"),
        ("NCCL_ALGO", "Tree,", "2.27.3", True, "a collective that Tree cannot"),
        ("NCCL_PROTO", "Simple,,LL128,", "2.27.3", True, "damages data"),
        ("NCCL_DEBUG_SUBSYS", ",", None, True, "'' is none of"),
        ("NCCL_ALGO", "Tree", "2.27.3", True, "nothing falls back to ring"),
        ("NCCL_PROTO", "LL64", "2.24.3", False, "every job ends"),
        ("NCCL_PROTO", "LL128", "2.24.3", True, "damages data"),
        ("NCCL_NET", "InfiniBand", "2.27.3", False, "every job ends"),
        ("NCCL_NET", "mlx5_0", None, False, "every job ends"),
        ("NCCL_NET", "somebody's", None, True, "without a plugin"),
        ("NCCL_DEBUG_SUBSYS", "INIT,NETT", None, True, "'NETT' is none of"),
        ("NCCL_DEBUG", "TRACE", None, True, "written into the log"),
        ("NCCL_CHECK_MODE", "debug_local", None, True, "costs latency"),
        ("NCCL_NETDEVS_POLICY", "MAX:0", None, False, "neither MAX:N nor ALL"),
        ("NCCL_RAS_ADDR", "localhost", None, False, "no HOST:PORT"),
        ("NCCL_RAS_TIMEOUT_FACTOR", "0", None, False, "no number above 0"),
    ],
)
def test_what_stops_or_cripples_is_told(name: str, value: str, version: str | None, harmless: bool, says: str) -> None:
    found = made(name, value, version)
    assert says in found.differs
    assert (found.harmless, bool(found.kind)) == (harmless, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_ALGO", "^Tree"),
        ("NCCL_ALGO", "ring,collnetdirect;allreduce:tree,collnetdirect;broadcast:ring"),
        ("NCCL_ALGO", "allreduce:^tree"),
        ("NCCL_ALGO", "Ring,Tree"),
        ("NCCL_PROTO", "^LL128"),
        ("NCCL_ALGO", "Ring,"),
        ("NCCL_ALGO", "Tree,,Ring"),
        ("NCCL_ALGO", "Ring;"),
        ("NCCL_ALGO", "Ring;;allreduce:,tree,"),
        ("NCCL_ALGO", ";allreduce:tree"),
        ("NCCL_ALGO", "^"),
        ("NCCL_PROTO", "simple"),
        ("NCCL_PROTO", "Simple,"),
        ("NCCL_DEBUG_SUBSYS", "INIT,"),
        ("NCCL_DEBUG_SUBSYS", "^,COLL,"),
        ("NCCL_NET", "ib"),
        ("NCCL_NET", "Socket"),
        ("NCCL_NET", "AWS Libfabric"),
        ("NCCL_NET", "IBext_v8"),
        ("NCCL_DEBUG_SUBSYS", "INIT,NET,GRAPH"),
        ("NCCL_DEBUG_SUBSYS", "^COLL"),
        ("NCCL_CTA_POLICY", "EFFICIENCY|ZERO"),
        ("NCCL_NETDEVS_POLICY", "MAX:2"),
        ("NCCL_RAS_TIMEOUT_FACTOR", "1.5"),
        ("NCCL_IB_TIMEOUT", "22"),
        ("NCCL_IB_QPS_PER_CONNECTION", "4"),
        ("NCCL_NTHREADS", "512"),
        ("NCCL_CUMEM_ENABLE", "-2"),
    ],
)
def test_what_is_right_by_the_guide_is_let_be(name: str, value: str) -> None:
    assert not made(name, value).differs


@pytest.mark.parametrize(
    ("name", "value", "meant"), [("NCCL_ALGO", "Tre,Ring", "Tree,Ring"), ("NCCL_NET", "tcp", "Socket")]
)
def test_what_was_probably_meant_is_advised(name: str, value: str, meant: str) -> None:
    assert made(name, value).meant == meant


def problem(lines: dict[str, str], check_id: str = "nccl.conf.doubts", **nccl: Any) -> list[Check]:
    return [check for check in judge(node(nccl_conf=lines), **nccl) if check.id == check_id and check.result == FAIL]


VALUES = (
    *("0", "1", "2", "3", "8", "33", "64", "256", "1000", "1048576", "Ring", "Simple", "GROUP", "abc", "LOC"),
    *("Socket", "/etc/x", "192.0.2.1:28028", "=lo", "^mlx5"),
)


@pytest.mark.parametrize("left", nccl_left.LEFT, ids=lambda left: left.name)
def test_every_row_of_the_debugging_list_tells_of_some_value(left: nccl_left.Left) -> None:
    assert any(left.means in check.cause for value in VALUES for check in problem({left.name: value}))


def told(name: str, value: str) -> bool:
    """Whether a check fails for what the value does, and not for how it is written."""
    failed = [check for check in judge(node(nccl_conf={name: value})) if check.result == FAIL]
    ours = [check for check in failed if name in f"{check.subject} {check.observed}"]
    return any("no word is understood" not in check.cause for check in ours)


def test_every_variable_of_the_guide_s_debugging_list_is_told_of_with_some_value() -> None:
    if not FACTS.exists():
        pytest.skip(f"no facts at {FACTS} (set IBREADY_CORPUS)")
    known = json.loads(FACTS.read_text())["variables"]
    listed = {entry["name"] for entry in known if entry["doc_category"] == "Debugging"}
    left = {name for name in listed if not VARIABLES[name].last}
    assert len(left) > 60
    assert {name for name in left if not any(told(name, value) for value in VALUES)} == set()


@pytest.mark.parametrize(
    ("name", "value"), [("NCCL_PXN_DISABLE", "1"), ("NCCL_ALGO", "Ring"), ("NCCL_NVLS_ENABLE", "0")]
)
def test_what_is_left_from_debugging_is_a_doubt_until_the_site_asks_for_it(name: str, value: str) -> None:
    (found,) = problem({name: value})
    assert (found.severity, name in found.observed) == ("warning", True)
    assert problem({name: value}, policy={"nccl_conf_variables": {name: value}}) == []


@pytest.mark.parametrize(("name", "value"), [("NCCL_IB_QPS_PER_CONNECTION", "4"), ("NCCL_PXN_DISABLE", "0")])
def test_what_sites_choose_may_stay(name: str, value: str) -> None:
    assert problem({name: value}) == []


def test_a_number_that_few_want_is_the_site_s_word_where_it_asks_for_it() -> None:
    lines = {"NCCL_IB_TIMEOUT": "28"}
    assert "half an hour" in problem(lines)[0].cause
    assert problem(lines, policy={"nccl_conf_variables": lines}) == []


def test_memory_that_cannot_be_shared_is_not_told_to_turn_nvlink_sharp_off() -> None:
    (found,) = problem({"NCCL_CUMEM_ENABLE": "0"})
    assert "MNNVL" in found.cause
    assert "SHARP" not in found.cause


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_SOCKET_IFNAME", "^docker0,lo"),
        ("NCCL_SOCKET_IFNAME", "^lo,docker"),
        ("NCCL_SOCKET_IFNAME", "^lo,docker,veth"),
        ("NCCL_IB_HCA", ",".join(f"mlx5_{number}:1" for number in range(8))),
        ("NCCL_IB_HCA", "^mlx5_8,mlx5_9"),
    ],
)
def test_what_this_host_cannot_have_is_no_doubt(name: str, value: str) -> None:
    assert problem({name: value}) == []


@pytest.mark.parametrize(
    ("more", "value", "told"),
    [
        ("virbr0", "^lo,docker", "virbr may be taken"),
        ("docker_gwbridge", "^lo,docker0", "docker may be taken"),
        ("eth10", "eth1", "as eth10 is"),
        ("eth1", "eth1,eth10", ""),
    ],
)
def test_what_this_host_has_is_a_doubt(more: str, value: str, told: str) -> None:
    made = node(nccl_conf={"NCCL_SOCKET_IFNAME": value})
    tree = render.render(made)
    interfaces = json.loads(tree.run("ip_addr").stdout)
    added = [{**interfaces[1], "ifname": name} for name in dict.fromkeys((more, "eth10"))]
    tree.command("ip_addr", json.dumps([*interfaces, *added]))
    causes = [check.cause for check in judge(made, tree) if check.id == "nccl.conf.doubts" and check.result == FAIL]
    assert [told in cause for cause in causes] == ([True] if told else [])


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("NCCL_FASTRAK_NUM_FLOWS", "libnccl-net.so"),
        ("NCCL_TUNER_CONFIG_PATH", "libnccl-tuner.so"),
        ("OFI_NCCL_PROTOCOL", "libnccl-net-ofi.so"),
    ],
)
def test_a_plugin_s_variable_is_told_where_the_plugin_is_not_seen(name: str, library: str) -> None:
    lines = {name: "x", "NCCL_TUNER_PLUGIN": "none"}
    (found,) = problem(lines)
    assert ("may" in found.cause, "it is no variable of NCCL itself" in found.observed) == (True, True)
    made = node(nccl_conf=lines)
    tree = render.render(made)
    tree.command(
        "ldconfig", f"1 libs found in cache `/etc/ld.so.cache'\n\t{library} (libc6,x86-64) => /lib/{library}\n"
    )
    assert [check for check in judge(made, tree) if check.id == "nccl.conf.doubts" and check.result == FAIL] == []
    led = node(nccl_conf={"NCCL_FASTRAK_NUM_FLOWS": "2", "NCCL_NET_PLUGIN": "/opt/net.so"})
    tree = render.render(led)
    tree.file("/opt/net.so", "")
    assert [check for check in judge(led, tree) if check.id == "nccl.conf.doubts" and check.result == FAIL] == []


def test_no_variable_of_nccl_is_taken_for_a_plugin_s() -> None:
    assert [name for name in (*VARIABLES, *nccl_names.BINARY_ONLY) if registry.plugin(name)] == []


def test_files_and_plugins_that_are_not_there() -> None:
    assert "there is no /opt/topo.xml" in problem({"NCCL_TOPO_FILE": "/opt/topo.xml"})[0].observed
    (ends,) = problem({"NCCL_GRAPH_FILE": "/opt/graph.xml"}, "nccl.conf.lines")
    assert "every job ends" in ends.cause
    made = node(nccl_conf={"NCCL_TOPO_FILE": "/opt/topo.xml", "NCCL_NET_PLUGIN": "foo", "NCCL_NET": "IBext"})
    tree = render.render(made)
    tree.file("/opt/topo.xml", "<system/>")
    cache = "{} libs found in cache `/etc/ld.so.cache'\n\tlibc.so.6 (libc6,x86-64) => /lib/libc.so.6\n"
    tree.command("ldconfig", cache.format(1))
    told = [check.observed for check in judge(made, tree) if check.id == "nccl.conf.doubts"]
    assert told == [
        "NCCL_NET_PLUGIN: no library 'foo' is there",
        "NCCL_NET: the network 'IBext', and no libnccl-net.so",
    ]
    plugin = "\tlibnccl-net-foo.so (libc6,x86-64) => /usr/lib/libnccl-net-foo.so\n"
    tree.command("ldconfig", cache.format(2) + plugin)
    assert [check for check in judge(made, tree) if check.id == "nccl.conf.doubts" and check.result == FAIL] == []


def test_a_log_that_all_processes_write_to() -> None:
    (found,) = problem({"NCCL_DEBUG_FILE": "/var/log/nccl.log"})
    assert "%h.%p" in found.remedy
    assert problem({"NCCL_DEBUG_FILE": "/var/log/nccl.%h.%p"}) == []


@pytest.mark.parametrize(
    ("value", "severity", "cause"),
    [
        ("=mlx4_0", "error", "over TCP"),
        ("=mlx5_0", "warning", "not the rails"),
        ("^mlx5", "error", "over TCP"),
    ],
)
def test_an_hca_list_is_held_against_the_ports_whoever_set_it(value: str, severity: str, cause: str) -> None:
    lines = {"NCCL_IB_HCA": value}
    (found,) = problem(lines, "nccl.conf.harm", policy={"nccl_conf_variables": lines})
    assert (found.severity, cause in found.cause) == (severity, True)


def test_without_an_hca_jobs_end_where_nccl_may_use_nothing_else() -> None:
    lines = {"NCCL_IB_HCA": "=mlx4_0", "NCCL_NET": "IB"}
    (found,) = problem(lines, "nccl.conf.harm", policy={"nccl_conf_variables": lines})
    assert "every job ends" in found.cause


@pytest.mark.parametrize(("value", "cause"), [("=lo", "no other host"), ("=eth77", "every job ends")])
def test_an_interface_list_that_leaves_nothing_to_meet_on(value: str, cause: str) -> None:
    lines = {"NCCL_SOCKET_IFNAME": value}
    (found,) = problem(lines, "nccl.conf.harm", policy={"nccl_conf_variables": lines})
    assert cause in found.cause


def test_what_files_set_is_told_where_systemd_cannot_be_asked() -> None:
    made = node()
    tree = render.render(made)
    tree.command("nccl_copies", "set\tNCCL_IB_HCA\t=mlx4_0\t/etc/environment\t4\nend\t1\n")
    for name in [name for name in tree.commands if name.startswith("systemctl_show")]:
        tree.broken[name] = "no systemd here"
    checks = judge(made, tree)
    environment = one(checks, "nccl.copies.environment")
    assert (environment.result, "NCCL_IB_HCA==mlx4_0" in environment.observed) == (FAIL, True)
    harm = [check for check in checks if check.id == "nccl.conf.harm" and check.result == FAIL]
    assert [check.subject for check in harm] == ["/etc/environment:4"]


def test_a_user_s_own_file_is_judged_and_is_nobody_else_s_environment() -> None:
    made = node()
    tree = render.render(made)
    own = "conf\t/root/.nccl.conf\troot\nset\tNCCL_SOCKET_IFNAME\t=lo\t/root/.nccl.conf\t1\nend\t2\n"
    tree.command("nccl_copies", own)
    checks = judge(made, tree)
    assert one(checks, "nccl.copies.environment").result == PASS
    harm = one(checks, "nccl.conf.harm")
    assert (harm.subject, harm.severity) == ("/root/.nccl.conf:1", "error")
    tree.command("nccl_copies", own.replace("/root", "/home/ada").replace("root", "ada"))
    assert one(judge(made, tree), "nccl.conf.harm").severity == "warning"


def test_a_folder_in_place_of_the_file() -> None:
    made = node()
    tree = render.render(made)
    answer = json.loads(tree.run("nccl_proof").stdout)
    answer["proof"]["value"]["taken"] = {}
    tree.command("nccl_proof", json.dumps(answer) + "\n")
    real = tree.read_bytes

    def read_bytes(path: str) -> bytes:
        if path == "/etc/nccl.conf":
            raise Unavailable(path, "is a directory")
        return real(path)

    tree.read_bytes = read_bytes  # type: ignore[method-assign]
    taken = one(judge(made, tree), "nccl.conf.taken")
    assert (taken.result, "is a directory" in taken.cause) == (FAIL, True)
    assert UNKNOWN not in {check.result for check in judge(made, tree) if check.id.startswith("nccl.conf.l")}


def test_every_byte_survives_the_way_to_the_controller() -> None:
    text = b"a\xff\xc3\xa4".decode("utf-8", "surrogateescape")
    told = sendable({text: [text, ("\ud800",), 1, None]})
    assert told == {"a\\xff\u00e4": ["a\\xff\u00e4", ["\\ud800"], 1, None]}


def test_a_byte_that_is_no_utf_8_in_nccl_conf_costs_nobody_the_verdict() -> None:
    made = node()
    tree = render.render(made)
    tree.file("/etc/nccl.conf", b"NCCL_NET_PLUGIN=caf\xe9\n")
    answer = json.loads(tree.run("nccl_proof").stdout)
    answer["proof"]["value"]["taken"] = {"NCCL_NET_PLUGIN": "caf\udce9"}
    tree.command("nccl_proof", json.dumps(answer) + "\n")
    seen = verify(tree, from_inventory(made.expect), ["nccl"])
    told = sendable(verdict_object("node1", seen.checks, seen.facts))
    assert json.dumps(told, ensure_ascii=False).encode()
    assert any(check.id == "nccl.conf.taken" and check.result == PASS for check in seen.checks)


def test_harmful_is_a_kind_of_its_own() -> None:
    assert made("NCCL_IB_TIMEOUT", "1").kind == HARMFUL


def unread(lines: dict[str, str], *broken: str, check_id: str) -> list[Check]:
    made = node(nccl_conf=lines)
    tree = render.render(made)
    for name in broken:
        tree.broken[name] = "nobody may ask"
    return [check for check in judge(made, tree) if check.id == check_id]


def test_a_list_that_nobody_can_hold_against_the_interfaces_passes_nothing() -> None:
    found = unread({"NCCL_SOCKET_IFNAME": "=eth77"}, "ip_addr", check_id="nccl.conf.harm")
    assert [(check.result, check.subject) for check in found] == [(UNKNOWN, "NCCL_SOCKET_IFNAME")]


@pytest.mark.parametrize(
    ("lines", "check_id"),
    [
        ({"NCCL_GRAPH_FILE": "/opt/graph.xml"}, "nccl.conf.lines"),
        ({"NCCL_TOPO_FILE": "/opt/topo.xml"}, "nccl.conf.doubts"),
        ({"NCCL_TUNER_PLUGIN": "none,/opt/tuner.so"}, "nccl.conf.doubts"),
    ],
)
def test_files_that_the_text_names_are_looked_for_where_the_library_says_nothing(
    lines: dict[str, str], check_id: str
) -> None:
    (found,) = unread(lines, "nccl_proof", check_id=check_id)
    assert found.result == FAIL
    assert "there is no" in found.observed or "no library" in found.observed


@pytest.mark.parametrize("lines", [{"NCCL_NET_PLUGIN": "foo"}, {"NCCL_NET": "IBext"}])
def test_a_plugin_that_nobody_could_look_for_passes_nothing(lines: dict[str, str]) -> None:
    (found,) = unread(lines, "ldconfig", check_id="nccl.conf.doubts")
    assert (found.result, next(iter(lines)) in found.cause) == (UNKNOWN, True)


def test_a_list_of_libraries_that_a_bundle_lacks_passes_nothing() -> None:
    made = node(nccl_conf={"NCCL_NET_PLUGIN": "foo"})
    tree = render.render(made)
    tree.commands.pop("ldconfig", None)
    (found,) = [check for check in judge(made, tree) if check.id == "nccl.conf.doubts"]
    assert found.result == UNKNOWN


def test_a_relative_plugin_is_told_once() -> None:
    (found,) = unread({"NCCL_NET_PLUGIN": "lib/foo.so"}, "ldconfig", check_id="nccl.conf.doubts")
    assert found.result == FAIL


def test_what_could_not_be_held_against_the_host_is_not_told_to_be_taken_out() -> None:
    made = node()
    tree = render.render(made)
    tree.command("nccl_copies", "set\tNCCL_SOCKET_IFNAME\t=eth77\t/etc/environment\t4\nend\t1\n")
    tree.broken["ip_addr"] = "nobody may ask"
    (found,) = [check for check in judge(made, tree) if check.subject == "/etc/environment:4"]
    assert (found.result, found.id) == (UNKNOWN, "nccl.conf.harm")
    assert "take it out" not in found.remedy


@pytest.mark.parametrize("lines", [{"NCCL_GRAPH_FILE": "graph.xml"}, {"NCCL_NET_PLUGIN": "lib/foo.so"}])
def test_a_path_that_is_no_whole_path_is_a_doubt(lines: dict[str, str]) -> None:
    (found,) = problem(lines)
    assert "in which each job starts" in found.cause


def test_the_file_of_nccl_conf_file_is_every_job_s() -> None:
    made = node()
    tree = render.render(made)
    said = "conf\t/etc/site.conf\t/etc/environment\nset\tNCCL_IB_DISABLE\t1\t/etc/site.conf\t1\nend\t2\n"
    tree.command("nccl_copies", said)
    (found,) = [check for check in judge(made, tree) if check.id == "nccl.conf.harm" and check.result == FAIL]
    assert (found.severity, found.subject) == ("error", "/etc/site.conf:1")


def test_no_secret_of_a_setting_is_told() -> None:
    secret = "corr3ct-horse"
    lines = {"NCCL_PSK": secret, "NCCL_PSK_FOR_TESTING_ONLY": secret, "HF_TOKEN": secret, "NCCL_SOCKET_MAGIC": secret}
    made = node(nccl_conf=lines)
    tree = render.render(made)
    found = "".join(f"set\t{name}\t{secret}\t/etc/environment\t4\n" for name in lines)
    tree.command("nccl_copies", f"{found}end\t{len(lines)}\n")
    assert secret not in redact.masked(found)
    for name in lines:
        assert name in redact.masked(found)
    checks = judge(made, tree)
    assert secret not in repr([check for check in checks if check.id.startswith("nccl.")])
    for line in (f"NCCL_PSK set by environment to {secret}", f'NCCL_SOCKET_MAGIC invalid value "{secret}", using x'):
        assert secret not in redact.masked(f"node-a:10:11 [0] NCCL INFO {line}\n")
    assert "4096" in redact.masked("set\tNCCL_MAX_TOKENS\t4096\t/etc/environment\t4\n")
