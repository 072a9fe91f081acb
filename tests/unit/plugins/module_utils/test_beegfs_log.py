# SPDX-License-Identifier: GPL-3.0-or-later
"""What BeeGFS logs. The lines are made by the format strings of ThinkParQ/beegfs, but for those that are said to be of
the field."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import (
    check_beegfs_log,
    observe as stack,
    observe_beegfs,
)
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.facts import Beegfs, StackFacts
from ansible_collections.ibready.cluster.plugins.module_utils._data import beegfs_log as data
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import beegfs_log, dmesg
from ansible_collections.ibready.cluster.plugins.module_utils._parse._beegfs_log import BeegfsLog, Problem
from ansible_collections.ibready.cluster.plugins.module_utils._parse.beegfs_net import BeegfsNode, Connections
from ansible_collections.ibready.cluster.plugins.module_utils._verify import why
from tests.gauntlet.tree import Tree
from tests.unit.parsers import SAMPLES

# What the sample leaves out, for each of its lines counts by itself: what follows from the line before it.
STEPS = """(2) Nov27 08:12:40 ConnAccept [IBVSocket.cpp:899] >> Couldn't prepare recvBuf.
(2) Nov27 08:12:40 ConnAccept [IBVSocket.cpp:499] >> Creation of CommContext failed.
"""
_REASON = "Couldn't allocate MR.\n"
SAMPLE = (SAMPLES / "beegfs_log.txt").read_text().replace(_REASON, _REASON + STEPS)
A, B = "beegfs-storage@192.0.2.40:8003", "beegfs-storage@198.51.100.40:8003"
FAILED = f"Connect failed: {A} (protocol: RDMA)"
INSTEAD = f"Connected: {B} (protocol: TCP; fallback route)"
LOST = "Connect failed on all available routes: beegfs-storage storage1 [ID: 1]"
AGAIN = f"Connected: {A} (protocol: RDMA)"


def kernel(*lines: str, pid: int = 4019) -> dmesg.Dmesg:
    told = [f"beegfs: python({pid}): NodeConn (acquire stream): {line}" for line in lines]
    return dmesg.parse("".join(f"[{83.5 + at:12.6f}] {line}\n" for at, line in enumerate(told)))


def said(*lines: str) -> BeegfsLog:
    """Whole lines of the kernel's log, each with who says it."""
    return dmesg.parse("".join(f"[{at:6}.000000] {line}\n" for at, line in enumerate(lines))).beegfs


def problems(*lines: str) -> list[tuple[str, str]]:
    return [(problem.cause, problem.what) for problem in kernel(*lines).beegfs.problems]


def test_a_daemons_file_tells_ways_problems_and_its_own_errors() -> None:
    told = beegfs_log.facts(beegfs_log.parse(SAMPLE))
    assert (told["records"], told["version"], told["unread"], told["cut"]) == (13, "7.4.5", 0, False)
    assert told["nics"] == "ib0(RDMA) ib0(TCP) eth0(TCP)"
    assert (told["rdma"], told["tcp"]) == (["beegfs-storage@192.0.2.41:8003"], [])
    assert [(problem["cause"], problem["what"]) for problem in told["problems"]] == [
        ("memory", "Couldn't allocate MR."),
        ("authentication", "Peer sent wrong authentication: 192.0.2.77:41234"),
    ]
    assert told["errors"] == ["Unable to create chunk dir: No space left on device"]
    memory, secret = beegfs_log.wrong(beegfs_log.parse(SAMPLE))
    assert "LimitMEMLOCK=infinity" in memory
    assert "Nov27 08:12:40" in memory
    assert "connAuthFile" in secret


@pytest.mark.parametrize(
    "line",
    [
        # Of the field: a diary on GitHub, BeeGFS 7 of May 2023, and an installation of BeeGFS 8 of April 2026.
        "(3) May24 11:56:05 Main [NodeConn (acquire)] >> Connected: beegfs-mgmtd@192.168.1.3:8008 (protocol: TCP)",
        "Apr 15 18:01:16 andromeda beegfs-storage[2010]: Main [App] >> Built with NVFS RDMA support.",
        "(2) 11:56:05 Main [App] >> LocalNode: beegfs-storage sto1 [ID: 99]",
        "(2) 11:56:05 AM Main [App] >> LocalNode: beegfs-storage sto1 [ID: 99]",
        "(2) May24 11:56:05.012345 Main [App.cpp:12] >> LocalNode: beegfs-storage sto1 [ID: 99]",
        "(1) Jul06 20:23:28 *mount(4045)* [App_logInfos] >> BeeGFS Client Version: 7.4.5",
        "Main [App] >> Built with NVFS RDMA support.",
    ],
)
def test_every_form_of_a_line_is_read(line: str) -> None:
    log = beegfs_log.parse(f"{line}\n")
    assert (log.records, log.unread, log.told.problems) == (1, 0, ())


@pytest.mark.parametrize("text", ["", "no log\n", "Apr 15 18:01:16 node beegfs-client[7]: mount: /mnt: failed\n"])
def test_what_is_no_log_of_beegfs_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        beegfs_log.parse(text)


def test_lines_of_a_file_that_nobody_can_read_are_counted_and_lists_go_on() -> None:
    text = f"{SAMPLE}+ eth0[ip addr: 192.0.2.1; type: TCP]\n1: /opt/beegfs/sbin/beegfs-storage(+0x1)\n(2) Nov27\nrest"
    log = beegfs_log.parse(text)
    assert (log.records, log.unread, log.cut) == (13, 2, True)


def test_another_way_is_told_with_what_failed_before_it() -> None:
    assert problems(FAILED, INSTEAD) == [("fallback", f"{B} by TCP, for {A} failed")]
    # As other releases write it.
    assert problems(f"Connected: {B} (protocol: TCP (fallback route))")[0][0] == "fallback"


def test_with_ipoib_both_ways_have_the_same_address() -> None:
    by_tcp = f"Connected: {A} (protocol: TCP; fallback route)"
    assert problems(FAILED, by_tcp) == [("fallback", f"{A} by TCP, for RDMA failed")]
    log = kernel(FAILED, by_tcp).beegfs
    assert (log.rdma, log.tcp) == ((), (A,))
    log = kernel(FAILED, by_tcp, AGAIN).beegfs
    assert (log.rdma, log.tcp, log.problems) == ((A,), (), ())
    # The last word counts, whichever it is; and an address that RDMA reaches needs no TCP.
    assert [cause for cause, _what in problems(AGAIN, FAILED, by_tcp)] == ["fallback"]
    assert problems(f"Connect failed: {A} (protocol: TCP)", AGAIN) == []
    assert problems(f"Connected: {A} (protocol: TCP)", AGAIN) == []
    assert problems(AGAIN, f"Connected: {A} (protocol: TCP)") == [("tcp", f"{A} by TCP")]


def test_another_rail_is_another_way_as_well_and_a_management_server_has_no_rdma_to_lose() -> None:
    rail = f"Connected: {B} (protocol: RDMA; fallback route)"
    assert problems(FAILED, rail) == [("fallback", f"{B} by RDMA, for {A} failed")]
    assert problems(FAILED, rail, AGAIN) == []
    first = "Connect failed: beegfs-mgmtd@192.0.2.9:8008 (protocol: TCP)"
    assert problems(first, "Connected: beegfs-mgmtd@198.51.100.9:8008 (protocol: TCP; fallback route)") == []
    assert problems(first) == [("server", "beegfs-mgmtd@192.0.2.9:8008 by TCP failed")]


def test_a_server_that_fails_again_and_again_is_named_once() -> None:
    (found,) = kernel(*[FAILED] * 500, INSTEAD).beegfs.problems
    assert found.what == f"{B} by TCP, for {A} failed"
    many = [FAILED.replace("192.0.2.40", f"192.0.2.{at}") for at in range(200)]
    assert any("and 13 more failed" in problem.what for problem in kernel(*many, INSTEAD).beegfs.problems)


def test_a_log_of_many_servers_takes_no_time_to_speak_of() -> None:
    # Each line against all before it would take minutes.
    lost = [LOST.replace("storage1", f"storage{at}") for at in range(20_000)]
    reached = [AGAIN.replace("storage", "meta").replace("8003", str(at)) for at in range(20_000)]
    assert len(kernel(*lost, *reached).beegfs.problems) == 20_000


def test_what_was_lost_by_other_addresses_later_is_not_ended_by_the_first() -> None:
    other = FAILED.replace("192.0.2.40", "192.0.2.44")
    assert "server" in dict(problems(FAILED, LOST, other, LOST, AGAIN))


def test_the_last_word_on_a_server_counts() -> None:
    assert problems(FAILED, INSTEAD, AGAIN) == []
    assert problems(FAILED) == [("fallback", f"{A} by RDMA failed")]
    assert problems(FAILED, LOST) == [("server", "beegfs-storage storage1")]
    assert problems(FAILED, LOST, AGAIN) == []
    assert problems(FAILED, LOST, f"Connected: {B} (protocol: RDMA)") == [("server", "beegfs-storage storage1")]


def test_where_no_way_is_told_any_server_of_the_kind_ends_it() -> None:
    assert problems(LOST, "Connected: beegfs-meta@192.0.2.40:8005 (protocol: RDMA)")[0][0] == "server"
    assert problems(LOST, AGAIN) == []


def test_what_threads_try_is_kept_apart() -> None:
    one = "beegfs: a(1): NodeConn (acquire stream): "
    other = "beegfs: b(2): NodeConn (acquire stream): "
    text = f"[ 1.000000] {one}{FAILED}\n[ 2.000000] {other}{INSTEAD}\n[ 3.000000] {one}{LOST}\n"
    found = {problem.cause: problem.what for problem in dmesg.parse(text).beegfs.problems}
    assert found == {"server": "beegfs-storage storage1", "fallback": f"{B} by TCP"}


def test_tcp_at_the_first_try_means_that_the_server_offers_no_rdma() -> None:
    first = f"Connected: {B} (protocol: TCP)"
    assert problems("Usable NICs: ib0(RDMA) ib0(TCP)", first) == [("tcp", f"{B} by TCP")]
    # Without a rail of its own, that is what is wrong; a management server is always spoken to by TCP.
    assert problems("Usable NICs: eth0(TCP)", first) == [("rails", "Usable NICs: eth0(TCP)")]
    assert problems("Connected: beegfs-mgmtd@192.0.2.9:8008 (protocol: TCP)") == []


def test_what_went_before_an_unmount_is_over() -> None:
    stop = "All components stopped."
    begin = "BeeGFS Client Version: 8.1.0"
    assert problems(begin, FAILED, INSTEAD, stop) == []
    # Another mount is still there, and it may be the one that goes by TCP.
    assert [cause for cause, _what in problems(begin, begin, FAILED, INSTEAD, stop)] == ["fallback"]


def test_a_mount_that_was_given_up_ends_no_other() -> None:
    stop, begin, mount = "All components stopped.", "BeeGFS Client Version: 8.1.0", "beegfs: mount(77): "
    canceled = "Mount sanity check failed. Canceling mount. (Log file may provide additional information.)"
    broken = "Component initialization error. (Log file may provide additional information.)"
    on = [f"beegfs: mount(5): {begin}", f"beegfs: p(7): {FAILED}", f"beegfs: p(7): {INSTEAD}"]
    for given_up in ([broken, stop], [begin, canceled, stop]):
        lines = [*on, *(mount + line for line in given_up)]
        assert {"fallback", "mount"} == {problem.cause for problem in said(*lines).problems}
        # The other mount ends as it would have without it.
        assert [problem.cause for problem in said(*lines, f"beegfs: umount(9): {stop}").problems] == ["mount"]


def test_a_mount_anew_is_what_the_finding_asks_for_and_ends_it() -> None:
    reason, stop, begin = "couldn't create QP. ErrCode: -12", "All components stopped.", "BeeGFS Client Version: 8.1.0"
    assert [cause for cause, _what in problems(begin, reason, FAILED, INSTEAD)] == ["buffers", "fallback"]
    assert problems(begin, reason, FAILED, INSTEAD, stop, begin, AGAIN) == []
    # Of a mount whose beginning the log lost nobody knows how many there are beside it.
    assert [cause for cause, _what in problems(FAILED, INSTEAD, stop)] == ["fallback"]


def test_a_daemon_that_was_restarted_begins_anew() -> None:
    head = "Nov 27 08:00:01 storage1 beegfs-storage[7]: Main [App] >> "
    text = f"{head}Couldn't allocate MR.\n{head}All components stopped. Exiting now!\n"
    assert beegfs_log.parse(text).told.problems == ()


def test_a_mount_that_came_about_ends_what_kept_it_and_nothing_else() -> None:
    broken = "IBVSocket (recv work completion): Connection error (wc_status: 12; msg: retries exceeded error)"
    refused = "Failed to open auth file: '/etc/beegfs/conn.auth'"
    assert [cause for cause, _what in problems(refused, broken)] == ["authentication", "broken"]
    assert [cause for cause, _what in problems(refused, broken, "BeeGFS mount ready.")] == ["broken"]


def test_a_step_counts_only_without_its_reason() -> None:
    step, reason = "creation of CommContext failed", "couldn't create QP. ErrCode: -12"
    assert problems(step) == [("buffers", step)]
    assert problems(reason, step) == [("buffers", reason)]
    canceled = "Mount sanity check failed. Canceling mount. (Log file may provide additional information.)"
    assert [cause for cause, _what in problems(canceled)] == ["mount"]
    # A reason of something else hides no step.
    assert {cause for cause, _what in problems(reason, canceled)} == {"buffers", "mount"}


def test_a_module_of_another_stack_is_told_by_the_kernel() -> None:
    text = "[    1.500000] beegfs: disagrees about version of symbol rdma_create_qp\n"
    (found,) = dmesg.parse(text).beegfs.problems
    assert (found.cause, found.when) == ("module", "at 2 s")


@pytest.mark.parametrize("message", data.MESSAGES, ids=lambda message: message.pattern[:40])
def test_every_message_has_a_cause_with_a_next_step(message: data.Message) -> None:
    cause = data.CAUSES[message.cause]
    assert cause.means
    assert cause.remedy
    assert message.source
    assert not message.step or message.cause in data.FOLLOWS


def test_every_cause_is_reached() -> None:
    by_ways = {data.FALLBACK, data.TCP, data.RAILS, data.SERVER}
    assert by_ways | {message.cause for message in data.MESSAGES} == set(data.CAUSES)


WORDS = st.sampled_from(
    [
        FAILED,
        INSTEAD,
        LOST,
        AGAIN,
        "Usable NICs: eth0(TCP)",
        "BeeGFS mount ready.",
        "All components stopped.",
        "x" * 300,
    ]
    + [re.sub(r"\\|\(\?:|\{1,\d+\}|\[\^?.{1,6}\]|\||\)$", "", message.pattern) for message in data.MESSAGES]
)


@given(st.lists(st.tuples(WORDS, st.integers(1, 3)), max_size=30))
def test_any_course_of_lines_gives_problems_that_have_a_cause(course: list[tuple[str, int]]) -> None:
    text = "".join(f"[{at}.000000] beegfs: p({pid}): {line}\n" for at, (line, pid) in enumerate(course))
    log = dmesg.parse(text + "[99.000000] usb 1: new\n").beegfs
    assert log.lines == len(course)
    for problem in log.problems:
        assert problem.cause in data.CAUSES
        assert 0 < len(problem.what) <= 200
        assert problem.count > 0


@given(st.text(max_size=400), st.sampled_from(["", "beegfs: ", "(1) Nov27 08:00:01 Main [App] >> "]))
def test_no_text_is_taken_without_a_record(text: str, head: str) -> None:
    try:
        log = beegfs_log.parse(head + text)
    except ParseError:
        return
    assert log.records > 0
    beegfs_log.facts(log)
    beegfs_log.wrong(log)


NODE = BeegfsNode("storage1", 1, "storage_nodes", (Connections("RDMA", 4, "192.0.2.40:8003"),))
BY_TCP = replace(NODE, connections=(Connections("TCP", 1, "198.51.100.40:8003", True),))
QUIET = Reading(BeegfsLog(3, True))
RUNNING: Reading[tuple[BeegfsNode, ...]] = Reading((NODE,))
NO_FILE: Reading[BeegfsLog] = Reading(None, "no such file", True)


def judged(
    *lines: str,
    nodes: Reading[Any] = RUNNING,
    rdma: bool = True,
    **more: Any,
) -> list[Check]:
    beegfs = Beegfs(nodes, kernel=Reading(kernel(*lines).beegfs) if lines else QUIET, helper=NO_FILE)
    devices: Reading[tuple[str, ...]] = Reading(("mlx5_0",)) if rdma else Reading(None, "no such directory", True)
    facts = StackFacts(devices=devices, beegfs=replace(beegfs, **more))
    return check_beegfs_log.judge(facts, Machine() if rdma else Machine(pci=Reading(None, "no bus", True)))


def results(checks: list[Check]) -> list[tuple[str, str]]:
    return [(check.result, check.subject) for check in checks]


def test_a_silent_log_passes_and_says_how_much_it_was() -> None:
    (check,) = judged()
    assert (check.result, check.observed) == ("pass", "nothing wrong in 3 lines")


def test_a_finding_a_cause_with_its_own_next_step() -> None:
    checks = judged(FAILED, LOST, "Peer sent wrong authentication: 192.0.2.7:1", nodes=Reading(()))
    assert results(checks) == [("fail", "authentication"), ("fail", "server")]
    for check in checks:
        assert check.remedy == data.CAUSES[check.subject].remedy
        assert check.cause == data.CAUSES[check.subject].means


def test_the_connections_of_now_end_what_the_log_says_last() -> None:
    (check,) = judged(FAILED, INSTEAD)
    assert check.result == "pass"
    assert "fixed since" in check.observed
    assert A in check.observed
    assert results(judged(FAILED, INSTEAD, nodes=Reading((BY_TCP,)))) == [("fail", "fallback")]
    idle = Reading((replace(NODE, connections=()),))
    assert results(judged(FAILED, INSTEAD, nodes=idle)) == [("fail", "fallback")]
    assert results(judged(FAILED, LOST)) == [("pass", "beegfs")]
    assert results(judged(FAILED, LOST, nodes=idle)) == [("fail", "server")]
    other = Reading((replace(NODE, name="storage2"),))
    assert results(judged(FAILED, LOST, nodes=other)) == [("fail", "server")]


def test_connections_to_others_end_nothing() -> None:
    idle = replace(NODE, connections=())
    other = BeegfsNode("storage2", 2, "storage_nodes", (Connections("RDMA", 4, "192.0.2.41:8003"),))
    # Where nothing is known of the server itself, it has not been mended.
    assert results(judged(FAILED, INSTEAD, nodes=Reading((idle, other)))) == [("fail", "fallback")]
    assert results(judged(INSTEAD, nodes=Reading((idle, other)))) == [("fail", "fallback")]
    assert results(judged(INSTEAD, nodes=Reading((NODE, other)))) == [("pass", "beegfs")]
    first = f"Connected: {B} (protocol: TCP)"
    assert results(judged(first, nodes=Reading((idle, other)))) == [("fail", "tcp")]
    # Data of the other servers may still go by TCP.
    mixed = replace(other, connections=(Connections("TCP", 1, "198.51.100.41:8003", True),))
    assert results(judged(FAILED, INSTEAD, nodes=Reading((NODE, mixed)))) == [("pass", "beegfs")]


def test_a_rail_that_stands_in_for_another_is_not_mended() -> None:
    rail = f"Connected: {B} (protocol: RDMA; fallback route)"
    stands_in = replace(NODE, connections=(Connections("RDMA", 4, "198.51.100.40:8003", True),))
    assert results(judged(FAILED, rail, nodes=Reading((stands_in,)))) == [("fail", "fallback")]
    both = replace(NODE, connections=(*NODE.connections, Connections("TCP", 1, "198.51.100.40:8003", True)))
    assert results(judged(FAILED, INSTEAD, nodes=Reading((both,)))) == [("fail", "fallback")]


def test_a_server_is_back_by_its_own_kind_alone() -> None:
    lost = "Connect failed on all available routes: beegfs-storage node1 [ID: 1]"
    meta = BeegfsNode("node1", 1, "meta_nodes", (Connections("RDMA", 4, "192.0.2.40:8005"),))
    storage = replace(meta, role="storage_nodes", connections=())
    back = replace(storage, connections=(Connections("RDMA", 4, "192.0.2.40:8003"),))
    assert results(judged(lost, nodes=Reading((meta, storage)))) == [("fail", "server")]
    assert results(judged(lost, nodes=Reading((meta, back)))) == [("pass", "beegfs")]
    # Two file systems may have servers of the same name.
    assert results(judged(lost, nodes=Reading((storage, back)))) == [("fail", "server")]


def test_what_fell_back_is_told_with_the_reason_for_it() -> None:
    checks = judged("couldn't create QP. ErrCode: -12", FAILED, INSTEAD, nodes=Reading((BY_TCP,)))
    assert results(checks) == [("fail", "buffers")]
    assert B in checks[0].observed
    assert "connRDMABufNum" in checks[0].remedy


def test_a_site_without_rdma_is_not_told_of_tcp() -> None:
    lines = ("Usable NICs: eth0(TCP)", f"Connected: {B} (protocol: TCP)")
    assert results(judged(*lines, nodes=Reading((BY_TCP,)))) == [("fail", "rails")]
    assert results(judged(*lines, nodes=Reading((BY_TCP,)), use_rdma=Reading(False))) == [("pass", "beegfs")]
    assert results(judged(*lines, nodes=Reading((BY_TCP,)), rdma=False)) == [("pass", "beegfs")]
    # Whatever the site wants, its servers have to be there.
    assert ("fail", "server") in results(judged(LOST, nodes=Reading(()), use_rdma=Reading(False)))


def test_without_a_mount_only_what_prevents_it_counts() -> None:
    gone: Reading[tuple[BeegfsNode, ...]] = Reading(None, "no such directory", True)
    assert results(judged(FAILED, LOST, nodes=gone)) == [("skip", "beegfs")]
    refused = "Failed to open auth file: '/etc/beegfs/conn.auth'"
    assert results(judged(refused, nodes=gone)) == [("fail", "authentication")]
    # Nobody can read the log, and there is nothing to read in it.
    assert results(judged(nodes=gone, kernel=Reading(None, "dmesg ended with status 1"))) == [("skip", "beegfs")]


def test_what_could_not_be_read_is_unknown_and_hides_no_failure() -> None:
    unread: Reading[BeegfsLog] = Reading(None, "dmesg ended with status 1")
    (check,) = judged(kernel=unread)
    assert (check.result, check.cause) == ("unknown", "dmesg ended with status 1")
    assert judged(kernel=Reading(None, "dmesg is not installed", True))[0].result == "unknown"
    assert judged(helper=Reading(None, "permission denied"))[0].result == "unknown"
    assert judged(nodes=Reading(None, "permission denied"))[0].result == "unknown"
    told = Reading(BeegfsLog(1, True, problems=(Problem("broken", "x"),)))
    assert results(judged(kernel=unread, helper=told)) == [("fail", "broken")]


def test_a_client_that_logs_elsewhere_says_nothing_by_silence() -> None:
    silent = Reading(BeegfsLog(1))
    (check,) = judged(kernel=silent, to_helper=Reading(True))
    assert check.result == "unknown"
    assert "/var/log/beegfs-client.log" in check.cause
    assert judged(kernel=silent, to_helper=Reading(True), helper=Reading(BeegfsLog(9, True)))[0].result == "pass"
    assert judged(kernel=silent, to_helper=Reading(False))[0].result == "pass"


def test_where_nobody_knows_where_the_client_logs_to_silence_says_nothing() -> None:
    silent = Reading(BeegfsLog(1))
    (check,) = judged(kernel=silent, to_helper=Reading(None, f"{observe_beegfs.CONF}: permission denied"))
    assert (check.result, check.observed) == ("unknown", "")
    assert "permission denied" in check.cause
    # With several mounts each has a file of its own.
    assert judged(kernel=silent, to_helper=Reading(None, "no such file", True))[0].result == "unknown"
    assert judged(to_helper=Reading(None, "permission denied"))[0].result == "pass"


def test_a_client_that_is_set_up_and_not_mounted_has_a_reason_that_is_not_known() -> None:
    gone: Reading[tuple[BeegfsNode, ...]] = Reading(None, "no such directory", True)
    unread: Reading[BeegfsLog] = Reading(None, "dmesg ended with status 1")
    assert results(judged(nodes=gone, kernel=unread, to_helper=Reading(False))) == [("unknown", "beegfs")]
    assert results(judged(nodes=gone, half_read="dmesg: cut", to_helper=Reading(False))) == [("unknown", "beegfs")]
    assert results(judged(nodes=gone, to_helper=Reading(False))) == [("skip", "beegfs")]


def helper(text: str, conf: str = "logType = helperd\n", **files: str) -> Beegfs:
    """What is seen of a client with this log of its helper; ``files``: more of /etc/beegfs."""
    tree = Tree()
    tree.command("dmesg", "[    1.000000] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n")
    tree.file(observe_beegfs.CONF, conf)
    tree.file("/proc/fs/beegfs/1/storage_nodes", "storage1 [ID: 1]\n   Connections: RDMA: 4 (192.0.2.40:8003); \n")
    tree.file("/proc/fs/beegfs/1/meta_nodes", "meta1 [ID: 1]\n   Connections: RDMA: 4 (192.0.2.40:8005); \n")
    tree.file(observe_beegfs.LOG, text.encode())
    for name, content in files.items():
        tree.file(f"/etc/beegfs/beegfs-{name}.conf", content)
    return observe_beegfs.observe(tree)


def verdict(seen: Beegfs) -> Check:
    facts = StackFacts(devices=Reading(("mlx5_0",)), beegfs=seen)
    (check,) = check_beegfs_log.judge(facts, Machine())
    return check


HEAD = "(3) Jul06 20:23:28 *mount(4045)* [NodeConn (acquire stream)] >> "


@pytest.mark.parametrize("end", ["", "(2) Jul06 20:23:29 *mount(4045)* [Nod", "(2) Jul06 20:23:29 *mount", "x\n"])
def test_a_helpers_log_that_is_half_read_passes_nobody(end: str) -> None:
    text = f"{HEAD}{FAILED}\n{HEAD}{AGAIN}\n" + end
    check = verdict(helper(text if end else text.rstrip()))
    assert check.result == "unknown"
    assert observe_beegfs.LOG in check.cause
    # What it tells of a failure it tells.
    lost = LOST.replace("storage1", "storage9")
    assert verdict(helper(f"{HEAD}{lost}\n{end or '('}")).result == "fail"
    # What is over says nothing of the lines that nobody could read.
    assert verdict(helper(f"{HEAD}{LOST}\n{end or '('}")).result == "unknown"
    assert verdict(helper(text.replace(end, "") if end else text)).result == "pass"


def test_a_helpers_log_that_was_turned_over_says_so() -> None:
    seen = helper("(3) Jul06 20:23:28 *beegfs_XNodeSyn(7)* [InternodeSyncer] >> Nothing of note.\n")
    assert (
        verdict(seen).observed
        == f"nothing wrong in 1 lines, since {observe_beegfs.LOG} begins, which is after the mount"
    )


@pytest.mark.parametrize("text", ["", "\n", "no log\n", "\x00" * 5])
def test_a_helpers_log_without_a_record_is_unknown(text: str) -> None:
    check = verdict(helper(text))
    assert check.result == "unknown"
    assert observe_beegfs.LOG in check.cause


def test_a_helpers_log_that_is_too_long_is_unknown_and_says_how_to_read_its_end(tmp_path: Path) -> None:
    for path, text in ((observe_beegfs.CONF, "logType = helperd\n"), (observe_beegfs.LOG, "")):
        place = tmp_path / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    with (tmp_path / observe_beegfs.LOG.lstrip("/")).open("r+b") as sparse:
        sparse.truncate(500 * 1024 * 1024)
    seen = observe_beegfs.observe(Live(tmp_path))
    assert (seen.helper.value, seen.helper.missing) == (None, False)
    assert seen.helper.why == f"{observe_beegfs.LOG}: holds more than 8 MiB"
    (check,) = judged(helper=seen.helper)
    assert (check.result, check.remedy[:24]) == ("unknown", "read its end as root: `t")


def test_a_file_of_the_release_before_is_not_the_clients() -> None:
    old = "(2) Jul06 20:23:28 *mount(4045)* [App_logInfos] >> Usable NICs: eth0(TCP)\n"
    assert verdict(helper(old)).result == "fail"
    assert verdict(helper(old, "logType = syslog\n")).result == "pass"
    # Where nothing is set, BeeGFS 7 logs by its helper, and BeeGFS 8 has none.
    assert verdict(helper(old, "connUseRDMA = true\n", helperd="logNumLines = 50000")).result == "fail"
    assert verdict(helper(old, "connUseRDMA = true\n")).result == "pass"


def test_a_log_that_ends_within_a_line_passes_nobody() -> None:
    tree = Tree()
    tree.command("dmesg", "[    1.000000] beegfs: mount(7): BeeGFS mount rea")
    assert observe_beegfs.observe(tree).kernel.value is None
    tree.command("dmesg", f"[    1.000000] beegfs: p(7): NodeConn (acquire stream): {FAILED}\n[    2.000000] usb")
    seen = observe_beegfs.observe(tree).kernel.value
    assert seen is not None
    assert seen.problems


def test_the_kernels_log_is_asked_and_parsed_once_for_all_areas(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Tree()
    tree.command("dmesg", "[    1.000000] beegfs: mount(7): BeeGFS mount ready.\n")
    asked: list[str] = []
    run = tree.run

    def counted(name: str, *args: str) -> Output:
        asked.append(name)
        return run(name, *args)

    monkeypatch.setattr(tree, "run", counted)
    assert observe_beegfs.observe(tree).kernel.value == BeegfsLog(1)
    assert asked == ["dmesg"]


@pytest.mark.parametrize(
    ("conf", "helper"), [("logType = helperd\n", True), ("logType = syslog\n", False), ("connUseRDMA = true\n", False)]
)
def test_where_the_client_logs_to_is_read_of_its_file(conf: str, helper: bool) -> None:
    tree = Tree()
    tree.file(observe_beegfs.CONF, conf)
    assert observe_beegfs.observe(tree).to_helper.value is helper


def asked(text: str) -> str:
    heard = why.Heard()
    heard.give("some.log", text.encode())
    hosts = why.judged(heard, from_inventory({}))
    assert not heard.unread
    assert why.verdict(hosts, heard) in ("not_ready", "degraded")
    return "\n".join(str(line) for host in hosts for line in (*host.told, *host.bad))


def test_why_tells_cause_and_next_step_of_a_pasted_log() -> None:
    assert "LimitMEMLOCK=infinity" in asked(SAMPLE)
    words = asked(
        "".join(f"[   83.{at}00000] beegfs: p(7): NodeConn (x): {line}\n" for at, line in enumerate([FAILED, INSTEAD]))
    )
    assert f"for {A} failed" in words
    assert "ping the address that failed" in words
    # The client's lines in a journal, and one of them in the midst of a job's output.
    assert "storage1" in asked(f"Nov 27 08:00:01 node1 kernel: beegfs: p(7): NodeConn (acquire stream): {LOST}\n")
    assert "connAuthFile" in asked(
        "step 1\n[   83.100000] beegfs: mount(7): Auth file is empty or too small: '/x'\nstep 2\n"
    )


def test_who_plans_a_host_reads_no_log_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Tree()
    asked: list[str] = []
    run, read = tree.run, tree.read_bytes
    monkeypatch.setattr(tree, "run", lambda name, *args: asked.append(name) or run(name, *args))
    monkeypatch.setattr(tree, "read_bytes", lambda path: asked.append(path) or read(path))
    stack.observe(tree, Machine())
    assert not {"dmesg", observe_beegfs.LOG, observe_beegfs.CONF} & {*asked}
    stack.observe(tree, Machine(), from_inventory({}))
    assert "dmesg" in asked


@pytest.mark.parametrize("name", ["nccl_ras", "opensm_log", "ibdiagnet", "beegfs_log"])
def test_no_line_of_a_strangers_text_fills_the_screen_of_why(name: str) -> None:
    lines = (SAMPLES / f"{name}.txt").read_text().split("\n")
    for at in range(0, len(lines), 3):
        heard = why.Heard()
        heard.texts["host"] = {
            name: "\n".join([*lines[:at], f"{lines[at]} {'word ' * 4000}\x1b[2J\u202e", *lines[at + 1 :]])
        }
        for host in why.judged(heard, from_inventory({})):
            assert all(len(line) < 4100 and line.isprintable() for line in (*host.told, *host.says, *host.partly))


def test_a_cause_with_ten_long_lines_keeps_its_next_step() -> None:
    head = "(2) Nov27 08:12:40 Main [App] >> Failed to open auth file: '"
    text = "".join(f"{head}/{at}{'x' * 180}'\n" for at in range(20))
    assert "and 10 more" in asked(text)
    assert "connAuthFile has to name the same file" in asked(text)


def test_words_of_a_job_reach_a_finding_with_what_a_terminal_would_obey_written_out() -> None:
    lost = "Connect failed on all available routes: beegfs-storage s\x07\u202e\x9b [ID: 1]"
    (check,) = judged(lost)
    assert check.result == "fail"
    assert model.sentence(check).isprintable()
