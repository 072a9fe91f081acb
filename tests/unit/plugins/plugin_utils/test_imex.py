# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts share memory by IMEX, as the inventory says and as the GPUs tell."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager

from ansible_collections.ibready.cluster.plugins.plugin_utils._site import imex

CLUSTER = "ac9b1b1e-2f80-4c1b-9f4e-000000000001"


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"tray9": "10.0.0.9", "self": "127.0.1.1"}

    def getaddrinfo(host: str, *_: Any, **__: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror(-2, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[host], 0))]

    imex._numeric.cache_clear()
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def tray(number: int, domain: Any = f"{CLUSTER}.1", **more: Any) -> dict[str, Any]:
    return {"ansible_host": f"10.0.0.{number}", "ibready_node": {"node": {"nvlink_domain": domain}}, **more}


def domains(hosts: dict[str, dict[str, Any]]) -> dict[str, imex.Domain]:
    return imex.domains(hosts, list(hosts))


def test_hosts_of_one_name_are_a_domain_in_one_order() -> None:
    found = domains({f"t{n}": tray(n, None, nvidia_driver_imex_domain=f"rack{n % 2}") for n in range(1, 5)})
    assert found["t1"]["nodes"] == found["t3"]["nodes"] == ["10.0.0.1", "10.0.0.3"]
    assert found["t2"]["nodes"] == found["t4"]["nodes"] == ["10.0.0.2", "10.0.0.4"]


def test_without_a_name_the_clique_says_it() -> None:
    hosts = {
        "t1": tray(1),
        "t2": tray(2),
        "t3": tray(3, f"{CLUSTER}.2"),
        "login": {"ibready_node": {"node": {"gpus": [], "nvlink_domain": ""}}},
    }
    found = domains(hosts)
    assert found["t1"] == found["t2"] == {"nodes": ["10.0.0.1", "10.0.0.2"], "why": ""}
    assert found["t3"]["nodes"] == ["10.0.0.3"]
    assert "login" not in found


@pytest.mark.parametrize(
    ("other", "said"),
    [
        pytest.param({"ansible_host": "10.0.0.2"}, "t2 may be of its domain", id="nobody reached it"),
        pytest.param(tray(2, None), "t2 may be of its domain", id="its driver is not there yet"),
        pytest.param(tray(2, ansible_host="gone"), "gone is no address", id="a name that nobody knows"),
        pytest.param(tray(2, ansible_host="self"), "self is no address", id="a name of the host itself"),
        pytest.param(tray(2, ansible_host="127.0.0.1"), "set ibready_address of t2", id="loopback"),
        pytest.param(tray(2, ansible_host="10.0.0.1"), "two of its hosts have one address", id="one address"),
    ],
)
def test_a_list_without_one_of_its_hosts_is_none(other: dict[str, Any], said: str) -> None:
    found = domains({"t1": tray(1), "t2": other})
    assert (found["t1"]["nodes"], said in found["t1"]["why"]) == ([], True)


def test_a_host_that_cannot_tell_yet_has_none() -> None:
    assert "no NVLink domain yet" in domains({"t1": tray(1, None)})["t1"]["why"]


def test_a_named_host_is_no_matter_of_others_who_tell_their_clique() -> None:
    found = domains({"t1": tray(1), "t2": tray(2, None, nvidia_driver_imex_domain="other")})
    assert found["t1"]["nodes"] == ["10.0.0.1"]


def test_an_address_of_the_inventory_goes_before_names() -> None:
    found = domains({"t9": tray(9, ansible_host="tray9"), "t8": tray(8, ibready_address="192.0.2.8")})
    assert found["t9"]["nodes"] == ["10.0.0.9", "192.0.2.8"]


@pytest.mark.parametrize(
    ("given", "nodes"), [(["10.0.0.1", "fd00::2"], 2), (["tray1"], 0), (["127.0.0.1"], 0), (["10.0.0.1", "0.0.0.0"], 0)]
)
def test_a_list_that_is_given_holds_addresses(given: list[str], nodes: int) -> None:
    found = domains({"t1": tray(1, nvidia_driver_imex_nodes=given)})["t1"]
    assert (len(found["nodes"]), bool(found["why"])) == (nodes, not nodes)


def test_hosts_of_one_clique_have_one_wish_or_no_list() -> None:
    hosts = {"t1": tray(1, nvidia_driver_imex_domain="rack1"), "t2": tray(2), "t3": tray(3)}
    assert "t1 of its NVLink domain has" in domains(hosts)["t2"]["why"]
    hosts["t1"] = tray(1, nvidia_driver_imex_nodes=["10.0.0.1", "10.0.0.2"])
    assert domains(hosts)["t3"]["nodes"] == []


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (["10.0.0.1", "10.0.0.2", "10.0.0.2"], "stands in it twice"),
        (["10.0.0.2", "10.0.0.3"], "the host itself is not in it (10.0.0.1)"),
    ],
)
def test_a_list_that_imex_would_refuse_is_none(nodes: list[str], said: str) -> None:
    found = domains({"t1": tray(1, nvidia_driver_imex_nodes=nodes)})["t1"]
    assert (found["nodes"], said in found["why"]) == ([], True)


def test_a_host_whose_variables_cannot_be_templated_stops_nobody(tmp_path: Path) -> None:
    """A host that was not contacted lacks the facts that other variables of its need."""
    inventory = tmp_path / "hosts.yml"
    hosts = {"t1": {}, "login": {"site_token": "{{ ansible_facts['default_ipv4']['address'] }}"}}
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
    loader = DataLoader()
    managed = InventoryManager(loader=loader, sources=[str(inventory)])
    hostvars = HostVars(managed, VariableManager(loader=loader, inventory=managed), loader)
    assert imex.domains(hostvars, ["t1", "login"])["t1"]["nodes"] == []
