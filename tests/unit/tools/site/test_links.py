# SPDX-License-Identifier: GPL-3.0-or-later
"""Where links go that leave the site: to the repository, and to Ansible's documentation."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.unit.docs.markdown import ROOT
from tools.site import links

HOME = "https://example.com/ibready/cluster"


@pytest.mark.parametrize(
    ("page", "target", "address"),
    [
        ("docs/stack", "../matrix/drivers.yml", f"{HOME}/blob/main/matrix/drivers.yml"),
        ("docs/stack", "../matrix/drivers.yml#L3", f"{HOME}/blob/main/matrix/drivers.yml"),
        ("README", "LICENSE", f"{HOME}/blob/main/LICENSE"),
        ("docs/stack", "../matrix", f"{HOME}/tree/main/matrix"),
        ("docs/stack", "../gone.yml", None),
        ("docs/stack", "../../elsewhere", None),
        ("README", "..", None),
    ],
)
def test_a_file_that_is_no_page_is_at_the_repository(page: str, target: str, address: str | None) -> None:
    assert links.in_repository(HOME, ROOT, page, target) == address


def test_what_lies_beside_the_checkout_is_none_of_it(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    (tmp_path / "checkout").mkdir()
    assert links.in_repository(HOME, tmp_path / "checkout", "README", "../elsewhere") is None


def test_ansibles_labels_lead_to_its_pages() -> None:
    assert links.of_ansible("ref", "action_plugins") == f"{links.ANSIBLE}/plugins/action.html"
    module = "ansible_collections.ansible.builtin.apt_module"
    assert links.of_ansible("ref", module) == f"{links.ANSIBLE}/collections/ansible/builtin/apt_module.html"
    assert links.of_ansible("envvar", "NO_COLOR") == f"{links.ANSIBLE}/reference_appendices/config.html"
    assert links.of_ansible("ref", "ansible_collections.ibready.cluster.gone_module") is None
    assert links.of_ansible("doc", "/docs/gone") is None


def test_the_links_of_plugins_pages_are_at_our_repository() -> None:
    told = yaml.safe_load((ROOT / "docs/docsite/links.yml").read_text())
    repository = yaml.safe_load((ROOT / "galaxy.yml").read_text())["repository"]
    urls = [link["url"] for link in told["extra_links"]]
    assert urls
    assert [url for url in urls if not url.startswith(f"{repository}/")] == []
    for path in (url.partition("/blob/main/")[2] for url in urls if "/blob/" in url):
        assert (ROOT / path).is_file()
