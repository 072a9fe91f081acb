# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle is made where there is network; a bare node without any gets ready from it alone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.system.conftest import ROOT, SPARE, Box
from tests.unit.apt_world import Signer

pytestmark = pytest.mark.thorough

# A site's own file after the sandbox's: group_vars of one inventory are read in alphabetic order.
MINE = f"""---
sandbox_name: {SPARE[0]}
sandbox_subnet: {SPARE[1]}
sandbox_state: {ROOT}/.sandbox/{SPARE[0]}
"""
HOSTS = """---
all:
  hosts:
    node1:
      ansible_host: "{{ sandbox_subnet }}.11"
"""


@dataclass(frozen=True)
class Site:
    """One bare node, alone in its inventory; a place for the bundle; the site's signing key."""

    box: Box
    bundle: Path
    key: Signer

    def play(self, name: str, *argv: str) -> subprocess.CompletedProcess[str]:
        given = [f"stack_bundle={self.bundle}", f"stack_bundle_key={self.key.fingerprint}"]
        return self.box.playbook(name, *(word for one in given for word in ("-e", one)), *argv)


class Alone(Box):
    """The box with node1 alone, so that nobody is missed in its verdict."""

    @property
    def inventories(self) -> list[str]:
        return ["-i", str(self.inventory)]


@pytest.fixture(scope="module")
def site(stocked: Box, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    variables = folder / "inventory/group_vars/all"
    variables.mkdir(parents=True)
    (folder / "inventory/hosts.yml").write_text(HOSTS)
    shutil.copy(ROOT / "inventories/sandbox/group_vars/all.yml", variables / "1.yml")
    (variables / "2.yml").write_text(MINE)
    key = Signer(folder, "site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNUPGHOME", str(key.home))
        yield Site(Alone(*SPARE, folder / "inventory", folder / "reports"), folder / "bundle", key)
    subprocess.run(["gpgconf", "--homedir", key.home, "--kill", "all"], check=False)


def test_a_node_without_route_gets_ready_from_a_bundle_and_a_damaged_one_is_refused(
    site: Site,
) -> None:
    packages = "dpkg-query -W; ! [ -e /var/lib/ibready/bundle-files ] || ls /var/lib/ibready/bundle-files"
    before = site.box.root("node1", packages)
    made = site.play("playbooks/bundle.yml")
    assert made.returncode == 0, made.stdout
    assert site.box.root("node1", packages) == before
    names = {path.name for path in site.bundle.iterdir()}
    assert {"SHA256SUMS", "SHA256SUMS.asc", "stack.lock.yml", "bundle.json"} <= names

    site.box.sandbox("break", "no-route", "node1")
    try:
        (victim,) = site.bundle.glob("*/nvidia-utils-*.deb")
        data = victim.read_bytes()
        victim.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        refused = site.play("playbooks/converge.yml")
        assert refused.returncode != 0
        assert f"is damaged: {victim.parent.name}/{victim.name}" in refused.stdout
        assert site.box.root("node1", packages) == before

        victim.write_bytes(data)
        done = site.play("site.yml")
        assert done.returncode == 0, done.stdout
        assert site.box.verdicts() == {"node1": "ready"}
    finally:
        site.box.sandbox("heal")
