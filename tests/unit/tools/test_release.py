# SPDX-License-Identifier: GPL-3.0-or-later
"""A release is what a commit and its changelog say it is, or it is refused; its sums are those of its files."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from tests.unit.tools.test_packages import LACKING
from tools import packages, release

ROOT = Path(__file__).resolve().parents[3]
GIT = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
KEPT = "releases:\n  1.0.0: {release_date: '2026-01-01'}\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clean tree whose changelog has a section for 1.0.0."""
    (tmp_path / "changelogs/fragments").mkdir(parents=True)
    (tmp_path / "changelogs/changelog.yaml").write_text(KEPT)
    (tmp_path / "galaxy.yml").write_text("version: 1.0.0\n")
    (tmp_path / "README.md").write_text("# x\n")
    subprocess.run([*GIT, "init", "--quiet"], cwd=tmp_path, check=True)
    commit(tmp_path)
    return tmp_path


def commit(place: Path) -> None:
    subprocess.run([*GIT, "add", "--all"], cwd=place, check=True)
    subprocess.run([*GIT, "commit", "--quiet", "--message", "x"], cwd=place, check=True)


def test_a_clean_tree_with_its_section_is_a_release(checkout: Path) -> None:
    assert list(release.refusals(checkout, "1.0.0")) == []


def test_what_is_in_no_commit_is_none(checkout: Path) -> None:
    (checkout / "changelogs/changelog.yaml").write_text(KEPT + "\n")
    for number in range(6):
        (checkout / f"new{number}").touch()
    (why,) = release.refusals(checkout, "1.0.0")
    told = "changelogs/changelog.yaml, new0, new1, new2, new3 and 2 more differ from the commit; next: "
    assert why.startswith(told)


@pytest.mark.parametrize("kept", [KEPT, "ancestor: null\nreleases: {}\n", "", None])
def test_a_version_without_its_section_is_none(checkout: Path, kept: str | None) -> None:
    path = checkout / "changelogs/changelog.yaml"
    path.unlink()
    if kept is not None:
        path.write_text(kept)
    (checkout / "other").touch()
    commit(checkout)
    (why,) = release.refusals(checkout, "1.0.1")
    assert "no section for 1.0.1" in why
    assert "`antsibull-changelog release`" in why


def test_changes_after_the_section_are_none(checkout: Path) -> None:
    (checkout / "changelogs/fragments/later.yml").touch()
    commit(checkout)
    (why,) = release.refusals(checkout, "1.0.0")
    assert why.startswith("later.yml in changelogs/fragments came after 1.0.0; next: raise the version")


@pytest.mark.parametrize(
    ("address", "refused"),
    [("https://example.com/x", 1), ("https://git.example.org/x", 1), ("https://counterexample.com/x", 0)],
)
def test_an_address_of_an_example_is_none(checkout: Path, address: str, refused: int) -> None:
    (checkout / "galaxy.yml").write_text(f"repository: {address}\n")
    commit(checkout)
    told = list(release.refusals(checkout, "1.0.0"))
    assert [f"repository in galaxy.yml is {address}" in why for why in told] == [True] * refused


@pytest.mark.parametrize(("summary", "refused"), [("First. It ran on\n\none H200.", 0), ("It never ran.", 1)])
def test_a_status_that_readme_and_changelog_tell_differently_is_none(
    checkout: Path, summary: str, refused: int
) -> None:
    (checkout / "README.md").write_text("# x\n\n**Status: It ran on one H200.** More.\n")
    kept = {"releases": {"1.0.0": {"changes": {"release_summary": summary}}}}
    (checkout / "changelogs/changelog.yaml").write_text(yaml.safe_dump(kept))
    commit(checkout)
    told = list(release.refusals(checkout, "1.0.0"))
    assert ["README.md has the status 'It ran on one H200.'" in why for why in told] == [True] * refused


def test_one_fragment_alone_tells_the_story() -> None:
    """`antsibull-changelog lint` lets two pass, of which `release` then dies."""
    fragments = (yaml.safe_load(path.read_text()) for path in (ROOT / "changelogs/fragments").glob("*.yml"))
    assert sum("release_summary" in fragment for fragment in fragments) <= 1


def test_where_git_cannot_tell_it_is_no_clean_tree(tmp_path: Path) -> None:
    with pytest.raises(packages.PackagingError, match="not a git repository"):
        list(release.refusals(tmp_path, "1.0.0"))


@pytest.mark.parametrize(("words", "status"), [([], 1), (["--rehearse"], 0)])
def test_a_refused_one_is_built_for_a_rehearsal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], status: int
) -> None:
    (tmp_path / release.REHEARSED).write_text("the sums\n")
    monkeypatch.setattr(release, "refusals", lambda _root, _version: iter(["a reason; next: fix it"]))
    # What is no release gets no file that looks like one's.
    monkeypatch.setattr(release, "build", lambda _root, _dist, sums: tmp_path / sums)
    assert release.main(words) == status
    told = capsys.readouterr()
    assert told.err == "release: a reason; next: fix it\n"
    rehearsed = "the sums\na rehearsal, no release: see above; the sums are in dist/SHA256SUMS.rehearsal\n"
    assert told.out == (rehearsed if words else "")


@pytest.mark.thorough
@pytest.mark.skipif(bool(LACKING), reason=f"not here: {', '.join(LACKING)}")
def test_it_is_whole_and_its_sums_are_right(tmp_path: Path) -> None:
    made = packages.release()
    (tmp_path / "ibready-cluster-0.0.9.tar.gz").touch()
    sums = release.build(ROOT, tmp_path)
    told = dict(reversed(line.split("  ")) for line in sums.read_text().splitlines())
    assert told == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir() if path != sums
    }
    assert sorted(told) == [
        f"ibready-{made.version}-1.noarch.rpm",
        f"ibready-{made.version}-py3-none-any.whl",
        f"ibready-cluster-{made.version}.tar.gz",
        "ibready.pyz",
        f"ibready_{made.version}_all.deb",
    ]
    archive = tmp_path / f"ibready-cluster-{made.version}.tar.gz"
    with tarfile.open(archive) as opened:
        assert {member.mtime for member in opened} == {made.epoch}
        for name in ("MANIFEST.json", "FILES.json", "plugins/modules/hostverify.py", "CODE_OF_CONDUCT.md"):
            assert opened.getmember(name).size > 0
    again = tmp_path / "again"
    again.mkdir()
    assert release.collection(ROOT, made, again).read_bytes() == archive.read_bytes()
    installed = tmp_path / "installed"
    words = [str(release.GALAXY), "collection", "install", "--offline", "-p", str(installed), str(archive)]
    # With the checkout's own configuration it is installed already.
    (tmp_path / "ansible.cfg").touch()
    alone = {**os.environ, "ANSIBLE_CONFIG": str(tmp_path / "ansible.cfg")}
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=120, env=alone)
    assert (installed / "ansible_collections/ibready/cluster/MANIFEST.json").is_file()
