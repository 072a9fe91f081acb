# SPDX-License-Identifier: GPL-3.0-or-later
"""Failures are read by the form in which programs tell them; what they mean, by rows of that form and tool alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._data import failure_forms
from ansible_collections.ibready.cluster.plugins.module_utils._data.failure_forms import CAUSES, FORMS, Cause
from ansible_collections.ibready.cluster.plugins.module_utils._parse import failures
from tests.unit import pasted

# A text, and of its first failure the form, the tool, what it is of, and words.
TOLD = [
    (
        "The following packages have unmet dependencies:\n"
        " nvidia-fs-dkms : Depends: linux-modules-extra-5.15.0-130 but it is not installable\n"
        "E: Unable to correct problems, you have held broken packages.\n",
        ("package", "apt", "nvidia-fs-dkms", "Depends: linux-modules-extra-5.15.0-130 but it is not installable"),
    ),
    (
        "Error: \n Problem: conflicting requests\n"
        "  - nothing provides dkms >= 3.1.8 needed by kmod-nvidia-1.2.noarch from cuda-rhel9\n",
        ("package", "dnf", "kmod-nvidia-1.2.noarch", "nothing provides dkms >= 3.1.8 needed by"),
    ),
    (
        "Error: Package: ucx-ib-1.9.0-1.el7.x86_64 (/ucx-ib-1.9.0-1.el7.x86_64)\n"
        "           Requires: libibverbs.so.1(MLX5_1.0)(64bit)\n           Installed: libibverbs-41\n",
        ("package", "yum", "ucx-ib-1.9.0-1.el7.x86_64", "Requires: libibverbs.so.1"),
    ),
    (
        "dpkg: error processing package drbd-dkms (--configure):\n"
        " installed drbd-dkms package post-installation script subprocess returned error exit status 10\n"
        "Error! Bad return status for module build on kernel: 6.14.0-28-generic (x86_64)\n"
        "Consult /var/lib/dkms/drbd/9.2.8/build/make.log for more information.\n",
        ("build", "dkms", "drbd/9.2.8, kernel 6.14.0-28-generic", "Bad return status for module build on kernel"),
    ),
    (
        "make[2]: *** [scripts/Makefile.build:203: nv-mmap.o] Error 1\n"
        "/tmp/x/nv-mmap.c:12:5: error: too few arguments to function 'f'\n",
        ("compiler", "the compiler", "", "/tmp/x/nv-mmap.c:12:5: error: too few arguments to function 'f'"),
    ),
    (
        pasted.FAILING["container"][1],
        ("hook", "nvidia-container-cli", "", "initialization error: nvml error: driver not loaded"),
    ),
    (
        "docker: Error response from daemon: failed to create task for container: failed to create shim task: "
        "OCI runtime create failed: could not apply required modification to OCI specification: error modifying OCI "
        "spec: failed to inject CDI devices: unresolvable CDI devices nvidia.com/gpu=all: unknown.\n",
        ("engine", "docker", "", "failed to inject CDI devices: unresolvable CDI devices nvidia.com/gpu=all"),
    ),
    (
        "slurmstepd: error: pyxis: container start failed with error code: 1\n"
        "slurmstepd: error: pyxis: [ERROR] Command not found: nvidia-container-cli, see https://x\n"
        "slurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1\n",
        ("launcher", "pyxis", "", "Command not found: nvidia-container-cli"),
    ),
    (
        "Job for openibd.service failed because the control process exited with error code.\n",
        ("unit", "systemd", "openibd.service", "failed because the control process exited"),
    ),
    (
        "-" * 74 + "\nmpirun detected that one or more processes exited with non-zero status, thus causing\n"
        "the job to be terminated. The first process to do so was:\n\n  Exit code:    3\n",
        ("launcher", "Open MPI", "", "exited with non-zero status"),
    ),
    (
        "error: Failed dependencies:\n        a = 1 is needed by b-2.x86_64\n",
        ("package", "rpm", "", "Failed dependencies: a = 1 is needed by b-2.x86_64"),
    ),
    (
        "    file /usr/lib64/a.so from install of a-1.x86_64 conflicts with file from package b-2.x86_64\n",
        ("package", "rpm", "a-1.x86_64", "conflicts with file from package b-2.x86_64"),
    ),
    ("cuda_ipc_cache.c:154  UCX Fatal: dest:5: failed to open\n", ("program", "UCX", "", "dest:5: failed to open")),
    (
        "2023/09/08 17:43:19 Exiting.. can not change : incorrect namespace\n",
        ("line", "", "", "Exiting.. can not change : incorrect namespace"),
    ),
    (pasted.FAILING["UCX"][1], ("program", "UCX", "", "ibv_create_cq(cqe=4096) failed: Cannot allocate memory")),
    (
        "libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs0\n",
        ("program", "libibverbs", "", "Warning: no userspace device-specific driver found"),
    ),
    (
        'Traceback (most recent call last):\n  File "train.py", line 1\nRuntimeError: the loader broke\n'
        "nvidia-ctk: symbol lookup error: nvidia-ctk: undefined symbol: nvmlDeviceGetMaxMigDeviceCount\n",
        ("library", "nvidia-ctk", "", "symbol lookup error"),
    ),
    (
        "3 Problems:\nProblem: nothing provides 'kernel-uname-r = 6.3' needed by the to be installed nv-kmp-1.x86_64\n",
        ("package", "zypper", "nv-kmp-1.x86_64", "nothing provides 'kernel-uname-r = 6.3' needed by"),
    ),
    (
        "--> Processing Conflict: 3:nv-branch-440-1.el7.x86_64 conflicts nvidia-driver > 440\n",
        ("package", "yum", "3:nv-branch-440-1.el7.x86_64", "conflicts nvidia-driver > 440"),
    ),
    (
        "".join(
            f"Error! Bad return status for module build on kernel: 6.1\nConsult /var/lib/dkms/{name}/1/build/make.log\n"
            for name in ("e1000e", "igb", "ixgbe")
        ),
        ("build", "dkms", "e1000e/1 and 2 more, kernel 6.1", "Bad return status for module build on kernel: 6.1"),
    ),
    (
        "UserWarning: cudaGetDeviceCount() failed. Error 802: system not yet initialized\n",
        ("program", "CUDA", "", "Error 802: system not yet initialized"),
    ),
    (
        "srun: Job step aborted: Waiting up to 32 seconds.\nn1.304088hfi_userinit: assign_context failed: busy\n",
        ("program", "PSM2", "", "hfi_userinit: assign_context failed: busy"),
    ),
]
FINE = [
    *pasted.HEALTHY.values(),
    "libibverbs: Warning: couldn't load driver 'libhfi1verbs-rdmav34.so'\n",
    "slurmstepd: error: *** STEP 12.0 ON node1 CANCELLED AT 2026-01-05T10:00:00 ***\n",
    "frob: warning: could not find the old name of it\n",
    "frob: 0 errors\n",
    "frob: exited with exit code 0\n",
    "frob: 2026/08/30 02:07:24 Warning: failed to remove the old file\n",
    "pyxis: [INFO] Extracting squashfs filesystem, errors are ignored\n",
]


@pytest.mark.parametrize(("text", "told"), TOLD, ids=[told[1] for _text, told in TOLD])
def test_who_failed_in_which_words_of_what(text: str, told: tuple[str, str, str, str]) -> None:
    first = failures.read(text.splitlines())[0]
    assert (first.form, first.tool, first.of) == told[:3]
    assert told[3] in first.words


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("frob: it broke", ("frob", "it broke")),
        ("/usr/bin/frob: line 3: kill: (9) - No such process", ("frob", "line 3: kill: (9) - No such process")),
        ("n1 (udev-worker)[7]: nvidia: it broke", ("udev-worker", "nvidia: it broke")),
        ("set 23 23:59:28 n1 frobd[7]: [ 2.5] [ERROR]Failed", ("frobd", "[ 2.5] [ERROR]Failed")),
        ("frobd[7]: frobd: it broke", ("frobd", "it broke")),
        ("2026/08/30 02:07:24 frob: it broke", ("frob", "it broke")),
        ("frob: 2026/08/30 02:07:24 Warning: it broke", ("frob", "Warning: it broke")),
        ("E0907 09:51:27.06 29 utils.go:7] it broke", ("", "it broke")),
        ("[0000] frob: it broke", ("frob", "it broke")),
        ("src/a/frob.cpp:623: frob(): it broke", ("frob", "it broke")),
        ("[mpiexec@n1] it broke", ("mpiexec", "it broke")),
        (
            "[proxy:0:1@n1.cluster] HYDU_sock (utils/sock.c:7): it broke",
            ("proxy", "HYDU_sock (utils/sock.c:7): it broke"),
        ),
        ("[n1:1234] it broke", ("", "it broke")),
        ("[n1:7:0:7]   wireup.c:12 it broke", ("", "it broke")),
        ("Sun Jun  3 10:44:38 2018[1,364]<stderr>:[n1:4 :0] it broke", ("", "it broke")),
        ("stderr: frob: it broke", ("frob", "it broke")),
        ("src/frob.c:199; it broke", ("", "it broke")),
        ("22:08:14 frob: it broke", ("frob", "it broke")),
        ("[FAILED] it broke", ("", "[FAILED] it broke")),
        ("Status: failed", ("", "Status: failed")),
        ("error: it broke", ("", "error: it broke")),
        ("A sentence that failed", ("", "A sentence that failed")),
    ],
)
def test_who_says_a_line_is_told_by_its_own_words(line: str, told: tuple[str, str]) -> None:
    assert failures.sayer(line) == told


def test_a_logger_level_marks_a_line_as_a_string_of_its_own_would() -> None:
    (one,) = failures.read(["ERROR 02-12 19:57:26 base.py:572] The method frob failed, by the way"])
    assert (one.form, one.tool, one.words) == ("line", "", "The method frob failed, by the way")
    assert failures.read(["INFO 02-12 19:57:26 base.py:572] error handling failed"]) == []
    (one,) = failures.read(["fi_mr_reg failed, ret is:-12"])
    assert one.words == "fi_mr_reg failed, ret is:-12"


@pytest.mark.parametrize(
    "line",
    [
        "Building rpms failed; see /var/cache/akmods/x.failed.log for details",
        "Building and installing nvidia-kmod [FAILED]",
        "Assertion `status == UCS_OK' failed",
        "Caught signal 11 (Segmentation fault: address not mapped to object at address (nil))",
        "ERROR collect_ports_data: device mlx5_0 port 1 is not valid (port is used by SM)",
        "umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110; Connection timed out",
        "connect to 192.0.2.1:8124: Connection refused",
        "Port number 1 state is Down",
        "Directory .git does not exist",
        "Completion with error at client Failed status 12: wr_id 0 scnt=128, ccnt=0",
    ],
)
def test_a_sentence_that_says_that_something_failed_needs_no_row(line: str) -> None:
    for head in ("", "[n1:7:0:7]   frob.c:12 "):
        (one,) = failures.read([head + line])
        assert (one.form, one.tool, one.words) == ("line", "", line.removeprefix("ERROR "))


@pytest.mark.parametrize(
    "line",
    [
        "I rebooted, and then it failed.",
        "Why has it failed?",
        "[n1:7:0] mlx5.c:735  UCX  DEBUG ibv_alloc_dm(dev=mlx5_2) failed: Invalid argument",
        "Hint: some modules failed to build.",
        "Tests run: 12, 0 failed",
        "restart on failure: no",
        "the link of this page is down below",
    ],
)
def test_what_a_person_or_a_mild_level_says_is_nobody_s_failure(line: str) -> None:
    assert failures.read([line]) == []


def test_whoever_was_typed_says_what_it_says_in_dnf_s_words() -> None:
    line = "  - nothing provides dkms >= 3.1.8 needed by kmod-nvidia-1.2.noarch from cuda-rhel9"
    assert [failures.read([line], program)[0].tool for program in ("", "dkms", "yum")] == ["dnf", "dnf", "yum"]


def test_what_stands_between_a_table_s_rules_is_not_open_mpi_s() -> None:
    lines = ["-" * 87, "Couldn't allocate MR", "Failed to create MR"]
    assert {one.tool for one in failures.read(lines)} == {""}
    (one,) = failures.read(["-" * 74, "No components were able to be opened in the pml framework.", "", "More."])
    assert (one.tool, one.words) == ("Open MPI", "No components were able to be opened in the pml framework")


def test_a_file_of_a_source_is_where_and_its_error_what_failed() -> None:
    (one,) = failures.read(["rdma.c:1075:frob_qpair_init: *ERROR*: rdma_create_qp failed: errno 12"])
    assert (one.form, one.words) == ("program", "rdma_create_qp failed: errno 12")


@pytest.mark.parametrize("text", FINE)
def test_what_is_no_failure_is_none(text: str) -> None:
    assert failures.read(text.splitlines()) == []


def test_what_is_the_cause_of_others_stands_first_and_a_wording_once() -> None:
    text = "E: Sub-process /usr/bin/dpkg returned an error code (1)\n" + TOLD[3][0] + TOLD[4][0] * 2
    assert [one.form for one in failures.read(text.splitlines())] == [
        "compiler",
        "build",
        "build",
        "package",
        "package",
    ]


def test_a_failure_that_no_row_knows_is_quoted_without_a_cause() -> None:
    (one,) = failures.read(["Job for slurmd.service failed because of sunspots."])
    assert one.told == "systemd (slurmd.service) says 'failed because of sunspots'"
    known = failures.read(["Couldn't allocate MR"])[0].told
    assert re.search("a program says .*; it means: .*known causes: .*; next: .*nvidia_peermem", known)


@pytest.mark.parametrize("row", CAUSES, ids=[f"{row.form} {row.tool} {row.pattern[:30]}" for row in CAUSES])
def test_a_cause_is_proved_by_a_text_and_bound_to_its_form_and_tool(row: Cause) -> None:
    assert row.form in failure_forms.ORDER
    tool = row.tool or "any"
    assert failures.meaning(row.form, tool, row.proof) == (row.told, row.remedy)
    assert failures.meaning(row.form, tool, row.other) != (row.told, row.remedy)
    others = [form for form in failure_forms.ORDER if form != row.form]
    assert (row.told, row.remedy) not in [failures.meaning(form, tool, row.proof) for form in others]
    if row.tool:
        assert failures.meaning(row.form, "another", row.proof) != (row.told, row.remedy)


def test_every_form_has_its_place_in_the_order() -> None:
    assert {form.form for form in FORMS} <= set(failure_forms.ORDER)
    assert [row.tool for row in CAUSES if not _may_be(row.tool)] == []


def _may_be(tool: str) -> bool:
    """Whether a form is of this tool, or names it where it stands in the text."""
    named = [form.pattern for form in FORMS if "\\" in form.tool]
    return tool in {"", *(form.tool for form in FORMS)} or any(tool in pattern for pattern in named)


def test_of_many_lines_one_of_each_wording_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(failures, "LINES", 2)
    text = pasted.HEALTHY["lsmod"] + "I saw that something failed\nwhy it failed\n" * 3 + "Couldn't allocate MR\n"
    status, said = pasted.answer_to(capsys, tmp_path, text)
    assert (status, "perftest" in said, "why it failed" in said) == (3, False, True), said
    monkeypatch.setattr(failures, "LINES", 3)
    assert pasted.answer_to(capsys, tmp_path, text)[0] == 2


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from([line for text, _told in TOLD for line in text.split()])).map(" ".join)
)
def test_no_text_breaks_it(text: str) -> None:
    for one in failures.read(text.splitlines()):
        assert one.words or one.tool
