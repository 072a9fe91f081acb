# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.opensm import conf, fabrics
from ansible_collections.ibready.cluster.plugins.module_utils._act.opensm.fabrics import OpensmError
from ansible_collections.ibready.cluster.plugins.module_utils._data import opensm as data

GUID = "0x0000000000000202"
HOSTS = ["login1", "login2", "login3"]


def fabric(**more: Any) -> fabrics.Fabric:
    given = {"name": "compute", "port": "mlx5_0/1"}
    shared = {"routing_engine": ["ftree", "updn"], "settings": {"qos": True}, **more}
    (found,) = fabrics.read([given], shared, 14, {}, takeover_s=20, log_mb=64)
    return found


def test_what_is_written_is_what_is_read() -> None:
    wanted = conf.values(fabric(root_guids=["0x2"], settings={"sweep_interval": 30}), GUID)
    assert conf.read(conf.render(wanted)) == wanted
    assert wanted["guid"] == GUID
    assert wanted["sm_priority"] == "14"
    assert wanted["routing_engine"] == "ftree,updn"
    assert wanted["root_guid_file"] == "/etc/ibready/opensm/compute.roots"
    assert wanted["sweep_interval"] == "30"
    assert wanted["force_log_flush"] == "TRUE", "a sweep's end is looked for in the log"


def test_a_standby_takes_over_within_the_seconds_that_were_said() -> None:
    wanted = conf.values(fabric(), GUID)
    polls, timeout = int(wanted["polling_retry_number"]), int(wanted["sminfo_polling_timeout"])
    assert polls * timeout == 20_000


def test_true_is_written_as_opensm_reads_it() -> None:
    wanted = conf.values(fabric(settings={"qos": True, "a": "true", "b": False}), GUID)
    assert (wanted["qos"], wanted["a"], wanted["b"]) == ("TRUE", "TRUE", "FALSE")


@pytest.mark.parametrize("value", ["", "a # b", "two\nlines", "a\0b"])
def test_a_value_is_one_line(value: str) -> None:
    with pytest.raises(OpensmError, match="one line"):
        conf.values(fabric(settings={"log_prefix": value}), GUID)


@pytest.mark.parametrize(
    ("after", "due"),
    [
        pytest.param({}, (conf.NOTHING, ()), id="nothing"),
        pytest.param({"sm_priority": "9"}, (conf.RELOAD, ("sm_priority",)), id="a live key"),
        pytest.param({"routing_engine": "minhop"}, (conf.RESTART, ("routing_engine",)), id="another"),
        pytest.param(
            {"routing_engine": "minhop", "sm_priority": "9"},
            (conf.RESTART, ("routing_engine",)),
            id="both",
        ),
        pytest.param({"qos": None}, (conf.RESTART, ("qos",)), id="a live key that left the file"),
        pytest.param({"sweep_interval": "5"}, (conf.RELOAD, ("sweep_interval",)), id="a new key"),
        pytest.param({"made_up": "5"}, (conf.RESTART, ("made_up",)), id="nobody knows it"),
    ],
)
def test_only_what_opensm_takes_up_alive_goes_without_a_restart(
    after: dict[str, str | None], due: tuple[str, tuple[str, ...]]
) -> None:
    before = conf.values(fabric(), GUID)
    moved = {key: value for key, value in {**before, **after}.items() if value is not None}
    assert conf.due(before, moved) == due
    assert conf.due({}, moved) == (conf.NOTHING, ())


def test_a_key_that_this_opensm_lacks_is_refused() -> None:
    conf.strange({"qos": True}, ["qos", "sm_priority"])
    conf.strange({"qso": True}, [])
    with pytest.raises(OpensmError, match="has no 'qso'"):
        conf.strange({"qso": True}, ["qos"])


def test_priorities_fall_by_the_order_of_hosts() -> None:
    assert fabrics.priorities(HOSTS, {}, False) == {"login1": 14, "login2": 13, "login3": 12}
    assert fabrics.priorities(HOSTS, {"login1": 3}, False)["login1"] == 3
    assert fabrics.priorities(["login1"], {}, True) == {"login1": 14}


@pytest.mark.parametrize(
    ("hosts", "given", "said"),
    [
        ([], {}, "is empty"),
        (["a"], {}, "names a alone"),
        (["a", "a"], {}, "names a twice"),
        (["a", "b"], {"c": 1}, "c is not in"),
        (["a", "b"], {"a": 16}, "not 0 to 15"),
        (["a", "b"], {"a": True}, "not 0 to 15"),
        (["a", "b"], {"a": 13}, "both have priority 13"),
    ],
)
def test_priorities_that_decide_nothing_are_refused(hosts: list[str], given: dict[str, Any], said: str) -> None:
    with pytest.raises(OpensmError, match=said):
        fabrics.priorities(hosts, given, False)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"name": "Compute"}, "no word of small letters"),
        ({"name": "../etc"}, "no word of small letters"),
        ({"port": "mlx5_0"}, "neither auto nor like"),
        ({"routing_engine": "fattree"}, "no routing engine 'fattree'"),
        ({"routing_engine": ["no_fallback", "ftree"]}, "no_fallback after it"),
        ({"routing_engine": []}, "Next: name one"),
        ({"routing_engine": ["ftree", "ftree"]}, "named twice"),
        ({"routing_engine": ["minhop"], "root_guids": ["0x1"]}, "root_guids are for"),
        ({"root_guids": ["0x1", "0x01"]}, "named twice in root_guids"),
        ({"root_guids": ["spine1"]}, "is not a GUID"),
        ({"settings": {"sm_priority": 1}}, "but by subnet_manager_hosts"),
        ({"settings": {"log_flags": "0x01"}}, "does not log both"),
        ({"settings": {"log_flags": "all"}}, "does not log both"),
        ({"ports": []}, "'ports' is not one of"),
        ({"partitions": [{"name": "a", "pkey": 1, "full": ["ALL"]}]}, "no partition has pkey"),
    ],
)
def test_a_fabric_that_opensm_would_run_otherwise_is_refused(more: dict[str, Any], said: str) -> None:
    shared = {"routing_engine": ["ftree"], "settings": {}}
    with pytest.raises(OpensmError, match=said):
        fabrics.read([{"name": "compute", **more}], shared, 1, {}, takeover_s=20, log_mb=64)


def test_a_service_level_needs_qos() -> None:
    listed = [{"name": "Default", "pkey": 0x7FFF, "ipoib": True, "sl": 1, "full": ["ALL"]}]
    assert fabric(partitions=listed).partitions[0].sl == 1
    with pytest.raises(OpensmError, match="without QoS"):
        fabric(partitions=listed, settings={})


def test_two_fabrics_have_a_port_each() -> None:
    given = [{"name": "a", "port": "mlx5_0/1"}, {"name": "b", "port": "mlx5_0/1"}]
    shared = {"routing_engine": ["minhop"]}
    with pytest.raises(OpensmError, match="another fabric has port"):
        fabrics.read(given, shared, 1, {}, takeover_s=20, log_mb=64)
    given[1] = {"name": "b", "port": "mlx5_1/1", "routing_engine": ["updn"]}
    first, second = fabrics.read(given, shared, 1, {}, takeover_s=20, log_mb=64)
    assert (first.routing_engine, second.routing_engine) == (("minhop",), ("updn",))


def test_instances_share_neither_lids_nor_logs() -> None:
    unit = conf.unit("/usr/sbin/opensm")
    assert "OSM_CACHE_DIR=/var/lib/ibready-opensm/%i" in unit
    assert f"ExecStart=/usr/sbin/opensm --config {data.FOLDER}/%i.conf" in unit
    assert conf.values(fabric(), GUID)["log_file"].startswith(f"{data.LOGS}/")
    assert data.LOGS in conf.logrotate()


def test_logrotate_hears_of_a_log_that_could_not_be_opened_again() -> None:
    assert "    systemctl kill --signal=USR1 'ibready-opensm@*.service'\n" in conf.logrotate()
