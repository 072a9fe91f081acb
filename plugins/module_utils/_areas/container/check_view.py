# SPDX-License-Identifier: GPL-3.0-or-later
"""What every container.* check looks at: who saw what inside, and why somebody saw nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator

from ..._data.container import FAMILIES, Family
from ..._expect.expectations import Expectations
from ..._ground.check import Check, skipped, unknown
from ..._parse import _container_facts as told
from ..._parse._container_desired import Desired
from ..._parse._container_facts import ContainerProbe, Inside, Run
from ..host import check_scope
from ..host.check_scope import Scope
from ..machine.facts import Machine
from .facts import ContainerFacts

CONTAINER = "container"


@dataclass(frozen=True)
class View:
    """A probe that started containers, and the host that it ran on."""

    facts: ContainerFacts
    machine: Machine
    wish: Desired
    probe: ContainerProbe
    expect: Expectations

    @property
    def built(self) -> bool:
        """Whether the image was made of the host's own files."""
        return self.probe.origin == told.BUILT

    @property
    def engine(self) -> str:
        return self.probe.engine.name if self.probe.engine else ""

    @property
    def by_ctr(self) -> bool:
        """Whether ctr ran it, which sets some limits by itself."""
        return self.probe.engine is not None and self.probe.engine.program.endswith("/ctr")

    @property
    def rdma(self) -> Scope:
        """To whom checks of RDMA devices apply."""
        kernel = check_scope.with_kernel(self.machine)
        # Soft RoCE is on no bus.
        if self.expect.get("soft_roce") is not None:
            return kernel
        return kernel.then(check_scope.with_hca(self.machine))

    @property
    def real(self) -> Scope:
        """Leaves out simulated nodes: nothing stands behind their devices."""
        return check_scope.real(self.machine)

    def scoped(self, check_id: str, scope: Scope, judge: Callable[[Inside], Check]) -> Iterator[Check]:
        """Judged once, by what root sees, or who else ran."""
        if scope.skip or scope.why:
            make = skipped if scope.skip else unknown
            yield make(check_id, CONTAINER, scope.skip or scope.why)
            return
        if self.first is None:
            yield unknown(check_id, CONTAINER, self.why)
        else:
            yield judge(self.first)

    def each(self, check_id: str, scope: Scope, judge: Callable[[str, Inside], Check]) -> Iterator[Check]:
        """Judged by what each user sees."""
        if scope.skip or scope.why:
            make = skipped if scope.skip else unknown
            yield make(check_id, CONTAINER, scope.skip or scope.why)
            return
        for run in self.probe.runs:
            if run.inside is None:
                yield unknown(check_id, who(run), why(run))
            else:
                yield judge(who(run), run.inside)

    @property
    def first(self) -> Inside | None:
        """What root sees, or who else ran."""
        return next((run.inside for run in self.probe.runs if run.inside), None)

    @property
    def why(self) -> str:
        """Why nobody saw anything."""
        return why(self.probe.runs[0]) if self.probe.runs else "no container was started"


def who(run: Run) -> str:
    """root, or the other user by its number."""
    return run.who if run.who == "root" else f"user {run.user}"


def why(run: Run) -> str:
    """Why one user saw nothing."""
    if run.how == told.NO_SHELL:
        return "the image has no /bin/sh to look around with"
    return f"its container did not run: {run.said or 'without a word'}"


def family(inside: Inside) -> Family | None:
    """The family of distributions that the image is of."""
    ids = [inside.os.get("ID", ""), *inside.os.get("ID_LIKE", "").split()]
    return next((family for name in ids for family in FAMILIES if name in family.ids), None)


def install(view: View, inside: Inside, *, tools: bool = False) -> str:
    """What puts libibverbs and its providers (or its tools) where they are missing."""
    found = family(inside)
    what = "ibverbs-utils" if tools else "libibverbs, its providers and librdmacm"
    command = f"`{found.tools if tools else found.verbs}`" if found else f"install {what}"
    if view.built:
        return f"the image is made of the host's own files: {command} on the host (role rdma)"
    return f"add to the image: RUN {command.strip('`')}" if found else f"{command} in the image"
