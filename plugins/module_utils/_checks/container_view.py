# SPDX-License-Identifier: GPL-3.0-or-later
"""What every container.* check looks at: who saw what inside, and why somebody saw nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks import host_scope
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.host_scope import Scope
from ansible_collections.ibready.cluster.plugins.module_utils._data.container import (
    FAMILIES,
    Family,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.container import (
    ContainerFacts,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._parse import _container_facts as told
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_facts import (
    ContainerProbe,
    Inside,
    Run,
)
from ansible_collections.ibready.cluster.plugins.module_utils._probe.wish import Wish

CONTAINER = "container"


@dataclass(frozen=True)
class View:
    """A probe that started containers, and the host that it ran on."""

    facts: ContainerFacts
    machine: Machine
    wish: Wish
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
        kernel = host_scope.with_kernel(self.machine)
        # Soft RoCE is on no bus.
        if self.expect.get("soft_roce") is not None:
            return kernel
        return kernel.then(host_scope.with_hca(self.machine))

    @property
    def real(self) -> Scope:
        """Leaves out simulated nodes: nothing stands behind their devices."""
        return host_scope.real(self.machine)

    def scoped(
        self, check_id: str, scope: Scope, judge: Callable[[Inside], Check]
    ) -> Iterator[Check]:
        """Judged once, by what root sees, or who else ran."""
        if scope.skip or scope.why:
            make = skipped if scope.skip else unknown
            yield make(check_id, CONTAINER, scope.skip or scope.why)
            return
        if self.first is None:
            yield unknown(check_id, CONTAINER, self.why)
        else:
            yield judge(self.first)

    def each(
        self, check_id: str, scope: Scope, judge: Callable[[str, Inside], Check]
    ) -> Iterator[Check]:
        """Judged by what each user sees."""
        if scope.skip or scope.why:
            make = skipped if scope.skip else unknown
            yield make(check_id, CONTAINER, scope.skip or scope.why)
            return
        for one in self.probe.runs:
            if one.inside is None:
                yield unknown(check_id, who(one), why(one))
            else:
                yield judge(who(one), one.inside)

    @property
    def first(self) -> Inside | None:
        """What root sees, or who else ran."""
        return next((one.inside for one in self.probe.runs if one.inside), None)

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
    return next((one for name in ids for one in FAMILIES if name in one.ids), None)


def install(view: View, inside: Inside, *, tools: bool = False) -> str:
    """What puts libibverbs and its providers (or its tools) where they are missing."""
    found = family(inside)
    what = "ibverbs-utils" if tools else "libibverbs, its providers and librdmacm"
    command = f"`{found.tools if tools else found.verbs}`" if found else f"install {what}"
    if view.built:
        return f"the image is made of the host's own files: {command} on the host (role rdma)"
    return f"add to the image: RUN {command.strip('`')}" if found else f"{command} in the image"
