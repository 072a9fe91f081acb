# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._data import gpus, hcas, stack_components
from ansible_collections.ibready.cluster.plugins.module_utils._parse.packages import Package, named
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import checked, load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.model import CONFIDENCES, MatrixError, least
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.versions import version, within
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve import hardware
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.platform import OTHER_HCA

MATRIX = load.own()


def site(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder


def test_every_fact_says_where_it_is_from_and_how_sure_it_is() -> None:
    count = 0
    for facts in MATRIX.sections.values():
        for fact in facts.values():
            assert fact.source.strip(), fact
            assert fact.sure() in CONFIDENCES
            count += 1
    assert count > 200
    assert all(MATRIX.sections.values()), "a section without facts"


@pytest.mark.parametrize("missing", ["source", "confidence"])
def test_a_fact_without_is_refused(tmp_path: Path, missing: str) -> None:
    fact = {"driver": ">=600", "modules": ["open"], "source": "mine", "confidence": "medium"}
    del fact[missing]
    folder = site(tmp_path, "gpus.yml", yaml.safe_dump({"models": {"X9": fact}}))
    with pytest.raises(MatrixError, match=rf"models\.X9 has no {missing}"):
        load.load([folder])


WRONG = {
    "no such file": ("gpu.yml", "models: {}", "unknown section models"),
    "no such section": ("gpus.yml", "model: {}", "unknown section model; known are gpus.generations, gpus.models"),
    "no dictionary": ("gpus.yml", "- 1", "must be a dictionary, not list"),
    "not YAML": ("gpus.yml", "a: [", "cannot be read as YAML"),
    "unknown field": (
        "cuda.yml",
        'majors: {"14": {driver: ">=700", drivr: 1, source: s, confidence: medium}}',
        "drivr",
    ),
    "no version specifier": (
        "cuda.yml",
        'majors: {"14": {driver: "700+", source: s, confidence: medium}}',
        "no version specifier",
    ),
    "unknown confidence": ("cuda.yml", 'majors: {"14": {driver: any, source: s, confidence: certain}}', "certain"),
    "confidence of no field": (
        "cuda.yml",
        "majors: {'14': {driver: any, source: s, confidence: medium, field_confidence: {x: medium}}}",
        "field_confidence of x",
    ),
    "one document twice": (
        "cuda.yml",
        "majors: {'14': {driver: any, confidence: medium, sources: [{by: A, document: b}, {by: a, document: B}]}}",
        "named twice",
    ),
    "a source of no field": (
        "cuda.yml",
        "majors: {'14': {driver: any, confidence: medium, sources: [{by: A, document: b, of: [drive]}]}}",
        "speaks of drive",
    ),
    "half an entry": (
        "cuda.yml",
        'majors: {"14": {source: s, confidence: medium}}',
        r"cuda\.yml: majors\.14: driver is missing, wanted is a text, such as >=580\.65\.06 \(13\)",
    ),
    "a list is missing": (
        "rdma.yml",
        "releases: {doca-3.5.1: {flavour: doca, source: s, confidence: medium}}",
        r"rdma\.yml: releases\.doca-3\.5\.1: systems is missing, wanted is a list, such as .* \(doca-3\.5\.0\)",
    ),
    "a choice and a list of choices are missing": (
        "drivers.yml",
        'branches: {"630": {source: s, confidence: medium}}',
        r"drivers\.yml: branches\.630: kind is missing, wanted is one of LTSB, PB, NFB, unknown, .*; "
        "modules is missing, wanted is a list of open, proprietary",
    ),
    "no day": (
        "checked.yml",
        "subjects: {nccl: {day: yesterday, source: s, confidence: medium}}",
        r"checked\.yml: subjects\.nccl: day 'yesterday' is no day such as 2026-11-29",
    ),
    "a day of no file": (
        "checked.yml",
        "subjects: {ncl: {day: 2026-11-29, source: s, confidence: medium}}",
        r"checked\.yml: subjects\.ncl: no file or section of the matrix is called so",
    ),
    "a file without a day": ("checked.yml", "subjects: {nccl: null}", r"checked\.subjects\.nccl is missing"),
}


@pytest.mark.parametrize(("name", "text", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_meant_is_refused_by_name(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(MatrixError, match=said):
        load.load([site(tmp_path, name, text)])


def test_a_folder_without_matrix_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match="no matrix file"):
        load.load([tmp_path])


def test_a_site_adds_overrides_and_takes_away(tmp_path: Path) -> None:
    site(
        tmp_path,
        "cuda.yml",
        """
majors:
  "14": {driver: ">=700", source: our lab, confidence: medium}
  "13": {driver: ">=590", source: our lab, confidence: medium}
  "11": null
""",
    )
    matrix = load.load([tmp_path])
    assert list(matrix.all("cuda.majors")) == ["12", "13", "14"]
    assert matrix.all("cuda.majors")["13"].get("driver") == ">=590"
    assert matrix.all("cuda.majors")["13"].source == "our lab"
    assert matrix.digest != MATRIX.digest
    assert matrix.all("gpus.models").keys() == MATRIX.all("gpus.models").keys()


AGREE = "sources: [{by: A, document: a}, {by: B, document: b}]"


@pytest.mark.parametrize(
    ("said", "sure"),
    [
        (f"confidence: medium, {AGREE}", "confirmed"),
        (f"confidence: recalled, {AGREE}", "recalled"),
        (f"confidence: confirmed, field_confidence: {{driver: medium}}, {AGREE}", "confirmed"),
        ("confidence: medium, source: a; b", "medium"),
        ("confidence: medium, sources: [{by: A, document: a}]", "medium"),
        ("confidence: medium, sources: [{by: A, document: a}, {by: B, document: b, of: [notes]}]", "medium"),
        ("confidence: medium, sources: [{by: A, document: a}, {by: B, document: b, of: [driver]}]", "confirmed"),
    ],
)
def test_two_documents_confirm_what_one_leaves_open(tmp_path: Path, said: str, sure: str) -> None:
    site(tmp_path, "cuda.yml", f"majors: {{'14': {{driver: any, {said}}}}}")
    fact = load.load([tmp_path]).all("cuda.majors")["14"]
    assert fact.sure("driver") == sure
    assert fact.source


def test_who_overrides_a_field_vouches_for_it_alone(tmp_path: Path) -> None:
    text = 'generations: {Hopper: {cuda: ">=12.0", source: our lab, confidence: medium}}'
    fact = load.load([site(tmp_path, "gpus.yml", text)]).all("gpus.generations")["Hopper"]
    assert (fact.sure("cuda"), fact.source) == ("medium", "our lab")
    text = 'models: {B300 SXM6: {driver: ">=590", source: our lab, confidence: confirmed}}'
    fact = load.load([site(tmp_path, "gpus.yml", text)]).all("gpus.models")["B300 SXM6"]
    assert fact.sure("driver") == "confirmed"


def test_what_supports_what_names_rules_and_hardware_that_there_are() -> None:
    rules, models = MATRIX.all("rules.rules"), {one.model for one in gpus.GPUS}
    for fact in MATRIX.all("supports.versions").values():
        assert fact.get("rule") in rules, fact
        assert set(fact.get("gpus", ())) <= models, fact
        assert fact.get("gpus") or fact.get("kernel"), fact


def test_hardware_is_of_the_same_generation_as_on_the_nodes() -> None:
    assert set(MATRIX.all("gpus.models")) <= {one.model for one in gpus.GPUS}
    flavours = {gpus.OPEN_ONLY: ["open"], gpus.PROPRIETARY_ONLY: ["proprietary"], gpus.EITHER: ["open", "proprietary"]}
    for one in gpus.GPUS:
        for pci_id in one.pci_ids:
            fact = hardware.generation(f"10de:{pci_id}", "gpus", MATRIX)
            assert fact is not None, one.model
            assert fact.name == one.architecture, one.model
        said = hardware.said(one.model, "modules", MATRIX)
        assert said is not None
        assert sorted(said[0].get("modules")) == sorted(flavours[one.modules]), one.model
    for hca in [*(one.name for one in hcas.HCAS), OTHER_HCA]:
        fact = hardware.generation(hca, "hcas", MATRIX)
        assert fact is not None, hca
        assert hca.startswith(fact.name.split(" ")[0][:9]), hca


@pytest.mark.parametrize(
    ("device", "section", "name"),
    [
        ("10de:15f8", "gpus", "Pascal"),
        ("10de:1b06", "gpus", "Pascal GeForce"),
        ("10de:20b9", "gpus", "Ampere"),
        ("10de:2204", "gpus", "Ampere GeForce"),
        ("10de:2684", "gpus", "Ada GeForce"),
        ("10de:26b3", "gpus", "Ada"),
        ("10de:2b85", "gpus", "Blackwell GeForce"),
        ("10de:2bb3", "gpus", "Blackwell"),
        ("10de:307f", "gpus", "Rubin"),
        ("10de:4000", "gpus", None),
        ("15b3:1022", "hcas", "ConnectX-7"),
        ("15b3:a2dd", "hcas", "BlueField-3"),
        ("15b3:2001", "hcas", None),
        ("simulated HCA", "hcas", None),
    ],
)
def test_an_unknown_model_is_of_the_generation_of_its_id(device: str, section: str, name: str | None) -> None:
    fact = hardware.generation(device, section, MATRIX)
    assert (fact.name if fact else None) == name


def test_no_file_was_checked_in_the_future_or_before_its_newest_row() -> None:
    subjects = MATRIX.all("checked.subjects")
    assert all("2026-11-20" <= fact.get("day") <= date.today().isoformat() for fact in subjects.values())
    for section in set(MATRIX.sections) - {checked.SECTION}:
        day = checked.of(section, MATRIX).get("day")
        for row in MATRIX.all(section).values():
            assert all((source.get("day") or "") <= day for source in row.get("sources", ())), row


@pytest.mark.parametrize(
    ("parts", "days", "said"),
    [
        (["nccl"], {"nccl": "2026-10-01", "cuda": "2026-09-01"}, r"on 2026-10-01 or later \(on that day: nccl\)"),
        (["nccl", "cuda"], {"nccl": "2026-10-01", "cuda": "2026-09-01"}, r"2026-09-01 .*: cuda\)"),
        (["nccl", "rdma"], {"nccl": "2026-10-01", "rdma": "2026-10-01"}, r"2026-10-01 .*: nccl, rdma\)"),
        # A section that was looked at by itself, the only one of its file.
        (
            ["nccl"],
            {"nccl": "2026-10-01", "nccl.releases": "2026-11-01", "systems": "2026-10-02"},
            r"10-02 .*: systems",
        ),
        # What all plans rest on, and what none does.
        (["nccl"], {"systems": "2026-08-01", "kubernetes": "2026-07-01"}, r"2026-08-01 .*: systems\)"),
    ],
)
def test_the_oldest_day_is_of_what_a_plan_rests_on(
    tmp_path: Path, parts: list[str], days: dict[str, str], said: str
) -> None:
    entries = {name: {"day": day, "source": "our lab", "confidence": "medium"} for name, day in days.items()}
    matrix = load.load([site(tmp_path, "checked.yml", yaml.safe_dump({"subjects": entries}))])
    assert re.search(said, checked.oldest(matrix, parts))
    assert matrix.digest == MATRIX.digest, "a lock is older for it that somebody looked again"


def test_every_file_is_loaded() -> None:
    names = {path.stem for path in load.OWN.glob("*.yml")}
    assert names == {section.partition(".")[0] for section in load.schema()["sections"]}


def test_the_schema_knows_the_confidences_of_the_code() -> None:
    assert load.schema()["fact"]["confidence"]["choices"] == list(CONFIDENCES)
    assert set(load.schema()["specifiers"]) <= set(load.schema()["sections"])


def test_versions_of_vendors_compare() -> None:
    assert version("24.10-1.1.4.0") < version("24.10-3.2.5.0") < version("25.10-1.2.8.0")
    assert version("580.65.06") < version("580.105.08")
    assert within("580.126.20", ">=580.65.06,<590")
    assert not within("580.126.20", "none")
    assert within("580.126.20", "any")
    assert within("3.2.3", ">=3.2")
    assert not within("2.9.3", ">=2.10")
    assert least("confirmed", "recalled", "medium") == "recalled"


def test_what_a_plan_installs_is_recognised_on_the_nodes() -> None:
    """Every part that a lock can name is found again in a package of the matrix."""
    reported = {}
    for fact in MATRIX.all("packages.packages").values():
        for family in ("apt", "dnf"):
            for one in fact.get(family, []):
                name = one["name"].format(branch="580", cuda_major="13", cuda_dashed="13-0", kernel="6.8.0-88-generic")
                reported.setdefault((fact.get("component"), family), []).append(Package(name, "1", ""))
    for (component, family), packages in reported.items():
        if component == "rdma":
            continue
        names = stack_components.PACKAGES.get(component, ())
        driver = any(one.name.startswith(stack_components.DRIVER_INSTALLED) for one in packages)
        assert named(packages, names) or (component == "driver" and driver), (component, family)
