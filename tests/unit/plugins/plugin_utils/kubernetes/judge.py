# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge manifests by published schemas: Kubernetes' own, and those in schemas/."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import yaml

_SCHEMAS = Path(__file__).parent / "schemas"
# The oldest and the youngest that the rendered kinds are judged by.
KUBERNETES = ("1.31", "1.36")
# Of an API that is younger than the oldest: since when it is served.
_SINCE = {"resource.k8s.io/v1": "1.34"}
_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_KEY = re.compile(rf"([a-z0-9]([-a-z0-9.]{{0,251}}[a-z0-9])?/)?{_NAME}")
_META = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "namespace": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}


@functools.cache
def published(name: str) -> dict[str, Any]:
    """What schemas/ has by this name; LookupError where it has nothing."""
    path = _SCHEMAS / f"{name}.yml"
    if not path.is_file():
        raise LookupError(f"no schema of {name}")
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    assert found["source"]
    assert found["commit"]
    assert found["licence"] == "Apache-2.0"
    return found


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with every field that it does not list refused."""
    found = dict(schema)
    if "properties" in schema:
        found["properties"] = {key: strict(one) for key, one in schema["properties"].items()}
        found |= {"type": "object", "additionalProperties": False}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            found[key] = strict(schema[key])
    return found


def manifest(content: dict[str, Any]) -> None:
    """Raises where the manifest is not what its kind's schema says."""
    try:
        for version in (_SINCE.get(content["apiVersion"], KUBERNETES[0]), KUBERNETES[1]):
            kubernetes_validate.validate(content, version, strict=True)
        return
    except kubernetes_validate.SchemaNotFoundError:
        pass
    known = published(content["kind"])
    assert content["apiVersion"] == known["apiVersion"]
    assert ("namespace" in content["metadata"]) == known["namespaced"], content["kind"]
    schema = {
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {},
            "kind": {},
            "metadata": _META,
            "spec": strict(known["spec"]),
        },
    }
    jsonschema.Draft202012Validator(schema).validate(content)
    for one in templates(content):
        whole = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "x"}}
        for version in KUBERNETES:
            kubernetes_validate.validate({**whole, "template": one}, version, strict=True)


def values(chart: str, content: dict[str, Any]) -> None:
    """Raises where the chart knows no such value."""
    schema = strict(published(f"{chart}-values")["values"])
    jsonschema.Draft202012Validator(schema).validate(content)


def is_label(key: str, value: str) -> bool:
    """Whether Kubernetes takes them for a label, which no schema says."""
    return _KEY.fullmatch(key) is not None and re.fullmatch(f"({_NAME})?", value) is not None


def templates(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The pod templates of a job."""
    spec = content["spec"]
    replicas = spec.get("mpiReplicaSpecs") or spec.get("pytorchReplicaSpecs") or {}
    return [one["template"] for one in replicas.values()]
