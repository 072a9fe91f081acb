# SPDX-License-Identifier: GPL-3.0-or-later
"""A remedy is cited only where carrying it out takes the cause away: it is carried out here, and asked again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from ansible.plugins.loader import init_plugin_loader
from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder

from ansible_collections.ibready.cluster.plugins.module_utils._data import boot_sources, host_units
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import table
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.diagnosis import Diagnosis, diagnose
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.rank import Cause
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import Row
from tests import cases
from tests.gauntlet import fault
from tests.unit import fleets, simulated_acts, simulated_run
from tests.unit.simulated_acts import Host, NotSimulated

H100, ROCE, GB200 = "hgx-h100-8", "hgx-h200-8-roce", "gb200-nvl72-node"
ROWS = {row.id: row for row in table.rows()}
RUNS = {name: row for name, row in ROWS.items() if row.fix.play}
COMMANDS = {name: row for name, row in ROWS.items() if row.fix.words and row.fix.mends}


@pytest.fixture(autouse=True, scope="module")
def plugins() -> Iterator[None]:
    """Ansible finds its lookups and filters only so; and what other tests import it would look for elsewhere."""
    init_plugin_loader([])
    yield
    _AnsibleCollectionFinder._remove()


@dataclass(frozen=True)
class Plant:
    """A fault: of the gauntlet by its name, or changes of a healthy node."""

    named: str = ""
    board: str = H100
    node: tuple[dict[str, Any], ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()
    expect: Mapping[str, Any] = field(default_factory=dict)

    def host(self) -> Host:
        if self.named:
            return Host(*fleets.broken(fleets.named(self.named)))
        bent = fleets.bent(self.board, 7, node=self.node, evidence=self.evidence, expect=self.expect)
        return Host(*bent)


def conf(board: str = H100, **lines: str | None) -> Plant:
    """Lines of nccl.conf."""
    return Plant(board=board, node=({"more": {"nccl_conf": lines}},))


def more(board: str = H100, **bent: Any) -> Plant:
    return Plant(board=board, node=({"more": bent},))


# A second interface, which the kernel lists first and NCCL listens on.
_ETH1 = (
    '[{"ifname": "eth1", "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], "mtu": 1500, "link_type": "ether",'
    ' "addr_info": [{"family": "inet", "local": "198.51.100.7", "prefixlen": 24, "scope": "global"}]}, {"ifname": "lo"'
)
_OTHER_INTERFACE = Plant(
    node=({"more": {"nccl_conf": {"NCCL_SOCKET_IFNAME": None}}},),
    evidence=(
        {"command": "ip_addr", "replace": ['[{"ifname": "lo"', _ETH1]},
        {"command": "nccl_proof", "replace": ['"address": "192.0.2.10"', '"address": "198.51.100.7"']},
    ),
)

# By cause: faults that it is found of.
TRIED: dict[str, tuple[Plant, ...]] = {
    "pcie.read_request": (Plant("nobody raised the read request of an HCA after a reset"),),
    "path.acs": (Plant("the kernel switched on ACS on one switch port"),),
    "path.iommu": (
        Plant("the IOMMU is on and translates"),
        Plant("an AMD host translates by default and nobody told it otherwise"),
        Plant("a GB200 node was installed without iommu.passthrough"),
    ),
    "host.governor": (Plant("the CPUs save power"), Plant("one CPU was left with another governor")),
    "host.memory_settings": (
        Plant("NUMA balancing moves the ranks' pages"),
        Plant("zone reclaim drops the page cache"),
    ),
    "host.memlock": (Plant("services get systemd's own small limit for locked memory"),),
    "host.memlock_login": (
        Plant("sshd goes without PAM, whatever pam_limits says"),
        Plant("sshd does not ask pam_limits, and has systemd's small limit"),
    ),
    "host.nofile": (Plant("services may open 4096 files"),),
    "fleet.sysctl": (more(sysctls={"net.core.rmem_max": 212992}),),
    "fleet.limits": (more(nofile=2097152),),
    "rdma.modules": (Plant("ib_umad is missing on a board whose NVLink switches need it"),),
    "rdma.umad": (Plant("ib_umad is not loaded, so nothing can be diagnosed"),),
    "rdma.ipoib": (Plant("IPoIB is configured and its module is missing"),),
    "host.reboot_waits": (Plant("the stack was installed, and the host did not boot since"),),
    "host.nouveau": (Plant("nouveau took the GPUs at boot"),),
    "gdr.no_path": (Plant("nvidia_peermem is not loaded below the proprietary modules"),),
    "roce.mode": (Plant("RDMA CM connects by RoCE v1"),),
    "nvlink.imex": (
        Plant("IMEX does not run"),
        Plant("IMEX was never told of the rack's hosts"),
        Plant("IMEX has the list of another rack's hosts"),
    ),
    "nvlink.imex_channel": (Plant("nobody created an IMEX channel"),),
    "nccl.rdma_off": (
        Plant("nccl.conf switches RDMA off"),
        Plant("nccl.conf names TCP as the network"),
        conf(NCCL_NET="socket"),
    ),
    "nccl.gdr_off": (conf("l40s-8", NCCL_DMABUF_ENABLE="0"),),
    "nccl.conf_lines": (
        Plant("a setting of nccl.conf has blanks around its ="),
        Plant("a number of nccl.conf stands in quotes"),
        Plant("nccl.conf sets a variable from a blog post"),
        Plant("only root can read nccl.conf"),
    ),
    "nccl.lines_stop": (conf(NCCL_ALGO="Rings"),),
    "nccl.gid_index": (Plant("nccl.conf names an index of the GID table without a RoCE v2 address"),),
    "nccl.no_patience": (conf(NCCL_IB_TIMEOUT="0"), conf(NCCL_IB_RETRY_CNT="0")),
    "nccl.conf_stops": (
        conf(NCCL_SOCKET_IFNAME="=lo"),
        Plant("nccl.conf names an interface that this host does not have"),
    ),
    "nccl.conf_tcp": (conf(NCCL_IB_HCA="=mlx5_99"),),
    "nccl.conf_no_rail": (conf("dgx-h100-8", NCCL_IB_HCA="=mlx5_8,mlx5_9"),),
    "nccl.bootstrap_setting": (_OTHER_INTERFACE,),
    "nccl.conf_derived": (
        Plant("nccl.conf leaves a rail out"),
        Plant("nccl.conf names an HCA that this host does not have"),
        Plant("nccl.conf names rails by their beginning, and so takes storage HCAs too"),
        Plant("there is no nccl.conf"),
    ),
    "fleet.nccl_stops": (conf(NCCL_NET_OVERHEAD="1000"), conf(NCCL_TUNER_PLUGIN="none")),
    "fleet.nccl_settings": (conf(NCCL_IB_QPS_PER_CONNECTION="4"), conf(NCCL_IB_SL="3")),
}

# What the note of a cause has done besides, and the word by which it says so.
BESIDES: dict[str, tuple[tuple[str, Callable[[Host], None]], ...]] = {
    "host.memlock": (("restart", simulated_acts.restart_jobs),),
    "host.memlock_login": (("restart ssh", simulated_acts.restart_ssh),),
    "fleet.limits": (("restart", simulated_acts.restart_jobs),),
    "nvlink.imex_channel": (("reboot", simulated_acts.boot),),
    "nvlink.manager_masked": (("systemctl enable --now nvidia-fabricmanager", simulated_acts.start_manager),),
}


@dataclass(frozen=True)
class Untried:
    """Why a simulated host cannot show it; and what the run has to see to: a module that one of its tasks calls, and
    a word among what that is given."""

    why: str
    module: str = "stack_packages"
    word: str = ""
    board: str = H100


_PACKAGE = "packages have to be installed"
_BOOT = "packages have to be installed, and the host to boot with them"
UNTRIED: dict[str, Untried] = {
    "stack.drift": Untried(_BOOT, word="nvidia_driver"),
    "fleet.driver": Untried(_BOOT, word="nvidia_driver"),
    "fleet.rdma": Untried(_BOOT, word="rdma"),
    "fleet.nccl": Untried(_PACKAGE, word="nccl"),
    "fleet.kernel": Untried("the host has to boot another kernel", word="rdma"),
    "fleet.manager": Untried(_PACKAGE, word="nvidia_driver"),
    "fleet.toolkit": Untried(_PACKAGE, word="container_toolkit"),
    "gpu.two_drivers": Untried(_BOOT, "nvidia_modules"),
    "gpu.wrong_modules": Untried(_BOOT, word="nvidia_driver"),
    "gpu.no_driver": Untried(_BOOT, "nvidia_modules"),
    "gpu.driver_other": Untried(_BOOT, word="nvidia_driver"),
    "nvlink.manager_restart": Untried(_BOOT, word="nvidia_driver"),
    "nvlink.manager_version": Untried(_BOOT, word="nvidia_driver"),
    "nvlink.no_manager": Untried(_PACKAGE, "units", "nvidia-fabricmanager"),
    "rdma.no_provider": Untried(_PACKAGE, word="rdma"),
    "rdma.userspace": Untried(_PACKAGE, word="rdma"),
    "rdma.none": Untried(_PACKAGE, word="rdma"),
    "rdma.old_modules": Untried("modules have to be loaded anew", "rdma_users"),
    "kmod.rdma": Untried("modules have to be built", word="rdma"),
    "kmod.nvidia": Untried("modules have to be built", "nvidia_modules"),
    "stack.mixed": Untried(_BOOT, word="'replace_ok': 'true'"),
    "gdr.nccl": Untried(_PACKAGE, word="nccl"),
    "host.repositories": Untried("the package manager has to read them", word="repositories"),
    "host.converge": Untried("what stopped the role is not of the host's evidence", word="nvidia_driver"),
    "rail.link_layer": Untried("a card has to take it at a boot", "port_type", "infiniband"),
    "mpi.pml": Untried("only Open MPI tells what it takes of its files", "mpi_conf"),
    "nccl.harm": Untried("no setting that is known today is none of the others", "nccl_conf", "drop"),
}

# The same for commands on hosts; a tool of a device that is not there, if nothing else.
TRIED_COMMANDS: dict[str, tuple[Plant, ...]] = {
    "rdma.no_device_file": (Plant("udev made no device file for one HCA"),),
    "rdma.device_mode": (Plant("a site's udev rule keeps jobs from the HCAs"),),
    "rdma.driver_module": (
        Plant("the RDMA driver was not built for the new kernel"),
        Plant("the HCA driver is not loaded"),
    ),
    "rdma.openibd": (Plant("openibd failed at boot"),),
    "host.ibacm": (Plant("ibacm was switched on by the packages"),),
    "host.job_service": (Plant("slurmd has failed"),),
    "host.service": (more(units={"chrony": "failed"}),),
    "host.memlock_service": (Plant("slurmd was started before the limits were raised"),),
    "roce.mtu": (Plant("a rail's interface was left at MTU 1500"),),
    "roce.pfc": (Plant("flow control is off on a rail"),),
    "roce.trust": (Plant("the DSCP is not trusted any more since the reboot"),),
    "nvlink.manager": (Plant("the fabric manager was stopped"),),
    "nvlink.manager_masked": (Plant("the fabric manager is masked since a driver was changed"),),
    "gpu.persistence_off": (
        Plant(
            node=({"more": {"smi": {"all": {"persistence_mode": "Disabled"}}}},),
            evidence=(
                {
                    "command": "systemctl_show@nvidia-persistenced",
                    "stdout": "Id=nvidia-persistenced.service\nLoadState=loaded\nActiveState=inactive\n",
                },
            ),
        ),
    ),
    "gpu.persistence": (
        Plant("persistence mode was never switched on"),
        Plant("the persistence daemon runs as the distribution starts it"),
    ),
}
_CARD = "it changes a card, a port or a link, of which a simulated host shows readings only"
_GPU = "it changes a GPU, of which a simulated host shows readings only"
UNTRIED_COMMANDS = {
    **dict.fromkeys(
        ("hca.failed", "hca.software", "rail.disabled", "rail.loopback", "rail.slow", "rail.saturated"), _CARD
    ),
    **dict.fromkeys(("gpu.reset", "gpu.sick", "gpu.xid", "gpu.memory", "nvlink.link", "nvlink.not_joined"), _GPU),
    **dict.fromkeys(
        ("gpu.prohibited", "gpu.mig", "gpu.power_limit", "gpu.memory_clock", "gpu.clocks", "gpu.no_ecc"), _GPU
    ),
    "nvlink.subnet_manager": "what the fabric manager starts besides is shown as a list of processes",
    "host.nofile_service": "no simulated service has a limit of files of its own",
    "stack.half_installed": "the package manager has to do it",
}


def asked(host: Host) -> Diagnosis:
    """The diagnosis of a fleet in which this is the odd one."""
    mine = fleets.host(fleets.ODD, host.node, host.tree)
    return diagnose(fleets.report([*fleets.equals(host.node.name), mine]))


def cause(found: Diagnosis, name: str) -> Cause:
    told = {one.id: one for one in found.causes}
    assert name in told, f"{name} is none of {', '.join(told) or 'no cause'}"
    return told[name]


def see_mended(host: Host, name: str, before: Diagnosis) -> None:
    simulated_acts.new_container(host)
    after = asked(host)
    words = [str(finding.check) for one in after.causes for finding in one.evidence]
    assert name not in {one.id for one in after.causes}, words
    # Beside its equals a host may differ more than before: they were not converged, and are no hosts of AMD's. A rail
    # that differs from its host's others was evidence of the first cause, and is told for itself when that is gone.
    more = {one.id for one in after.causes} - {one.id for one in before.causes}
    assert {name for name in more if not name.startswith(("fleet.", "rail.odd"))} == set(), words


def test_each_run_is_tried_or_told_why_not() -> None:
    assert sorted([*TRIED, *UNTRIED]) == sorted(RUNS)


def test_each_command_is_tried_or_told_why_not() -> None:
    assert sorted([*TRIED_COMMANDS, *UNTRIED_COMMANDS]) == sorted(COMMANDS)


def _cases(tried: Mapping[str, tuple[Plant, ...]]) -> list[Any]:
    """The first fault of each cause, and the others as thorough."""
    found: list[Any] = []
    for name, plants in tried.items():
        found += cases.daily(
            [pytest.param(name, one, id=f"{name}: {one.named or at}") for at, one in enumerate(plants)]
        )
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "plant"), _cases(TRIED))
def test_a_run_that_is_cited_takes_the_cause_away(name: str, plant: Plant) -> None:
    host = plant.host()
    before = asked(host)
    cause(before, name)
    carry_out(host, ROWS[name])
    see_mended(host, name, before)


def carry_out(host: Host, row: Row) -> None:
    simulated_run.carried_out(host, simulated_run.read(row.fix.play[1:]))
    do_besides(host, row)


def do_besides(host: Host, row: Row) -> None:
    for word, act in BESIDES.get(row.id, ()):
        assert word in row.fix.note
        act(host)


@pytest.mark.parametrize("name", UNTRIED)
def test_a_run_that_cannot_be_tried_sees_to_the_thing(name: str) -> None:
    untried = UNTRIED[name]
    host = Host(*fleets.bent(untried.board, 7))
    items = simulated_run.wanted(host, simulated_run.read(ROWS[name].fix.play[1:]))
    mine = [str(dict(item.want)) for item in items if item.kind == f"ibready.cluster.{untried.module}"]
    assert any(untried.word in want for want in mine), [item.kind for item in items]


@pytest.mark.parametrize(("name", "plant"), _cases(TRIED_COMMANDS))
def test_a_command_that_is_cited_takes_the_cause_away(name: str, plant: Plant) -> None:
    host = plant.host()
    before = asked(host)
    words = shlex.split(shlex.split(cause(before, name).command)[-1])
    assert words[0] == ROWS[name].fix.words[0], "what stands there is only a look"
    simulated_acts.program(host, words)
    do_besides(host, ROWS[name])
    see_mended(host, name, before)


# What starts and stops on a host, by the names that the checks ask systemd for.
UNITS = {
    *(f"{name}.service" for name in (*host_units.JOBS, *host_units.RDMA, *host_units.TIME, *host_units.SSH)),
    *(f"{name}.service" for name in boot_sources.UNITS),
    # Of rdma-core: the service is started by it.
    "ibacm.socket",
    "nvidia-fabricmanager.service",
}


@pytest.mark.parametrize("name", [name for name, row in COMMANDS.items() if row.fix.words[0] == "systemctl"])
def test_a_unit_that_is_cited_is_one_that_there_is(name: str) -> None:
    units = [word for word in ROWS[name].fix.words[2:] if word != "--now"]
    assert units
    for unit in units:
        assert unit == "{unit}" or (unit if "." in unit else f"{unit}.service") in UNITS


@pytest.mark.parametrize("name", RUNS)
def test_a_run_with_tags_is_not_said_to_reboot(name: str) -> None:
    """reboot_gate has no tags, so that a run with some goes without it."""
    run = simulated_run.read(RUNS[name].fix.play[1:])
    assert not (run.tags and "ibready_reboot_ok" in run.variables)
    gate = (simulated_run.ROOT / "roles/reboot_gate/tasks/main.yml").read_text()
    assert re.search(r"^\s*tags:", gate, re.MULTILINE) is None


# Faults of tried causes that a simulated host cannot be mended of.
BEYOND = {
    "nvidia_peermem was built before the RDMA stack was there": "modules have to be built",
    "proprietary modules above the distribution's RDMA stack": _PACKAGE,
    "no way of GPUDirect RDMA, and a lock in which nobody accepted that": _PACKAGE,
    "jobs ask for SHARP on a site without it": "the site's own variable has the run write it again",
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "one",
    cases.some((one for one in fault.load() if one.name not in BEYOND), cases.area),
    ids=lambda one: f"{one.area}: {one.name}",
)
def test_of_every_fault_of_the_gauntlet_a_cited_run_takes_the_cause_away(one: fault.Fault) -> None:
    before = asked(Host(*fleets.broken(one)))
    for told in before.causes:
        if told.id in TRIED:
            host = Host(*fleets.broken(one))
            carry_out(host, ROWS[told.id])
            see_mended(host, told.id, before)


# What was cited once, and mends nothing.
BARREN = [
    pytest.param(
        ("site.yml", "--tags", "nccl_conf"), conf(NCCL_NET_OVERHEAD="1000"), "fleet.nccl_stops", id="not exclusive"
    ),
    pytest.param(
        ("site.yml", "--tags", "roce_settings"), Plant("RDMA CM connects by RoCE v1"), "roce.mode", id="not managed"
    ),
    pytest.param(
        ("site.yml", "--tags", "host_tuning_kernel_args", "-e", "ibready_reboot_ok=true"),
        Plant("the IOMMU is on and translates"),
        "path.iommu",
        id="no reboot",
    ),
    pytest.param(
        ("site.yml", "--tags", "host_tuning_limits,host_tuning_systemd"),
        Plant("a later file of pam_limits lowers what logins may lock"),
        "host.memlock_login_file",
        id="a later file",
    ),
    pytest.param(
        ("playbooks/converge.yml", "--tags", "nccl_conf"),
        Plant("the environment of every job switches RDMA off"),
        "nccl.env_rdma_off",
        id="the environment",
    ),
    pytest.param(
        ("site.yml", "--tags", "rdma_packages,rdma_modules"),
        Plant("the RDMA driver was not built for the new kernel"),
        "rdma.driver_module",
        id="no driver",
    ),
]


@pytest.mark.parametrize(("words", "plant", "name"), BARREN)
def test_what_mends_nothing_is_told_from_what_does(words: tuple[str, ...], plant: Plant, name: str) -> None:
    host = plant.host()
    cause(asked(host), name)
    simulated_run.carried_out(host, simulated_run.read(words[1:]))
    simulated_acts.restart_ssh(host)
    cause(asked(host), name)
    assert ROWS[name].fix.play != words


def test_what_nobody_can_show_is_refused() -> None:
    host = Host(*fleets.bent(H100, 7))
    with pytest.raises(NotSimulated, match="mlxlink"):
        simulated_acts.program(host, ["mlxlink", "-d", "mlx5_0"])
    with pytest.raises(NotSimulated, match="port_type"):
        simulated_acts.done(host, "ibready.cluster.port_type", {})
