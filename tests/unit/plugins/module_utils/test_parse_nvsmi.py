# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    nvsmi_error,
    nvsmi_q,
    nvsmi_q_fabric,
    nvsmi_table,
    nvsmi_xml,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvsmi import Pcie, address

SAMPLES = Path(__file__).parents[2] / "parse_samples"
GPU = """\
\t<gpu id="00000000:1B:00.0">
\t\t<product_name>NVIDIA H100 80GB HBM3</product_name>
\t\t<uuid>GPU-1</uuid>
\t\t<persistence_mode>Enabled</persistence_mode>
\t\t<mig_mode>
\t\t\t<current_mig>Disabled</current_mig>
\t\t\t<pending_mig>Enabled</pending_mig>
\t\t</mig_mode>
\t\t<mig_devices>
\t\t\t<mig_device>
\t\t\t\t<fb_memory_usage><total>9984 MiB</total></fb_memory_usage>
\t\t\t</mig_device>
\t\t</mig_devices>
\t\t<gpu_recovery_action>None</gpu_recovery_action>
\t\t<pci>
\t\t\t<pci_device_id>233010DE</pci_device_id>
\t\t\t<pci_gpu_link_info>
\t\t\t\t<pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>1</current_link_gen>
\t\t\t\t\t<max_host_link_gen>N/A</max_host_link_gen></pcie_gen>
\t\t\t\t<link_widths><max_link_width>16x</max_link_width>
\t\t\t\t\t<current_link_width>8x</current_link_width></link_widths>
\t\t\t</pci_gpu_link_info>
\t\t\t<replay_counter>7</replay_counter>
\t\t</pci>
\t\t<clocks_event_reasons>
\t\t\t<clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>
\t\t\t<clocks_event_reason_hw_slowdown>Not Active</clocks_event_reason_hw_slowdown>
\t\t</clocks_event_reasons>
\t\t<fb_memory_usage><total>81559 MiB</total></fb_memory_usage>
\t\t<ecc_errors>
\t\t\t<volatile>
\t\t\t\t<sram_uncorrectable_parity>1</sram_uncorrectable_parity>
\t\t\t\t<sram_uncorrectable_secded>2</sram_uncorrectable_secded>
\t\t\t\t<dram_uncorrectable>4</dram_uncorrectable>
\t\t\t</volatile>
\t\t</ecc_errors>
\t\t<remapped_rows>N/A</remapped_rows>
\t\t<fabric>
\t\t\t<state>Completed</state>
\t\t\t<status>Success</status>
\t\t\t<health><summary>Healthy</summary></health>
\t\t</fabric>
\t</gpu>
"""
XML = f"""\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">
<nvidia_smi_log>
\t<driver_version>580.105.08</driver_version>
\t<cuda_version>13.0</cuda_version>
\t<attached_gpus>1</attached_gpus>
{GPU}</nvidia_smi_log>
"""
CORRUPTED = "WARNING: infoROM is corrupted at gpu 0000:1B:00.0\n"
NO_HANDLE = "Unable to determine the device handle for GPU2: 0000:2B:00.0: Unknown Error\n"
VOLTA = "<ecc_errors><volatile><double_bit><total>3</total></double_bit></volatile></ecc_errors>"


def test_the_xml_gives_a_gpu() -> None:
    found = nvsmi_xml.parse(XML)
    assert (found.driver, found.cuda, found.attached_gpus) == ("580.105.08", "13.0", 1)
    (gpu,) = found.gpus
    assert (gpu.bus_id, gpu.address) == ("00000000:1B:00.0", "0000:1b:00.0")
    assert (gpu.name, gpu.uuid, gpu.pci_device_id) == ("NVIDIA H100 80GB HBM3", "GPU-1", "2330")
    assert (gpu.persistence, gpu.mig, gpu.mig_pending) == ("Enabled", "Disabled", "Enabled")
    assert gpu.memory_total_mib == 81559
    assert gpu.pcie == Pcie(gen_max=5, gen=1, width_max=16, width=8, replays=7)
    assert gpu.clocks_events == {"gpu_idle": "Active", "hw_slowdown": "Not Active"}
    assert (gpu.volatile_sram, gpu.volatile_dram, gpu.aggregate_dram) == ("3", "4", "")
    assert (gpu.remapped_pending, gpu.banks_without_spare) == ("N/A", "N/A")
    assert gpu.fabric == {"state": "Completed", "status": "Success"}
    assert gpu.fabric_health == {"summary": "Healthy"}
    assert (gpu.recovery, gpu.trouble) == ("None", "")


def test_gpus_before_turing_count_errors_by_bits() -> None:
    begin, end = XML.index("\t\t<ecc_errors>"), XML.index("</ecc_errors>\n")
    (gpu,) = nvsmi_xml.parse(XML[:begin] + VOLTA + XML[end + len("</ecc_errors>") :]).gpus
    assert (gpu.volatile_dram, gpu.volatile_sram, gpu.aggregate_dram) == ("3", "N/A", "")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CORRUPTED + XML, id="before it"),
        pytest.param(XML + CORRUPTED, id="after it"),
        pytest.param(XML.replace("\t<gpu", CORRUPTED + "\t<gpu"), id="within it"),
    ],
)
def test_a_corrupted_inforom_is_told_wherever_it_stands(text: str) -> None:
    found = nvsmi_xml.parse(text)
    assert found.inforom == ("0000:1B:00.0",)
    assert found.gpus == nvsmi_xml.parse(XML).gpus


def test_a_gpu_that_cannot_be_opened_is_told() -> None:
    found = nvsmi_xml.parse(NO_HANDLE + XML)
    assert found.unreachable == (("0000:2B:00.0", NO_HANDLE.strip()),)
    lost = nvsmi_xml.parse(XML.replace(">Enabled</persist", ">GPU is lost</persist"))
    assert lost.gpus[0].trouble == "GPU is lost"


@pytest.mark.parametrize(
    ("text", "line_no", "why"),
    [
        pytest.param("", 0, "empty output", id="nothing"),
        pytest.param(NO_HANDLE, 1, "no XML log", id="an error instead"),
        pytest.param(XML[: XML.index("<replay")], 28, "not whole", id="cut"),
        pytest.param(XML.replace("<uuid>", "<uuid"), 9, "not whole", id="a damaged tag"),
        pytest.param(XML + XML, XML.count("\n") + 3, "a second log", id="two logs"),
        pytest.param(
            XML.replace("<!DOCTYPE", '<!DOCTYPE a [<!ENTITY b "c">]>\n<!DOCTYPE'),
            4,
            "defines entities",
            id="entities",
        ),
        pytest.param(XML.replace("GPU-1", "&b;"), 9, "undefined entity", id="an entity of nobody"),
        pytest.param("<nvidia_smi_log></nvidia_smi_log>", 1, "no driver and no GPU", id="bare"),
    ],
)
def test_a_text_without_facts_names_its_line(text: str, line_no: int, why: str) -> None:
    with pytest.raises(ParseError) as caught:
        nvsmi_xml.parse(text)
    assert caught.value.line_no == line_no
    assert why in str(caught.value)


def test_eight_gpus_with_all_their_clocks_are_read() -> None:
    clocks = "<supported_graphics_clock>1965 MHz</supported_graphics_clock>\n" * 700
    gpu = GPU.replace("</gpu>", f"<supported_clocks>{clocks}</supported_clocks></gpu>")
    text = XML.replace(GPU, gpu * 8)
    assert len(text) > 300_000
    assert len(nvsmi_xml.parse(text).gpus) == 8


def test_a_depth_without_end_is_refused() -> None:
    with pytest.raises(ParseError):
        nvsmi_xml.parse("<nvidia_smi_log>" + "<a>" * 200_000)


TEXT = """
==============NVSMI LOG==============

Driver Version                            : 580.105.08
CUDA Version                              : 13.0

Attached GPUs                             : 1
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Enabled
        Pending                           : Disabled
    MIG Device
        Index                             : 0
        ECC Errors
            Volatile
                SRAM Uncorrectable        : 9
        FB Memory Usage
            Total                         : 9984 MiB
    Accounting Mode                       : Disabled
    Driver Model
        Current                           : N/A
        Pending                           : N/A
    GPU UUID                              : GPU-1
    PCI
        Device Id                         : 0x233010DE
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 1
            Link Width
                Max                       : 16x
                Current                   : 8x
    Clocks Event Reasons
        Idle                              : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
    FB Memory Usage
        Total                             : 81559 MiB
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Uncorrectable Parity     : 1
            SRAM Uncorrectable SEC-DED    : 2
            DRAM Uncorrectable            : 4
        Aggregate
            SRAM Uncorrectable            : 5
            DRAM Uncorrectable            : 6
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 1
        Pending                           : Yes
        Remapping Failure Occurred        : No
        Bank Remap Availability Histogram
            Max                           : 2560 bank(s)
            None                          : 0 bank(s)
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 0
        Health
            Route Recovery in progress    : False
    Processes                             : None
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT, id="as printed"),
        pytest.param(TEXT.replace("    ", ""), id="indentation lost"),
        pytest.param(TEXT.replace("    ", "\t"), id="tabs"),
        pytest.param(TEXT.replace("\n", "\r\n\r\n"), id="CRLF and blank lines"),
        pytest.param(TEXT.replace(": GPU-1", ":\nGPU-1"), id="a value on the next line"),
        pytest.param(TEXT.replace("     : GPU-1", "\n: GPU-1"), id="a line broken at its colon"),
        pytest.param("\n".join(f"{x}\n{x}" for x in TEXT.split("\n")), id="doubled"),
    ],
)
def test_every_layout_of_the_text_gives_the_same_gpu(text: str) -> None:
    found = nvsmi_q.parse(text)
    assert (found.driver, found.cuda, found.attached_gpus) == ("580.105.08", "13.0", 1)
    (gpu,) = found.gpus
    assert (gpu.address, gpu.uuid, gpu.pci_device_id) == ("0000:1b:00.0", "GPU-1", "2330")
    assert (gpu.mig, gpu.mig_pending, gpu.memory_total_mib) == ("Enabled", "Disabled", 81559)
    assert gpu.pcie == Pcie(gen_max=5, gen=1, width_max=16, width=8)
    assert gpu.clocks_events == {
        "gpu_idle": "Active",
        "hw_slowdown": "Not Active",
        "hw_thermal_slowdown": "Not Active",
    }
    assert (gpu.volatile_sram, gpu.volatile_dram) == ("3", "4")
    assert (gpu.aggregate_sram, gpu.aggregate_dram) == ("5", "6")
    assert (gpu.remapped_uncorrectable, gpu.remapped_pending) == ("1", "Yes")
    assert (gpu.ecc, gpu.ecc_pending) == ("Enabled", "Enabled")
    assert gpu.fabric == {"state": "Completed", "status": "Success", "cliqueId": "0"}
    assert gpu.fabric_health == {"route_recovery_in_progress": "False"}
    assert gpu.whole


PROGRAMS = """\
    Processes
        GPU instance ID                   : N/A
        Compute instance ID               : N/A
        Process ID                        : 2345
            Type                          : C
            Name                          : python3
            Used GPU Memory               : 70300 MiB
        GPU instance ID                   : N/A
        Compute instance ID               : N/A
        Process ID                        : 2346
            Type                          : C
"""
INFO = "<process_info><pid>2345</pid><type>C</type></process_info>"


@pytest.mark.parametrize(
    ("last", "programs"),
    [
        ("    Processes                             : None\n", "0"),
        ("    Processes                             : N/A\n", "N/A"),
        (PROGRAMS, "2"),
        ("", ""),
    ],
)
def test_programs_are_counted_in_the_text(last: str, programs: str) -> None:
    used = "        Total                             : 81559 MiB\n"
    assert TEXT.count(used) == 1
    text = TEXT.replace(used, f"{used}        Used                              : 70311 MiB\n")
    (gpu,) = nvsmi_q.parse(text.replace("    Processes                             : None\n", last)).gpus
    assert (gpu.memory_used, gpu.programs, gpu.whole) == ("70311 MiB", programs, bool(last))


@pytest.mark.parametrize(
    ("last", "programs"),
    [
        ("<processes>\n\t\t</processes>", "0"),
        ("<processes>N/A</processes>", "N/A"),
        (f"<processes>{INFO}{INFO}</processes>", "2"),
        ("", ""),
    ],
)
def test_programs_are_counted_in_the_xml(last: str, programs: str) -> None:
    total = "<fb_memory_usage><total>81559 MiB</total>"
    xml = XML.replace(total, f"{total}<used>70311 MiB</used>").replace("\t</gpu>", f"\t\t{last}\n\t</gpu>")
    (gpu,) = nvsmi_xml.parse(xml).gpus
    assert (gpu.memory_used, gpu.programs) == ("70311 MiB", programs)


def test_both_forms_give_the_same_names_of_clocks_events() -> None:
    text, xml = nvsmi_q.parse(TEXT).gpus[0], nvsmi_xml.parse(XML).gpus[0]
    assert set(xml.clocks_events or {}) <= set(text.clocks_events or {})


def test_a_text_that_ends_early_is_not_whole() -> None:
    (gpu,) = nvsmi_q.parse(TEXT[: TEXT.index("    Fabric")]).gpus
    assert not gpu.whole
    assert gpu.fabric is None


@pytest.mark.parametrize(
    ("text", "line_no", "why"),
    [
        pytest.param("", 0, "empty", id="nothing"),
        pytest.param("No devices were found\n", 1, "no line about", id="an error"),
        pytest.param(TEXT + TEXT, 70, "a second log", id="two logs"),
        pytest.param(TEXT + TEXT[TEXT.index("GPU 0000") :], 67, "already listed", id="a GPU twice"),
    ],
)
def test_a_text_that_cannot_be_meant_names_its_line(text: str, line_no: int, why: str) -> None:
    with pytest.raises(ParseError) as caught:
        nvsmi_q.parse(text)
    assert caught.value.line_no == line_no
    assert why in str(caught.value)


def test_what_is_told_in_two_ways_is_not_told() -> None:
    (gpu,) = nvsmi_q.parse(TEXT.replace("    GPU UUID", "    GPU UUID : x\n    GPU UUID : y\n    GPU UUID")).gpus
    assert (gpu.uuid, gpu.whole) == ("", False)
    assert gpu.bus_id == nvsmi_q.parse(TEXT).gpus[0].bus_id


def test_an_excerpt_gives_one_gpu_for_each_fabric() -> None:
    block = "Fabric\nState : In Progress\nStatus : N/A\n"
    found = nvsmi_q_fabric.parse(f"GPU Fabric GUID : 0x1\n--\n{block}--\n{block}")
    assert nvsmi_q_fabric.facts(found)["gpus"] == [{"fabric": {"State": "In Progress", "Status": "N/A"}}] * 2
    with pytest.raises(ParseError, match="no Fabric"):
        nvsmi_q_fabric.parse(TEXT[: TEXT.index("    Fabric")])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Failed to initialize NVML: Driver/library\nversion mismatch\n", nvsmi_error.MISMATCH),
        (
            "NVIDIA-SMI has failed because it couldn\u2019t communicate with the NVIDIA driver.",
            nvsmi_error.NO_DRIVER,
        ),
        ("Failed to initialize NVML: Driver Not Loaded", nvsmi_error.NO_DRIVER),
        ("Failed to initialize NVML: Unknown Error", nvsmi_error.UNKNOWN),
        ("Failed to initialize NVML: Insufficient Permissions", nvsmi_error.NO_PERMISSION),
        ("Failed to initialize NVML: something new", nvsmi_error.OTHER),
        ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your", nvsmi_error.NO_LIBRARY),
        (f"{NO_HANDLE}No devices were found", nvsmi_error.HANDLE),
        ("No devices were found", nvsmi_error.NO_DEVICE),
        ("bash: nvidia-smi: command not found", nvsmi_error.NOT_INSTALLED),
        ("zsh: command not found: nvidia-smi", nvsmi_error.NOT_INSTALLED),
        ("Command 'nvidia-smi' not found, but can be installed", nvsmi_error.NOT_INSTALLED),
        ("sh: /usr/bin/nvidia-smi: No such file or directory", nvsmi_error.NOT_INSTALLED),
    ],
)
def test_errors_are_recognised(text: str, error: str) -> None:
    assert nvsmi_error.parse(text).error == error


def test_an_error_tells_its_words() -> None:
    found = nvsmi_error.parse("\nFailed to initialize NVML: Driver/library version mismatch\n"
                              "NVML library version: 580.126\n")  # fmt: skip
    assert found.line == "Failed to initialize NVML: Driver/library version mismatch"
    assert found.nvml == "580.126"
    assert nvsmi_error.parse(NO_HANDLE).unreachable == (("0000:2B:00.0", NO_HANDLE.strip()),)


@pytest.mark.parametrize("text", ["", "\n", "Thu Nov 20 2026", XML])
def test_another_text_is_no_error(text: str) -> None:
    with pytest.raises(ParseError):
        nvsmi_error.parse(text)


@pytest.mark.parametrize(
    ("bus_id", "kernel"),
    [
        ("00000000:8F:00.0", "0000:8f:00.0"),
        ("00000018:06:00.0", "0018:06:00.0"),
        ("0000:65:00", "0000:65:00.0"),
        ("8F:00.0", "0000:8f:00.0"),
        ("GPU-7", "GPU-7"),
    ],
)
def test_bus_ids_are_written_as_the_kernel_does(bus_id: str, kernel: str) -> None:
    assert address(bus_id) == kernel


OLD = """\
| NVIDIA-SMI 418.87.01    Driver Version: 418.87.01    CUDA Version: 10.1     |
|   0  Tesla V100-SXM2...  On   | 00000000:1A:00.0 Off |                    0 |
| N/A   36C    P0    43W / 300W |      0MiB / 16130MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
|   1  ERR!                On   | 00000000:1B:00.0 Off |                 ERR! |
|ERR!  ERR! ERR!    ERR! / ERR! |    GPU is lost       |    ERR!         ERR! |
+-------------------------------+----------------------+----------------------+
| Processes:                                                       GPU Memory |
|  No running processes found                                                 |
"""


def test_the_plain_table_gives_gpus_of_old_drivers_and_new_ones() -> None:
    first, lost = nvsmi_table.parse(OLD).gpus
    assert (first.address, first.persistence, first.temp) == ("0000:1a:00.0", "Enabled", "36 C")
    assert (first.memory_used, first.memory_total_mib, first.programs, first.mig) == ("0 MiB", 16130, "0", "")
    assert (first.volatile_dram, lost.trouble) == ("0", "GPU is lost")
    new = nvsmi_table.parse((SAMPLES / "nvsmi_table.txt").read_text())
    assert (new.driver, new.cuda, [gpu.programs for gpu in new.gpus]) == ("570.124.06", "12.8", ["0", "1"])
    assert [(gpu.volatile_dram, gpu.compute_mode) for gpu in new.gpus] == [("0", "Default"), ("2", "Exclusive_Process")]


def test_a_table_that_ends_early_tells_of_no_programs() -> None:
    text = OLD.partition("| Processes")[0]
    assert [gpu.programs for gpu in nvsmi_table.parse(text).gpus] == ["", ""]
    with pytest.raises(ParseError, match="neither the head"):
        nvsmi_table.parse("Dear all\n")
    with pytest.raises(ParseError, match="second table"):
        nvsmi_table.parse(OLD + OLD)
