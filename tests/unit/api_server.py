# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for the part of Kubernetes' API server that has nodes: SIMULATED, for tests of those who ask it.

It keeps to what the API's conventions say of lists in pages, merge patches (RFC 7386), a resourceVersion as a
precondition (409) and dryRun=All. It admits everything and judges no schema.
"""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output

TOKEN = "sha256~very-secret-token-of-the-admin"
_DISCOVERY: dict[str, Any] = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {
        "kind": "APIResourceList",
        "groupVersion": "v1",
        "resources": [
            {
                "name": "nodes",
                "singularName": "node",
                "namespaced": False,
                "kind": "Node",
                "verbs": ["get", "list", "patch"],
            }
        ],
    },
}


def node(name: str, *, ready: bool = True, **spec: Any) -> dict[str, Any]:
    """A node as the API server tells it; ``annotations`` among ``spec`` are its metadata's."""
    metadata: dict[str, Any] = {"name": name, "resourceVersion": "100", "annotations": spec.pop("annotations", {})}
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "Unknown"}]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


class Server:
    """Nodes by name. ``patches``: what was asked, with the query. ``between``: called before a patch, as another
    client that is quicker. ``forbidden``: whether patches are refused. ``drops``: fields of spec that a webhook keeps
    out."""

    def __init__(self, *nodes: dict[str, Any]) -> None:
        self.nodes = {one["metadata"]["name"]: one for one in nodes}
        self.patches: list[tuple[str, dict[str, Any], dict[str, list[str]]]] = []
        self.between: list[Any] = []
        self.forbidden = False
        self.drops: set[str] = set()
        self.asked: list[str] = []

    def change(self, name: str, **spec: Any) -> None:
        """Somebody else changes a node."""
        one = self.nodes[name]
        one["spec"] |= spec
        one["metadata"]["resourceVersion"] = str(int(one["metadata"]["resourceVersion"]) + 1)

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        """To a GET."""
        self.asked.append(path)
        if path in _DISCOVERY:
            return 200, _DISCOVERY[path]
        if path == "/api/v1/nodes":
            names, limit = sorted(self.nodes), int(query.get("limit", ["500"])[0])
            begin = int(query.get("continue", ["0"])[0].removesuffix("=/+"))
            end = begin + limit
            metadata = {"resourceVersion": "1", **({"continue": f"{end}=/+"} if end < len(names) else {})}
            items = [self.nodes[one] for one in names[begin:end]]
            return 200, {"kind": "NodeList", "apiVersion": "v1", "metadata": metadata, "items": items}
        name = path.removeprefix("/api/v1/nodes/")
        if path.startswith("/api/v1/nodes/") and name in self.nodes:
            return 200, self.nodes[name]
        return status(404, "NotFound", f'nodes "{name}" not found')

    def patch(self, path: str, patch: dict[str, Any], query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        """To a PATCH."""
        name = path.removeprefix("/api/v1/nodes/")
        for act in self.between:
            act()
        self.between = []
        self.patches.append((name, patch, query))
        if self.forbidden:
            return status(403, "Forbidden", f'nodes "{name}" is forbidden: User "x" cannot patch resource "nodes"')
        known = self.nodes[name]
        wanted = patch["metadata"].get("resourceVersion")
        if wanted not in (None, known["metadata"]["resourceVersion"]):
            said = f'Operation cannot be fulfilled on nodes "{name}": the object has been modified'
            return status(409, "Conflict", said)
        found = merged(copy.deepcopy(known), patch)
        for field in self.drops:
            found["spec"].pop(field, None)
        found["metadata"]["resourceVersion"] = str(int(known["metadata"]["resourceVersion"]) + 1)
        if query.get("dryRun") != ["All"]:
            self.nodes[name] = found
        return 200, found


def status(code: int, reason: str, message: str) -> tuple[int, dict[str, Any]]:
    return code, {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }


def merged(known: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    found = known if isinstance(known, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found


@contextmanager
def served(server: Server, folder: Path) -> Iterator[Path]:
    """The server on the loopback, and a kubeconfig whose context ``training`` is it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self, code: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            self._answer(*server.answer(asked.path, parse_qs(asked.query)))

        def do_PATCH(self) -> None:
            asked = urlsplit(self.path)
            assert self.headers["Content-Type"] == "application/merge-patch+json"
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._answer(*server.patch(asked.path, body, parse_qs(asked.query)))

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    config = folder / "kubeconfig"
    config.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{http.server_port}"}}],
                "users": [{"name": "u", "user": {"token": TOKEN}}],
                "contexts": [{"name": "training", "context": {"cluster": "c", "user": "u"}}],
            }
        )
    )
    config.chmod(0o600)
    try:
        yield config
    finally:
        http.shutdown()
        http.server_close()
        thread.join(10)


def kubectl(server: Server, words: list[str]) -> Output:
    """What kubectl 1.32 says to the words that ibready gives it; test_cluster.py holds it against the real program."""
    flags = {key: value for key, _, value in (word.partition("=") for word in words if word.startswith("--"))}
    plain = [word for word in words if not word.startswith("-")]
    assert flags["--context"] == "training"
    if plain[0] == "get":
        asked = urlsplit(plain[1])
        code, body = server.answer(asked.path, parse_qs(asked.query))
    else:
        assert plain[:2] == ["patch", "node"]
        assert (flags["--type"], flags["--output"]) == ("merge", "json")
        query = {"dryRun": ["All"]} if flags.get("--dry-run") == "server" else {}
        code, body = server.answer(f"/api/v1/nodes/{plain[2]}", {})
        if code == 200:
            code, body = server.patch(f"/api/v1/nodes/{plain[2]}", json.loads(flags["--patch"]), query)
    if code == 200:
        return Output(0, json.dumps(body), "")
    return Output(1, "", f"Error from server ({body['reason']}): {body['message']}\n")
