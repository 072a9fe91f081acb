# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import gc
import json
import os
import stat
import time
import traceback
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import ask
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import (
    Bundle,
    Cached,
    Evidence,
    Live,
    Missing,
    Output,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground import command, paths

Tool = Callable[[str], Path]


@pytest.fixture
def ibstat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """Put a stand-in ibstat with the given shell script first on PATH."""
    home = tmp_path / "bin"
    home.mkdir()
    monkeypatch.setenv("PATH", str(home), prepend=os.pathsep)

    def install(script: str) -> Path:
        tool = home / "ibstat"
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
        return tool

    return install


@pytest.fixture
def no_sbin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a really installed ibstat out of the way."""
    monkeypatch.setattr(command, "_MORE_PATH", ())


def bundle_with(directory: Path, files: dict[str, str]) -> Bundle:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        place = directory / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return Bundle(directory)


def recorded(name: str, stdout: str = "", stderr: str = "", rc: str = "0\n") -> dict[str, str]:
    home = f"commands/{name}"
    return {f"{home}/stdout": stdout, f"{home}/stderr": stderr, f"{home}/rc": rc}


class TestLiveCommands:
    def test_output_and_exit_status_are_kept_apart(self, ibstat: Tool) -> None:
        ibstat("echo out; echo err >&2; exit 255")
        assert Live().run("ibstat") == Output(255, "out\n", "err\n")

    def test_arguments_reach_the_tool_without_a_shell(self, ibstat: Tool) -> None:
        ibstat('printf "%s|" "$@"')
        assert Live().run("ibstat", "-p", "a b;$(id)").stdout == "-p|a b;$(id)|"

    def test_the_tool_speaks_the_c_locale(self, ibstat: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
        monkeypatch.setenv("LANGUAGE", "de")
        ibstat('echo "$LC_ALL,$LANGUAGE"')
        assert Live().run("ibstat").stdout == "C,\n"

    def test_a_long_answer_on_both_pipes_does_not_block(self, ibstat: Tool) -> None:
        ibstat("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero")
        output = Live().run("ibstat")
        assert (len(output.stdout), len(output.stderr)) == (300_000, 300_000)

    def test_bytes_that_are_no_text_are_replaced(self, ibstat: Tool) -> None:
        ibstat(r"printf 'a\377b'")
        assert Live().run("ibstat").stdout == "a\ufffdb"

    @pytest.mark.parametrize(
        ("script", "said"),
        [
            ('echo "$*"', "-x\n"),
            ('[ $# = 0 ] || { echo "dmesg: invalid option -- x" >&2; exit 1; }; echo plain', "plain\n"),
            ('[ $# = 1 ] || { echo asked twice; exit 0; }; echo "$*"; exit 1', "-x\n"),
        ],
    )
    def test_an_old_program_is_asked_without_what_it_does_not_know(self, ibstat: Tool, script: str, said: str) -> None:
        tool = ibstat(script)
        tool.rename(tool.with_name("dmesg"))
        assert Live().run("dmesg").stdout == said

    def test_the_sbin_directories_are_searched_as_well(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tool = tmp_path / "ibstat"
        tool.write_text("#!/bin/sh\necho from sbin\n")
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", "/nowhere")
        monkeypatch.setattr(command, "_MORE_PATH", (str(tmp_path),))
        assert Live().run("ibstat").stdout == "from sbin\n"

    @pytest.mark.usefixtures("no_sbin")
    def test_the_working_directory_is_not_searched(self, ibstat: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(ibstat("echo found").parent)
        monkeypatch.setenv("PATH", ":.:/nowhere")
        with pytest.raises(Unavailable, match="not installed"):
            Live().run("ibstat")

    @pytest.mark.usefixtures("no_sbin")
    def test_a_missing_tool_is_unavailable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(Unavailable) as caught:
            Live().run("ibstat")
        assert str(caught.value) == "ibstat: not installed (no such program in PATH)"
        assert caught.value.what == "ibstat"

    @pytest.mark.usefixtures("no_sbin")
    def test_a_tool_that_may_not_be_executed_is_unavailable(
        self, ibstat: Tool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tool = ibstat("echo out")
        tool.chmod(0o644)
        monkeypatch.setenv("PATH", str(tool.parent))
        with pytest.raises(Unavailable, match="may not be executed"):
            Live().run("ibstat")

    def test_a_tool_that_is_no_program_is_unavailable(self, ibstat: Tool) -> None:
        ibstat("").write_bytes(b"\0\0\0\0")
        with pytest.raises(Unavailable, match="ibstat: exec format error"):
            Live().run("ibstat")

    def test_an_unknown_name_is_unavailable(self) -> None:
        with pytest.raises(Unavailable, match="no command is known"):
            Live().run("rm")

    def test_an_impossible_argument_is_unavailable(self, ibstat: Tool) -> None:
        ibstat("echo out")
        with pytest.raises(Unavailable, match="null byte"):
            Live().run("ibstat", "a\0b")

    @pytest.mark.parametrize(
        "script",
        [
            pytest.param("echo early; sleep 600", id="answers and hangs"),
            pytest.param("exec sleep 600 >&- 2>&-", id="closes its pipes and hangs"),
            pytest.param("sleep 600 & exit 0", id="leaves a child on its pipes"),
        ],
    )
    def test_a_hanging_tool_is_ended_at_the_timeout(self, ibstat: Tool, script: str) -> None:
        ibstat(script)
        began = time.monotonic()
        with pytest.raises(Unavailable, match=r"no complete answer within 0\.3 s"):
            Live(timeout=0.3).run("ibstat")
        assert time.monotonic() - began < 60

    def test_the_children_of_a_hanging_tool_are_ended_too(self, ibstat: Tool, tmp_path: Path) -> None:
        ibstat(f"sleep 600 & echo $! > {tmp_path}/child; wait")
        with pytest.raises(Unavailable):
            Live(timeout=3).run("ibstat")
        child = int((tmp_path / "child").read_text())
        assert ended(child)

    def test_an_endless_answer_is_refused(self, ibstat: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(command, "LIMIT", 100_000)
        ibstat("exec cat /dev/zero")
        with pytest.raises(Unavailable, match="printed more than"):
            Live(timeout=20).run("ibstat")

    def test_the_limit_is_8_mib(self) -> None:
        assert paths.LIMIT == 8 * 1024 * 1024


def ended(pid: int) -> bool:
    """Wait until a process is gone, or a zombie that its new parent has not reaped."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(params=["live", "bundle"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Evidence, Path]:
    """The same files behind both sources: the evidence, and where its / lies."""
    if request.param == "live":
        return Live(root=tmp_path), tmp_path
    (tmp_path / "files").mkdir()
    return Bundle(tmp_path), tmp_path / "files"


class TestFiles:
    def test_a_file_is_read(self, tree: tuple[Evidence, Path]) -> None:
        evidence, root = tree
        (root / "sys").mkdir()
        (root / "sys/rate").write_text("400 Gb/sec (4X NDR)\n")
        assert evidence.read("/sys/rate") == "400 Gb/sec (4X NDR)\n"

    def test_a_directory_is_listed_sorted(self, tree: tuple[Evidence, Path]) -> None:
        evidence, root = tree
        for name in ("mlx5_1", "mlx5_0", "mlx5_10"):
            (root / "sys/class" / name).mkdir(parents=True)
        assert evidence.list("/sys/class") == ["mlx5_0", "mlx5_1", "mlx5_10"]

    def test_a_link_inside_is_followed(self, tree: tuple[Evidence, Path]) -> None:
        evidence, root = tree
        (root / "devices").mkdir()
        (root / "devices/rate").write_text("100")
        (root / "class").symlink_to("devices")
        assert evidence.read("/class/rate") == "100"
        assert evidence.list("/class") == ["rate"]

    def test_a_missing_file_is_unavailable(self, tree: tuple[Evidence, Path]) -> None:
        evidence, root = tree
        (root / "file").write_text("")
        for path in ("/nothing", "/file/below"):
            with pytest.raises(Unavailable, match=f"{path}: (no such file|not in the bundle)"):
                evidence.read(path)

    def test_a_missing_directory_is_unavailable(self, tree: tuple[Evidence, Path]) -> None:
        evidence, root = tree
        (root / "file").write_text("")
        for path in ("/nothing", "/file"):
            with pytest.raises(Unavailable, match=f"{path}: (no such directory|not in the bundle)"):
                evidence.list(path)

    def test_a_directory_is_no_file(self, tree: tuple[Evidence, Path]) -> None:
        evidence, root = tree
        (root / "sys").mkdir()
        with pytest.raises(
            Unavailable, match=r"/sys: (is a directory|not a regular file|only its name is in the bundle)"
        ):
            evidence.read("/sys")

    def test_a_fifo_does_not_block(self, tree: tuple[Evidence, Path]) -> None:
        evidence, root = tree
        os.mkfifo(root / "fifo")
        with pytest.raises(Unavailable, match="not a regular file"):
            evidence.read("/fifo")

    def test_a_huge_file_is_refused(self, tree: tuple[Evidence, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        evidence, root = tree
        monkeypatch.setattr(paths, "LIMIT", 10)
        (root / "log").write_text("x" * 11)
        with pytest.raises(Unavailable, match="holds more than"):
            evidence.read("/log")

    @pytest.mark.parametrize(
        "path",
        [
            pytest.param("etc/passwd", id="relative"),
            pytest.param("/sys/../../etc/passwd", id="climbs out"),
            pytest.param("/sys\0", id="holds a NUL"),
            pytest.param("", id="empty"),
        ],
    )
    def test_a_bad_path_is_refused(self, tree: tuple[Evidence, Path], path: str) -> None:
        evidence, _root = tree
        for look in (evidence.read, evidence.list):
            with pytest.raises(Unavailable, match="not an absolute path"):
                look(path)

    def test_a_name_that_cannot_be_encoded_is_unavailable(self, tree: tuple[Evidence, Path]) -> None:
        evidence, _root = tree
        with pytest.raises(Unavailable):
            evidence.read("/\ud800")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_forbidden_file_is_unavailable(self, tree: tuple[Evidence, Path]) -> None:
        evidence, root = tree
        (root / "secret").write_text("")
        (root / "secret").chmod(stat.S_IWUSR)
        with pytest.raises(Unavailable, match="permission denied"):
            evidence.read("/secret")


class TestBundleCommands:
    def test_a_recorded_command_is_given(self, tmp_path: Path) -> None:
        bundle = bundle_with(tmp_path, recorded("ibstat", "out\n", "err\n", "255\n"))
        assert bundle.run("ibstat") == Output(255, "out\n", "err\n")

    def test_arguments_name_the_directory_and_options_do_not(self, tmp_path: Path) -> None:
        files = {**recorded("sminfo", "plain"), **recorded("sminfo@mlx5_0-1", "port 1")}
        bundle = bundle_with(tmp_path, files)
        assert bundle.run("sminfo", "-C", "mlx5_0", "-P", "1").stdout == "port 1"
        assert bundle.run("sminfo").stdout == "plain"

    @pytest.mark.parametrize(
        "args",
        [
            pytest.param(("-C", "mlx5_1", "-P", "1"), id="for another port"),
            pytest.param(("-d",), id="with an option only"),
        ],
    )
    def test_a_call_with_arguments_is_not_answered_without_them(self, tmp_path: Path, args: tuple[str, ...]) -> None:
        bundle = bundle_with(tmp_path, recorded("sminfo", "plain"))
        with pytest.raises(Unavailable, match=r"sminfo@.*: not in the bundle"):
            bundle.run("sminfo", *args)

    @pytest.mark.parametrize("missing", ["stdout", "rc"])
    def test_an_incomplete_record_is_unavailable(self, tmp_path: Path, missing: str) -> None:
        bundle = bundle_with(tmp_path, recorded("ibstat", "out"))
        (tmp_path / "commands/ibstat" / missing).unlink()
        with pytest.raises(Unavailable, match="ibstat: not in the bundle"):
            bundle.run("ibstat")

    def test_a_record_without_stderr_is_enough(self, tmp_path: Path) -> None:
        bundle = bundle_with(tmp_path, recorded("ibstat", "out"))
        (tmp_path / "commands/ibstat/stderr").unlink()
        assert bundle.run("ibstat") == Output(0, "out", "")

    @pytest.mark.parametrize("rc", ["", "ok", "0x1", "1 2", "٣", "1.0"])
    def test_an_exit_status_that_is_not_decimal_is_unavailable(self, tmp_path: Path, rc: str) -> None:
        bundle = bundle_with(tmp_path, recorded("ibstat", "out", rc=rc))
        with pytest.raises(Unavailable, match="exit status in the bundle is not a number"):
            bundle.run("ibstat")

    def test_a_bundle_that_is_not_there_is_unavailable(self, tmp_path: Path) -> None:
        with pytest.raises(Unavailable, match="no such directory"):
            Bundle(tmp_path / "nothing")


class TestBundleWalls:
    @pytest.mark.parametrize(
        ("name", "args"),
        [
            pytest.param("../outside", (), id="name climbs out"),
            pytest.param("..", (), id="name is the parent"),
            pytest.param("", (), id="no name"),
            pytest.param("a", ("b/../../../outside",), id="argument climbs out"),
            pytest.param("/etc", (), id="name is a path"),
        ],
    )
    def test_a_command_does_not_lead_out(self, tmp_path: Path, name: str, args: tuple[str, ...]) -> None:
        bundle = bundle_with(tmp_path / "bundle", recorded("ibstat"))
        bundle_with(tmp_path, {f"bundle/outside/{part}": "0" for part in ("rc", "stdout")})
        with pytest.raises(Unavailable, match="not a name"):
            bundle.run(name, *args)

    @pytest.mark.parametrize("target", ["../../outside", "{tmp}/outside"])
    def test_a_link_out_of_the_bundle_is_not_followed(self, tmp_path: Path, target: str) -> None:
        bundle = bundle_with(tmp_path / "bundle", {"files/inside": ""})
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside/secret").write_text("secret")
        (tmp_path / "bundle/files/link").symlink_to(target.format(tmp=tmp_path))
        with pytest.raises(Unavailable, match="/link/secret: leads out of the bundle"):
            bundle.read("/link/secret")
        with pytest.raises(Unavailable, match="/link: leads out of the bundle"):
            bundle.list("/link")

    def test_a_bundle_behind_a_link_is_read(self, tmp_path: Path) -> None:
        bundle_with(tmp_path / "real", recorded("ibstat", "out"))
        (tmp_path / "latest").symlink_to("real")
        assert Bundle(tmp_path / "latest").run("ibstat").stdout == "out"

    def test_a_recorded_command_is_no_program(self, tmp_path: Path) -> None:
        # Nothing in a bundle is ever run.
        marker = tmp_path / "ran"
        bundle = bundle_with(tmp_path / "b", recorded("ibstat", f"#!/bin/sh\ntouch {marker}\n"))
        (tmp_path / "b/commands/ibstat/stdout").chmod(0o755)
        bundle.run("ibstat")
        assert not marker.exists()


@pytest.mark.parametrize(("stderr", "why"), [("no such device\n", "no such device"), ("", "without a word")])
def test_a_tool_that_failed_is_told_by_its_last_word(tmp_path: Path, stderr: str, why: str) -> None:
    bundle = bundle_with(tmp_path, recorded("ibstat", stderr=stderr, rc="1\n"))
    assert ask.command(bundle, "ibstat", str).why == f"ibstat ended with status 1: {why}"


def test_only_the_live_host_can_say_that_something_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Missing):
        Live(tmp_path).read("/etc/none")
    with pytest.raises(Missing):
        Live(tmp_path).list("/etc/none")
    for look in (Bundle(tmp_path).read, Bundle(tmp_path).list):
        with pytest.raises(Unavailable) as caught:
            look("/etc/none")
        assert not isinstance(caught.value, Missing)


class TestBundleManifest:
    def test_what_was_looked_for_in_vain_is_missing(self, tmp_path: Path) -> None:
        raw = {"format": 1, "host": "n1", "absent": ["/sys/module/nouveau"]}
        bundle = bundle_with(tmp_path / "b", {"manifest.json": json.dumps(raw)})
        for path in ("/sys/module/nouveau", "/sys/module/nouveau/version"):
            with pytest.raises(Missing):
                bundle.read(path)
            with pytest.raises(Missing):
                bundle.list(path)
            with pytest.raises(Missing):
                bundle.link(path)
        with pytest.raises(Unavailable) as caught:
            bundle.read("/sys/module/nouveau2")
        assert not isinstance(caught.value, Missing)
        assert bundle.manifest.host == "n1"

    def test_why_it_could_not_be_told_is_kept(self, tmp_path: Path) -> None:
        raw = {"format": 1, "host": "n1", "unavailable": {"ibstat": "not installed"}}
        bundle = bundle_with(tmp_path / "b", {"manifest.json": json.dumps(raw)})
        with pytest.raises(Unavailable, match="ibstat: not installed"):
            bundle.run("ibstat")

    def test_links_are_texts(self, tmp_path: Path) -> None:
        raw = {"format": 1, "host": "n1", "links": {"/sys/x": "../../etc/passwd"}}
        bundle = bundle_with(tmp_path / "b", {"manifest.json": json.dumps(raw)})
        assert bundle.link("/sys/x") == "../../etc/passwd"

    @pytest.mark.parametrize(
        "text",
        [
            '{"format": 2, "host": "n1"}',
            '{"format": 1}',
            "[]",
            "{",
            '{"format": 1, "host": "n1", "absent": "x"}',
            '{"format": 1, "host": "n1", "links": {"/a": 1}}',
            pytest.param("[" * 100_000, id="deep"),
        ],
    )
    def test_another_format_is_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(Unavailable, match=r"manifest\.json"):
            bundle_with(tmp_path / "b", {"manifest.json": text})

    def test_without_a_manifest_the_directory_names_the_host(self, tmp_path: Path) -> None:
        assert bundle_with(tmp_path / "node7", {}).manifest.host == "node7"


def test_what_could_not_be_told_keeps_nothing_of_where_it_was_asked(tmp_path: Path) -> None:
    seen = Cached(bundle_with(tmp_path / "b", {}))
    kept = weakref.ref(seen)
    depth = 0
    for _ in range(3):
        try:
            seen.read("/absent")
        except Unavailable as exc:
            depth = len(list(traceback.walk_tb(exc.__traceback__)))
    # Each is raised from here alone, and not from where it was before as well.
    assert depth == 3
    gc.disable()
    try:
        del seen
        assert kept() is None
    finally:
        gc.enable()


def test_a_pause_takes_the_place_of_every_wait() -> None:
    _same, seconds = Live(pause=0.01).again(3600)
    assert 0.01 <= seconds < 60


def test_a_manifest_that_is_a_link_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text('{"format": 1, "host": "a"}')
    bundle = tmp_path / "bundle"
    (bundle / "commands").mkdir(parents=True)
    (bundle / "manifest.json").symlink_to(outside)
    with pytest.raises(Unavailable, match="symbolic link"):
        Bundle(bundle)
