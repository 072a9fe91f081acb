# SPDX-License-Identifier: GPL-3.0-or-later
"""Find what a package manager would do for an order, and refuse what must not be."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._packages import (
    choose,
    dkms,
    refuse,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    PackageError,
    Part,
    Request,
    Transaction,
    Wanted,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.survey import Survey


class Planner:
    """Needs a manager that has looked at the repositories. `warnings` are for the operator."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._manager = survey.manager
        self._order = survey.order
        self.warnings: list[str] = []

    def plan(self) -> tuple[Request, Transaction]:
        """What to ask for and what that does; PackageError for what is refused."""
        request, found = self._without_conflicts(self._request())
        request, found = self._with_headers(request, found)
        leftovers = self._leftovers(request, found)
        if leftovers:
            request = self._more(request, remove=leftovers)
            found = self._manager.simulate(request)
        self._refuse(found)
        return request, found

    def _leftovers(self, request: Request, found: Transaction) -> list[str]:
        """Packages of ours that nothing needs any more: only what goes or moves leaves some."""
        if not any(one.before for one in found.changes):
            return []
        return self._manager.leftovers(request, self._survey.brought())

    def _request(self) -> Request:
        survey, manager = self._survey, self._manager
        have = survey.packages
        install: list[Wanted] = []
        for part in self._order.parts:
            picked, warnings = choose.pick(part, have, survey.others(part), manager.versions)
            brought = [name for name in survey.book(part).packages if name in have]
            picked += choose.elsewhere(part, have, picked, brought, manager.offered)
            install += [one for one in picked if one not in install]
            self.warnings += warnings
        helpers = Part("helpers", tuple(Wanted(name) for name in manager.helpers()))
        install += choose.pick(helpers, have, (), manager.versions)[0]
        remove: list[str] = []
        for part in survey.gone:
            book = survey.book(part)
            remove += [name for name in (*book.holds, *book.wanted) if name in have]
        return self._more(Request(tuple(install)), remove=remove)

    def _more(
        self, base: Request, install: list[Wanted] | None = None, remove: list[str] | None = None
    ) -> Request:
        wanted = [*base.install, *(install or [])]
        named = {one.name for one in wanted}
        gone = dict.fromkeys([*base.remove, *(remove or [])])
        return self._manager.request(
            self._order.parts, wanted, [name for name in gone if name not in named]
        )

    def _without_conflicts(self, request: Request) -> tuple[Request, Transaction]:
        """Have the other stack removed, but for names that both stacks have."""
        manager = self._manager
        conflicts = sorted(
            {name for part in self._order.parts for name in self._survey.conflicting(part)}
        )
        if not conflicts:
            return request, manager.simulate(request)
        first = None
        taken: set[str] = set()
        try:
            first = manager.simulate(request)
            taken = {one.name for one in first.changes if one.after}
        except PackageError:
            pass  # They may fit once the others are gone.
        left = [name for name in conflicts if name not in taken]
        if first is not None and not left:
            return request, first
        more = self._more(request, remove=left)
        try:
            return more, manager.simulate(more)
        except PackageError:
            if first is None:
                raise
            return request, first  # What is asked needs them.

    def _with_headers(self, request: Request, found: Transaction) -> tuple[Request, Transaction]:
        """Add the running kernel's headers where modules have to be built and they are missing."""
        manager, kernel = self._manager, self._order.kernel
        builds = [one.name for one in found.changes if one.after and dkms.is_dkms(one.name)]
        for part in self._order.parts:
            builds += [str(one) for one in self._survey.unbuilt(part)]
        if not builds or dkms.headers(manager.root, kernel):
            return request, found
        called, package = manager.headers(kernel)
        if package is None:
            raise refuse.headers(called, kernel, builds[0])
        if any(one.name == package.name and one.after for one in found.changes):
            return request, found
        request = self._more(request, install=[package])
        return request, manager.simulate(request)

    def _refuse(self, found: Transaction) -> None:
        order, brought = self._order, set(self._survey.brought())
        held = {name for book in self._survey.ledgers.values() for name in book.holds}
        conflicts = {name for part in order.parts for name in self._survey.conflicting(part)}

        def ours(name: str) -> bool:
            return (
                name in brought or name in conflicts or any(part.owns(name) for part in order.parts)
            )

        refuse.forbidden(found.changes, order.forbid)
        refuse.holds(found.changes, self._survey.packages, held)
        refuse.removals(found.changes, ours, order.replace_ok)
        if any(one.after for one in found.changes):
            space = refuse.disk_space(self._manager.root)
            refuse.room(found, self._manager.cache, order.min_free_mb, space)
