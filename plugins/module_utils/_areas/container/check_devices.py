# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the RDMA devices and the network that a container gets."""

from __future__ import annotations

from typing import Iterator

from ..._expect.expectations import CAPABILITY, INVENTORY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.link import INFINIBAND
from ..._parse._container_desired import HOST
from ..._parse._container_facts import OK, UNOPENED, Inside
from ..._parse.ip_addr import LOOPBACK
from ..host.check_scope import Scope
from .check_view import CONTAINER, View

_UVERBS, _CM, _OPENS = (
    "container.device.uverbs",
    "container.device.rdma_cm",
    "container.device.opens",
)
_NETWORK = "container.network.path"
_FOLDER = "/dev/infiniband/"
# Interfaces that come and go with containers.
_PASSING = ("veth", "cali", "lxc", "cilium", "docker", "br-", "podman", "cni", "nerdctl", "virbr")


def judge(view: View) -> Iterator[Check]:
    """container.device.* and container.network.path"""
    host = view.facts.devices
    scope = view.rdma
    if not (scope.skip or scope.why) and host.value is None:
        # With an HCA and without its devices, nobody can tell what a container would get.
        none = "the host itself has no /dev/infiniband: see host.rdma.devices"
        scope = Scope(why=none if host.missing else host.why or "nobody looked")
    yield from view.scoped(_UVERBS, scope, lambda inside: _uverbs(view, inside))
    yield from view.scoped(_CM, scope, lambda inside: _rdma_cm(view, inside))
    yield from view.each(_OPENS, scope, lambda who, inside: _opens(view, who, inside))
    yield from view.scoped(_NETWORK, Scope(), lambda inside: _network(view, inside))


def _wanted(view: View) -> tuple[list[str], str]:
    """The uverbs files that have to be there, and who says so."""
    named = [device.split(":", 1)[0][len(_FOLDER) :] for device in view.wish.devices if device.startswith(_FOLDER)]
    uverbs = [entry for entry in named if entry.startswith("uverbs")]
    if uverbs:
        return uverbs, INVENTORY
    return [device for device in view.facts.devices.value or () if device.startswith("uverbs")], CAPABILITY


def _uverbs(view: View, inside: Inside) -> Check:
    wanted, source = _wanted(view)
    if not wanted:
        return unknown(_UVERBS, CONTAINER, "the host itself has no uverbs device: see host.rdma.devices")
    lost = [item for item in wanted if item not in inside.devices]
    expected = f"{len(wanted)} uverbs devices"
    if not lost:
        return passed(_UVERBS, CONTAINER, expected, expected, source)
    observed = f"{len(wanted) - len(lost)} of {len(wanted)}, without {', '.join(lost[:4])}"
    cause = "the container was given only some of the host's RDMA devices"
    if len(lost) == len(wanted):
        cause = "the container was given none of the host's RDMA devices"
    return failed(_UVERBS, CONTAINER, observed, expected, source, cause=cause)


def _rdma_cm(view: View, inside: Inside) -> Check:
    if "rdma_cm" not in (view.facts.devices.value or ()):
        return skipped(_CM, CONTAINER, "the host itself has no /dev/infiniband/rdma_cm (module rdma_ucm)")
    if "rdma_cm" in inside.devices:
        return passed(_CM, CONTAINER, "there", "there", CAPABILITY)
    return failed(_CM, CONTAINER, "not there", "there", CAPABILITY)


def _opens(view: View, subject: str, inside: Inside) -> Check:
    tried = _tried(inside)
    there = _tried(view.first) if view.first else {}
    if there and not tried:
        cause = f"{_FOLDER} keeps this user out: another one sees {len(there)}"
        return failed(_OPENS, subject, "none to be seen", "all open", CAPABILITY, cause=cause)
    if not tried:
        return skipped(_OPENS, subject, "no device to open: see container.device.uverbs")
    bad = {name: said for name, said in tried.items() if said != OK}
    if not bad:
        return passed(_OPENS, subject, f"{len(tried)} open", "all open", CAPABILITY)
    name, said = next(iter(bad.items()))
    more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
    cause = "the file's permissions keep this user out"
    if "not permitted" in said:
        cause = "the engine's control group keeps the container from this device"
    return failed(_OPENS, subject, f"{name}: {said}{more}", "all open", CAPABILITY, cause=cause)


def _tried(inside: Inside) -> dict[str, str]:
    return {name: said for name, said in inside.devices.items() if said != UNOPENED}


def _network(view: View, inside: Inside) -> Check:
    rdma = sorted(name for name, is_rdma in inside.interfaces.items() if is_rdma)
    others = sorted(name for name in inside.interfaces if name != "lo")
    observed = ", ".join(others[:6]) or "lo alone"
    if view.wish.network != HOST:
        return _own_network(view, observed, rdma, others)
    host = view.facts.interfaces
    if host.value is None:
        return unknown(_NETWORK, CONTAINER, host.why or "nobody looked at the host's interfaces")
    wanted = [
        interface.name
        for interface in host.value
        if interface.kind != LOOPBACK and not interface.name.startswith(_PASSING)
    ]
    lost = [item for item in wanted if item not in inside.interfaces]
    if not lost and wanted:
        return passed(_NETWORK, CONTAINER, observed, "the host's network", CAPABILITY)
    if not wanted:
        return unknown(_NETWORK, CONTAINER, "the host itself has no interface but lo")
    cause = "the container has a network of its own, behind the host's address"
    return failed(_NETWORK, CONTAINER, observed, "the host's network", CAPABILITY, cause=cause)


def _own_network(view: View, observed: str, rdma: list[str], others: list[str]) -> Check:
    """The site asked for another network than the host's: RoCE needs an interface in it, while
    InfiniBand only needs one that ranks can meet on."""
    layer = view.expect.get("link_layer")
    fabric = layer is not None and layer.value == INFINIBAND
    expected = f"network {view.wish.network} with an {'' if fabric else 'RDMA '}interface"
    if rdma or (fabric and others):
        return passed(_NETWORK, CONTAINER, ", ".join(rdma) or observed, expected, INVENTORY)
    cause = "no interface of an RDMA device is in the container's network, and RoCE needs one"
    if not others:
        cause = "the container has no network at all"
    return failed(_NETWORK, CONTAINER, observed, expected, INVENTORY, cause=cause)
