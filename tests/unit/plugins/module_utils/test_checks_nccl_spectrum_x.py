# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether jobs send as adaptive routing needs it, where the site has Spectrum-X."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl import check_spectrum_x
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl.facts import HostFacts
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.copies import Copies
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.query import Query
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nccl_copies import ConfFile, Setting, Unseen

NAME = "NCCL_IB_ADAPTIVE_ROUTING"
ON, OFF, USUAL, PLUGIN = f"{NAME}=1\n", f"{NAME}=0\n", f"{NAME}=-2\n", "NCCL_NET_PLUGIN=spcx\n"


def judge(conf: str, env: list[str], release: str | None = "RA2.1", unread: bool = False) -> list[tuple[str, str]]:
    """``env``: values that slurmd gives to jobs."""
    here = HostFacts(
        conf=Reading(conf) if conf else Reading(None, "no file", True),
        asked=Query(Reading(None, "no library", True), Reading(None, "no library", True)),
        copies=Copies(
            settings=Reading(None, "denied") if unread else Reading(()),
            units=Reading(tuple(Setting("slurmd.service", 0, NAME, value) for value in env)),
        ),
    )
    expect = from_inventory({"spectrum_x": release} if release else {})
    return [(one.result, one.subject) for one in check_spectrum_x.judge(here, expect)]


@pytest.mark.parametrize(
    ("conf", "env", "found"),
    [
        pytest.param(ON, [], [(PASS, "/etc/nccl.conf")], id="in nccl.conf"),
        pytest.param("", ["1"], [(PASS, "/etc/nccl.conf")], id="by what starts jobs"),
        pytest.param("", [], [(FAIL, "/etc/nccl.conf")], id="nowhere: off with RoCE"),
        pytest.param(USUAL, [], [(FAIL, "/etc/nccl.conf")], id="NCCL's own choice is off with RoCE"),
        pytest.param(OFF, [], [(FAIL, "/etc/nccl.conf")], id="off"),
        pytest.param(ON, ["0"], [(FAIL, "slurmd.service")], id="what starts jobs goes first"),
        pytest.param(ON, ["-2"], [(FAIL, "slurmd.service")], id="its own choice goes first"),
        pytest.param(PLUGIN, [], [(UNKNOWN, "/etc/nccl.conf")], id="the plugin's own choice is not public"),
        pytest.param(PLUGIN + OFF, [], [(FAIL, "/etc/nccl.conf")], id="off with the plugin"),
        pytest.param(PLUGIN + ON, [], [(PASS, "/etc/nccl.conf")], id="on with the plugin"),
    ],
)
def test_what_jobs_are_told(conf: str, env: list[str], found: list[tuple[str, str]]) -> None:
    assert judge(conf, env) == found


def test_skipped_where_nobody_named_a_release() -> None:
    assert judge(ON, [], release=None) == [(SKIP, "/etc/nccl.conf")]


@pytest.mark.parametrize("conf", [ON, ""])
def test_an_environment_that_could_not_be_read_passes_nothing(conf: str) -> None:
    assert judge(conf, [], unread=True) == [(UNKNOWN, "/etc/nccl.conf")]


def placed(place: str, value: str = "1", conf: str = "", unseen: tuple[Unseen, ...] = ()) -> list[tuple[str, str]]:
    """``place``: a file that sets it; a user's own one below /home, or what NCCL_CONF_FILE of /etc/default names."""
    who = "anna" if place.startswith("/home/") else "/etc/default/a" if place.endswith(".conf") else ""
    here = HostFacts(
        conf=Reading(conf) if conf else Reading(None, "no file", True),
        asked=Query(Reading(None, "no library", True), Reading(None, "no library", True)),
        copies=Copies(
            settings=Reading((Setting(place, 2, NAME, value),) if place else ()),
            confs=Reading((ConfFile(place, who),) if who else ()),
            units=Reading(()),
            unseen=unseen,
        ),
    )
    return [(one.result, one.subject) for one in check_spectrum_x.judge(here, from_inventory({"spectrum_x": "RA2.1"}))]


@pytest.mark.parametrize(
    ("place", "result"),
    [
        pytest.param("/etc/profile.d/nccl.sh", PASS, id="every login"),
        pytest.param("/etc/environment", PASS, id="every session"),
        pytest.param("/home/anna/.nccl.conf", FAIL, id="one user alone"),
        pytest.param("/etc/systemd/system/exporter.service", FAIL, id="a service that starts no jobs"),
        pytest.param("/etc/systemd/system/exporter.service.d/nccl.conf", FAIL, id="its drop-in"),
        pytest.param("/etc/default/slurmd", UNKNOWN, id="a service that cannot be told"),
        pytest.param("/srv/site.conf", UNKNOWN, id="whoever gets NCCL_CONF_FILE"),
    ],
)
def test_who_gets_what_a_file_sets(place: str, result: str) -> None:
    assert placed(place) == [(result, "/etc/nccl.conf")]
    assert placed(place, conf=ON) == [(PASS, "/etc/nccl.conf")]


@pytest.mark.parametrize("value", ["${NCCL_IB_ADAPTIVE_ROUTING:-1}", "$AR", "`ar`"])
def test_what_a_shell_works_out_is_unknown(value: str) -> None:
    for conf in ("", ON):
        assert placed("/etc/profile.d/nccl.sh", value, conf) == [(UNKNOWN, "/etc/nccl.conf")]


@pytest.mark.parametrize("conf", [ON, ""])
def test_a_file_that_could_not_be_read_may_set_it(conf: str) -> None:
    unread = Unseen("/etc/profile.d/site.sh", "permission denied")
    assert placed("", conf=conf, unseen=(unread,)) == [(UNKNOWN, "/etc/nccl.conf")]
    beyond = Unseen("/nfs", "nfs4, which is not looked into")
    assert placed("", conf=conf, unseen=(beyond,)) == [(PASS if conf else FAIL, "/etc/nccl.conf")]


def test_what_jobs_get_is_shown_where_nccl_conf_says_otherwise() -> None:
    here = HostFacts(
        conf=Reading(OFF),
        asked=Query(Reading(None, "no library", True), Reading(None, "no library", True)),
        copies=Copies(settings=Reading((Setting("/etc/environment", 1, NAME, "1"),)), units=Reading(())),
    )
    found = list(check_spectrum_x.judge(here, from_inventory({"spectrum_x": "RA2.1"})))
    assert [(one.result, one.observed) for one in found] == [(PASS, "set for jobs")]
