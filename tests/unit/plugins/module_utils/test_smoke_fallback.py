# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a job went over TCP: one setting at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.smoke import settings, verdict
from ansible_collections.ibready.cluster.plugins.module_utils._between.smoke.verdict import FAIL, judge
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._parse import mpi_log
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mpi_log import MpiLog

LOGS = Path(__file__).parents[2] / "mpi_logs"
UCX_LOG = mpi_log.parse((LOGS / "ucx-tcp.txt").read_text())
BTL_LOG = mpi_log.parse((LOGS / "btl-tcp.txt").read_text())
MCA_FILE = "/etc/openmpi/openmpi-mca-params.conf"
HEALTHY = {
    "ucx": {"UCX_TLS": {"value": "all", "source": ""}},
    "mca": {"pml": {"value": "ucx", "source": f"file ({MCA_FILE})"}},
    "devices": ["rxe0"],
}


def bent(part: str, name: str, value: str, source: str) -> dict[str, Any]:
    """A healthy host but for one setting."""
    return {**HEALTHY, part: {**HEALTHY[part], name: {"value": value, "source": source}}}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("told", "cause", "says", "remedy"),
    [
        (
            bent("ucx", "UCX_TLS", "tcp", "/etc/ucx/ucx.conf"),
            verdict.TLS,
            "/etc/ucx/ucx.conf on node1 says UCX_TLS=tcp, which has no transport of RDMA",
            "take UCX_TLS out of /etc/ucx/ucx.conf",
        ),
        (
            bent("ucx", "UCX_TLS", "tcp,self", settings.ENVIRONMENT),
            verdict.TLS,
            "the job's environment on node1 says UCX_TLS=tcp,self",
            "out of what starts the job",
        ),
        (
            bent("ucx", "UCX_NET_DEVICES", "eth0", "/etc/ucx/ucx.conf"),
            verdict.DEVICES,
            "UCX_NET_DEVICES=eth0, and none of these is an RDMA device of the host (it has rxe0)",
            "or set it to rxe0:1",
        ),
        (
            bent("mca", "pml", "ob1", settings.ENVIRONMENT),
            verdict.PML,
            "the job's environment on node1 says pml=ob1, which leaves UCX out",
            "pml=ucx (role mpi writes it)",
        ),
        (
            bent("mca", "pml", "^ucx", f"file ({MCA_FILE})"),
            verdict.PML,
            f"{MCA_FILE} on node1 says pml=^ucx",
            f"take pml out of {MCA_FILE}",
        ),
    ],
)
def test_a_setting_is_named_with_where_it_is(told: dict[str, Any], cause: str, says: str, remedy: str) -> None:
    found = verdict.fallback(UCX_LOG, {"node1": told, "node2": HEALTHY})
    assert found is not None
    assert (found.id, found.host) == (cause, "node1")
    assert says in found.cause
    assert remedy in found.remedy
    judged = judge(UCX_LOG, 2, 2, rails=True, fallback=found)
    assert (judged.result, judged.cause) == (FAIL, cause)
    assert says in judged.why


def test_the_logs_word_on_the_environment_counts_before_any_file() -> None:
    log = MpiLog((), (), (), (("node1", "UCX_TLS", "tcp"),), (("node1", "offered"),))
    found = verdict.fallback(log, {"node1": HEALTHY})
    assert found is not None
    assert (found.id, "the job's environment" in found.cause) == (verdict.TLS, True)


def test_ob1_hides_what_ucx_would_take_and_names_the_btl() -> None:
    reported = bent("mca", "pml", "ob1", settings.ENVIRONMENT)
    reported["mca"]["btl"] = {"value": "tcp,self", "source": settings.ENVIRONMENT}
    reported["ucx"] = {"UCX_TLS": {"value": "tcp", "source": "/etc/ucx/ucx.conf"}}
    found = verdict.fallback(BTL_LOG, {"node1": reported})
    assert found is not None
    assert found.id == verdict.PML
    assert "(and the job's environment says btl=tcp,self)" in found.cause


def test_a_ucx_that_open_mpi_did_not_take() -> None:
    log = MpiLog((("node1", "ob1"),), (), (), (), (("node1", "offered"), ("node1", "refused")))
    reported = {**HEALTHY, "mca": {"pml": {"value": "", "source": "default"}}}
    found = verdict.fallback(log, {"node1": reported})
    assert found is not None
    assert found.id == verdict.NO_DEVICE
    reported["mca"] = {"btl": {"value": "tcp,self", "source": settings.ENVIRONMENT}}
    found = verdict.fallback(log, {"node1": reported})
    assert found is not None
    assert found.id == verdict.BTL


def test_an_open_mpi_that_never_tried_ucx() -> None:
    found = verdict.fallback(BTL_LOG, {})
    assert found is not None
    assert found.id == verdict.NO_UCX


def test_where_nothing_is_set_nothing_is_blamed() -> None:
    assert verdict.fallback(UCX_LOG, {"node1": HEALTHY, "node2": HEALTHY}) is None
    assert verdict.fallback(MpiLog((), (), ()), {}) is None


def test_the_environment_that_ucx_tells() -> None:
    names = [(name, value) for _host, name, value in UCX_LOG.variables]
    assert ("UCX_PROTO_INFO", "y") in names
    assert ("node1", "offered") in UCX_LOG.ucx


def test_a_job_over_rdma_whose_datagrams_nobody_answered() -> None:
    log = mpi_log.parse((LOGS / "ucx-rxe-silent.txt").read_text())
    assert {(one.name, one.device) for one in log.between} == {("rc_verbs", "rxe0:1")}
    assert log.unanswered == ("vm2",)
    found = verdict.fallback(log, {"vm1": HEALTHY, "vm2": HEALTHY})
    assert found is not None
    assert (found.id, found.host) == (verdict.UNANSWERED, "vm2")
    assert "UDP 4791" in found.remedy


UCX_CONFIG = "UCX_TLS=tcp\nUCX_NET_DEVICES=all\n"
PML = f"mca:pml:base:param:pml:value:ob1\nmca:pml:base:param:pml:source:file ({MCA_FILE})\n"


def test_a_host_is_asked_as_the_jobs_user(tmp_path: Path) -> None:
    (tmp_path / "etc/ucx").mkdir(parents=True)
    (tmp_path / "etc/ucx/ucx.conf").write_text("# mine\nUCX_TLS = tcp\n")
    (tmp_path / "sys/class/infiniband/rxe0").mkdir(parents=True)
    asked: list[list[str]] = []

    def run(argv: list[str], _timeout: float) -> Output:
        asked.append(argv)
        if "ucx_info" in argv:
            return Output(0, UCX_CONFIG, "")
        if "btl" in argv:
            raise Unavailable("ompi_info", "gave no complete answer")
        return Output(0, PML, "")

    reported = settings.look(run, Live(tmp_path), "/opt/bin", "ops", "/home/ops", {"A": "b"})
    assert reported == {
        "ucx": {
            "UCX_TLS": {"value": "tcp", "source": "/etc/ucx/ucx.conf"},
            "UCX_NET_DEVICES": {"value": "all", "source": ""},
        },
        "mca": {"pml": {"value": "ob1", "source": f"file ({MCA_FILE})"}},
        "devices": ["rxe0"],
    }
    assert asked[0][:6] == ["runuser", "-u", "ops", "--", "env", "HOME=/home/ops"]
    assert "A=b" in asked[0]
    given = settings.look(run, Live(tmp_path), "", "o", "/", {"UCX_TLS": "x", "OMPI_MCA_pml": "ob1"})
    assert given["ucx"]["UCX_TLS"]["source"] == settings.ENVIRONMENT
    assert given["mca"]["pml"]["source"] == settings.ENVIRONMENT
