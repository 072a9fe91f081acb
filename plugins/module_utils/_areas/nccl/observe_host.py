# SPDX-License-Identifier: GPL-3.0-or-later
"""From what the observers saw of a host to what its nccl.conf is derived from."""

from __future__ import annotations

from typing import Sequence

from ..._data import stack_components
from ..._data.gpus import SUPERCHIP
from ..._evidence.sources import Cached, Evidence
from ..._expect.expectations import Expectations, with_profile
from ..._ground.reading import Reading
from ..._nccl.host import Card, NcclHost, Wanted
from ..._rails import ib as ib_rails
from ..._rails.ib_ports import IbFacts
from ..._rails.roce_ports import RoceFacts
from ..host import observe_net
from ..host.observe_net import NetFacts
from ..ib import observe as ib
from ..machine import observe as machine
from ..machine.facts import Machine
from ..roce import observe as roce
from ..stack import gpudirect as _gpudirect, observe as stack
from ..stack.facts import StackFacts
from . import observe_ports

_NO_PACKAGE = "no NCCL package on this host: jobs bring their own"


def look(evidence: Evidence, expect: Expectations, peers: Sequence[str] = (), nccl: str = "") -> NcclHost:
    """Look at a host. ``peers``: addresses of the other nodes. ``nccl``: the version that is going
    to be there, "" for the one that is."""
    known = Cached(evidence)
    profile = expect.get("profile")
    seen = machine.observe(known, str(profile.value) if profile else "", expect.ignore)
    return look_at(known, seen, with_profile(expect, seen.board, seen.network.value or ""), peers, nccl)


def look_at(evidence: Evidence, seen: Machine, expect: Expectations, peers: Sequence[str], nccl: str) -> NcclHost:
    """The same of a host that is recognised; ``expect``: with what that promises."""
    return build(
        seen,
        ib.observe(evidence, seen),
        roce.observe(evidence, seen),
        stack.observe(evidence, seen),
        observe_net.observe(evidence, peers),
        expect,
        nccl,
    )


def build(
    seen: Machine,
    fabric: IbFacts,
    ethernet: RoceFacts,
    installed: StackFacts,
    network: NetFacts,
    expect: Expectations,
    nccl: str = "",
) -> NcclHost:
    """The same of facts; ``expect``: with what the recognised hardware promises."""
    models = seen.gpus.value
    return NcclHost(
        ports=observe_ports.ports(seen, fabric, ethernet, expect),
        gpus=seen.pci.map(lambda _every: tuple(Card(card.address, card.numa_node) for card in seen.cards)),
        interfaces=network.interfaces,
        routes=dict(network.routes),
        nccl=Reading(nccl) if nccl else package(installed),
        gpudirect=_gpudirect.ways(installed, seen),
        superchip=None if models is None else any(model and model.form == SUPERCHIP for model in models),
        rack=None if models is None else seen.board is not None and seen.board.imex,
        wanted=_wanted(expect),
        simulated=seen.surely_simulated,
    )


def package(installed: StackFacts) -> Reading[str]:
    """The version of NCCL's package; missing where there is none."""
    found = installed.packaged(installed.package(*stack_components.PACKAGES["nccl"]), installed.nccl)
    return Reading(None, _NO_PACKAGE, True) if found.missing else found.map(lambda package: package.version)


def _wanted(expect: Expectations) -> Wanted:
    count = ib_rails.wanted_hcas(expect)
    gid_index, tos = expect.get("roce_gid_index"), expect.get("roce_tos")
    return Wanted(
        hcas=int(count[0].value) if count else 0,
        exact=count[1] if count else False,
        source=count[0].source if count else "",
        gid_index=int(gid_index.value) if gid_index else None,
        tos=int(tos.value) if tos else None,
    )
