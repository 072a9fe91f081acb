# SPDX-License-Identifier: GPL-3.0-or-later
"""What a remedy does to a simulated host, done to its evidence.

An act has the options of the module or the words of the program that does it on a real host. Where
the collection's own code decides what comes of it, that code is asked; what a kernel, systemd or
NCCL make of it is told here in few words. What cannot be told raises NotSimulated.
"""

from __future__ import annotations

import copy
import json
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._act.roce import desired as roce
from ansible_collections.ibready.cluster.plugins.module_utils._act.tuning import (
    blacklist,
    boot_tuning,
    kernel_args,
    sysctl,
)
from ansible_collections.ibready.cluster.plugins.module_utils._act.tuning.boot_scope import scope
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine import observe as machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import query
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import Listener
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_reading import SYSTEM_FILE
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Cached
from ansible_collections.ibready.cluster.plugins.module_utils._ground import units
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import conf
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import Setting
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.manage import Wanted, manage
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import release
from tests.gauntlet import render
from tests.gauntlet.node import Node
from tests.gauntlet.nodes import container
from tests.gauntlet.tree import Tree

_MANAGER = "/etc/systemd/system.conf.d"
_BLACKLIST = re.compile(r"^blacklist (\S+)$", re.MULTILINE)
_GROUPS = re.compile(r"/sys/kernel/iommu_groups/[0-9]{1,6}/type")
_NO_LIMIT = ("infinity", "unlimited")
_FABRIC_MANAGER = "nvidia-fabricmanager.service"
_SUFFIX = {"K": 1024, "M": 1024**2, "G": 1024**3}
# Of each process that the gauntlet shows: the unit, and its unit's folder of drop-ins.
_SSHD = ("/proc/871/limits", ("ssh.service.d", "sshd.service.d"))
_SLURMD = ("/proc/4242/limits", ("slurmd.service.d",))


class NotSimulated(Exception):
    """What a simulated host cannot show; the message says what."""


@dataclass
class Host:
    """A simulated host on which something is done. ``arguments``: what the next boot adds to the
    command line of the kernel."""

    node: Node
    tree: Tree
    arguments: list[str] = field(default_factory=list)

    @property
    def machine(self) -> Machine:
        return machine.observe(Cached(self.tree))

    def text(self, path: str) -> str:
        """A file's text, "" where there is none."""
        place = self.tree._resolve(path)
        return self.tree.read(place) if place in self.tree.files else ""

    def write(self, path: str, text: str, mode: int | None = None) -> None:
        place = self.tree._resolve(path)
        self.tree.modes.pop(place, None)
        self.tree.file(place, text.encode("utf-8", "surrogateescape"), mode)

    def has(self, path: str) -> bool:
        place = self.tree._resolve(path)
        return place in self.tree.files or self.tree._is_folder(place)

    def names(self, folder: str) -> list[str]:
        return self.tree.list(folder) if self.has(folder) else []


# Acts of modules, by their options.


def sysctl_dropin(host: Host, want: Mapping[str, Any]) -> None:
    settings = sysctl.read_settings(want["settings"], want.get("reasons") or {})
    places = {entry.key: f"/proc/sys/{sysctl.proc_path(entry.key)}" for entry in settings}
    absent = [key for key, place in places.items() if not host.has(place)]
    host.write(want["path"], sysctl.render(settings, absent))
    for entry in settings:
        if entry.key not in absent:
            host.write(places[entry.key], f"{entry.value}\n")


def written_files(host: Host, want: Mapping[str, Any]) -> None:
    for row in want.get("files") or ():
        host.write(row["path"], row["content"])
    for row in want.get("lines") or ():
        if host.has(row["path"]):
            kept = [line for line in host.text(row["path"]).splitlines() if not line.startswith(row["begins"])]
            host.write(row["path"], "".join(f"{line}\n" for line in [*kept, row["line"]]))
    for row in want.get("absent") or ():
        if row["ours"] in host.text(row["path"]):
            host.tree.remove(row["path"])
    if any(str(row["path"]).startswith(_MANAGER) for row in want.get("files") or ()):
        daemon_reexec(host)


def copied(host: Host, want: Mapping[str, Any]) -> None:
    host.write(want["dest"], want["content"])


def placed(host: Host, want: Mapping[str, Any]) -> None:
    if want["state"] == "absent" and host.has(want["path"]):
        host.tree.remove(want["path"])
    elif want["state"] == "directory":
        host.tree.folder(want["path"])


def command(host: Host, want: Mapping[str, Any]) -> None:
    """One that makes something; the others only tell."""
    if want.get("creates") and not host.has(want["creates"]):
        program(host, want["argv"])


def unit_states(host: Host, want: Mapping[str, Any]) -> None:
    for name in want["names"]:
        set_unit(host, name, enabled=want.get("enabled"), running=want.get("running"))


def one_unit(host: Host, want: Mapping[str, Any]) -> None:
    running = {"started": True, "stopped": False}.get(want.get("state", ""))
    set_unit(host, want["name"], enabled=want.get("enabled"), running=running)


def asked_arguments(host: Host, want: Mapping[str, Any]) -> None:
    vendor = "AuthenticAMD" if "AuthenticAMD" in host.text("/proc/cpuinfo") else "GenuineIntel"
    chosen = kernel_args.chosen(want["args"], host.machine, vendor)
    operators = host.text("/proc/cmdline").split()
    host.arguments = list(kernel_args.plan(chosen, operators, ()).ours)


def tuned_boot(host: Host, want: Mapping[str, Any]) -> None:
    """By the program itself, on files that hold the same."""
    asked = {"acs": want["acs"] == "auto", "read_request": want["read_request"], "governor": want["governor"]}
    files = {path: data for path, data in host.tree.files.items() if path.startswith("/sys/")}
    with tempfile.TemporaryDirectory() as root:
        for path, data in files.items():
            place = Path(root + path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        for path, target in host.tree.links.items():
            if path.startswith("/sys/bus/pci/"):
                place = Path(root + path)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(target)
        tuned = boot_tuning.Host(root)
        config, _left = scope(asked, host.machine, tuned.policies())
        wrong, _notes = tuned.look(config)
        for setting in wrong:
            tuned.set(setting.knob, setting.subject, setting.after)
        for path, data in files.items():
            now = Path(root + path).read_bytes()
            if now != data:
                host.tree.files[path] = now


def kept_out(host: Host, want: Mapping[str, Any]) -> None:
    host.write(blacklist.PATH, blacklist.render(blacklist.checked(want["names"])))


def wrote_nccl_conf(host: Host, want: Mapping[str, Any]) -> None:
    """What `nccl_conf` writes, and what the library takes of it."""
    asked = query.parse(host.tree.commands["nccl_proof"].stdout)
    version = release(want["version"]) if want.get("version") else None
    names = frozenset(want["known_names"]) if want.get("known_names") else None
    wanted = Wanted(
        tuple(Setting(**row) for row in want["settings"]),
        frozenset(want.get("keep") or ()),
        _is(want["exclusive"]),
        frozenset(want.get("drop") or ()),
        _is(want["repair"]),
    )
    text = manage(host.text(SYSTEM_FILE), wanted, version, names).text
    host.write(SYSTEM_FILE, text)
    if asked.proof.value is not None and version is not None:
        settings = conf.settings(text, version)
        proof = replace(asked.proof.value, taken={name: value.encode() for name, value in settings.items()})
        address = _address(host, settings.get("NCCL_SOCKET_IFNAME", "").removeprefix("="))
        if address:
            proof = replace(proof, listener=Listener(address, 41234), result=0, meaning="success")
        host.tree.command("nccl_proof", query.to_text(replace(asked, proof=Reading(proof))))


def _address(host: Host, interface: str) -> str:
    """On which the library listens that is told this one interface; "" where there is no such."""
    for shown in json.loads(host.tree.commands["ip_addr"].stdout):
        if shown["ifname"] == interface:
            return str(shown["addr_info"][0]["local"])
    return ""


def set_roce(host: Host, want: Mapping[str, Any]) -> None:
    others = [name for name in ("tos", "trust", "pfc", "ecn", "mtu") if want.get(name) is not None]
    if others:
        raise NotSimulated(f"what roce_{others[0]} does to a card")
    for path in host.tree.files:
        if path.startswith("/sys/kernel/config/rdma_cm/") and path.endswith("/default_roce_mode"):
            host.tree.file(path, roce.MODES[want["mode"]])


def nothing(_host: Host, _want: Mapping[str, Any]) -> None:
    """It looks, or has nothing to do on a host whose packages are there."""


_OURS, _CORE = "ibready.cluster.", "ansible.builtin."
ACTS = {
    f"{_OURS}sysctl_dropin": sysctl_dropin,
    f"{_OURS}written_files": written_files,
    f"{_OURS}units": unit_states,
    f"{_OURS}kernel_args": asked_arguments,
    f"{_OURS}boot_tuning": tuned_boot,
    f"{_OURS}module_blacklist": kept_out,
    f"{_OURS}nccl_conf": wrote_nccl_conf,
    f"{_OURS}roce_settings": set_roce,
    f"{_CORE}copy": copied,
    f"{_CORE}file": placed,
    f"{_CORE}command": command,
    f"{_CORE}systemd_service": one_unit,
    **dict.fromkeys(
        (
            *(f"{_OURS}{name}" for name in ("limits_look", "packages_whole", "reboot_state", "rdma_users")),
            *(f"{_OURS}{name}" for name in ("secure_boot", "stack_packages", "nvidia_modules", "soft_roce")),
            *(f"{_OURS}{name}" for name in ("container_cdi", "container_engines")),
            f"{_CORE}stat",
        ),
        nothing,
    ),
}


def done(host: Host, kind: str, want: Mapping[str, Any]) -> None:
    """One item of a document; NotSimulated where nobody can show what comes of it."""
    if kind not in ACTS:
        raise NotSimulated(f"what {kind} does")
    ACTS[kind](host, want)


def waits_for_a_boot(host: Host) -> bool:
    """Whether the role reboot_gate would see a reason: an argument of the kernel, or a rival of NVIDIA's driver."""
    line = host.text("/proc/cmdline").split()
    late = any(word not in line for word in host.arguments)
    held = any(target.endswith("/drivers/nouveau") for target in host.tree.links.values())
    return late or held or host.has("/sys/module/nouveau")


def boot(host: Host) -> None:
    """A reboot: the command line, what modprobe.d keeps out, and the driver that is then free to take the GPUs."""
    line = host.text("/proc/cmdline").split()
    line += [word for word in host.arguments if word not in line]
    host.write("/proc/cmdline", f"{' '.join(line)}\n")
    if any(word in line for word in ("iommu=pt", "iommu.passthrough=1")):
        for path in [path for path in host.tree.files if _GROUPS.fullmatch(path)]:
            host.write(path, "identity\n")
    out = [
        name
        for file in host.names("/etc/modprobe.d")
        for name in _BLACKLIST.findall(host.text(f"/etc/modprobe.d/{file}"))
    ]
    for name in dict.fromkeys(out):
        unload(host, name)
        for link, target in host.tree.links.items():
            if target.endswith(f"/drivers/{name}"):
                host.tree.links[link] = f"{target.rpartition('/')[0]}/nvidia"
    if host.node.cards and not host.has("/sys/module/nouveau"):
        load(host, ["nvidia", "nvidia_uvm", "nvidia_modeset"])
    if "NVreg_CreateImexChannel0=1" in host.text("/etc/modprobe.d/ibready-imex.conf"):
        host.write("/dev/nvidia-caps-imex-channels/channel0", "")


# What kernel and systemd do.


def new_container(host: Host) -> None:
    """One that is started now sees the host as it is now."""
    container.add(host.tree, host.node)


def load(host: Host, names: Iterable[str]) -> None:
    """Modules come into the kernel, with what a healthy kernel shows because of them."""
    missing = [name for name in names if not host.has(f"/sys/module/{name}/initstate")]
    if not missing:
        return
    other = copy.deepcopy(host.node)
    other.more = {**other.more, "missing": [name for name in other.more.get("missing", ()) if name not in missing]}
    shown = render.render(other)
    for name in missing:
        if f"/sys/module/{name}/initstate" not in shown.files:
            raise NotSimulated(f"the module {name}")
    begin = tuple(f"/sys/module/{name}" for name in missing)
    more = ("/sys/class/infiniband", "/dev/infiniband/", *begin)
    more += ("/sys/kernel/mm/memory_peers",) if "nvidia_peermem" in missing else ()
    for path, data in shown.files.items():
        if path.startswith(more):
            host.tree.files.setdefault(path, data)
            if path in shown.modes:
                host.tree.modes.setdefault(path, shown.modes[path])
    for path, target in shown.links.items():
        if path.startswith(more):
            host.tree.links.setdefault(path, target)
    host.tree.folders |= {path for path in shown.folders if path.startswith(more)}
    host.tree.commands["lsmod"] = shown.commands["lsmod"]
    host.node.more = other.more


def unload(host: Host, name: str) -> None:
    if not host.has(f"/sys/module/{name}"):
        return
    host.tree.remove(f"/sys/module/{name}")
    lines = host.tree.commands["lsmod"].stdout.splitlines()
    host.tree.command("lsmod", "".join(f"{line}\n" for line in lines if line.split()[0] != name))
    host.node.more = {**host.node.more, "modules": [one for one in host.node.more.get("modules", ()) if one != name]}


def set_unit(host: Host, name: str, *, enabled: bool | None = None, running: bool | None = None) -> None:
    """In all that systemctl prints of it; a unit that is not there, or is masked, refuses."""
    unit = units.full(name)
    if unit == _FABRIC_MANAGER:
        _set_manager(host, enabled=enabled, running=running)
        return
    found = unit.endswith(".socket")  # which a simulated host shows nothing of
    for entry, output in list(host.tree.commands.items()):
        if not entry.startswith("systemctl_show"):
            continue
        blocks = output.stdout.split("\n\n")
        for at, block in enumerate(blocks):
            lines = block.splitlines()
            if f"Id={unit}" not in lines:
                continue
            found = True
            if "LoadState=not-found" in lines or "LoadState=masked" in lines:
                raise NotSimulated(f"{unit}, which is not there or masked")
            blocks[at] = "\n".join(_unit_line(line, enabled, running) for line in lines)
        host.tree.command(entry, "\n\n".join(blocks) + ("\n" if output.stdout.endswith("\n") else ""))
    if not found:
        raise NotSimulated(f"{unit}, of which nothing is shown")


def _set_manager(host: Host, *, enabled: bool | None, running: bool | None) -> None:
    """Of the fabric manager its own words are shown."""
    bent = host.node.more.get("manager", {})
    state = bent.get("state", "active (running)")
    if bent.get("boot") == "masked" or not host.node.fabric_manager:
        raise NotSimulated(f"{_FABRIC_MANAGER}, which is not there or masked")
    if running and state.startswith("failed"):
        raise NotSimulated("a fabric manager that fails again")
    gone = [*(["boot"] if enabled else []), *(["state", "journal"] if running else [])]
    if not bent.keys() & set(gone):
        return
    host.node.more = {**host.node.more, "manager": {key: bent[key] for key in bent if key not in gone}}
    shown = render.render(host.node)
    host.tree.commands["fabricmanager_status"] = shown.commands["fabricmanager_status"]
    if running:
        # The GPUs join the fabric.
        host.tree.commands["nvsmi_xml"] = shown.commands["nvsmi_xml"]


def _unit_line(line: str, enabled: bool | None, running: bool | None) -> str:
    if line.startswith("UnitFileState=") and enabled is not None:
        return f"UnitFileState={'enabled' if enabled else 'disabled'}"
    if line.startswith("ActiveState=") and running is not None:
        return f"ActiveState={'active' if running else 'inactive'}"
    if line.startswith("SubState=") and running is not None:
        return f"SubState={'running' if running else 'dead'}"
    return line


def daemon_reexec(host: Host) -> None:
    """systemd reads its own files again; of lines that set the same the last counts."""
    found: dict[str, str] = {}
    for path in ("/etc/systemd/system.conf", *(f"{_MANAGER}/{name}" for name in host.names(_MANAGER))):
        for line in host.text(path).splitlines():
            name, equals, value = line.strip().partition("=")
            if equals:
                found[name.strip()] = value.strip()
    shown: dict[str, str] = {}
    for name, value in found.items():
        soft, _, hard = value.partition(":")
        shown[f"{name}Soft"], shown[name] = _bytes(soft), _bytes(hard or soft)
    lines = host.tree.commands["systemctl_show"].stdout.splitlines()
    told = (line.partition("=") for line in lines)
    host.tree.command("systemctl_show", "".join(f"{name}={shown.get(name, value)}\n" for name, _, value in told))


def start_manager(host: Host) -> None:
    set_unit(host, "nvidia-fabricmanager", enabled=True, running=True)


def restart_ssh(host: Host) -> None:
    _restart(host, *_SSHD)


def restart_jobs(host: Host) -> None:
    _restart(host, *_SLURMD)


def _restart(host: Host, path: str, folders: Sequence[str]) -> None:
    """A service gets what its unit says, else systemd's default."""
    if not host.has(path):
        return
    told = (line.partition("=") for line in host.tree.commands["systemctl_show"].stdout.splitlines())
    limit = next(value for name, _, value in told if name == "DefaultLimitMEMLOCK")
    for folder in folders:
        for name in host.names(f"/etc/systemd/system/{folder}"):
            text = host.text(f"/etc/systemd/system/{folder}/{name}")
            limit = next((line[len("LimitMEMLOCK=") :] for line in text.splitlines() if "LimitMEMLOCK=" in line), limit)
    value = "unlimited" if limit in _NO_LIMIT else _bytes(limit)
    lines = [
        f"{line[:26]}{value:<21}{value:<21}{'bytes':<10}" if line.startswith("Max locked memory") else line
        for line in host.text(path).splitlines()
    ]
    host.write(path, "".join(f"{line}\n" for line in lines))


def _bytes(text: str) -> str:
    return str(int(text[:-1]) * _SUFFIX[text[-1]]) if text[-1:] in _SUFFIX else text


def _is(value: Any) -> bool:
    """As a module reads its option."""
    return value if isinstance(value, bool) else str(value).lower() in ("1", "yes", "true", "on")


# Acts of programs, by their words.


def program(host: Host, words: Sequence[str]) -> None:
    """A program that a cause names, or a task runs."""
    name, *rest = words
    if name not in PROGRAMS:
        raise NotSimulated(f"what {name} does")
    PROGRAMS[name](host, rest)


def _modprobe(host: Host, words: Sequence[str]) -> None:
    names = [*words]
    if "mlx5_ib" in names and not host.has("/sys/module/mlx5_core/initstate"):
        names.insert(0, "mlx5_core")
    load(host, names)


def _chmod(host: Host, words: Sequence[str]) -> None:
    mode, path = words
    host.tree.modes[host.tree._resolve(path)] = int(mode, 8)


def _systemctl(host: Host, words: Sequence[str]) -> None:
    verb, *names = [word for word in words if word != "--now"]
    now = "--now" in words
    enabled = {"enable": True, "disable": False}.get(verb)
    running = {"start": True, "restart": True, "stop": False}.get(verb, enabled if now else None)
    if verb == "unmask" and names == ["nvidia-fabricmanager"]:
        bent = {key: value for key, value in host.node.more["manager"].items() if key != "boot"}
        host.node.more = {**host.node.more, "manager": {**bent, "boot": "disabled"}}
        host.tree.commands["fabricmanager_status"] = render.render(host.node).commands["fabricmanager_status"]
        return
    if enabled is None and running is None:
        raise NotSimulated(f"systemctl {verb}")
    for name in names:
        set_unit(host, name, enabled=enabled, running=running)
        if running and name == "nvidia-persistenced":
            _nvidia_smi(host, ["-pm", "1"])
    if verb == "restart" and "slurmd.service" in names:
        restart_jobs(host)


def _udevadm(host: Host, _words: Sequence[str]) -> None:
    """The rules of rdma-core make the files of devices that are there."""
    for name in host.names("/sys/class/infiniband_verbs"):
        if name.startswith("uverbs") and not host.has(f"/dev/infiniband/{name}"):
            host.write(f"/dev/infiniband/{name}", "", 0o666)


def _ip(host: Host, words: Sequence[str]) -> None:
    if [*words[:3]] != ["link", "set", "dev"] or words[4] != "mtu":
        raise NotSimulated(f"ip {' '.join(words)}")
    host.write(f"/sys/class/net/{words[3]}/mtu", f"{words[5]}\n")


def _mlnx_qos(host: Host, words: Sequence[str]) -> None:
    _option, netdev, knob, value = words
    entry = f"mlnx_qos@{netdev}"
    text = host.tree.commands[entry].stdout
    if knob == "--trust":
        text = re.sub(r"Priority trust state: \w+", f"Priority trust state: {value}", text)
    else:
        flags = "   ".join(value.split(","))
        text = re.sub(r"\tenabled     [01 ]+", f"\tenabled     {flags}   ", text)
    host.tree.command(entry, text)


def _nvidia_smi(host: Host, words: Sequence[str]) -> None:
    if [*words] != ["-pm", "1"]:
        raise NotSimulated(f"what nvidia-smi {' '.join(words)} does to a GPU")
    text = host.tree.commands["nvsmi_xml"].stdout
    mode = "<persistence_mode>{}</persistence_mode>"
    host.tree.command("nvsmi_xml", text.replace(mode.format("Disabled"), mode.format("Enabled")))


PROGRAMS = {
    "modprobe": _modprobe,
    "chmod": _chmod,
    "systemctl": _systemctl,
    "udevadm": _udevadm,
    "ip": _ip,
    "mlnx_qos": _mlnx_qos,
    "nvidia-smi": _nvidia_smi,
}
