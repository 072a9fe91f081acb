# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuse misspelt and wrongly typed variables of ours before any host is touched."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.ibready.cluster.plugins.module_utils import _waivers
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    SPEC,
    ExpectationError,
    from_inventory,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import policy
from ansible_collections.ibready.cluster.plugins.plugin_utils._bench.options import BENCH_OPTIONS
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.kinds import KINDS
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan import rollback

# What playbooks read besides the roles' own variables. Kept in step with docs/variables.md.
PLAYBOOK_OPTIONS: dict[str, dict[str, Any]] = {
    "ibready_expect": {
        "type": "dict",
        "description": "What the inventory expects of a host: keys "
        + ", ".join(f"`{key}`" for key in SPEC)
        + ".",
    },
    "ibready_waivers": {
        "type": "list",
        "elements": "dict",
        "description": "Failures that are known and accepted until a day: a list of "
        "`{check, host, subject, until, reason}`.",
    },
    "ibready_bundle_dir": {
        "type": "path",
        "description": "Where collect.yml puts the evidence bundles on the controller (default: "
        "`bundles` below the working directory).",
    },
    "diagnose_bundles": {
        "type": "path",
        "description": "A folder of bundles that diagnose.yml judges instead of the hosts, which "
        "it then leaves alone ([diagnose.md](diagnose.md); default: none).",
    },
    "diagnose_expect": {
        "type": "dict",
        "description": "What diagnose.yml expects of bundles whose hosts are not in the inventory, "
        "as `ibready_expect` (default: what their hardware promises).",
    },
    "diagnose_log": {
        "type": "path",
        "description": "The log of a job on these hosts, a file of the controller, that "
        "diagnose.yml judges with them ([nccl-logs.md](nccl-logs.md); default: none).",
    },
    "diagnose_most": {
        "type": "int",
        "description": "How many causes diagnose.yml shows in full (default 10).",
    },
    "launch_kind": {
        "type": "str",
        "choices": ["all", *KINDS],
        "description": "The launcher that launch.yml renders a script for ([launch.md](launch.md); "
        "default: all).",
    },
    "launch_dir": {
        "type": "path",
        "description": "Where launch.yml writes the scripts on the controller (default: "
        "`reports/launch` below the working directory).",
    },
    "launch_image": {
        "type": "str",
        "description": "The container image of launch scripts for docker, podman and sbatch "
        "(default: none, and these are not rendered).",
    },
    "launch_program": {
        "type": "str",
        "description": "What every process of a launch script runs; Python runs what ends with "
        "`.py` (default: `train.py`; of Megatron `pretrain_gpt.py`).",
    },
    "launch_arguments": {
        "type": "list",
        "elements": "str",
        "description": "The arguments of that program (default: none).",
    },
    "launch_nodes": {
        "type": "int",
        "description": "How many hosts a launch script is for, the first ones (default: all).",
    },
    "launch_processes": {
        "type": "int",
        "description": "How many processes a launch script starts on each host (default: one a "
        "GPU).",
    },
    "launch_port": {
        "type": "int",
        "description": "The port that the processes of a launch script meet at (default 29500).",
    },
    "launch_mounts": {
        "type": "list",
        "elements": "str",
        "description": "Folders of the hosts that the containers of launch scripts see at the same "
        "place (default: none).",
    },
    "smoke_nodes": {
        "type": "int",
        "description": "How many hosts the job of smoke.yml runs on, the first ones (default 2).",
    },
    "smoke_processes": {
        "type": "int",
        "description": "How many processes it starts on each (default 1).",
    },
    "smoke_timeout": {
        "type": "int",
        "description": "Seconds after which it is ended (default 60).",
    },
    "smoke_environment": {
        "type": "dict",
        "description": "More of its environment, as the site's jobs have it: name to value "
        "(default: none).",
    },
    "smoke_user": {
        "type": "str",
        "description": "The user of the hosts that it runs as (default: who logs in; nobody where "
        "that is root).",
    },
    **BENCH_OPTIONS,
    "ibready_serial": {
        "type": "raw",
        "description": "How many hosts, or how many percent, are converged at a time "
        "(default 100%).",
    },
    "ibready_max_fail_percentage": {
        "type": "int",
        "description": "The run stops when more than this share of a batch fails (default 100).",
    },
    "ibready_drain": {
        "type": "list",
        "elements": "raw",
        "description": "Commands that drain a host before its first disruptive step: a list of "
        "argv lists for the controller, or of `{run: [...], where: host}`; no shell (default: "
        "none).",
    },
    "ibready_undrain": {
        "type": "list",
        "elements": "raw",
        "description": "Commands that give a drained host back when it is good, written as those "
        "of `ibready_drain` (default: none).",
    },
    "ibready_reboot_ok": {
        "type": "bool",
        "description": "Consent: a host that needs it may be rebooted (default false).",
    },
    "ibready_fabric_restart_ok": {
        "type": "bool",
        "description": "Consent: openibd and the fabric manager may be restarted when nothing uses "
        "them, and the only subnet manager of a fabric (default false).",
    },
    "ibready_firmware_ok": {
        "type": "bool",
        "description": "Consent: firmware and the cards' configuration (link type) may be written "
        "(default false).",
    },
    "ibready_replace_stack_ok": {
        "type": "bool",
        "description": "Consent: packages of another RDMA stack or driver may be removed "
        "(default false).",
    },
    "stack_repositories": {
        "type": "dict",
        "description": "Where the stack's packages come from: `doca`, `mlnx_ofed`, `cuda` and "
        "`container_toolkit`, each with `base` (an address) and `fingerprints` (of the keys that "
        "may sign; default: the vendor's).",
    },
    "ibready_report_dir": {
        "type": "path",
        "description": "The folder of the report on the controller (default: `reports` below the "
        "working directory).",
    },
    "ibready_report_formats": {
        "type": "list",
        "elements": "str",
        "choices": ["html", "junit", "prometheus", "markdown"],
        "description": "What the run object is rendered to: `html`, `junit`, `prometheus` and "
        "`markdown` ([run.md](run.md); default: all).",
    },
    "ibready_report_keep": {
        "type": "int",
        "description": "How many run objects are kept in the folder `history` of the report, this "
        "one included (default 10).",
    },
    "report_fail_on": {
        "type": "str",
        "choices": ["degraded", "not_ready", "never"],
        "description": "On which verdict verify.yml and site.yml end with an error: `not_ready` "
        "(`unknown` as well), `degraded` (all but `ready`) or `never` (default: not_ready).",
    },
    "report_from": {
        "type": "str",
        "description": "What report.yml renders: a run object, or how many runs back (default: the "
        "last run).",
    },
    "since": {
        "type": "str",
        "description": "What report.yml compares that with: a run object, or how many runs before "
        "it (default: what it was compared with when it was judged).",
    },
    "ibready_address": {
        "type": "str",
        "description": "Where the other hosts reach this host by TCP: an address, or a name that "
        "they resolve (default: `ansible_host`, else its name in the inventory).",
    },
    "ibready_tcp": {
        "type": "bool",
        "description": "Whether hosts connect to each other on the ports of jobs; without it these "
        "checks are skipped (default true).",
    },
    "ibready_tcp_ports": {
        "type": "list",
        "elements": "int",
        "description": "The ports that jobs meet at, torch's rendezvous (default `[29500]`).",
    },
    "ibready_tcp_range_ports": {
        "type": "int",
        "description": "How many ports stand for those that the kernel gives to NCCL "
        "(`net.ipv4.ip_local_port_range`); 0 leaves them out (default 5).",
    },
    "ibready_tcp_timeout": {
        "type": "float",
        "description": "Seconds to wait for each connection (default 3).",
    },
    "ibready_tcp_lease": {
        "type": "int",
        "description": "Seconds after which a forgotten listener ends by itself (default: as long "
        "as all hosts can take).",
    },
    "ibready_rdma": {
        "type": "str",
        "choices": ["roce", "all", "none"],
        "description": "On which rails hosts really move data to a few others by RDMA: `roce`, "
        "`all` (InfiniBand as well) or `none` ([rdma.md](rdma.md); default roce).",
    },
    "ibready_rdma_containers": {
        "type": "bool",
        "description": "Whether containers of the hosts do the same (default: where "
        "`ibready_expect` has `container`).",
    },
    "ibready_rdma_image": {
        "type": "str",
        "description": "The image of those containers; it needs the programs (default: a tiny one "
        "that is made of the host's own files).",
    },
    "ibready_rdma_partners": {
        "type": "int",
        "description": "To how many others each host moves data (default 2).",
    },
    "ibready_rdma_port": {
        "type": "int",
        "description": "The first port at which two ends meet; one more for each rail, place and "
        "program, TCP but for rping's (default 18700).",
    },
    "ibready_rdma_lease": {
        "type": "int",
        "description": "Seconds after which forgotten servers end by themselves (default: as long "
        "as a round can take).",
    },
    "ibready_ping_full_mesh": {
        "type": "int",
        "description": "Up to so many hosts every one pings every other; beyond it they ping a "
        "sample ([reachability.md](reachability.md); default 32).",
    },
    "ibready_ping_rounds": {
        "type": "int",
        "description": "How many others each host of a sample pings (default 8).",
    },
    "ibready_ping_seed": {
        "type": "int",
        "description": "What a sample follows from; the report shows it (default: the day, "
        "YYYYMMDD).",
    },
    "ibready_ping_budget": {
        "type": "int",
        "description": "Seconds that all pings may take at the worst; only as many rounds are "
        "asked as that holds (default 0, no limit).",
    },
    "ibready_ping_at_once": {
        "type": "int",
        "description": "How many ports of a host ping at a time (default 8).",
    },
    "ibready_counter_pause": {
        "type": "float",
        "description": "Seconds between the two looks at error counters, from which their rates "
        "follow (default 5).",
    },
    "ibready_fabric": {
        "type": "bool",
        "description": "Whether one host asks each InfiniBand fabric and the report judges it "
        "([fabric.md](fabric.md); default true).",
    },
    "ibready_fabric_plan": {
        "type": "path",
        "description": "Where every cable should be: a cabling.csv or a saved ibnetdiscover, on "
        "the controller ([fabric.md](fabric.md); default: none).",
    },
    "ibready_fabric_known": {
        "type": "list",
        "elements": "str",
        "description": "GUIDs, or patterns of node descriptions, that belong to the fabric though "
        "they are in no inventory: storage, routers (default: none).",
    },
    "ibready_fabric_standbys": {
        "type": "int",
        "description": "How many subnet managers stand by beside the master (default: not judged).",
    },
    "ibready_fabric_oversubscription": {
        "type": "float",
        "description": "Bandwidth of a leaf's HCAs to that of its uplinks, at most: 1 is "
        "non-blocking (default: not judged).",
    },
    "ibready_fabric_from": {
        "type": "list",
        "elements": "str",
        "description": "The hosts that ask when fabricverify is used ad hoc (default: the first).",
    },
    "ibready_ping_count": {
        "type": "int",
        "description": "Pings per pair and rail (default 50).",
    },
    "ibready_ping_timeout_ms": {
        "type": "int",
        "description": "Milliseconds to wait for each answer (default 200).",
    },
    "ibready_ping_deadline": {
        "type": "int",
        "description": "Seconds that one pair may take on one rail (default 15).",
    },
    "ibready_ping_lease": {
        "type": "int",
        "description": "Seconds after which a forgotten ping server ends by itself "
        "(default: as long as all rounds can take).",
    },
}
_WISHES = {
    "rdma_flavour": "The RDMA stack: inbox, mlnx_ofed, doca or none",
    "rdma_version": "Its release, or the beginning of one (24.10)",
    "driver": "The NVIDIA driver: a branch (580), a release, or none",
    "driver_modules": "Its kernel modules: open or proprietary",
    "fabric_manager": "The fabric manager: a release (the driver's), or none",
    "nscq": "libnvidia-nscq: a release (the driver's), or none",
    "imex": "nvidia-imex: a release (the driver's), or none",
    "nvlsm": "nvlsm: a release, or none",
    "cuda": "The CUDA release that jobs use",
    "nccl": "NCCL: a release, with its build where that matters (2.28.9+cuda13.0), or none",
    "container_toolkit": "The NVIDIA Container Toolkit: a release, or none",
    "dcgm": "DCGM: newest, or a release; only installed where asked for",
    "gdrcopy": "gdrcopy: newest, or a release; only installed where asked for",
    "peer_memory": "The way of GPUDirect RDMA: dmabuf, peermem or none",
}
PLAYBOOK_OPTIONS.update(
    {
        f"stack_{name}": {"type": "raw", "description": f"{text} (default: auto)."}
        for name, text in _WISHES.items()
    }
)
PLAYBOOK_OPTIONS.update(
    {
        "stack_relock": {
            "type": "bool",
            "description": "Choose the stack anew, show the difference and move the lock "
            "(default false).",
        },
        "stack_lock_file": {
            "type": "path",
            "description": "The lock on the controller (default: stack.lock.yml beside the "
            "inventory).",
        },
        "stack_rollback_to": {
            "type": "str",
            "choices": list(rollback.ROADS),
            "description": "Where rollback.yml goes: `previous` (the lock of before), `next` (the "
            "one that was rolled back from) or `bare` (before ibready; default: previous).",
        },
        "stack_rollback_keep": {
            "type": "list",
            "elements": "str",
            "description": "Packages (globs) that rollback.yml leaves as they are, whatever the "
            "snapshot says (default: none).",
        },
        "stack_snapshots": {
            "type": "int",
            "description": "How many snapshots a host keeps, besides that of the bare host "
            "(default 5).",
        },
        "stack_bundle": {
            "type": "str",
            "description": "Everything comes from this bundle, and no other repository is asked: a "
            "folder of the controller, or an http, https or file address that the nodes can read "
            "([airgap.md](airgap.md); default: none). `playbooks/bundle.yml` writes it.",
        },
        "stack_bundle_key": {
            "type": "str",
            "description": "The fingerprint (40 hex digits) of the site's own key, which signs the "
            "bundle and is the only one that may have.",
        },
        "stack_matrix": {
            "type": "list",
            "elements": "path",
            "description": "Folders of the site with matrix files that add facts or override them.",
        },
    }
)
# Of report_ only what is near to ours: a site may have variables of that name.
PREFIXES = (
    *("ibready_", "stack_", "diagnose_", "launch_", "smoke_", "bench_"),
    *("report_fail", "report_from"),
)
# What the playbooks register themselves, which is no misspelling.
INTERNAL = frozenset(
    (
        "ibready_node",
        "ibready_ibverify",
        "ibready_converge_error",
        "ibready_pings",
        "ibready_ping_error",
        "ibready_ping_plan",
        "ibready_ping_visit",
        "ibready_ping_asked",
        "ibready_ping_again",
        "ibready_pings_again",
        "ibready_fabric_asks",
        "ibready_fabric_looks",
        "ibready_fabric_error",
        "ibready_tcp_secret",
        "ibready_tcp_listening",
        "ibready_tcp_plan",
        "ibready_tcp_asked",
        "ibready_tcp_stopped",
        "ibready_tcp_error",
        "ibready_rdma_plan",
        "ibready_rdma_round",
        "ibready_rdma_answers",
        "ibready_rdma_asked",
        "ibready_rdma_error",
        "ibready_rdma_inside",
        "ibready_rdma_served",
        "ibready_rdma_serving",
        "ibready_rdma_stopped",
        "ibready_report",
        "ibready_diagnosis",
        "ibready_launch",
        "ibready_launch_looked",
        "ibready_smoke",
        "ibready_bench",
        "ibready_bench_answers",
        "ibready_bench_asked",
        "ibready_bench_error",
        "ibready_bench_found",
        "ibready_bench_job_error",
        "ibready_bench_jobs",
        "ibready_bench_mpi_prepared",
        "ibready_bench_nccl",
        "ibready_bench_nccl_error",
        "ibready_bench_nccl_prepared",
        "ibready_bench_nodes",
        "ibready_bench_number",
        "ibready_bench_plan",
        "ibready_bench_round",
        "ibready_bench_serving",
        "ibready_bench_started",
        "ibready_report_follows",
        "ibready_plan",
        "ibready_plan_only",
        "ibready_plan_bundle",
        "ibready_had",
        "ibready_bundle",
        "ibready_bundle_made",
        "ibready_stack_plan",
        "ibready_batch",
        "ibready_rollback",
        "ibready_rollback_done",
        "ibready_rollback_lock",
    )
)


def problems(
    variables: Mapping[str, Any], role_options: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """What is wrong with the variables of one host, one sentence each.

    ``role_options`` maps a role's name to the options of its argument spec. Only names that start
    with one of PREFIXES or a role's name and an underscore are ours.
    """
    known: dict[str, Any] = dict(PLAYBOOK_OPTIONS)
    for options in role_options.values():
        known.update(options)
    prefixes = (*PREFIXES, *(f"{role}_" for role in role_options))
    names = sorted(name for name in variables if name.startswith(prefixes))
    found = [_misspelt(name, known) for name in names if name not in known and name not in INTERNAL]
    ours: dict[str, Any] = {}
    for name in names:
        try:
            # Only ours: a site's other variables may need facts that nobody has gathered yet.
            ours[name] = variables[name]
        except AnsibleError as exc:
            found.append(f"{name} cannot be told: {exc}")
    found += _wrong(known, {name: value for name, value in ours.items() if name in known})
    if isinstance(ours.get("ibready_expect"), Mapping):
        try:
            from_inventory(ours["ibready_expect"])
        except ExpectationError as exc:
            found.append(str(exc).replace("expect.", "ibready_expect.", 1))
    try:
        policy.from_variables(ours)
    except policy.PolicyError as exc:
        found.append(str(exc))
    if isinstance(ours.get("ibready_waivers"), list):
        try:
            _waivers.parse(ours["ibready_waivers"])
        except _waivers.WaiverError as exc:
            found.append(f"ibready_waivers: {exc}")
    return found


def _misspelt(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "docs/variables.md lists what there is"
    return f"{name} is not a variable of ibready; {hint}"


def _wrong(known: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Let Ansible's own validator judge the types, with nothing required here."""
    spec = {name: {**known[name], "required": False} for name in given}
    for options in spec.values():
        options.pop("default", None)
        options.pop("description", None)
    result = ArgumentSpecValidator(spec).validate(dict(given))
    return [str(message) for message in result.error_messages]
