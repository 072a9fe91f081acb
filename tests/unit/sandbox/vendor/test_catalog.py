# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.vendor import catalog, rpm_modules
from sandbox.vendor.catalog import Kind, Package, Relation

# What depends on the distribution's own packages, by both families' names.
DISTRIBUTION = {
    *("python3", "libc6", "libgcc-s1", "libstdc++6"),
    *("libc.so.6()(64bit)", "libgcc_s.so.1()(64bit)", "libstdc++.so.6()(64bit)"),
}
KERNEL = catalog.kernel_values("6.8.0-88-generic", "56.1")


def packages(kind: Kind) -> dict[tuple[str, str], Package]:
    return {(one.name, one.version): one for repository in catalog.load(kind, KERNEL) for one in repository.packages}


def test_a_top_package_leaves_its_driver_open_as_the_vendor_s_does() -> None:
    top = packages("deb")["nvidia-open-580", "580.126.20-1ubuntu1"]
    assert top.depends == (Relation("nvidia-driver-580-open", ">=", "580.126.20-1ubuntu1"),)


def test_the_container_toolkit_asks_for_exactly_its_own_parts() -> None:
    top = packages("deb")["nvidia-container-toolkit", "1.19.1-1"]
    assert top.depends[0] == Relation("nvidia-container-toolkit-base", "=", "1.19.1-1")


def test_rpms_have_red_hat_s_names_and_the_driver_s_epoch() -> None:
    top = packages("rpm")["nvidia-driver-cuda", "3:580.173.02-1.el9"]
    assert top.depends[0] == Relation("nvidia-driver-cuda-libs", "=", "3:580.173.02-1.el9")
    assert top.payload == "nvidia-utils"
    assert top.streams == ("580-open", "580-dkms")


def test_what_is_part_of_another_rpm_is_no_dependency() -> None:
    doca = packages("rpm")["doca-ofed", "3.2.3-019000"]
    assert "" not in {one.name for one in doca.depends}
    assert ("libibmad5", "2510mlnx54-1.2510318") not in packages("rpm")


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_every_dependency_is_in_some_repository_or_the_distribution(kind: Kind) -> None:
    made = packages(kind)
    names = {name for name, _version in made}
    for package in made.values():
        for one in package.depends:
            assert one.name in names | DISTRIBUTION, f"{package.name} depends on {one.name}"
            if one.operator == "=":
                assert (one.name, one.version) in made


def test_the_headers_are_for_this_machine_s_kernel_whatever_it_is_called() -> None:
    odd = catalog.kernel_values("5.15.0-microsoft-standard-WSL2")
    assert odd["kernel_deb"] == "5.15.0-microsoft-standard-wsl2"
    assert odd["kernel_rpm"] == "5.15.0-microsoft_standard_WSL2"
    assert catalog.kernel_values("5.14.0-427.el9.x86_64")["kernel_rpm"] == "5.14.0-427.el9"
    assert ("linux-headers-6.8.0-88-generic", "6.8.0-88-generic-0") in packages("deb")


def test_a_stream_shows_only_its_own_branch() -> None:
    (cuda,) = [one for one in catalog.load("rpm", KERNEL) if one.path.startswith("cuda")]
    text = rpm_modules.document(cuda)
    start = text.index("stream: 595-open")
    assert "nvidia-driver-3:595.91.07-1.el9.x86_64" in text[start:]
    assert "580." not in text[start:]


def write(folder: Path, entry: str) -> None:
    (folder / "mine.yml").write_text(
        f"signer: doca\nsets:\n  - path: p\n    label: l\n    releases: [{{version: '1'}}]\n    packages: [{entry}]\n"
    )


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{deb: a, version: '1', payloads: x}", "mine.yml: a: unknown payloads"),
        ("{deb: a, version: '{nothing}'}", "unknown value 'nothing'"),
        ("{deb: a, version: '1', depends: [b ==]}", "cannot tell which version 'b =='"),
        ("{deb: a, version: '1'}, {deb: a, version: '1', summary: s}", "two different packages a"),
    ],
)
def test_a_mistake_in_the_data_is_named(entry: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, entry)
    with pytest.raises(SandboxError, match=said):
        catalog.load("deb", KERNEL, tmp_path)
