# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock as a CycloneDX bill of materials: what each class of hosts is made of.

source: the CycloneDX 1.6 JSON specification.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from .lock import Lock

NAME = "stack.sbom.cdx.json"
_NAMESPACE = uuid.UUID("0d1a3c52-5b0e-4b56-9c86-5a7f0b4c0f21")
_TYPES = {"driver": "device-driver", "rdma": "device-driver"}


def text(lock: Lock, packages: Mapping[str, Any], version: str) -> str:
    """The file. ``packages``: by class, its ``install`` (docs/architecture.md), {} where none.

    The same lock gives the same file, byte for byte.
    """
    classes = [_class(name, lock, packages.get(name) or {}) for name in sorted(lock.classes)]
    body = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, json.dumps(lock.to_dict()))}",
        "version": 1,
        "metadata": {
            "timestamp": lock.created,
            "tools": {"components": [{"type": "application", "name": "ibready", "version": version}]},
            "component": {"type": "platform", "bom-ref": "cluster", "name": "cluster"},
        },
        "components": [kind for kind, _unused in classes],
        "dependencies": [
            {"ref": "cluster", "dependsOn": [kind["bom-ref"] for kind, _unused in classes]},
            *({"ref": kind["bom-ref"], "dependsOn": refs} for kind, refs in classes),
        ],
    }
    return json.dumps(body, indent=2) + "\n"


def _class(name: str, lock: Lock, install: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    kind = lock.classes[name]
    parts = []
    for part, fields in kind.stack.items():
        version = str(fields.get("version", ""))
        if not version and "flavour" not in fields:
            continue
        detail = [{"name": f"ibready:{key}", "value": str(value)} for key, value in fields.items() if key != "version"]
        parts.append(
            {
                "type": _TYPES.get(part, "library"),
                "bom-ref": f"{name}/{part}",
                "name": part,
                "version": version or "of the distribution",
                "properties": detail,
            }
        )
    for part, wanted in (install.get("parts") or {}).items():
        for package in wanted["packages"]:
            parts.append(_package(name, part, package, kind.system, install))
    whole = {
        "type": "platform",
        "bom-ref": name,
        "name": name,
        "version": kind.system,
        "properties": [{"name": "ibready:host", "value": host} for host in kind.hosts],
        "components": parts,
    }
    return whole, [str(each["bom-ref"]) for each in parts]


def _package(
    name: str, part: str, package: Mapping[str, str], system: str, install: Mapping[str, Any]
) -> dict[str, Any]:
    kinds = {repository["kind"] for repository in install.get("repositories") or ()}
    kind = "rpm" if "dnf" in kinds else "deb"
    version = package["version"]
    purl = f"pkg:{kind}/{quote(package['name'])}"
    purl += f"@{quote(version)}" if version else ""
    return {
        "type": "library",
        "bom-ref": f"{name}/{part}/{package['name']}",
        "name": package["name"],
        **({"version": version} if version else {}),
        "purl": f"{purl}?distro={quote(system)}",
    }
