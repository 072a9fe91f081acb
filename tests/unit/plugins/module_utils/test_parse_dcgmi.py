# SPDX-License-Identifier: GPL-3.0-or-later
"""dcgmi diag and dcgmi health, as people posted them and as DCGM's own sources draw them."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dcgmi
from ansible_collections.ibready.cluster.plugins.module_utils._parse._dcgmi import Incident, Result, Said
from tests.unit.parsers import SAMPLES

SAMPLE = (SAMPLES / "dcgmi.txt").read_text()
HEAD = SAMPLE[: SAMPLE.index("|-----  Metadata")]
FOOT = "+---------------------------+------------------------------------------------+\n"

# From stas00/ml-engineering (compute/accelerator/nvidia/debug.md), whose last row has lost its end.
THERMAL = """| GPU Memory                | Pass - GPUs: 1, 2, 3, 4, 5, 6, 7               |
|                           | Fail - GPU: 0                                  |
| Warning                   | GPU 0 Thermal violations totaling 13.3 second  |
|                           | s started at 9.7 seconds into the test for GP  |
|                           | U 0 Verify that the cooling on this machine i  |
|                           | s functional, including external, thermal mat  |
|                           | erial interface, fans, and any other componen  |
|                           | ts.
"""
# From the same: the text ends here.
PENDING = (
    HEAD
    + """|-----  Deployment  --------+------------------------------------------------|
| Error                     | GPU 3 has uncorrectable memory errors and row  |
|                           |  remappings are pending                        |
"""
)
# Rows of NVIDIA/go-dcgm#52 (DCGM 3.3.1), of two tests put together.
BUSY = """+-----  Hardware  ----------+------------------------------------------------+
| GPU Memory                | Pass - GPU: 1                                  |
|                           | Fail - GPU: 0                                  |
| Warning                   | GPU 0 Error using CUDA API cuCtxCreate Check   |
|                           | DCGM and system logs for errors. Reset GPU. R  |
|                           | estart DCGM. Rerun diagnostics. Unable to cre  |
|                           | ate CUDA context: 'CUDA-capable device(s) is/  |
|                           | are busy or unavailable'.                      |
| Info                      | GPU 1 GPU to Host bandwidth:  12.33 GB/s, GPU  |
|                           |  1 Host to GPU bandwidth:  13.15 GB/s, GPU 1   |
|                           | bidirectional bandwidth: 22.63 GB/s            |
"""
# The form of NVIDIA/DCGM#253 (DCGM 4.2.3); the failure is drawn as dcgmi/Diag.cpp of DCGM 4 does.
FOUR = (
    HEAD
    + """|-----  Metadata  ----------+------------------------------------------------|
| DCGM Version              | 4.2.3                                          |
| Driver Version Detected   | 570.148.08                                     |
| GPU Device IDs Detected   | 26b9, 26b9, 26b9, 26b9                         |
|-----  Deployment  --------+------------------------------------------------|
| software                  | Pass                                           |
|                           | GPU0: Pass                                     |
|                           | GPU1: Pass                                     |
+-----  Hardware  ----------+------------------------------------------------+
| memory                    | Fail                                           |
|                           | GPU0: Pass                                     |
|                           | GPU1: Fail                                     |
| Warning: GPU1             | A DBE was detected on GPU 1, and it has to be  |
|                           |  drained and reset.                            |
+-----  Stress  ------------+------------------------------------------------+
| targeted_power            | Skip                                           |
|                           | GPU0: Skip                                     |
|                           | GPU1: Skip                                     |
"""
    + FOOT
)
# From DCGM's user guide (feature overview): DCGM 1.
HEALTH_1 = """Health Monitor Report
+----------------------------------------------------------------------------+
| Group 1          | Overall Health: Warning                                 |
+==================+=========================================================+
| GPU ID: 0        | Warning                                                 |
|                  | PCIe system: Warning - Detected more than 8 PCIe        |
|                  | replays per minute for GPU 0: 13                        |
+------------------+---------------------------------------------------------+
| GPU ID: 1        | Warning                                                 |
|                  | InfoROM system: Warning - A corrupt InfoROM has been    |
|                  | detected in GPU 1.                                      |
+------------------+---------------------------------------------------------+
"""
HEALTHY = """+---------------------------+----------------------------------------------------------+
| Health Monitor Report                                                                |
+===========================+==========================================================+
| Overall Health            | Healthy                                                  |
+---------------------------+----------------------------------------------------------+
"""
# Drawn as dcgmi/Health.cpp of DCGM 2 and later does.
ROWS = """| GPU                       |                                                          |
| -> 0                      | Warning                                                  |
|    -> Errors              |                                                          |
|       -> PCIe system      | Warning                                                  |
|                           | Detected more than 8 PCIe replays per minute for GPU 0 : |
|                           | 13 Reconnect PCIe.                                       |
| -> 5                      | Failure                                                  |
|    -> Errors              |                                                          |
|       -> Memory system    | Failure                                                  |
|                           | A DBE has been detected in GPU 5.                        |
"""
LAST = HEALTHY.splitlines(True)[-1]
HEALTH = HEALTHY[: -len(LAST)].replace("| Healthy ", "| Failure ") + ROWS + LAST


def test_a_diag_of_dcgm_3() -> None:
    told = dcgmi.parse(SAMPLE)
    assert (told.version, told.driver, told.unread, told.cut) == ("3.3.1", "535.129.03", 0, False)
    assert [(test.part, test.name) for test in told.tests] == [
        ("Deployment", "Denylist"),
        ("Deployment", "Persistence Mode"),
        ("Integration", "PCIe"),
        ("Hardware", "GPU Memory"),
    ]
    assert dcgmi.wrong(told) == (
        "DCGM's test Persistence Mode fails",
        "DCGM's test GPU Memory fails on GPU0: GPU 0 Error using CUDA API cuCtxCreate",
    )


def test_a_long_text_goes_on_in_the_next_rows() -> None:
    told = dcgmi.parse(THERMAL)
    (test,) = told.tests
    assert test.results == (Result("Pass", tuple(f"GPU{n}" for n in range(1, 8))), Result("Fail", ("GPU0",)))
    assert test.said[0].text.endswith("external, thermal material interface, fans, and any other components.")
    assert test.said[0].text.startswith(
        "GPU 0 Thermal violations totaling 13.3 seconds started at 9.7 seconds into the"
    )
    assert told.cut
    said = dcgmi.parse(BUSY).tests[0].said
    assert said[0] == Said(
        "Warning",
        "GPU 0 Error using CUDA API cuCtxCreate Check DCGM and system logs for errors. Reset GPU. Restart DCGM. Rerun "
        "diagnostics. Unable to create CUDA context: 'CUDA-capable device(s) is/are busy or unavailable'.",
        "GPU0",
    )
    assert said[1].text.endswith("GPU 1 Host to GPU bandwidth: 13.15 GB/s, GPU 1 bidirectional bandwidth: 22.63 GB/s")
    assert "22.63" not in dcgmi.wrong(dcgmi.parse(BUSY))[0]


def test_an_error_in_place_of_tests() -> None:
    told = dcgmi.parse(PENDING)
    assert (told.unread, told.cut, told.tests[0].results) == (0, True, ())
    text = "GPU 3 has uncorrectable memory errors and row remappings are pending"
    assert told.tests[0].said == (Said("Error", text, "GPU3"),)
    assert dcgmi.wrong(told) == (f"DCGM says of the part Deployment: {text}",)


def test_a_diag_of_dcgm_4() -> None:
    told = dcgmi.parse(FOUR)
    assert (told.version, told.unread, told.cut) == ("4.2.3", 0, False)
    assert told.tests[1].results == (Result("Fail"), Result("Pass", ("GPU0",)), Result("Fail", ("GPU1",)))
    assert dcgmi.wrong(told) == (
        "DCGM's test memory fails on GPU1: A DBE was detected on GPU 1, and it has to be drained and reset.",
    )
    # The results of a test whose first row is missing are not those of the test before it.
    odd = dcgmi.parse(FOUR.replace("| memory                    | Fail ", "| memory  ?"))
    assert odd.tests[0].results == (Result("Pass"), Result("Pass", ("GPU0",)), Result("Pass", ("GPU1",)))
    assert odd.unread


def test_warnings_come_after_failures() -> None:
    text = FOUR.replace("targeted_power            | Skip", "targeted_power            | Warn")
    text = text.replace("GPU1: Skip", "GPU1: Warn")
    assert [said.split(" ")[2] for said in dcgmi.wrong(dcgmi.parse(text))] == ["memory", "targeted_power"]


def test_a_health_check() -> None:
    told = dcgmi.parse(HEALTH)
    assert (told.health, told.unread, told.cut) == ("Failure", 0, False)
    assert told.incidents == (
        Incident(
            "GPU 0",
            "PCIe system",
            "Warning",
            "Detected more than 8 PCIe replays per minute for GPU 0 : 13 Reconnect PCIe.",
        ),
        Incident("GPU 5", "Memory system", "Failure", "A DBE has been detected in GPU 5."),
    )
    assert dcgmi.wrong(told)[0] == "GPU 5: DCGM sees a failure of Memory system: A DBE has been detected in GPU 5."
    told = dcgmi.parse(HEALTHY)
    assert (told.health, told.incidents, told.cut, dcgmi.wrong(told)) == ("Healthy", (), False, ())


def test_a_health_check_of_dcgm_1() -> None:
    told = dcgmi.parse(HEALTH_1)
    assert (told.health, told.cut, told.unread) == ("Warning", False, 0)
    assert told.incidents == (
        Incident("GPU 0", "PCIe system", "Warning", "Detected more than 8 PCIe replays per minute for GPU 0: 13"),
        Incident("GPU 1", "InfoROM system", "Warning", "A corrupt InfoROM has been detected in GPU 1."),
    )


def test_json() -> None:
    warning = {"warning": "A DBE was detected.", "error_id": 4}
    results = [
        {"entity_group": "GPU", "entity_id": 0, "status": "Pass"},
        {"entity_group": "GPU", "entity_id": 1, "status": "Fail", "warnings": [warning]},
    ]
    test = {"name": "memory", "results": results, "test_summary": {"status": "Fail"}}
    new = {"DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": [test]}], "version": "4.2.3"}}
    told = dcgmi.parse(json.dumps(new))
    assert (told.version, told.tests[0].part) == ("4.2.3", "Hardware")
    assert dcgmi.wrong(told) == ("DCGM's test memory fails on GPU1: A DBE was detected.",)
    old = {"name": "PCIe", "results": [{"gpu_ids": "0,1", "status": "FAIL", "warnings": "GPU 0 is slow"}]}
    text = json.dumps({"DCGM GPU Diagnostic": {"test_categories": [{"category": "Integration", "tests": [old]}]}})
    assert dcgmi.wrong(dcgmi.parse(text)) == ("DCGM's test PCIe fails on GPU0, GPU1: GPU 0 is slow",)


def test_dcgmi_gave_up() -> None:
    line = "Error: Health watches not enabled. Please enable watches."
    told = dcgmi.parse(line + " \n")
    assert dcgmi.facts(told)["failed"] == line
    assert dcgmi.wrong(told) == (f"dcgmi gave up ({line})",)


def test_a_text_that_is_cut_or_has_other_lines() -> None:
    told = dcgmi.parse("$ dcgmi diag -r 2\n" + SAMPLE[: SAMPLE.index("|                           | Fail")])
    assert (told.unread, told.cut, len(told.tests)) == (1, True, 4)
    assert dcgmi.facts(told)["cut"] is True
    assert dcgmi.parse(HEALTH[: HEALTH.index("| -> 5")]).cut
    # No GPU 1 of GPUs 10 and 11.
    told = dcgmi.parse(SAMPLE[: SAMPLE.index("Fail - GPU")] + "Fail - GPUs: 1")
    assert (told.tests[-1].results, told.unread) == ((Result("Pass", ("GPU1",)),), 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "| test | Pass |\n|------|------|\n| memory | Fail |\n",
        "+-----------------------------------------+\n| NVIDIA-SMI 550.54.15  Driver Version: 550.54.15 |\n",
        "+----------------------+\n|  NvLink Link Status  |\n+----------------------+\nGPUs:\n    gpuId 0:\n",
        "Health Monitor Report\n",
        '{"nodes": {}}',
        "{",
        '{"DCGM Diagnostic": {"test_categories": []}}',
        "Error: something else\n",
    ],
)
def test_another_tools_text(text: str) -> None:
    with pytest.raises(ParseError):
        dcgmi.parse(text)
