# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes are saved and come back whole: their images, the files of the state, another key to log in by."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sandbox import config, image, lifecycle, parcel, podman, record, saved
from sandbox.apt import Distribution
from sandbox.errors import SandboxError
from sandbox.record import Active


@dataclass
class Podman:
    """What podman was asked; every container is there."""

    asked: list[Sequence[str]] = field(default_factory=list)
    started: dict[str, str] = field(default_factory=dict)
    there: bool = True

    def run(self, args: Sequence[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        self.asked.append(args)
        return subprocess.CompletedProcess(args, 0, b"", b"")

    def asked_for(self, verb: str) -> list[Sequence[str]]:
        return [args for args in self.asked if args[0] == verb]


@pytest.fixture
def box(tmp_path: Path) -> config.Sandbox:
    made = config.sandbox("ibready-test", "198.18.90", str(tmp_path / "state"))
    made.state.mkdir()
    settings = {"name": made.name, "images": ["localhost/ibready-node:1", "localhost/ibready-fabric:1"]}
    (made.state / "sandbox.json").write_text(json.dumps(settings))
    (made.state / "stack.lock.yml").write_text("as it was saved\n")
    (made.state / "vendor").mkdir()
    return made


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Podman:
    """podman, and what waits for nodes, simulated."""
    fake = Podman()

    def start(name: str, argv: list[str], _files: bytes, _home: Path) -> None:
        fake.started[name] = next(word for word in argv if word.startswith("localhost/"))

    monkeypatch.setattr(podman, "run", fake.run)
    monkeypatch.setattr(podman, "present", lambda box, _kind: list(box.containers) if fake.there else [])
    monkeypatch.setattr(podman, "remove", lambda _box: [])
    monkeypatch.setattr(lifecycle, "start", start)
    monkeypatch.setattr(lifecycle, "wait_for_node", lambda *_: None)
    monkeypatch.setattr("sandbox.fabric_client.wait_healthy", lambda _box: None)
    return fake


def quiet(_text: str) -> None:
    pass


def test_what_was_saved_comes_back_and_what_was_left_does_not(box: config.Sandbox, simulated: Podman) -> None:
    saved.save(box, quiet)
    assert [args[-1] for args in simulated.asked_for("commit")] == list(box.saved_images)
    (box.state / "stack.lock.yml").write_text("a story's own\n")
    (box.state / "bench.baseline.json").write_text("{}")
    keys = set()
    for _ in range(2):
        saved.restore(box, quiet)
        keys.add(box.private_key.read_text())
        assert (box.state / "stack.lock.yml").read_text() == "as it was saved\n"
        assert not (box.state / "bench.baseline.json").exists()
    # ssh keeps connections open, by the key that they were made with.
    assert len(keys) == 2
    assert (box.state / "vendor").is_dir()
    nodes = {box.container(node): box.saved_image(node) for node in config.NODES}
    assert simulated.started == {box.fabric: "localhost/ibready-fabric:1", **nodes}


def test_repositories_that_a_story_spoilt_are_made_anew(
    box: config.Sandbox, simulated: Podman, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh: list[str] = []
    monkeypatch.setattr("sandbox.vendor.sandboxed.refresh", lambda _box, base, _say: fresh.append(base))
    saved.save(box, quiet)
    saved.restore(box, quiet)
    assert fresh == []
    record.write(box, [Active("repo-key", None)])
    saved.restore(box, quiet)
    assert fresh == ["localhost/ibready-node:1"]
    assert record.active(box) == []


def test_neither_a_broken_nor_an_absent_sandbox_is_saved(box: config.Sandbox, simulated: Podman) -> None:
    record.write(box, [Active("cable", "node2")])
    with pytest.raises(SandboxError, match="a broken sandbox is not saved"):
        saved.save(box, quiet)
    record.write(box, [])
    simulated.there = False
    with pytest.raises(SandboxError, match="is not there"):
        saved.save(box, quiet)
    assert not saved.is_saved(box)
    with pytest.raises(SandboxError, match="was not saved"):
        saved.restore(box, quiet)


def test_down_takes_the_saved_images_away(box: config.Sandbox, simulated: Podman) -> None:
    saved.save(box, quiet)
    box.private_key.write_text("")
    lifecycle.down(box, quiet)
    assert simulated.asked_for("rmi") == [["rmi", *box.saved_images]]
    assert not box.state.exists()


def test_another_checkout_s_images_have_other_names(box: config.Sandbox, tmp_path: Path) -> None:
    other = config.sandbox(box.name, box.subnet, str(tmp_path / "other"))
    assert set(box.saved_images).isdisjoint(other.saved_images)


def test_a_prepared_node_is_built_once_for_a_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    built: dict[str, bytes] = {}
    monkeypatch.setattr(image, "tags", lambda: list(built))
    monkeypatch.setattr(image, "_build_upon", lambda _base, setup, tag: built.update({tag: setup}))
    first = image.prepared("localhost/ibready-node:1", "apt-get install a", quiet)
    assert image.prepared("localhost/ibready-node:1", "apt-get install a", quiet) == first
    assert built == {first: b"set -e\napt-get install a\n"}
    assert image.prepared("localhost/ibready-node:2", "apt-get install a", quiet) != first
    assert image.prepared("localhost/ibready-node:1", "apt-get install b", quiet) != first


def test_tools_of_a_prepared_node_are_led_to_ours(
    box: config.Sandbox, simulated: Podman, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its image was made where there was nothing of ours: dpkg's own hook has found no program."""
    recipe = image.Recipe(Distribution("http://127.0.0.1/debian", "trixie", ("main",)), ())
    made: list[dict[str, str]] = []
    monkeypatch.setattr(image, "ensure", lambda _say, _system: recipe)
    monkeypatch.setattr(image, "prepared", lambda _base, script, _say: f"localhost/{script}")
    monkeypatch.setattr(lifecycle, "_make", lambda _box, _recipe, tags, _say: made.append(tags))
    lifecycle.up(box, quiet, keep=False, prepared={"node2": "engine"})
    assert made == [dict.fromkeys(config.NODES, recipe.node) | {"node2": "localhost/engine"}]
    assert simulated.asked_for("exec") == [["exec", box.container("node2"), parcel.LINK_TOOLS]]
