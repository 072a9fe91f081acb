# SPDX-License-Identifier: GPL-3.0-or-later
"""`./run matrix update`. The files are made by us, in the forms that NVIDIA's and createrepo's have."""

from __future__ import annotations

import contextlib
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import checked, load
from sandbox.vendor import apt_repository
from tools import matrix as tool, published
from tools.published import Problem

MATRIX = load.own()
DRIVERS: dict[str, Any] = {
    "580": {
        "type": "lts branch",
        "driver_info": [{"release_version": "580.999.01", "release_date": "2027-01-12", "architectures": ["x86_64"]}],
    },
    "390": {"type": "lts branch", "driver_info": [{"release_version": "390.157"}]},
}
PACKAGES = [
    ("libnccl2", "2.99.1-1+cuda12.9"),
    ("libnccl2", "2.99.1-1+cuda13.9"),
    ("libnccl2", "2.27.7-1+cuda13.9"),
    ("libnccl-dev", "2.99.1-1+cuda13.9"),
    ("nvidia-open-580", "580.999.02-1ubuntu1"),
    ("datacenter-gpu-manager-4-core", "1:4.99.0-1"),
    ("cuda-toolkit-13-9", "13.9.0-1"),
]
XML = """<?xml version="1.0" encoding="UTF-8"?>
<metadata xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm" packages="1">
<package type="rpm"><name>{name}</name><arch>x86_64</arch>{version}</package>
</metadata>
"""


def releases(folder: Path, branches: Any = DRIVERS) -> Path:
    path = folder / "releases.json"
    path.write_text(json.dumps(branches))
    return path


def apt(folder: Path, packages: list[tuple[str, str]]) -> Path:
    """Packages, Packages.gz and Release, as the sandbox's vendors publish them."""
    folder.mkdir(exist_ok=True)
    said = [f"Package: {name}\nVersion: {version}\nDescription: one\n two\n" for name, version in packages]
    apt_repository.write_index(folder, said)
    release = apt_repository.release(folder, "made by ibready")
    (folder / "Release").write_text(release.replace(release[release.index("Date: ") + 6 :].splitlines()[0], DATE))
    return folder


DATE = "Tue, 12 Jan 2027 08:00:00 UTC"


def yum(folder: Path, name: str, version: str) -> Path:
    path = folder / "primary.xml"
    path.write_text(XML.format(name=name, version=version))
    return path


def told(*paths: Path, write: Path | None = None, day: str = "") -> list[str]:
    return list(tool.update(list(paths), day, write))


def test_what_is_new_in_another_branch_or_of_another_kind_is_told_and_nothing_written(tmp_path: Path) -> None:
    given = {
        **DRIVERS,
        "595": {"type": "New Feature Branch", "driver_info": [{"release_version": "595.91.07"}]},
        "999": {"type": "production branch", "driver_info": [{"release_version": "999.10.01"}]},
    }
    before = {path: path.read_bytes() for path in load.OWN.rglob("*.yml")}
    lines = told(releases(tmp_path, given))
    assert "drivers.branches.580: new releases 580.999.01" in lines
    assert "drivers.branches.595: kind is NFB, the matrix says PB" in lines
    (new,) = [line for line in lines if line.startswith("drivers.branches.999: ")]
    assert new.startswith(
        "drivers.branches.999: new, kind PB, releases 999.10.01 (not to be written: modules is missing"
    )
    assert any("525" in line and line.endswith(": in none of the files") for line in lines)
    assert not any("390" in line for line in lines), "older than all that the matrix has"
    assert lines[-1] == "Nothing was written: --write FOLDER does."
    assert before == {path: path.read_bytes() for path in load.OWN.rglob("*.yml")}


def test_packages_tell_what_the_matrix_installs_by_their_names(tmp_path: Path) -> None:
    lines = told(apt(tmp_path / "cuda", PACKAGES) / "Packages.gz")
    assert "nccl.releases.2.99.1: new, builds 12.9, 13.9" in lines
    assert "nccl.releases.2.27.7: new builds 13.9" in lines
    assert "drivers.branches.580: new releases 580.999.02" in lines
    assert "extras.dcgm.4.99.0: new" in lines
    toolkit = [("nvidia-container-toolkit", "1.99.0-1"), ("nvidia-container-toolkit", "1.99.1~rc.1-1")]
    lines = told(apt(tmp_path / "toolkit", toolkit) / "Packages")
    assert "container_toolkit.releases.1.99.0: new" in lines
    assert not any("1.99.1" in line for line in lines), "a pre-release"
    lines = told(apt(tmp_path / "doca", [("doca-ofed", "9.9.0-012345")]) / "Packages")
    (new,) = [line for line in lines if line.startswith("rdma.releases.doca-9.9.0: new")]
    assert "systems is missing" in new
    assert not any("inbox" in line or "mlnx_ofed" in line for line in lines), "of no index of DOCA"


def test_yum_has_the_same(tmp_path: Path) -> None:
    path = yum(tmp_path, "libnccl", '<version epoch="0" ver="2.99.1" rel="1+cuda13.9"/>')
    assert "nccl.releases.2.99.1: new, builds 13.9" in told(path)
    (tmp_path / "primary.xml.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert "nccl.releases.2.99.1: new, builds 13.9" in told(tmp_path / "primary.xml.gz")


def test_what_is_written_is_a_sites_matrix_with_source_and_day(tmp_path: Path) -> None:
    cuda = apt(tmp_path / "cuda", PACKAGES)
    site = tmp_path / "site"
    files = (releases(tmp_path), cuda / "Packages", cuda / "Release")
    lines = told(*files, write=site, day="2027-01-15")
    assert f"Written: {site / 'nccl.yml'}" in lines
    matrix = load.load([site])
    new = matrix.all("nccl.releases")["2.99.1"]
    assert new.get("builds") == ["12.9", "13.9"]
    document = {"by": "NVIDIA", "document": "apt index of NVIDIA's CUDA repository", "day": "2027-01-12"}
    assert [{key: one[key] for key in document} for one in new.get("sources")] == [document]
    assert matrix.all("nccl.releases")["2.27.7"].get("builds")[-1] == "13.9"
    driver = matrix.all("drivers.branches")["580"]
    assert driver.get("releases")[-2:] == ["580.999.01", "580.999.02"]
    assert {source["day"] for source in driver.get("sources")} == {"2027-01-12", "2027-01-15"}
    assert driver.get("modules") == MATRIX.all("drivers.branches")["580"].get("modules"), "what it did not read stays"
    assert matrix.all(checked.SECTION)["nccl.releases"].get("day") == "2027-01-12"
    assert matrix.all(checked.SECTION)["drivers.branches"].get("day") == "2027-01-12", "the older one of two"
    assert checked.of("nccl.releases", matrix).get("parts") == ["nccl"]
    written = {path: path.read_bytes() for path in site.iterdir()}
    assert not any("new" in line for line in told(*files, write=site, day="2027-01-15"))
    assert {path: path.read_bytes() for path in site.iterdir()} == written


def test_where_somebody_has_to_look_the_day_stays(tmp_path: Path) -> None:
    given = {**DRIVERS, "999": {"type": "production branch", "driver_info": [{"release_version": "999.10.01"}]}}
    told(releases(tmp_path, given), write=tmp_path / "site", day="2027-01-15")
    assert "999" not in load.load([tmp_path / "site"]).all("drivers.branches")
    assert not (tmp_path / "site/checked.yml").exists()


def test_a_file_without_a_day_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="nothing tells its day; next: --day"):
        told(releases(tmp_path), write=tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_file_that_a_person_wrote_is_left_alone(tmp_path: Path) -> None:
    mine = "majors: {'14': {driver: '>=700', source: s, confidence: medium}}\n"
    (tmp_path / "cuda.yml").write_text(mine)
    told(releases(tmp_path), write=tmp_path, day="2027-01-15")
    assert (tmp_path / "cuda.yml").read_text() == mine
    theirs = "# ours\nbranches: {}\n"
    (tmp_path / "drivers.yml").write_text(theirs)
    with pytest.raises(Problem, match=r"drivers\.yml: written by somebody else"):
        told(releases(tmp_path), write=tmp_path, day="2027-01-15")
    assert (tmp_path / "drivers.yml").read_text() == theirs


def branch(**fields: Any) -> str:
    return json.dumps({"580": {**DRIVERS["580"], **fields}})


WRONG = {
    "nothing": ("", "no text"),
    "zeros": ("\0\0", "no text"),
    "half a JSON": ('{"580": ', "no JSON"),
    "deep JSON": ('{"580": ' + "[" * 100000, "no JSON"),
    "no branch": ('{"r580": {}}', "r580: no branch"),
    "unknown type": (branch(type="legacy"), "580: no branch, or without driver_info and a type of lts branch, "),
    "no releases": (branch(driver_info={}), "580: no branch, or without driver_info"),
    "no release": (branch(driver_info=[{}]), "580: driver_info 1: release_version is None"),
    "another branch's": (branch(driver_info=[{"release_version": "570.1"}]), "580: driver_info 1: .* is 570.1"),
    "a page": ("<html><body>404</body></html>", "begins with html"),
    "half a page": (XML[:200], "no XML"),
    "entities": ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "declares entities"),
    "a package without a version": (XML.format(name="libnccl", version=""), r"package 1 \(libnccl\) has no name"),
    "a paragraph without a version": ("Package: libnccl2\n", r"paragraph 1 \(Package: libnccl2\) has no Package or"),
    "other packages": ("Package: bash\nVersion: 5\n", "none of its packages tells a release"),
    "no date": ("Origin: x\nSHA256:\n", "Date is missing, or no date"),
    "another date": ("Date: yesterday\nSHA256:\n", "Date is missing, or no date"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_what_is_none_of_the_forms_is_told_by_file_and_entry(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "index").write_text(text)
    with pytest.raises(Problem, match=rf"index: {said}"):
        told(tmp_path / "index")


def test_sizes_are_bounded_also_of_what_is_compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "MOST", 1 << 20)
    (tmp_path / "Packages").write_bytes(b"a" * ((1 << 20) + 1))
    (tmp_path / "Packages.gz").write_bytes(gzip.compress(b"a" * (1 << 24)))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"Package: a\n" * 99)[:-9])
    for name, said in (
        ("Packages", "more than 1 MiB"),
        ("Packages.gz", "more than 1 MiB"),
        ("cut.gz", "cannot be read"),
    ):
        with pytest.raises(Problem, match=f"{name}: {said}"):
            told(tmp_path / name)


@given(
    st.binary(max_size=300)
    | st.sampled_from([b"{", b"<", b"Package: ", b"SHA256:"]).flatmap(
        lambda head: st.binary(max_size=200).map(lambda rest: head + rest)
    )
)
def test_no_bytes_end_it_otherwise(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "foreign"
    path.write_bytes(raw)
    with contextlib.suppress(Problem):
        published.read([path], MATRIX, "")


def test_the_command_says_what_is_wrong_and_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["matrix", "update", str(releases(tmp_path))])
    assert tool.main() == 0
    assert "580.999.01" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["matrix", "update", str(tmp_path / "absent")])
    assert tool.main() == 1
    assert capsys.readouterr().err.startswith(f"matrix: {tmp_path / 'absent'}: cannot be read")
