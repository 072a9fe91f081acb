# SPDX-License-Identifier: GPL-3.0-or-later
"""opensm's and nvlsm's log: what happened, each kind with its count and its times."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import opensm_log, prefix
from tests.unit.corpus import CORPUS
from tests.unit.parsers import SAMPLES

# OpenSM 3.3.23 on ibsim 0.10, with a cable that is pulled and a node that does not answer.
SAMPLE = (SAMPLES / "opensm_log.txt").read_text()
# A tutorial on GitHub about ibsim with NVIDIA's OpenSM 5.21.12; -f - writes the log to the terminal.
TERMINAL = """\
-------------------------------------------------
OpenSM 5.21.12.MLNX20250617.f74e01b8
Command Line Arguments:
 d level = 0x2
 Debug mode: Force Log Flush
 Log File: -
-------------------------------------------------
Jun 17 16:47:41 376915 [50493740] 0x03 -> OpenSM 5.21.12.MLNX20250617.f74e01b8
Jun 17 16:47:41 377247 [50493740] 0x80 -> OpenSM 5.21.12.MLNX20250617.f74e01b8
ibwarn: [564980] sim_connect: attached as client 0 at node "Switch1"
Using default GUID 0x200000
OpenSM $ Jun 17 16:47:41 429531 [3DA006C0] 0x02 -> do_sweep:


******************************************************************
*********************** HEAVY SWEEP START ************************
******************************************************************


Jun 17 16:47:41 429964 [3DA006C0] 0x02 -> do_sweep: Entering heavy sweep with flags: force_heavy_sweep 0, \
coming out of standby 0, subnet initialization error 0, sm port change 0
Jun 17 16:47:41 444761 [3DA006C0] 0x80 -> Entering MASTER state
AR Manager - Configuration cycle (number 1) completed successfully
Jun 17 16:47:41 466414 [3DA006C0] 0x02 -> osm_ucast_mgr_process: ar_updn tables configured on all switches
Jun 17 16:47:41 489882 [3DA006C0] 0x02 -> SUBNET UP
Jun 17 17:21:28 922890 [4E8006C0] 0x01 -> log_trap_info: Received Generic Notice type:1 num:128 (Link state change) \
Producer:2 (Switch) from LID:1 TID:0x0000000000000000
Jun 17 17:21:28 927893 [4F2006C0] 0x02 -> osm_pi_rcv_process: Switch 0x200000 Switch1 port 3 changed state from ACTIVE \
to DOWN
"""
# The users' list of Ceph, March 2021, as it was quoted there.
CEPH = """\
Mar 11 19:32:26 717944 [EC430700] 0x01 -> log_send_error: ERR 5411: DR SMP Send completed with error (IB_TIMEOUT) -- \
dropping
                        Method 0x1, Attr 0x20, TID 0x11f51
Mar 11 19:32:26 718212 [EC430700] 0x01 -> Received SMP on a 2 hop path: Initial path = 0,1,3, Return path  = 0,0,0
Mar 11 19:32:26 718223 [EC430700] 0x01 -> sm_mad_ctrl_send_err_cb: ERR 3113: MAD completed in error (IB_TIMEOUT): \
SubnGet(SMInfo), attr_mod 0x0, TID 0x11f51
Mar 11 19:32:26 718227 [EC430700] 0x01 -> sm_mad_ctrl_send_err_cb: ERR 3120: Timeout while getting attribute 0x20 \
(SMInfo); Possible mis-set mkey?
Mar 11 19:34:56 733972 [EC430700] 0x01 -> sm_mad_ctrl_send_err_cb: ERR 3113: MAD completed in error (IB_TIMEOUT): \
SubnGet(SMInfo), attr_mod 0x0, TID 0x11f8d
"""


def test_the_log_of_a_simulated_fabric() -> None:
    told = opensm_log.facts(opensm_log.parse(SAMPLE))
    assert (told["version"], told["state"], told["routing"]) == ("3.3.23", "MASTER", "minhop")
    assert (told["records"], told["first"], told["last"]) == (34, "Nov 26 04:41:02", "Nov 26 04:42:02")
    assert told["levels"]["0x81"] == 1
    assert [(state["state"], state["count"]) for state in told["states"]] == [("DISCOVERING", 1), ("MASTER", 1)]
    assert told["subnet_up"] == {"count": 2, "first": "Nov 26 04:41:02", "last": "Nov 26 04:41:23"}
    assert [(trap["number"], trap["lid"], trap["port"], trap["count"]) for trap in told["traps"]] == [
        (128, 2, None, 1),
        (129, 4, 1, 1),
    ]
    assert [found["node"] for found in told["removed"]] == ["Switch2", "Hca2"]
    assert [(found["attribute"], found["count"]) for found in told["timeouts"]] == [("NodeInfo", 1), ("PortInfo", 1)]
    assert [(found["code"], found["where"]) for found in told["errors"]] == [
        ("3315", "state_mgr_light_sweep_start"),
        ("", "ucast_mgr_route"),
    ]
    assert told["duplicates"][0]["guid"] == "0x100000"
    assert told["port_changes"][0]["after"] == "DOWN"
    assert (told["unread"], told["cut"]) == (0, False)


def test_the_log_on_a_terminal() -> None:
    told = opensm_log.parse(TERMINAL)
    assert (told.version, told.state, told.routing) == ("5.21.12.MLNX20250617.f74e01b8", "MASTER", "ar_updn")
    assert (told.records, told.unread, told.cut) == (9, 0, False)
    assert opensm_log.facts(told)["sweeps"]["count"] == 1
    # A link that changed its state once is no fault that the log tells.
    assert opensm_log.wrong(told) == ()


def test_a_question_without_an_answer_is_one_timeout() -> None:
    told = opensm_log.facts(opensm_log.parse(CEPH))
    assert told["timeouts"] == [
        {"attribute": "SMInfo", "count": 2, "first": "Mar 11 19:32:26", "last": "Mar 11 19:34:56"}
    ]
    assert (told["errors"], told["unread"]) == ([], 0)
    assert opensm_log.wrong(opensm_log.parse(CEPH)) == (
        "nobody answered the subnet manager's SMInfo (2 times, Mar 11 19:32:26 to Mar 11 19:34:56)",
    )


def test_what_is_wrong_worst_first() -> None:
    found = opensm_log.wrong(opensm_log.parse(SAMPLE))
    assert found[0].startswith(
        "a GUID is there more than once: report_duplicated_guid: ERR 0D01: Found duplicated node"
    )
    assert found[1] == "trap 129 (Local Link integrity threshold reached) from LID 4 port 1 (Nov 26 04:42:02)"
    assert found[-1] == "error: ucast_mgr_route: updn: cannot build lid matrices. (Nov 26 04:42:02)"


def record(number: int, message: str, level: str = "0x02") -> str:
    return f"Jun 17 17:21:{number:02d} 927893 [4F2006C0] {level} -> {message}\n"


def test_a_port_that_goes_down_again_and_again() -> None:
    down = "osm_pi_rcv_process: Switch 0x200000 Switch1 port 3 changed state from ACTIVE to DOWN"
    assert opensm_log.wrong(opensm_log.parse(record(1, down) + record(2, down))) == ()
    text = "".join(record(number, down) for number in range(1, 6))
    assert opensm_log.wrong(opensm_log.parse(text)) == (
        "Switch1 port 3 went down 5 times, Jun 17 17:21:01 to Jun 17 17:21:05",
    )
    # opensm 3.3.23 tells only of the ports that it lost.
    lost = "drop_mgr_remove_port: Removed port with GUID:0x0000000000100004 LID range [4, 4] of node:Hca2"
    text = "".join(record(number, lost) for number in range(1, 4))
    assert opensm_log.wrong(opensm_log.parse(text)) == (
        "Hca2 (0x0000000000100004) left the fabric 3 times, Jun 17 17:21:01 to Jun 17 17:21:03",
    )


def test_errors_of_the_initialization_count_until_the_subnet_is_up() -> None:
    text = record(1, "Errors during initialization", "0x80")
    assert opensm_log.wrong(opensm_log.parse(text)) == ("errors in the initialization of the subnet (Jun 17 17:21:01)",)
    assert opensm_log.wrong(opensm_log.parse(text + record(2, "SUBNET UP"))) == ()


def test_a_noisy_port_and_a_subnet_manager_without_its_port() -> None:
    # The messages of osm_trap_rcv.c and osm_sm_state_mgr.c, opensm 3.3.23.
    noisy = "shutup_noisy_port: Disabling noisy physical port 0x0002c90300165e63: lid 4, num 1"
    text = record(1, noisy, "0x01") + record(2, "osm_vendor_bind: SM port is down", "0x80")
    assert opensm_log.wrong(opensm_log.parse(text)) == (
        "the port of the subnet manager was down (Jun 17 17:21:02)",
        "the subnet manager disabled port 1 of 0x0002c90300165e63, which sent one trap again and again",
    )


def test_syslog_has_its_times() -> None:
    text = (
        "Nov 25 13:58:49 head1 OpenSM[1234]: Entering MASTER state\n"
        "Nov 25 13:58:50 head1 OpenSM[1234]: SUBNET UP\n"
        "Nov 25 13:58:51 head1 sshd[77]: Accepted publickey for root\n"
    )
    told = opensm_log.parse(text)
    assert (told.program, told.state, told.unread) == ("OpenSM", "MASTER", 1)
    assert opensm_log.facts(told)["subnet_up"]["first"] == "Nov 25 13:58:50"
    inner = "Nov 25 13:58:50 head1 opensm[9]: " + record(3, "SUBNET UP")
    assert (opensm_log.parse(inner).records, opensm_log.parse(inner).last) == (1, "Jun 17 17:21:03")
    # A reader may have taken its head off already.
    assert opensm_log.parse("Entering STANDBY state\nSUBNET UP\n").state == "STANDBY"


def test_what_it_says_on_its_terminal() -> None:
    # opensm 3.3.23 -y on ibsim 0.10, with two nodes of one GUID.
    text = (
        "OpenSM 3.3.23\n\nUsing default GUID 0x100001\nEntering DISCOVERING state\n\n"
        "report_duplicated_guid: ERR 0D01: Found duplicated node GUID.\n"
        "Node 0x100000 port 1 is reachable from remote node 0x200000 port 1 and remote node 0x200001 port 1.\n"
        "Paths are:\n"
    )
    told = opensm_log.facts(opensm_log.parse(text))
    assert (told["version"], told["state"], told["records"], told["unread"]) == ("3.3.23", "DISCOVERING", 0, 0)
    assert [(found["guid"], found["count"]) for found in told["duplicates"]] == [("0x100000", 1)]
    assert opensm_log.wrong(opensm_log.parse(text)) == (
        "a GUID is there more than once: report_duplicated_guid: ERR 0D01: Found duplicated node GUID. "
        "Node 0x100000 port 1 is reachable from remote node 0x200000 port 1 and remote node 0x200001 port 1.",
    )


def test_the_status_of_the_fabric_manager_is_another_parsers() -> None:
    said = "Aug 27 07:13:17 gpu1 OpenSM[31060]: Entering MASTER state\n"
    assert opensm_log.parse(said).state == "MASTER"
    with pytest.raises(ParseError):
        opensm_log.parse(f"● nvidia-fabricmanager.service - NVIDIA fabric manager service\n\n{said}")


def test_windows_has_records_of_its_own() -> None:
    # osm_log.c of opensm: "[%02d:%02d:%02d:%03d][%04X] 0x%02x -> %s".
    told = opensm_log.parse("[16:47:41:444][0A1C] 0x80 -> Entering MASTER state\n")
    assert (told.state, told.first) == ("MASTER", "16:47:41:444")


@pytest.mark.skipif(not CORPUS.parent.is_dir(), reason="no corpus (set IBREADY_CORPUS)")
def test_nvlsm_behind_a_wrapper() -> None:
    path = CORPUS.parent / "corpus-2/fabricmanager_log/h01.txt"
    if not path.is_file():
        pytest.skip("no second corpus")
    part = prefix.parts("opensm_log", path.read_text())[0]
    told = opensm_log.parse(part.text)
    assert (told.program, told.version, told.unread) == ("nvlsm", "2025.06.5_eb3b4ba_df9bb3c_ae214d2", 3)
    assert opensm_log.wrong(told) == ()


@pytest.mark.parametrize(
    "end", ["Jun 17 17:21:09 92", "Jun 17 17:21:09 927893 [4F20", "Jun 17 17:21:09 927893 [4F2006C0] 0x0"]
)
def test_a_cut_log_gives_what_is_there(end: str) -> None:
    told = opensm_log.parse(record(1, "SUBNET UP") + end)
    assert (told.records, told.unread, told.cut) == (1, 1, True)
    assert opensm_log.parse(record(1, "SUBNET UP") + "Dear all\n").cut is False


def test_more_kinds_than_are_kept_are_counted_together() -> None:
    text = "".join(
        record(1, f"Removed port with GUID:0x{number:016x} LID range [1, 1] of node:n{number}") for number in range(300)
    )
    removed = opensm_log.parse(text).of("removed")
    assert (len(removed), removed[-1].what, removed[-1].count) == (201, ("others",), 100)
    told = opensm_log.facts(opensm_log.parse(text))
    assert len(told["removed"]) == 50


OTHERS = sorted(path.stem for path in SAMPLES.glob("*.txt") if path.stem != "opensm_log")


@pytest.mark.parametrize("name", OTHERS)
def test_other_tools_texts_are_refused(name: str) -> None:
    with pytest.raises(ParseError):
        opensm_log.parse((SAMPLES / f"{name}.txt").read_text())
