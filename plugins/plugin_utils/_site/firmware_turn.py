# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose turn it is to be given new firmware: one host first, the others once it runs there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Variables = Mapping[str, Any]
Kind = tuple[str, str]
# Newest first: after it was written, as the role looked, as converge looked at all hosts.
_ANSWERS = ("__rdma_firmware_written", "__rdma_firmware", "ibready_firmware")


def turns(hostvars: Mapping[str, Variables], hosts: Sequence[str], batch: Sequence[str]) -> dict[str, str]:
    """Of each host of the batch that lacks firmware: the host that has to run it first, "" where its turn is now.

    A version is proved for a PSID by any host that runs it and was stopped by nothing in this run. Until then
    the first host of the batch that lacks it goes alone.
    """
    proved = {kind for name in hosts for kind in _runs(hostvars.get(name, {}))}
    lacks = {name: sorted(_lacks(hostvars.get(name, {})) - proved) for name in batch}
    first: dict[Kind, str] = {}
    for name in batch:
        for kind in lacks[name]:
            first.setdefault(kind, name)
    return {name: next((first[kind] for kind in lacks[name] if first[kind] != name), "") for name in batch}


def _lacks(variables: Variables) -> set[Kind]:
    return {(card["psid"], card["wanted"]) for card in _cards(variables) if card["wanted"] not in ("", card["flash"])}


def _runs(variables: Variables) -> Iterator[Kind]:
    if variables.get("ibready_converge_error"):
        return
    booted = variables.get("__reboot_gate_after")
    fresh = isinstance(booted, Mapping) and booted.get("needed") is False
    for card in _cards(variables):
        # Since that answer the reboot gate has seen that nothing waits for a boot any more.
        yield card["psid"], card["flash"] if fresh else card["running"]


def _cards(variables: Variables) -> list[dict[str, str]]:
    """The newest answer; a host may have told anything."""
    for name in _ANSWERS:
        answer = variables.get(name)
        cards = answer.get("cards") if isinstance(answer, Mapping) else None
        if isinstance(cards, Sequence) and not isinstance(cards, str):
            return [
                {key: str(card.get(key, "")) for key in ("psid", "flash", "running", "wanted")}
                for card in cards
                if isinstance(card, Mapping)
            ]
    return []
