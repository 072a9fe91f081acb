# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib import observe_port
from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib.area import judge
from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib.observe import observe
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._data.ib_counters import PAUSE_S
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Missing, Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import Mtu, SmAnswer
from tests.unit.samples import IBSTAT, IBV_DEVINFO, SMINFO, SYSFS, master

Said = dict[str, Output | Unavailable]

BASE = "/sys/class/infiniband"
SM = "sminfo -C mlx5_0 -P 1"
MLXLINK = "mlxlink -d mlx5_0 -p 1 -c -m"
OTHERS = ["ibstatus", "ibv_devinfo", "rdma_link"]
HEALTHY: Said = {"ibstat": Output(0, IBSTAT, ""), SM: Output(0, SMINFO, ""), "ibv_devinfo": Output(0, IBV_DEVINFO, "")}
PANIC = "ibpanic: [812] main: stat of IB device 'mlx5_1' failed: No such device"
WARNING = "ibwarn: [812] mad_rpc_open_port: client_register for mgmt 1 failed"


class Host:
    """Evidence of the healthy sample; ``said`` replaces what commands say, ``files`` what is in
    sysfs below one HCA (None: no such directory), ``later`` what of it changes by the second look,
    ``links`` symbolic links by path."""

    def __init__(
        self,
        said: Said | None = None,
        files: dict[str, str] | None = SYSFS,
        later: dict[str, str] | None = None,
        links: dict[str, str] | None = None,
        recorded: bool = False,
    ) -> None:
        self.said: Said = {**HEALTHY, **(said or {})}
        self.files = {f"{BASE}/mlx5_0/{name}": text for name, text in ({} if files is None else files).items()}
        self.later = {f"{BASE}/mlx5_0/{name}": text for name, text in (later or {}).items()}
        self.links = links or {}
        self.recorded = recorded
        self.asked: list[str] = []
        self.waited = 0.0

    def run(self, name: str, *args: str) -> Output:
        call = " ".join((name, *args))
        self.asked.append(call)
        answer = self.said.get(call, Unavailable(call, "not installed (no such program in PATH)"))
        if isinstance(answer, Unavailable):
            raise answer
        return answer

    def read(self, path: str) -> str:
        if path not in self.files:
            raise Missing(path, "no such file")
        return self.files[path]

    def list(self, path: str) -> Any:
        below = [name[len(path) + 1 :] for name in self.files if name.startswith(f"{path}/")]
        if not below:
            raise Missing(path, "no such directory")
        return sorted({name.split("/")[0] for name in below})

    def link(self, path: str) -> str:
        if path not in self.links:
            raise Missing(path, "no such link")
        return self.links[path]

    def read_bytes(self, path: str) -> bytes:
        raise Missing(path, "no such file")

    def mode(self, path: str) -> int:
        raise Missing(path, "no such file")

    def again(self, seconds: float) -> Any:
        if self.recorded and not self.later:
            raise Unavailable("again/seconds", "not in the bundle")
        self.waited += seconds
        after = Host()
        after.files = {**self.files, **self.later}
        return after, seconds


def test_three_sources_tell_of_one_healthy_host() -> None:
    host = Host()
    facts = observe(host, Machine())
    assert [ca.name for ca in facts.cas] == ["mlx5_0"]
    assert facts.sysfs == facts.cas
    assert facts.sm == {"mlx5_0/1": master(activity=242)}
    assert (facts.ibstat_unknown, facts.sysfs_unknown, facts.error_lines) == ("", "", ())
    assert sorted(host.asked) == sorted(["ibstat", SM, *OTHERS, MLXLINK, "dmesg"])


def test_what_is_beside_a_port_s_state_is_read() -> None:
    detail = observe(Host(), Machine()).details["mlx5_0/1"]
    assert (detail.link, detail.pkeys.value) == ("4X NDR", (0xFFFF,))
    assert detail.mtu.value == Mtu(4096, 4096)
    assert detail.counters.value == {"symbol_error": 0, "link_downed": 1}
    assert detail.later.value is not None
    assert (detail.optics.value, detail.optics.missing) == (None, True)


def test_counters_are_read_twice_with_a_pause() -> None:
    host = Host(later={"ports/1/counters/symbol_error": "7"})
    later = observe(host, Machine()).details["mlx5_0/1"].later.value
    assert later is not None
    assert (later.values["symbol_error"], later.seconds, host.waited) == (7, PAUSE_S, PAUSE_S)


def test_nobody_waits_where_there_are_no_counters() -> None:
    host = Host(files={name: text for name, text in SYSFS.items() if "counters" not in name})
    counters = observe(host, Machine()).details["mlx5_0/1"].counters
    assert (counters.value, counters.missing, host.waited) == (None, True, 0.0)


def test_a_bundle_without_a_second_look_says_so() -> None:
    later = observe(Host(recorded=True), Machine()).details["mlx5_0/1"].later
    assert (later.value, later.missing) == (None, False)
    assert "no second look" in later.why


@pytest.mark.parametrize(
    ("file", "text", "field"),
    [
        pytest.param("ports/1/pkeys/0", "full", "pkeys", id="a P_Key that is none"),
        pytest.param("ports/1/counters/symbol_error", "many", "counters", id="a counter"),
    ],
)
def test_a_file_with_something_else_in_it_is_unknown(file: str, text: str, field: str) -> None:
    detail = observe(Host(files={**SYSFS, file: text}), Machine()).details["mlx5_0/1"]
    reading: Reading[Any] = getattr(detail, field)
    assert (reading.value, reading.missing) == (None, False)
    assert file in reading.why


def test_a_table_of_more_p_keys_than_are_read_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(files={**SYSFS, "ports/1/pkeys/1": "0x8001"})
    monkeypatch.setattr(observe_port, "_MOST_PKEYS", 2)
    assert observe(host, Machine()).details["mlx5_0/1"].pkeys.value == (0xFFFF, 0x8001)
    monkeypatch.setattr(observe_port, "_MOST_PKEYS", 1)
    pkeys = observe(host, Machine()).details["mlx5_0/1"].pkeys
    assert (pkeys.value, pkeys.missing) == (None, False)
    assert "has 2 entries, and at most 1 are read" in pkeys.why


def test_a_counter_that_the_port_does_not_have_is_left_out() -> None:
    files = {**SYSFS, "ports/1/counters/symbol_error": "N/A (no PMA)\n"}
    detail = observe(Host(files=files), Machine()).details["mlx5_0/1"]
    assert detail.counters.value == {"link_downed": 1}


def test_mlxlink_that_was_cut_or_broke_is_unknown() -> None:
    for output in (Output(0, "State : Active\nTemperature [C] : 54 [-5..75]\n", ""), Output(1, "", "x")):
        optics = observe(Host({MLXLINK: output}), Machine()).details["mlx5_0/1"].optics
        assert (optics.value, optics.missing) == (None, False)


@pytest.mark.parametrize(
    ("state", "physical", "asked"),
    [("Down", "Polling", True), ("Down", "LinkUp", False), ("Initializing", "LinkUp", False)],
)
def test_of_ports_that_are_not_active_mlxlink_is_asked_where_they_have_no_link(
    state: str, physical: str, asked: bool
) -> None:
    told = IBSTAT.replace("State: Active", f"State: {state}").replace("state: LinkUp", f"state: {physical}")
    host = Host({"ibstat": Output(0, told, "")})
    assert observe(host, Machine()).cas[0].ports[0].physical_state == physical
    assert (MLXLINK in host.asked) == asked


def test_a_simulated_node_s_other_tools_are_not_asked() -> None:
    host = Host()
    facts = observe(host, Machine(simulated="InfiniBand fabric"))
    assert host.asked == ["ibstat", SM]
    assert (facts.simulated, facts.told, facts.absent) == ("InfiniBand fabric", {}, ())


@pytest.mark.parametrize(
    ("said", "source", "state", "rate"),
    [
        pytest.param({}, "sysfs", "Active", 400.0, id="the kernel"),
        pytest.param(
            {
                "ibstatus": Output(
                    0,
                    "Infiniband device 'mlx5_0' port 1 status:\n\tstate: 2: INIT\n"
                    "\tphys state: 5: LinkUp\n\trate: 200 Gb/sec (2X NDR)\n",
                    "",
                )
            },
            "ibstatus",
            "Initializing",
            200.0,
            id="ibstatus",
        ),
        pytest.param({}, "ibv_devinfo", "Active", None, id="ibv_devinfo"),
        pytest.param(
            {
                "ibv_devinfo": Output(255, "No IB devices found\n", ""),
                "rdma_link": Output(0, "link mlx5_0/1 state DOWN physical_state POLLING\n", ""),
            },
            "rdma link",
            "Down",
            None,
            id="rdma",
        ),
    ],
)
def test_where_ibstat_cannot_be_used_the_next_source_tells(
    said: Said, source: str, state: str, rate: float | None
) -> None:
    files = SYSFS if source == "sysfs" else None
    gone: Said = {"ibstat": Unavailable("ibstat", "not installed"), **said}
    facts = observe(Host(gone, files=files), Machine())
    (ca,) = facts.cas
    assert (facts.source, ca.name) == (source, "mlx5_0")
    assert (ca.ports[0].state, ca.ports[0].rate) == (state, rate)
    assert facts.ibstat_unknown


@pytest.mark.parametrize(
    ("said", "absent"),
    [
        pytest.param(
            {"ibv_devinfo": Output(255, "", "No IB devices found\n")},
            "ibv_devinfo: No IB devices found",
            id="ibv_devinfo",
        ),
        pytest.param(
            {"ibv_devinfo": Output(255, "libibverbs: Warning: no provider of mine\nNo IB devices found\n", "")},
            "ibv_devinfo: No IB devices found (no provider of mine)",
            id="ibv_devinfo with a warning",
        ),
        pytest.param(
            {"rdma_link": Output(1, "", "Failed to open NETLINK_RDMA socket\n")},
            "rdma link: Failed to open NETLINK_RDMA socket",
            id="rdma",
        ),
        pytest.param(
            {"ibv_devinfo": Output(1, "Failed to get IB devices list: Permission denied", "")}, "", id="may not look"
        ),
    ],
)
def test_a_tool_that_says_there_is_no_device_is_heard(said: Said, absent: str) -> None:
    assert observe(Host(said), Machine()).absent == ((absent,) if absent else ())


def test_perfquery_is_read_from_a_bundle_only() -> None:
    text = "# Port counters: Lid 6 port 1\nLinkDownedCounter:......2\n"
    said: Said = {"perfquery": Output(0, text, "")}
    assert observe(Host(said), Machine()).perfquery == ()
    (block,) = observe(Host(said, recorded=True), Machine()).perfquery
    assert block.target == "Lid 6"


FUNCTION = PciFunction("0000:1a:00.0", "020700", "15b3", "1021")
LINKED = {f"{BASE}/mlx5_0": "../../devices/pci0000:15/0000:15:01.0/0000:1a:00.0/infiniband/mlx5_0"}


def test_a_device_is_found_on_the_bus() -> None:
    machine = Machine(pci=Reading((FUNCTION,)))
    facts = observe(Host(links=LINKED), machine)
    assert facts.devices["mlx5_0"].address == "0000:1a:00.0"
    assert facts.devices["mlx5_0"].board == "MT_0000000838"
    assert facts.bus.value == ("0000:1a:00.0",)


@pytest.mark.parametrize(
    ("machine", "field", "value"),
    [
        pytest.param(
            Machine(pci=Reading((replace(FUNCTION, virtual=True, physical="0000:1a:00.1"),))),
            "physical",
            "0000:1a:00.1",
            id="a virtual function",
        ),
        pytest.param(
            Machine(pci=Reading((FUNCTION,)), switch_managers=Reading(("0000:1a:00.0",))),
            "manages_switches",
            True,
            id="the way to NVLink switches",
        ),
        pytest.param(Machine(pci=Reading((replace(FUNCTION, vendor="1d0f"),))), "kind", "EFA device", id="EFA"),
    ],
)
def test_the_bus_tells_what_a_device_is(machine: Machine, field: str, value: Any) -> None:
    assert getattr(observe(Host(links=LINKED), machine).devices["mlx5_0"], field) == value


@pytest.mark.parametrize(
    ("old", "new", "files", "links", "kind"),
    [
        pytest.param("CA '", "iWARP RNIC '", {}, {}, "iWARP adapter", id="ibstat's word"),
        pytest.param("", "", {"node_type": "7: unspecified"}, {}, "RDMA device", id="node type"),
        pytest.param("mlx5_0", "rxe0", {}, {}, "software RDMA device", id="a driver's name"),
        pytest.param("mlx5_0", "smi1", {}, {}, "sub-device", id="planes"),
        pytest.param(
            "",
            "",
            {},
            {f"{BASE}/mlx5_0": "../../devices/virtual/infiniband/mlx5_0"},
            "software RDMA device",
            id="on no bus",
        ),
    ],
)
def test_what_is_no_hca_is_told_by_more_than_one_source(
    old: str, new: str, files: dict[str, str], links: dict[str, str], kind: str
) -> None:
    said: Said = {"ibstat": Output(0, IBSTAT.replace(old, new, 1) if old else IBSTAT, "")}
    facts = observe(Host(said, files={**SYSFS, **files}, links=links), Machine())
    assert facts.devices[facts.cas[0].name].kind.startswith(kind)


# As siw, iw_cxgb4 and irdma have them: a port without a LID, of a node type that libibumad leaves out.
RNIC = {
    "node_type": "4: RNIC",
    "ports/1/state": "4: ACTIVE",
    "ports/1/phys_state": "5: LinkUp",
    "ports/1/link_layer": "Ethernet",
    "ports/1/rate": "25 Gb/sec (1X EDR)",
}


@pytest.mark.parametrize("node_type", ["4: RNIC", "5: usNIC", "7: unspecified"])
def test_what_ibstat_never_lists_is_missed_nowhere(node_type: str) -> None:
    host = Host()
    host.files |= {f"{BASE}/iwp1s0/{name}": text for name, text in {**RNIC, "node_type": node_type}.items()}
    facts = observe(host, Machine())
    assert [ca.name for ca in facts.cas] == ["mlx5_0", "iwp1s0"]
    assert (facts.filled, facts.silent, facts.ibstat_unknown) == ((), False, "")
    assert facts.devices["iwp1s0"].kind
    judged = {check.id: check.result for check in judge(facts, Expectations())}
    assert (judged["ib.sources.agree"], judged["ib.tool.ibstat"]) == ("pass", "pass")


def test_what_ibstat_tells_is_not_counted_with_what_it_never_lists() -> None:
    host = Host()
    alone = next(check for check in judge(observe(host, Machine()), Expectations()) if check.id == "ib.sources.agree")
    host.files |= {f"{BASE}/iwp1s0/{name}": text for name, text in RNIC.items()}
    beside = next(check for check in judge(observe(host, Machine()), Expectations()) if check.id == "ib.sources.agree")
    assert beside.observed == alone.observed


def test_a_host_with_iwarp_alone_has_an_ibstat_that_says_nothing_and_is_well() -> None:
    host = Host({"ibstat": Output(0, "", ""), "ibv_devinfo": Unavailable("ibv_devinfo", "not installed")}, files=None)
    host.files = {f"{BASE}/siw0/{name}": text for name, text in RNIC.items()}
    facts = observe(host, Machine())
    assert (facts.silent, [ca.name for ca in facts.cas]) == (False, ["siw0"])
    judged = {check.id: check for check in judge(facts, Expectations())}
    for name in ("ib.tool.ibstat", "ib.sources.agree"):
        assert judged[name].result == "skip"
        assert "there is only siw0" in judged[name].cause
    # Beside a device that ibstat should have told of, its silence is a fault as ever.
    host.files |= {f"{BASE}/mlx5_0/{name}": text for name, text in SYSFS.items()}
    assert observe(host, Machine()).silent


def test_verbs_tell_the_transport() -> None:
    text = IBV_DEVINFO.replace("InfiniBand (0)", "iWARP (1)")
    facts = observe(Host({"ibv_devinfo": Output(0, text, "")}), Machine())
    assert facts.devices["mlx5_0"].kind == "iWARP adapter"


@pytest.mark.parametrize(
    ("output", "devices", "errors"),
    [
        pytest.param(Output(0, IBSTAT, WARNING), 1, (), id="a warning is printed by sound tools"),
        pytest.param(Output(0, IBSTAT, PANIC), 1, (PANIC,), id="a panic after the devices"),
        pytest.param(
            Output(0, IBSTAT, "Segmentation fault\n"),
            1,
            ("Segmentation fault",),
            id="words of nobody's after the devices",
        ),
        pytest.param(
            Output(139, IBSTAT, ""), 1, ("ibstat ended with status 139",), id="an error status after the devices"
        ),
        pytest.param(
            Output(139, IBSTAT, WARNING),
            1,
            ("ibstat ended with status 139",),
            id="a warning does not explain an error status",
        ),
        pytest.param(Output(255, IBSTAT, PANIC), 1, (PANIC,), id="a panic explains the status"),
        pytest.param(Output(255, "", PANIC), 0, (PANIC,), id="a panic alone"),
        pytest.param(Output(0, " \n", PANIC), 0, (PANIC,), id="a panic with status 0"),
        pytest.param(Output(255, PANIC, ""), 0, (PANIC,), id="a panic on stdout"),
    ],
)
def test_what_ibstat_complains_of_is_kept(output: Output, devices: int, errors: tuple[str, ...]) -> None:
    nobody: Said = {"ibstat": output, "ibv_devinfo": Output(1, "", "")}
    facts = observe(Host(nobody, files=None), Machine())
    assert len(facts.cas) == devices
    assert facts.error_lines == errors
    assert facts.ibstat_unknown == ""


@pytest.mark.parametrize(
    ("output", "why"),
    [
        pytest.param(
            Unavailable("ibstat", "not installed (no such program in PATH)"),
            "ibstat: not installed (no such program in PATH)",
            id="no ibstat",
        ),
        pytest.param(Output(1, "", ""), "exit status 1", id="nothing printed with an error status"),
        pytest.param(Output(0, "", "Segmentation fault"), "Segmentation fault", id="words on stderr only"),
        pytest.param(Output(127, "", "sh: ibstat: not found"), "127", id="a shell's words"),
        pytest.param(Output(0, "", IBSTAT), "to stderr only", id="devices on stderr only"),
    ],
)
def test_an_ibstat_that_cannot_be_used_is_unknown_and_nothing_is_taken_from_it(
    output: Output | Unavailable, why: str
) -> None:
    host = Host({"ibstat": output, "ibv_devinfo": Output(1, "", "")}, files=None)
    facts = observe(host, Machine())
    assert why in facts.ibstat_unknown
    assert (facts.cas, facts.sm) == ((), {})
    assert host.asked == ["ibstat", *OTHERS]


def test_a_line_of_ibstat_that_cannot_be_meant_leaves_the_others() -> None:
    text = IBSTAT.replace("Rate: 400", "Rate: fast", 1)
    facts = observe(Host({"ibstat": Output(0, text, ""), "ibv_devinfo": Output(1, "", "")}, files=None), Machine())
    assert (facts.ibstat_unknown, facts.partial) == ("", ("mlx5_0/1",))
    assert facts.cas[0].ports[0].rate is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ibv_devinfo", "hca_id:\tmlx5_0\n\ttransport:\tInfiniBand (0)\n\tvendor_part_id:\t41x\n"),
        ("ibstatus", "state: 4: ACTIVE\nInfiniband device 'mlx5_0' port 1 status:\n\tstate: 4: ACTIVE\n"),
    ],
)
def test_a_source_of_which_a_line_cannot_be_read_is_named(name: str, text: str) -> None:
    other = {"ibv_devinfo": Output(1, "", ""), name: Output(0, text, "")}
    facts = observe(Host({"ibstat": Output(0, IBSTAT, ""), **other}, files=None), Machine())
    assert facts.cut == (name,)
    assert name in facts.told


@pytest.mark.parametrize(
    ("changed", "layer"),
    [
        pytest.param({"MT4129": "MT25204"}, "InfiniBand", id="an old card with LIDs"),
        pytest.param({"MT4129": "MT25204", "Base lid: 3": "Base lid: 0"}, "", id="no LID yet"),
        pytest.param({"MT4129": "MT25204", "SM lid: 1": "SM lid: 0"}, "", id="no SM"),
        pytest.param({}, "", id="a card that no such ibstat knows: the last line was cut off"),
    ],
)
def test_an_ibstat_from_before_roce_shows_no_link_layer(changed: dict[str, str], layer: str) -> None:
    text = IBSTAT.replace("\t\tLink layer: InfiniBand\n", "")
    for old, new in changed.items():
        text = text.replace(old, new)
    (ca,) = observe(Host({"ibstat": Output(0, text, "")}), Machine()).cas
    assert ca.ports[0].link_layer == layer


@pytest.mark.parametrize("stdout", ["", "\n"])
def test_nothing_printed_with_status_zero_is_a_word_only_where_the_kernel_knows_no_port(stdout: str) -> None:
    host = Host({"ibstat": Output(0, stdout, "\n")})
    facts = observe(host, Machine())
    assert (facts.silent, facts.source, [ca.name for ca in facts.cas]) == (True, "sysfs", ["mlx5_0"])
    assert facts.ibstat_unknown.endswith("the kernel lists mlx5_0")
    host.files = {}
    facts = observe(host, Machine())
    assert (facts.silent, facts.cas, facts.ibstat_unknown, facts.error_lines) == (False, (), "", ())


FAILED = "sminfo: iberror: failed: query"


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        pytest.param(Output(0, SMINFO, WARNING), master(activity=242), id="an answer"),
        pytest.param(Output(255, "", f"{WARNING}\n{FAILED}\n\n"), SmAnswer(error=FAILED), id="none"),
        pytest.param(
            Output(255, f"{FAILED}\n", f"{WARNING}\n"), SmAnswer(error=FAILED), id="none, told on the other stream"
        ),
        pytest.param(
            Output(1, "", ""), SmAnswer(unavailable="sminfo: empty output: no subnet manager named"), id="silence"
        ),
        pytest.param(
            Output(255, "", "sminfo: iberror: failed: Failed to open 'mlx5_0' port '1'\n"),
            SmAnswer(unavailable="sminfo: iberror: failed: Failed to open 'mlx5_0' port '1'"),
            id="a port that could not be opened",
        ),
        pytest.param(
            Output(255, SMINFO, FAILED),
            SmAnswer(error=f"sminfo ended with status 255: {FAILED}"),
            id="an answer with an error status",
        ),
        pytest.param(
            Unavailable("sminfo", "gave no complete answer within 30 s"),
            SmAnswer(unavailable="sminfo: gave no complete answer within 30 s"),
            id="no tool or no time",
        ),
    ],
)
def test_only_a_whole_answer_is_a_subnet_manager(output: Output | Unavailable, answer: SmAnswer) -> None:
    assert observe(Host({SM: output}), Machine()).sm == {"mlx5_0/1": answer}


@pytest.mark.parametrize("stderr", ["", FAILED])
def test_an_answer_with_an_error_status_is_none(stderr: str) -> None:
    answer = observe(Host({SM: Output(255, SMINFO, stderr)}), Machine()).sm["mlx5_0/1"]
    assert answer.sm is None
    assert answer.error


@pytest.mark.parametrize(
    ("bent", "asked"),
    [
        pytest.param(("State: Active", "State: Down"), [], id="a Down port is not asked"),
        pytest.param(("State: Active", "State: Initializing"), [], id="nor one without an SM"),
        pytest.param(("Link layer: InfiniBand", "Link layer: Ethernet"), [], id="nor Ethernet"),
        pytest.param(("Link layer: InfiniBand", "Link layer:"), [], id="nor one of no link layer"),
        pytest.param(("Port 1:", "Port 2:"), ["sminfo -C mlx5_0 -P 2"], id="by its own number"),
        pytest.param(("CA 'mlx5_0'", "CA 'ib7'"), ["sminfo -C ib7 -P 1"], id="and its own device"),
    ],
)
def test_the_subnet_manager_is_asked_from_each_live_infiniband_port(bent: tuple[str, str], asked: list[str]) -> None:
    host = Host({"ibstat": Output(0, IBSTAT.replace(*bent), "")})
    host.files = {}
    facts = observe(host, Machine())
    assert len(facts.cas) == 1
    assert [call for call in host.asked if call.startswith("sminfo")] == asked
    assert len(facts.sm) == len(asked)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        pytest.param(None, f"{BASE}: no such directory", id="no RDMA driver"),
        pytest.param({**SYSFS, "ports/1/rate": "fast\n"}, "mlx5_0/ports/1/rate", id="a bad file"),
    ],
)
def test_a_kernel_that_cannot_be_read_says_why_and_hurts_nothing_else(files: dict[str, str] | None, why: str) -> None:
    facts = observe(Host(files=files), Machine())
    assert why in facts.sysfs_unknown
    assert facts.sysfs == ()
    assert (len(facts.cas), list(facts.sm)) == (1, ["mlx5_0/1"])


@pytest.mark.parametrize("home", ["counters", "hw_counters"])
def test_counters_that_cannot_be_listed_are_unknown(home: str) -> None:
    class Denied(Host):
        def list(self, path: str) -> Any:
            if path.endswith(f"/{home}"):
                raise Unavailable(path, "permission denied")
            return super().list(path)

    counters = observe(Denied(), Machine()).details["mlx5_0/1"].counters
    assert (counters.value, counters.missing) == (None, False)
    assert "permission denied" in counters.why


def test_the_driver_s_own_counters_are_read_and_are_enough() -> None:
    own = "ports/1/hw_counters/rx_icrc_encapsulated"
    both = observe(Host(files={**SYSFS, own: "3"}), Machine()).details["mlx5_0/1"].counters
    assert both.value == {"symbol_error": 0, "link_downed": 1, "rx_icrc_encapsulated": 3}
    few = {name: text for name, text in SYSFS.items() if "/counters/" not in name}
    alone = observe(Host(files={**few, own: "3"}), Machine()).details["mlx5_0/1"].counters
    assert alone.value == {"rx_icrc_encapsulated": 3}


def test_the_counters_of_an_ethernet_port_are_read_too() -> None:
    text = IBSTAT.replace("InfiniBand", "Ethernet")
    detail = observe(Host({"ibstat": Output(0, text, "")}), Machine()).details["mlx5_0/1"]
    assert detail.counters.value == {"symbol_error": 0, "link_downed": 1}


def test_verbs_that_ended_badly_tell_no_mtu() -> None:
    mtu = observe(Host({"ibv_devinfo": Output(1, IBV_DEVINFO, "")}), Machine()).details["mlx5_0/1"].mtu
    assert (mtu.value, mtu.missing) == (None, False)
    assert "status 1" in mtu.why
