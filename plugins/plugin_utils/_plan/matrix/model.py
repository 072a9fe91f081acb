# SPDX-License-Identifier: GPL-3.0-or-later
"""The compatibility matrix as data: facts by section and name, each with source and confidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

# From the surest down. Only what is confirmed refuses; the rest warns.
CONFIRMED = "confirmed"
MEDIUM = "medium"
CONFIDENCES = (CONFIRMED, MEDIUM, "recalled")
# So many documents that say the same, each by itself, confirm what one alone leaves at medium.
AGREE = 2


class MatrixError(ValueError):
    """A matrix file cannot be used; the message names file, entry and field."""


@dataclass(frozen=True)
class Fact:
    """One entry of a matrix file. ``section``: file and section, as in ``rdma.releases``."""

    section: str
    name: str
    fields: Mapping[str, Any]

    def get(self, field: str, otherwise: Any = None) -> Any:
        """The value of a field, ``otherwise`` where the entry says nothing of it."""
        found = self.fields.get(field)
        return otherwise if found is None else found

    def sure(self, field: str = "") -> str:
        """How sure the entry is, or one of its fields.

        What is recalled has no document behind it, so that others can only take its place.
        """
        by_field: Mapping[str, str] = self.get("field_confidence", {})
        said = str(by_field.get(field) or self.fields["confidence"])
        return CONFIRMED if said == MEDIUM and len(self._documents(field)) >= AGREE else said

    def _documents(self, field: str) -> list[Mapping[str, Any]]:
        """The sources that speak of the whole entry, or of this field of it."""
        return [entry for entry in self.get("sources", ()) if not entry.get("of") or field in entry["of"]]

    @property
    def source(self) -> str:
        """Who says it, in words."""
        return self.said_by("")

    def said_by(self, field: str) -> str:
        """Who says it of a field, in words; of all of it without one."""
        those = self._documents(field) if field else self.get("sources", ())
        several = [f"{entry['by']}: {entry['document']}" for entry in those]
        return "; ".join([*([str(self.fields["source"])] if self.get("source") else []), *several])


@dataclass(frozen=True, eq=False)
class Matrix:
    """All facts. ``digest``: sha256 over all that is said, sources too; a lock names it."""

    sections: Mapping[str, Mapping[str, Fact]]
    digest: str

    def all(self, section: str) -> Mapping[str, Fact]:
        """The entries of a section, by name, in the order of the files."""
        return self.sections[section]

    def taking(self, accepted: Collection[str]) -> Matrix:
        """The same where the rules of these names, if they are such that stop a plan, only warn."""
        rules = dict(self.all("rules.rules"))
        for name in accepted:
            if name in rules and rules[name].get("stops"):
                fields = {**rules[name].fields, "stops": False, "effect": "warn"}
                rules[name] = Fact(rules[name].section, name, fields)
        return replace(self, sections={**self.sections, "rules.rules": rules}) if accepted else self

    def get(self, section: str, name: str) -> Fact | None:
        return self.sections[section].get(name)


def least(*confidences: str) -> str:
    """The least sure of several."""
    return max(confidences, key=CONFIDENCES.index)
