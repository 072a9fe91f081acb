# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the packages that ibready holds are held: by dpkg's database, or by dnf's list of locks."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import observe_held
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.facts import Brought, Held
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.packages import Package
from tests.gauntlet.tree import Tree

LEDGER = f"{observe_held.LEDGERS}/driver.json"
INSTALLED = Reading(tuple(Package(name, "1-1", "x86_64") for name in ("nvidia-a", "nvidia-b", "kernel")))


def tree(*holds: str) -> Tree:
    found = Tree()
    found.file(LEDGER, json.dumps({"packages": [], "holds": holds, "wanted": []}))
    return found


@pytest.mark.parametrize(
    ("locks", "loose"),
    [
        (None, ("nvidia-a", "nvidia-b")),
        ("", ("nvidia-a", "nvidia-b")),
        ("nvidia-a-0:1-1.*\n", ("nvidia-b",)),
        ("nvidia-*\n", ()),
        ("# nvidia-*\n!nvidia-b-0:1-1.*\nnvidia-b\n", ("nvidia-a",)),
        ("nvidia-a-0:1-1.el9.x86_64\nnvidia-b-?:1-1*\n", ()),
        ("nvidia-[ab]\n", ()),
        ("nvidia-?-*:*\n", ()),
        # Another package whose name begins so is another package.
        ("nvidia-a-libs\nnvidia-b-devel-0:1-1.*\n", ("nvidia-a", "nvidia-b")),
        ("nvidia-a-more-0:1-1.*\nnvidia-b-0:1-1.*\n", ("nvidia-a",)),
    ],
)
def test_dnf_s_locks(locks: str | None, loose: tuple[str, ...]) -> None:
    seen = tree("nvidia-a", "nvidia-b", "gone")
    if locks is not None:
        seen.file("/etc/dnf/plugins/versionlock.list", locks)
    assert observe_held.observe(seen, INSTALLED, "rpm") == Reading(Held(2, loose))


@pytest.mark.parametrize(("said", "loose"), [("[main]\nenabled = 0\n", ("nvidia-a",)), ("[main]\nenabled=1\n", ())])
def test_a_list_that_no_plugin_reads_holds_nothing(said: str, loose: tuple[str, ...]) -> None:
    seen = tree("nvidia-a")
    seen.file("/etc/dnf/plugins/versionlock.list", "nvidia-a\n")
    seen.file("/etc/dnf/plugins/versionlock.conf", said)
    assert observe_held.observe(seen, INSTALLED, "rpm") == Reading(Held(1, loose))


def test_dpkg_s_holds() -> None:
    seen = tree("nvidia-a", "nvidia-b")
    seen.file(
        "/var/lib/dpkg/status",
        "Package: nvidia-b\nStatus: hold ok installed\n\nPackage: nvidia-a\nStatus: install ok installed\n",
    )
    assert observe_held.observe(seen, INSTALLED, "dpkg") == Reading(Held(2, ("nvidia-a",)))


@pytest.mark.parametrize("holds", [(), ("gone",)])
def test_where_ibready_holds_nothing_that_is_there(holds: tuple[str, ...]) -> None:
    assert observe_held.observe(tree(*holds), INSTALLED, "dpkg").missing
    assert observe_held.observe(Tree(), INSTALLED, "dpkg").missing


@pytest.mark.parametrize("text", ["{", '{"holds": "all"}', '{"holds": [1]}', "[]", ""])
def test_a_damaged_note_is_not_taken_for_none(text: str) -> None:
    seen = Tree()
    seen.file(LEDGER, text)
    found = observe_held.observe(seen, INSTALLED, "dpkg")
    assert (found.value, found.missing) == (None, False)
    assert LEDGER in found.why


def test_what_cannot_be_looked_at_is_not_taken_for_held() -> None:
    for broken in (LEDGER, "/etc/dnf/plugins/versionlock.list"):
        seen = tree("nvidia-a")
        seen.file("/etc/dnf/plugins/versionlock.list", "nvidia-a\n")
        seen.broken[broken] = "permission denied"
        found = observe_held.observe(seen, INSTALLED, "rpm")
        assert (found.value, found.missing) == (None, False)
    unread = observe_held.observe(tree("nvidia-a"), Reading(None, "rpm hangs"), "rpm")
    assert (unread.value, unread.why) == (None, "rpm hangs")


def test_all_that_was_brought_or_is_held_is_compared() -> None:
    seen = Tree()
    packages = [
        "nvidia-a",
        "libneeded1",
        "linux-headers-6.8.0-31-generic",
        "kmod-a-5.14.0-503.el9",
        "linux-headers-6.18.44-fc",
    ]
    seen.file(LEDGER, json.dumps({"packages": packages, "holds": ["nvidia-b", "mft"], "wanted": []}))
    # Nobody brought the kernel, which is held.
    seen.file(f"{observe_held.LEDGERS}/kernel.json", json.dumps({"packages": [], "holds": ["linux-image-generic"]}))
    assert observe_held.brought(seen, INSTALLED) == Reading(Brought(4, ("libneeded1", "mft")))
    assert observe_held.brought(Tree(), INSTALLED).missing
    assert observe_held.brought(tree("linux-headers-6.8.0-31"), INSTALLED).missing
    unread: Reading[tuple[Package, ...]] = Reading(None, "cut")
    assert observe_held.brought(seen, unread) == Reading(None, "cut")


APT = """Reading package lists...
Building dependency tree...
Reading state information...
You might want to run 'apt --fix-broken install' to correct these.
The following packages have unmet dependencies:
 doca-ofed : Depends: mft (>= 4.33) but it is not installed
             Depends: mlnx-tools but it is not installed
E: Unmet dependencies. Try 'apt --fix-broken install' with no packages (or specify a solution).
"""
RPM = """Unsatisfied dependencies for doca-ofed-3.2.0-1.x86_64:
	mft >= 4.33 is needed by (installed) doca-ofed-3.2.0-1.x86_64
Unsatisfied dependencies for agent-1-1.x86_64:
	libold is needed by (installed) agent-1-1.x86_64
"""


def test_apt_s_own_word_counts_whoever_s_package_it_is() -> None:
    seen = Tree()
    seen.command("apt_check", APT, 100)
    assert observe_held.lacks(seen, "dpkg").value == (
        "doca-ofed : Depends: mft (>= 4.33) but it is not installed",
        "doca-ofed : Depends: mlnx-tools but it is not installed",
    )
    seen.command("apt_check", "Reading package lists...\nBuilding dependency tree...\nReading state information...\n")
    assert observe_held.lacks(seen, "dpkg") == Reading(())


@pytest.mark.parametrize("text", ["", "Reading package lists...\n", "Reading package lists...\nReading state infor"])
def test_an_apt_that_ended_early_says_nothing_good(text: str) -> None:
    seen = Tree()
    seen.command("apt_check", text)
    assert observe_held.lacks(seen, "dpkg").value is None


def test_an_apt_that_cannot_look_says_nothing_good() -> None:
    seen = Tree()
    seen.command("apt_check", "", 100, "E: Conflicting values set for option Signed-By")
    found = observe_held.lacks(seen, "dpkg")
    assert (found.value, found.missing) == (None, False)
    assert "Conflicting values" in found.why


def test_of_rpm_s_word_ours_counts() -> None:
    seen = tree("doca-ofed")
    seen.command("rpm_verify", RPM, 1)
    assert observe_held.lacks(seen, "rpm").value == ("mft >= 4.33 is needed by doca-ofed-3.2.0-1.x86_64",)
    assert observe_held.lacks(seen, "").missing


def test_an_rpm_that_cannot_look_and_a_ledger_that_cannot_be_read_say_nothing_good() -> None:
    seen = tree("doca-ofed")
    seen.command("rpm_verify", "", 1, "error: cannot open Packages database")
    found = observe_held.lacks(seen, "rpm")
    assert (found.value, found.missing) == (None, False)
    assert "cannot open Packages database" in found.why
    # A script of somebody's package that is not content is no dependency.
    seen.command("rpm_verify", "..?......    /usr/bin/site\n", 1)
    assert observe_held.lacks(seen, "rpm") == Reading(())
    seen.command("rpm_verify", RPM, 1)
    seen.file(f"{observe_held.LEDGERS}/rdma.json", "{broken")
    found = observe_held.lacks(seen, "rpm")
    assert (found.value, found.missing) == (None, False)
